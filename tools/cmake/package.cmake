# What `cmake --install BUILD --prefix P` installs, component `lzero`: the program with its libraries, the
# headers of plugins, the configs, the template of a plugin, and the package for CMake's find_package.
# The program runs on this machine: it finds libtorch where the build found it.
# (bundle.cmake makes what runs elsewhere.)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# lz_install_binary(TARGET FOLDER): a copy of TARGET with the library path of the build. Not by
# install(TARGETS), which takes the bundle's, and not as it is: CMake ends it with an empty folder.
function(lz_install_binary target folder)
  install(PROGRAMS $<TARGET_FILE:${target}> DESTINATION ${folder} COMPONENT lzero)
  list(JOIN CMAKE_BUILD_RPATH ":" path)
  install(CODE "
    file(RPATH_SET FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/$<TARGET_FILE_NAME:${target}>\"
         NEW_RPATH \"${path}\")" COMPONENT lzero)
endfunction()

# lz_add_package(): call it after all targets. Adds the target lzero_package: all that is installed.
function(lz_add_package)
  add_custom_target(lzero_package DEPENDS lzero)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/lzero)
  set(share ${CMAKE_INSTALL_DATADIR}/lzero)
  lz_install_binary(lzero ${CMAKE_INSTALL_BINDIR})
  foreach(library lzero_cuda lzero_cuda_graph)
    if(TARGET ${library})
      add_dependencies(lzero_package ${library})
      lz_install_binary(${library} lib)  # where the program looks: lib beside bin
    endif()
  endforeach()

  foreach(header ${LZ_PLUGIN_HEADERS})
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${CMAKE_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder}
            COMPONENT lzero)
  endforeach()
  install(FILES ${LZ_PLUGIN_INTERFACE_HEADER} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lzero/env
          COMPONENT lzero)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs DESTINATION ${share} COMPONENT lzero)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/envs/template DESTINATION ${share} COMPONENT lzero)
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${share} COMPONENT lzero)

  string(REGEX MATCH "^[0-9]+" LZERO_COMPILER_MAJOR ${CMAKE_CXX_COMPILER_VERSION})
  set(LZERO_COMPILER "${CMAKE_CXX_COMPILER_ID} ${LZERO_COMPILER_MAJOR}")
  set(LZERO_ABSL ${absl_VERSION})
  set(PROGRAM_FOLDER ${CMAKE_INSTALL_BINDIR})
  set(HEADER_FOLDER ${CMAKE_INSTALL_INCLUDEDIR})
  set(SHARE_FOLDER ${share})
  configure_package_config_file(${CMAKE_SOURCE_DIR}/tools/cmake/lzeroConfig.cmake.in
    ${CMAKE_BINARY_DIR}/generated/lzeroConfig.cmake INSTALL_DESTINATION ${package}
    PATH_VARS PROGRAM_FOLDER HEADER_FOLDER SHARE_FOLDER)
  # A plugin fits one interface; before 1.0 each minor version has another one.
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/lzeroConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/generated/lzeroConfig.cmake
          ${CMAKE_BINARY_DIR}/generated/lzeroConfigVersion.cmake DESTINATION ${package} COMPONENT lzero)
endfunction()
