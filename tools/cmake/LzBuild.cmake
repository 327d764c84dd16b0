# Functions that declare floors, tests and fuzz targets, and the compiler settings they share.

if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(LZ_CCACHE ccache)
  if(LZ_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_NOHASHDIR=1
        CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${LZ_CCACHE})
  endif()
endif()
find_program(LZ_MOLD mold)
if(LZ_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_FLAGS MATCHES "sanitize")
  add_link_options(-fuse-ld=mold)
endif()

# Warnings are errors everywhere. A checkout elsewhere compiles to the same bytes, so ccache knows it.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=>)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
                    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CXX>:-Wno-psabi>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns without cause of overlapping copies and uninitialised bytes inside std::string and
  # std::variant (its bug 105651 and kin), at -O3 and under sanitizers.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  # Its garbage collector begins at 128 MB by itself and takes a sixth of the time of some test files;
  # without it they need up to 0.3 of 1.5 GB more.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=600000>)
endif()
if(CMAKE_CXX_FLAGS MATCHES "sanitize=thread")
  add_compile_options(-Wno-tsan)
endif()

# lz_find_sources(OUT FOLDER): every .cc of FOLDER and below it, but for folders named cuda (a library of
# its own) and those with a CMakeLists.txt of their own.
function(lz_find_sources out folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  file(GLOB_RECURSE lists CONFIGURE_DEPENDS ${folder}/CMakeLists.txt)
  list(FILTER sources EXCLUDE REGEX "/cuda/")
  foreach(list ${lists})
    get_filename_component(owner ${list} DIRECTORY)
    if(NOT owner STREQUAL folder)
      list(FILTER sources EXCLUDE REGEX "^${owner}/")
    endif()
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# Several sources are compiled as one where that is known to be faster: most of a small file's time goes
# into the headers that it shares with its neighbours.
option(LZERO_UNITY "Compile several sources as one: faster as a whole, slower for one changed file" ON)

# lz_use_unity(TARGET SIZE): SIZE sources of TARGET at a time. All of them under a sanitizer: without optimisation each
# file compiles every function of its headers, and nobody builds there again and again for one changed file.
function(lz_use_unity target size)
  if(CMAKE_CXX_FLAGS MATCHES "sanitize")
    set(size 0)
  endif()
  if(LZERO_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  endif()
endfunction()

# lz_add_floor(NAME [TORCH] [SINGLE] [ONLY regex | EXCEPT regex]
#              [DEPS other floors ...] [LINK libraries ...] [PRIVATE_LINK libraries ...])
# One static library lzero_NAME of the calling folder (lz_find_sources), or of those of its sources whose
# paths match. With TORCH it needs libtorch, with SINGLE its sources cannot be compiled as one.
function(lz_add_floor name)
  cmake_parse_arguments(ARG "TORCH;SINGLE" "ONLY;EXCEPT" "DEPS;LINK;PRIVATE_LINK" ${ARGN})
  lz_find_sources(sources ${CMAKE_CURRENT_SOURCE_DIR})
  if(ARG_ONLY)
    list(FILTER sources INCLUDE REGEX ${ARG_ONLY})
  endif()
  if(ARG_EXCEPT)
    list(FILTER sources EXCLUDE REGEX ${ARG_EXCEPT})
  endif()
  list(TRANSFORM ARG_DEPS PREPEND lzero_)
  add_library(lzero_${name} STATIC ${sources})
  target_include_directories(lzero_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(lzero_${name} PUBLIC ${ARG_DEPS} ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
  if(NOT ARG_SINGLE)
    lz_use_unity(lzero_${name} 6)
  endif()
  if(ARG_TORCH)
    target_link_libraries(lzero_${name} PUBLIC LzTorch::torch)
    lz_use_torch_header(lzero_${name})
  endif()
endfunction()

# lz_share_header(TARGET NAME HEADERS ... [LINK libraries ...] [OPTIONS ...]): TARGET reads HEADERS
# precompiled, one copy NAME for all its users, which is compiled at the first use. GCC takes a
# precompiled header only under the options it was made with, and crashes where the optimisation
# differs: so code of each optimisation has its own copy.
function(lz_share_header target name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK;OPTIONS" ${ARGN})
  if(NOT TARGET ${name})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${name}.cc
         CONTENT "// Carries precompiled headers.\n")
    add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/generated/${name}.cc)
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_LINK})
    target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
    target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    # CMake would say -fPIE, and the header is compiled with -fPIC like the floors: they must agree.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_compile_options(${target} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()

# For targets that need libtorch: the parts of it that lzero uses.
function(lz_use_torch_header target)
  lz_share_header(${target} lzero_torch_header LINK LzTorch::torch
                  HEADERS ${CMAKE_SOURCE_DIR}/lzero/tensor/torch.h)
endfunction()

# For test programs, which are compiled for a short build: the floors are optimised, they are not.
function(lz_use_test_header target)
  lz_share_header(${target} lzero_test_header LINK GTest::gmock absl::statusor absl::strings
                  OPTIONS -O0
                  HEADERS <gmock/gmock.h> <gtest/gtest.h> <absl/status/statusor.h> <absl/strings/str_cat.h>)
endfunction()
function(lz_use_torch_test_header target)
  lz_share_header(${target} lzero_torch_test_header LINK LzTorch::torch GTest::gmock absl::statusor
                  OPTIONS -O0
                  HEADERS ${CMAKE_SOURCE_DIR}/lzero/tensor/torch.h <gmock/gmock.h> <gtest/gtest.h>
                          <absl/status/statusor.h>)
endfunction()

# The test programs of the quick command.
add_custom_target(all_tests)

# lz_add_tests(NAME [TORCH] [THREADS] [FOLDER folder] [FILES files ...] [LABELS ...] [LINK ...]):
# the tests of tests/NAME, or of the named folder or files, as one program NAME_test (lz_find_sources).
# Torch-free programs register every case. A program that starts slowly, with torch or the address sanitizer, is one
# ctest case; so is one labelled full, which the quick command does not build.
# THREADS: the floor uses threads; a thread-sanitizer build has the tests of these floors alone.
function(lz_add_tests name)
  cmake_parse_arguments(ARG "TORCH;THREADS" "FOLDER" "LABELS;LINK;FILES" ${ARGN})
  if(CMAKE_CXX_FLAGS MATCHES "sanitize=thread" AND NOT ARG_THREADS)
    return()
  endif()
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${CMAKE_SOURCE_DIR}/tests/${name})
  endif()
  lz_find_sources(sources ${ARG_FOLDER})
  if(ARG_FILES)
    set(sources ${ARG_FILES})
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  add_executable(${name}_test ${sources})
  lz_use_unity(${name}_test 6)
  if("gpu" IN_LIST ARG_LABELS)
    set_property(GLOBAL APPEND PROPERTY LZ_GPU_TESTS ${name}_test)
  endif()
  if(NOT "full" IN_LIST ARG_LABELS)
    add_dependencies(all_tests ${name}_test)
  endif()
  target_link_libraries(${name}_test PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name}_test PRIVATE LZ_TEST_DATA="${CMAKE_SOURCE_DIR}/tests")
  if(ARG_TORCH)
    lz_use_torch_test_header(${name}_test)
  else()
    lz_use_test_header(${name}_test)
  endif()
  if(ARG_TORCH OR "full" IN_LIST ARG_LABELS OR CMAKE_CXX_FLAGS MATCHES "sanitize=address")
    set(command ${name}_test)
    if("gpu" IN_LIST ARG_LABELS)
      set(command sh ${CMAKE_SOURCE_DIR}/tests/gpu_test.sh $<TARGET_FILE:${name}_test>)
    endif()
    add_test(NAME ${name}_test COMMAND ${command})
    # Two programs run at once: threads of torch's own would fight over the cores.
    set_tests_properties(${name}_test PROPERTIES LABELS "${ARG_LABELS}" ENVIRONMENT OMP_NUM_THREADS=1
                         SKIP_RETURN_CODE 77)
  else()
    include(GoogleTest)
    # Names without the values of parameters: some are addresses.
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST TEST_PREFIX ${name}. NO_PRETTY_VALUES
                         PROPERTIES LABELS "${ARG_LABELS}")
  endif()
endfunction()

# Everything is instrumented in a fuzzing build, so that the fuzzer sees the floors' branches.
if(LZERO_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "LZERO_FUZZ needs clang; got ${CMAKE_CXX_COMPILER_ID}. Use: cmake --preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()

# lz_add_fuzz(DIR/NAME_fuzz.cc [LINK libraries ...]): program NAME_fuzz, and the ctest case
# fuzz.NAME that runs the inputs of DIR/corpus/NAME through it. A libFuzzer program with LZERO_FUZZ,
# otherwise a plain one over the corpus alone (replay_main.cc).
function(lz_add_fuzz source)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  get_filename_component(target ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  string(REGEX REPLACE "_fuzz$" "" name ${target})
  set(corpus ${folder}/corpus/${name})
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE ${ARG_LINK})
  if(LZERO_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz.${name} COMMAND ${target} -runs=0 ${corpus})
  else()
    target_sources(${target} PRIVATE ${folder}/replay_main.cc)
    add_test(NAME fuzz.${name} COMMAND ${target} ${corpus})
  endif()
  set_tests_properties(fuzz.${name} PROPERTIES LABELS "unit;full")
endfunction()
