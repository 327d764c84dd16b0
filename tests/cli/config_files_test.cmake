# Every config that comes with lzero is valid, all in one process: cmake -D LZERO=... -D CONFIGS=... -P
file(GLOB_RECURSE files ${CONFIGS}/*.yaml)
list(FILTER files EXCLUDE REGEX "/base/")
execute_process(COMMAND ${LZERO} config validate ${files} RESULT_VARIABLE code)
list(LENGTH files count)
if(NOT code EQUAL 0 OR count LESS 30)
  message(FATAL_ERROR "exit code ${code} for ${count} configs")
endif()
