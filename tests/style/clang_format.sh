#!/usr/bin/env bash
# Checks that every C++ file is formatted as .clang-format says. Exit 77 (skipped) when clang-format is
# not version 14, whose output is the standard here: other versions differ in details.
#
#   tests/style/clang_format.sh SOURCE_FOLDER
set -euo pipefail

program=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$program" ] || ! "$program" --version | grep -q 'version 14\.'; then
  echo "skipped: clang-format 14 is not installed (tools/setup.sh installs it)"
  exit 77
fi
cd "$1"
mapfile -t files < <(find lzero envs tools tests -name '*.h' -o -name '*.cc' -o -name '*.cu')
if [ ${#files[@]} -eq 0 ]; then
  echo "no source files below $1"
  exit 1
fi
echo "${#files[@]} files; to repair: clang-format -i FILE"
"$program" --dry-run -Werror "${files[@]}"
