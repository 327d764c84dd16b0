# The bundle: a folder that runs on another machine with the same libtorch, with and without a GPU. The
# program, the gpu tests, the libraries with CUDA code, the configs and the scripts around them, of the
# objects that the build has anyway; `cmake --build . --target bundle` makes BUILD/bundle again when
# something in it has changed.

# lz_add_bundle(): call it after all targets. LZ_GPU_TESTS (global property) are its test programs.
function(lz_add_bundle)
  get_property(tests GLOBAL PROPERTY LZ_GPU_TESTS)
  set(libraries "")
  foreach(library lzero_cuda lzero_cuda_graph)
    if(TARGET ${library})
      list(APPEND libraries ${library})
    endif()
  endforeach()
  set(scripts bundle/lzero.sh find_torch.py gpu_check.sh gpu_table.py)
  list(TRANSFORM scripts PREPEND ${CMAKE_SOURCE_DIR}/tools/)

  # libtorch is found by the path that find_torch.py gives; nothing names a folder of this machine.
  set_target_properties(lzero ${tests} ${libraries} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS lzero ${tests} RUNTIME DESTINATION bin COMPONENT bundle EXCLUDE_FROM_ALL)
  if(libraries)
    install(TARGETS ${libraries} LIBRARY DESTINATION lib COMPONENT bundle EXCLUDE_FROM_ALL)
  endif()
  install(PROGRAMS ${scripts} DESTINATION . COMPONENT bundle EXCLUDE_FROM_ALL)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs DESTINATION . COMPONENT bundle EXCLUDE_FROM_ALL)
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION . COMPONENT bundle EXCLUDE_FROM_ALL)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/BUILD.json
       CONTENT "{\"torch\": \"@LzTorch_VERSION@\", \"cuda\": \"@LzTorch_CUDA_VERSION@\"}\n" @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/generated/BUILD.json DESTINATION . COMPONENT bundle EXCLUDE_FROM_ALL)

  file(GLOB_RECURSE configs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/configs/*)
  set(folder ${CMAKE_BINARY_DIR}/bundle)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/bundle.stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
    COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --component bundle --strip --prefix ${folder}
            > ${CMAKE_BINARY_DIR}/bundle.log
    COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/bundle.stamp
    DEPENDS lzero ${tests} ${libraries} ${scripts} ${configs} ${CMAKE_BINARY_DIR}/generated/BUILD.json
    COMMENT "Making the bundle" VERBATIM)
  add_custom_target(bundle ALL DEPENDS ${CMAKE_BINARY_DIR}/bundle.stamp)
endfunction()
