#!/usr/bin/env bash
# Runs the lzero program of this bundle with the libtorch of the local Python (LZERO_PYTHON, else python3).
#
#   lzero.sh doctor
#   lzero.sh train configs/classic/cartpole_unizero.yaml inference.device=cuda
set -euo pipefail

bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
found=$("${LZERO_PYTHON:-python3}" "$bundle/find_torch.py" "$bundle/BUILD.json")
export LD_LIBRARY_PATH=$found${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LZERO_COMMAND=$0  # how the program names itself in what it tells the user to type
exec "$bundle/bin/lzero" "$@"
