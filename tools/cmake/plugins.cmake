# What plugins (environments built outside the tree) need of the programs that load them. A plugin links
# nothing of lzero or Abseil: it takes both from the program, one copy of each in a process. So a program
# that loads plugins holds all of what they may call, and exports it.

# The headers that a plugin may include, closed under inclusion (tests/install includes each alone).
set(LZ_PLUGIN_HEADERS
  lzero/base/check.h lzero/base/host_device.h lzero/base/picture/image.h lzero/base/log.h
  lzero/base/observation_type.h lzero/base/philox.h lzero/base/rng.h lzero/base/status_macros.h
  lzero/base/symmetry.h envs/support/canvas.h lzero/env/env.h
  lzero/env/env_registry.h lzero/env/env_setting.h lzero/env/episode_env.h lzero/env/grader.h
  envs/support/numpy_random.h lzero/env/plugin.h lzero/env/saved_state.h)
list(TRANSFORM LZ_PLUGIN_HEADERS PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE LZ_PLUGIN_HEADER_FILES)

# The generated header lzero/env/plugin_interface.h names the version and a hash of those headers; it
# follows them at every build.
set(LZ_GENERATED_INCLUDE ${CMAKE_BINARY_DIR}/generated/include)
set(LZ_PLUGIN_INTERFACE_HEADER ${LZ_GENERATED_INCLUDE}/lzero/env/plugin_interface.h)
set(interface_script ${CMAKE_CURRENT_LIST_DIR}/plugin_interface.cmake)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/generated/plugin_interface.stamp
  COMMAND ${CMAKE_COMMAND} -D VERSION=${PROJECT_VERSION} "-DHEADERS=${LZ_PLUGIN_HEADER_FILES}"
          -D OUTPUT=${LZ_PLUGIN_INTERFACE_HEADER} -P ${interface_script}
  COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/generated/plugin_interface.stamp
  BYPRODUCTS ${LZ_PLUGIN_INTERFACE_HEADER}
  DEPENDS ${LZ_PLUGIN_HEADER_FILES} ${interface_script}
  COMMENT "Hashing the headers of plugins" VERBATIM)
add_custom_target(lzero_plugin_interface DEPENDS ${CMAKE_BINARY_DIR}/generated/plugin_interface.stamp)

# Programs that link this let libraries which they load take our functions and Abseil's from them.
add_library(lzero_exports INTERFACE)
foreach(names _ZN5lzero* _ZNK5lzero* _ZT?N5lzero* _ZN4absl* _ZNK4absl* _ZT?N4absl* AbslInternal*)
  target_link_options(lzero_exports INTERFACE "LINKER:--export-dynamic-symbol=${names}")
endforeach()

# lz_find_closure(OUT TARGET...): the libraries TARGETs and all they link, headers alone left out.
function(lz_find_closure out)
  set(waiting ${ARGN})
  set(found "")
  set(seen "")
  while(waiting)
    list(POP_FRONT waiting target)
    if(target IN_LIST seen OR NOT TARGET ${target})
      continue()
    endif()
    list(APPEND seen ${target})
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND found ${target})
    endif()
    get_target_property(linked ${target} INTERFACE_LINK_LIBRARIES)
    if(linked)
      list(APPEND waiting ${linked})
    endif()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# lz_load_plugins(TARGET): the program TARGET, which links lzero_envs, can load plugins; they may call all
# that the headers above declare and all of these parts of Abseil. (Named twice, a whole archive is linked
# twice: so lzero_env comes by lzero_envs.)
function(lz_load_plugins target)
  set(offered absl::status absl::statusor absl::strings absl::str_format absl::span absl::flat_hash_map
      absl::time)
  lz_find_closure(libraries ${offered})
  list(FILTER libraries INCLUDE REGEX "^absl::")
  list(PREPEND libraries lzero_base lzero_env lzero_env_support)
  target_link_libraries(${target} PRIVATE lzero_exports ${offered})
  list(JOIN libraries "," libraries)
  set_property(TARGET ${target} PROPERTY LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,${libraries}")
endfunction()

# lz_add_test_plugin(NAME SOURCE [definitions ...]): a plugin for tests, made as lzero::env of the
# installed package makes one. All are in the folder LZ_TEST_PLUGINS.
set(LZ_TEST_PLUGINS ${CMAKE_BINARY_DIR}/tests/plugins)
function(lz_add_test_plugin name source)
  add_library(${name} MODULE ${source})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} ${LZ_GENERATED_INCLUDE}
    $<TARGET_PROPERTY:absl::base,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_options(${name} PRIVATE -fvisibility=hidden)
  target_compile_definitions(${name} PRIVATE ${ARGN})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${LZ_TEST_PLUGINS})
  add_dependencies(${name} lzero_plugin_interface)
endfunction()
