# Run by every build: cmake -D SOURCE=... -D HEADER=... -P source_commit.cmake. Writes HEADER, a macro
# with the short commit of SOURCE ("-dirty" behind it when tracked files differ or a source file is
# untracked; "unknown" without git), and touches it only when that has changed.
set(commit unknown)
find_program(GIT git)
function(run_git variable)
  execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE} ${ARGN} OUTPUT_VARIABLE printed
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    set(printed "")
  endif()
  set(${variable} "${printed}" PARENT_SCOPE)
endfunction()
# Sources unpacked inside another repository have a commit of their own that nobody knows.
if(GIT AND EXISTS ${SOURCE}/.git)
  run_git(head rev-parse --short HEAD)
  run_git(changed status --porcelain --untracked-files=no)
  run_git(untracked ls-files --others --exclude-standard -- lzero envs tools)
  if(head)
    set(commit ${head})
    if(changed OR untracked)
      string(APPEND commit "-dirty")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define LZERO_COMMIT \"${commit}\"\n")
