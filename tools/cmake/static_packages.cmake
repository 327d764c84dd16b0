# Links the packages of this machine into our programs, so that a program needs nothing at run time but
# glibc, libstdc++, libtorch and, for a GPU, CUDA: it runs on another machine as it is.
#
# libstdc++ and libgcc stay shared: libtorch brings exceptions and strings across, and two copies of
# them in one process would not agree.

# Where a package ships lib/libX.a beside lib/libX.so, its imported targets name the archive from now on.
function(lz_prefer_archives)
  get_property(targets DIRECTORY ${CMAKE_SOURCE_DIR} PROPERTY IMPORTED_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(NOT target MATCHES "^(absl::|yaml-cpp)" OR NOT type STREQUAL "SHARED_LIBRARY")
      continue()
    endif()
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    foreach(configuration ${configurations})
      get_target_property(library ${target} IMPORTED_LOCATION_${configuration})
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${library}")
      if(archive MATCHES "\\.a$" AND EXISTS ${archive})
        set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} ${archive})
      endif()
    endforeach()
  endforeach()
endfunction()

# lz_find_archives(PACKAGES ...): finds packages whose modules of CMake look for a library's file, and what
# these need in turn, as archives where there are any.
function(lz_find_archives)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
  foreach(package ${ARGN})
    find_package(${package} REQUIRED)
  endforeach()
endfunction()

# lz_use_spdlog(TARGET FILE): FILE of TARGET has spdlog and fmt from their headers alone; Debian ships no
# archive of either.
function(lz_use_spdlog target file)
  target_include_directories(${target} SYSTEM PRIVATE
    $<TARGET_PROPERTY:spdlog::spdlog_header_only,INTERFACE_INCLUDE_DIRECTORIES>)
  set_source_files_properties(${file} PROPERTIES
    COMPILE_DEFINITIONS "SPDLOG_FMT_EXTERNAL;FMT_HEADER_ONLY")
endfunction()
