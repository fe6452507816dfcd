# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The project's only CMake cleverness: one function for each kind of thing that is
# built. Files are found by GLOB, so adding a source file edits no list.

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)

# Compile options of everything that is ours.
add_library(tessera_flags INTERFACE)
target_include_directories(tessera_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/src/include)
target_compile_options(tessera_flags INTERFACE -Wall -Wextra -Wno-unused-parameter)
target_compile_definitions(tessera_flags INTERFACE TESSERA_VERSION="${PROJECT_VERSION}")

if(TESSERA_COMPILER)
  # 22 alone is refused by the package's version file; 22.1 is what it asks for.
  find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
  list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)

  # Only the two shared libraries: naming a static libMLIR* archive beside them
  # would register everything twice.
  add_library(tessera_mlir INTERFACE)
  target_include_directories(tessera_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_include_directories(tessera_mlir INTERFACE ${CMAKE_BINARY_DIR}/src)
  # An extension of the transform dialect does not link without NDEBUG (Debian's
  # libraries are built with it), so it is set whatever the build type.
  target_compile_definitions(tessera_mlir INTERFACE NDEBUG ${LLVM_DEFINITIONS_LIST})
  target_link_libraries(tessera_mlir INTERFACE MLIR LLVM)
  set(TESSERA_LLVM_BIN ${LLVM_TOOLS_BINARY_DIR})
endif()

# tessera_library(NAME [MLIR] [DEPS lib...] [DIRS dir...] [EXCLUDE regex])
# A static library of all .cpp files of this folder (and of DIRS) that are not tests.
# If there are *Test.cpp files, they become one gtest program NAME_test.
function(tessera_library name)
  cmake_parse_arguments(A "MLIR" "EXCLUDE" "DEPS;DIRS" ${ARGN})
  set(globs ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(dir ${A_DIRS})
    list(APPEND globs ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${globs})
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "Test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "Test\\.cpp$")
  if(A_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${A_EXCLUDE}")
    list(FILTER tests EXCLUDE REGEX "${A_EXCLUDE}")
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC tessera_flags ${A_DEPS})
  set(half plain)
  if(A_MLIR)
    set(half mlir)
    target_link_libraries(${name} PUBLIC tessera_mlir)
    get_property(headers GLOBAL PROPERTY TESSERA_GENERATED_HEADERS)
    if(headers)
      add_dependencies(${name} ${headers})
    endif()
  endif()
  tessera_pch(${name} ${half})
  if(tests AND TESSERA_TESTS)
    tessera_test(${name}_test SOURCES ${tests} DEPS ${name})
    tessera_pch(${name}_test ${half})
  endif()
endfunction()

# tessera_test(NAME SOURCES ... DEPS ...): one gtest program, run by ctest.
function(tessera_test name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE ${A_DEPS} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  # Tests ask for impossible amounts of memory on purpose.
  set_tests_properties(${name} PROPERTIES ENVIRONMENT
    "ASAN_OPTIONS=allocator_may_return_null=1;TSAN_OPTIONS=allocator_may_return_null=1")
endfunction()

# tessera_pch(NAME plain|mlir): one precompiled header for each half of the tree; the first library that asks builds it.
function(tessera_pch name half)
  get_property(owner GLOBAL PROPERTY TESSERA_PCH_${half})
  if(NOT owner)
    set_property(GLOBAL PROPERTY TESSERA_PCH_${half} ${name})
    target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src/tessera/${TESSERA_PCH_FILE_${half}})
  else()
    target_precompile_headers(${name} REUSE_FROM ${owner})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    # ccache can only reuse a PCH that does not carry its time stamp.
    target_compile_options(${name} PRIVATE -Xclang -fno-pch-timestamp)
  endif()
  # Programs share it with libraries, so they are compiled the same way.
  get_target_property(type ${name} TYPE)
  if(type STREQUAL EXECUTABLE)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
endfunction()
set(TESSERA_PCH_FILE_plain base/Pch.h)
set(TESSERA_PCH_FILE_mlir ir/Pch.h)

# tessera_tablegen(TARGET FILE.td OUTPUT ARGS... [OUTPUT ARGS...])
# Runs mlir-tblgen on FILE.td once for each `OUTPUT|args` word.
function(tessera_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  foreach(rule ${ARGN})
    string(REPLACE "|" ";" words "${rule}")
    list(POP_FRONT words output)
    mlir_tablegen(${output} ${words} EXTRA_INCLUDES ${CMAKE_SOURCE_DIR}/src ${MLIR_INCLUDE_DIRS})
  endforeach()
  add_public_tablegen_target(${target})
  set_property(GLOBAL APPEND PROPERTY TESSERA_GENERATED_HEADERS ${target})
endfunction()

# tessera_doc(NAME FILE.td ARGS...): a reference page generated into docs/ of the
# build tree, compared with the committed copy by scripts/check.
function(tessera_doc name td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${name}.md ${ARGN} EXTRA_INCLUDES ${CMAKE_SOURCE_DIR}/src ${MLIR_INCLUDE_DIRS})
  add_custom_target(tessera_doc_${name} ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name}.md
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/docs
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${CMAKE_CURRENT_BINARY_DIR}/${name}.md ${CMAKE_BINARY_DIR}/docs/${name}.md)
endfunction()

# tessera_device(NAME): the run-time half of a target, Device*.cpp, without LLVM, and its *Test.cpp.
# The runtime finds it through Devices.inc, written from this list.
function(tessera_device name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/Device*.cpp)
  list(FILTER sources EXCLUDE REGEX "Test\\.cpp$")
  add_library(tessera_device_${name} STATIC ${sources})
  target_link_libraries(tessera_device_${name} PUBLIC tessera_runtime)
  tessera_pch(tessera_device_${name} plain)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*Test.cpp)
  if(TESSERA_TESTS AND tests)
    tessera_test(tessera_device_${name}_test SOURCES ${tests}
      DEPS tessera_device_${name} tessera_devices tessera_test_kernels)
    tessera_pch(tessera_device_${name}_test plain)
    # Of all devices, for presets that build these alone.
    if(NOT TARGET tessera_device_tests)
      add_custom_target(tessera_device_tests)
    endif()
    add_dependencies(tessera_device_tests tessera_device_${name}_test)
  endif()
  set_property(GLOBAL APPEND PROPERTY TESSERA_DEVICES ${name})
  # The folder is none of the tests' (src/tessera/targets/CMakeLists.txt).
  if(TESSERA_IS_PRODUCT EQUAL -1)
    set_property(GLOBAL APPEND PROPERTY TESSERA_PRODUCT_DEVICES ${name})
  endif()
endfunction()

# tessera_device_list(NAME PROPERTY FOLDER): a library that makes the devices of a list, which is written below FOLDER.
function(tessera_device_list name property folder)
  tessera_write_list(${property} ${CMAKE_BINARY_DIR}/${folder}/tessera/targets/Devices.inc TESSERA_DEVICE)
  get_property(devices GLOBAL PROPERTY ${property})
  list(TRANSFORM devices PREPEND tessera_device_)
  add_library(${name} STATIC ${CMAKE_CURRENT_SOURCE_DIR}/Devices.cpp)
  target_include_directories(${name} BEFORE PRIVATE ${CMAKE_BINARY_DIR}/${folder})
  target_link_libraries(${name} PUBLIC tessera_runtime ${devices})
endfunction()

# tessera_target(NAME [DEPS lib...]): the compile-time half of a target.
function(tessera_target name)
  cmake_parse_arguments(A "" "" "DEPS" ${ARGN})
  tessera_library(tessera_target_${name} MLIR DEPS tessera_transforms ${A_DEPS} EXCLUDE "/(Device[A-Za-z]*|[A-Za-z]*Test)\\.cpp$")
  set_property(GLOBAL APPEND PROPERTY TESSERA_TARGETS ${name})
endfunction()

# tessera_frontend(NAME [DEPS lib...]): a front end, one folder behind one interface.
function(tessera_frontend name)
  cmake_parse_arguments(A "" "" "DEPS" ${ARGN})
  tessera_library(tessera_frontend_${name} MLIR DEPS tessera_ir ${A_DEPS})
  set_property(GLOBAL APPEND PROPERTY TESSERA_FRONTENDS ${name})
endfunction()

# tessera_write_list(PROPERTY FILE MACRO): MACRO(name) lines for each name collected.
function(tessera_write_list property file macro)
  get_property(names GLOBAL PROPERTY ${property})
  list(SORT names)
  set(text "")
  foreach(n ${names})
    string(APPEND text "${macro}(${n})\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}")
endfunction()

# tessera_shared_runtime(): libtessera.so, the runtime and all devices in one library
# whose only visible symbols are those of tessera/runtime.h; a test keeps it small.
function(tessera_shared_runtime)
  add_library(tessera_shared SHARED ${CMAKE_SOURCE_DIR}/src/tessera/runtime/capi/Shared.cpp)
  set_target_properties(tessera_shared PROPERTIES OUTPUT_NAME tessera VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR})
  target_include_directories(tessera_shared INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src/include>
    $<INSTALL_INTERFACE:include>)
  # Everything the C interface needs is pulled in through it; the rest stays out.
  target_link_libraries(tessera_shared PRIVATE tessera_runtime tessera_product_devices tessera_base)
  target_link_options(tessera_shared PRIVATE LINKER:--gc-sections
    LINKER:--version-script=${CMAKE_SOURCE_DIR}/src/tessera/runtime/capi/tessera.map)
  # Templates give many functions of the same code; lld keeps one of them where no address is compared.
  include(CheckLinkerFlag)
  check_linker_flag(CXX LINKER:--icf=safe TESSERA_LINKER_FOLDS)
  if(TESSERA_LINKER_FOLDS)
    target_link_options(tessera_shared PRIVATE LINKER:--icf=safe)
  endif()
  set_property(TARGET tessera_shared APPEND PROPERTY LINK_DEPENDS ${CMAKE_SOURCE_DIR}/src/tessera/runtime/capi/tessera.map)
  # The compiler looks for both beside its own folder, so they have one place whatever the system's habits are.
  install(TARGETS tessera_shared EXPORT Tessera LIBRARY DESTINATION lib)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/src/include/tessera DESTINATION include)
  # find_package(Tessera) gives Tessera::tessera, from an installation and from the build folder alike.
  include(CMakePackageConfigHelpers)
  set(package lib/cmake/Tessera)
  set_target_properties(tessera_shared PROPERTIES EXPORT_NAME tessera)
  install(EXPORT Tessera NAMESPACE Tessera:: FILE TesseraConfig.cmake DESTINATION ${package})
  export(EXPORT Tessera NAMESPACE Tessera:: FILE ${CMAKE_BINARY_DIR}/${package}/TesseraConfig.cmake)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/${package}/TesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/${package}/TesseraConfigVersion.cmake DESTINATION ${package})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/include ${CMAKE_BINARY_DIR}/include SYMBOLIC)
  if(TESSERA_TESTS AND NOT CMAKE_CXX_FLAGS MATCHES "sanitize")
    add_test(NAME tessera_library_size COMMAND ${CMAKE_COMMAND} -DLIBRARY=$<TARGET_FILE:tessera_shared>
      -DSTRIP=${CMAKE_STRIP} -DLIMIT=1000000 -P ${CMAKE_SOURCE_DIR}/cmake/CheckSize.cmake)
  endif()
endfunction()
