# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The lit suite: target check-lit and the ctest test `lit`. Outside things that some tests need are looked for here,
# once; a test asks for them with REQUIRES and is skipped, loudly, where they are missing.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_program(TESSERA_LIT NAMES lit HINTS ${TESSERA_LLVM_BIN} REQUIRED)

set(TESSERA_LIT_FEATURES "")
set(TESSERA_LIT_MISSING "")
# tessera_feature(NAME FOUND): FOUND is a variable that is true when the thing is there.
function(tessera_feature name found)
  if(${found})
    list(APPEND TESSERA_LIT_FEATURES ${name})
  else()
    list(APPEND TESSERA_LIT_MISSING ${name})
  endif()
  set(TESSERA_LIT_FEATURES ${TESSERA_LIT_FEATURES} PARENT_SCOPE)
  set(TESSERA_LIT_MISSING ${TESSERA_LIT_MISSING} PARENT_SCOPE)
endfunction()

foreach(pair verilator=verilator yosys=yosys graphviz=dot qemu-aarch64=qemu-aarch64 qemu-riscv64=qemu-riscv64
             chromium=chromium)
  string(REPLACE "=" ";" words ${pair})
  list(GET words 0 name)
  list(GET words 1 program)
  find_program(TESSERA_HAS_${name} NAMES ${program} ${program}-static)
  tessera_feature(${name} TESSERA_HAS_${name})
endforeach()
# A driver alone is no device: the CUDA feature asks for the device node too.
find_library(TESSERA_LIBCUDA NAMES cuda libcuda.so.1)
set(TESSERA_HAS_cuda OFF)
if(TESSERA_LIBCUDA AND EXISTS /dev/nvidia0)
  set(TESSERA_HAS_cuda ON)
endif()
tessera_feature(cuda TESSERA_HAS_cuda)
file(GLOB TESSERA_HAS_opencl /etc/OpenCL/vendors/*.icd)
tessera_feature(opencl TESSERA_HAS_opencl)
# Another Python may come first in the path than the one that scripts/bootstrap gives NumPy to.
foreach(python ${Python3_EXECUTABLE} /usr/bin/python3)
  execute_process(COMMAND ${python} -c "import numpy" RESULT_VARIABLE TESSERA_NO_NUMPY ERROR_QUIET OUTPUT_QUIET)
  if(TESSERA_NO_NUMPY EQUAL 0)
    set(TESSERA_HAS_numpy ON)
    set(Python3_EXECUTABLE ${python})
    break()
  endif()
endforeach()
tessera_feature(numpy TESSERA_HAS_numpy)

list(LENGTH TESSERA_LIT_MISSING count)
if(count)
  string(REPLACE ";" ", " missing "${TESSERA_LIT_MISSING}")
  message(STATUS "lit: ${count} features NOT found, their tests will be skipped: ${missing}")
endif()

configure_file(${CMAKE_CURRENT_SOURCE_DIR}/lit.site.cfg.py.in ${CMAKE_BINARY_DIR}/tests/lit.site.cfg.py @ONLY)
set(TESSERA_LIT_COMMAND ${TESSERA_LIT} -v --order=lexical ${CMAKE_BINARY_DIR}/tests)
add_custom_target(check-lit COMMAND ${TESSERA_LIT_COMMAND} USES_TERMINAL COMMENT "Running the lit tests")
foreach(tool tessera-opt tessera tessera-compiler tessera-fpcmp tessera_shared)
  if(TARGET ${tool})
    add_dependencies(check-lit ${tool})
  endif()
endforeach()
add_test(NAME lit COMMAND ${TESSERA_LIT_COMMAND})
