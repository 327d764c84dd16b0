#!/bin/sh
# Runs a test program of a GPU on the null GPU for ctest. A test that is skipped there is a failure, and so
# is a violation.
#   null_gpu_test.sh LIBRARY_FOLDER SETTINGS PROGRAM [ARGUMENTS...]
log=$(mktemp)
trap 'rm -f "$log"' EXIT
sh "$(dirname "$0")/run.sh" "$@" >"$log" 2>&1
code=$?
cat "$log"
if [ "$code" -eq 0 ] && grep -q 'SKIPPED' "$log"; then
  echo "null_gpu_test.sh: a test was skipped: the null GPU was not found"
  exit 1
fi
exit "$code"
