# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Fails when the stripped LIBRARY is larger than LIMIT bytes.
set(stripped ${LIBRARY}.stripped)
execute_process(COMMAND ${STRIP} -o ${stripped} ${LIBRARY} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${stripped} size)
file(REMOVE ${stripped})
message(STATUS "stripped size: ${size} bytes, limit ${LIMIT}")
if(size GREATER LIMIT)
  message(FATAL_ERROR "${LIBRARY}: ${size} bytes stripped, expected at most ${LIMIT}")
endif()
