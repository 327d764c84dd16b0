#!/usr/bin/env bash
# Sets up the machine, builds lzero, and runs it with the given arguments from the caller's folder.
#
#   tools/run.sh train configs/classic/cartpole_unizero.yaml
#   tools/run.sh                    builds and prints the verbs
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/tools/setup.sh" --quiet
"$root/tools/build.sh" release lzero
program=$root/build/release/tools/lzero
export LZERO_COMMAND=$0  # how the program names itself in what it tells the user to type
if [ $# -eq 0 ]; then
  exec "$program" --help
fi
exec "$program" "$@"
