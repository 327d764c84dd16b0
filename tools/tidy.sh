#!/usr/bin/env bash
# Checks the naming of the C++ files changed since a commit, torch floors included, with clang-tidy and
# the flags of build/release. (`tools/test.sh --full` runs style.tidy, which checks only the files
# changed last: sixty without torch and six with it.) clang-tidy is that of tools/setup.sh --tests.
#
#   tools/tidy.sh [BASE]     BASE: a commit, origin/main if left out
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
base=$(git merge-base HEAD "${1:-origin/main}")
mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- '*.cc' '*.h')
if [ ${#files[@]} -eq 0 ]; then
  echo "no C++ file changed since $base"
  exit 0
fi
if [ ! -f build/release/compile_commands.json ]; then
  echo "no build/release here: run tools/build.sh release first" >&2
  exit 1
fi
exec python3 -B tests/style/tidy.py "$root" build/release "${files[@]}"
