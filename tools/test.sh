#!/usr/bin/env bash
# Sets up the machine, builds and tests. Exits non-zero when a test fails or none ran.
#
#   tools/test.sh           the everyday command: the release build, and every test that is quick
#   tools/test.sh --full    all there is, before a change lands: also tidy, install, long learning tests, replays of
#                           fuzzers and oracles; then the floors without torch under the address and
#                           undefined-behaviour sanitizers, and those with threads under the thread sanitizer
#   tools/test.sh [--full] CTEST ARGUMENTS...      passes a choice of tests on: tools/test.sh -R replay
set -euo pipefail

for word in "$@"; do
  if [ "$word" = --help ] || [ "$word" = -h ]; then
    sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
  fi
done

tools=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$tools/.." && pwd)
full=false
if [ "${1:-}" = --full ]; then
  full=true
  shift
fi
# With a choice of tests it is no error when a sanitizer build has none of them.
none=error
if [ $# -gt 0 ]; then none=ignore; fi

# On a terminal one line that moves; two lines a test where they are kept.
progress=()
if [ -t 1 ]; then progress=(--progress); fi

# What tests leave behind goes with them.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch TEST_TMPDIR=$scratch

# run_tests PRESET NO_TESTS CTEST ARGUMENTS...
run_tests() {
  local preset=$1 no_tests=$2
  shift 2
  echo "== tests of the $preset build"
  (cd "$root" && ctest --test-dir "build/$preset" --output-on-failure -j 2 \
    "${progress[@]}" --no-tests="$no_tests" "$@")
}

# show_failures PRESET: the last words of every failed test once more, where a reader looks first.
show_failures() {
  local folder="$root/build/$1/Testing/Temporary"
  [ -f "$folder/LastTestsFailed.log" ] || return 0
  cut -d: -f2- "$folder/LastTestsFailed.log" | head -n 10 | while IFS= read -r name; do
    echo "== FAILED in $1: $name"
    TEST="$name" awk 'index($0, " Testing: ") && substr($0, index($0, " Testing: ") + 10) == ENVIRON["TEST"] { on = 1 }
      on { print }
      on && index($0, "<end of output>") { on = 0 }' "$folder/LastTest.log" | tail -n 40
  done
}

failed=()
if $full; then
  "$tools/setup.sh" --tests
  "$tools/build.sh" release
  run_tests release error "$@" || failed+=(release)
  "$tools/build.sh" asan
  run_tests asan "$none" "$@" || failed+=(asan)
  "$tools/build.sh" tsan all_tests
  run_tests tsan "$none" "$@" || failed+=(tsan)
else
  "$tools/setup.sh" --python-envs
  "$tools/build.sh" release lzero all_tests
  run_tests release error --label-exclude full "$@" || failed+=(release)
fi

if [ ${#failed[@]} -gt 0 ]; then
  for preset in "${failed[@]}"; do show_failures "$preset" || true; done
  echo "tests FAILED in: ${failed[*]}"
  exit 1
fi
echo "all tests passed after $((SECONDS / 60)) min $((SECONDS % 60)) s"
