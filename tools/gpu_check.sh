#!/usr/bin/env bash
# Checks lzero on the GPU of this machine, in under 8 minutes: all gpu tests, searches on graphs beside
# eager ones, a short training run, memory over ten cycles of load, search and unload, and times of steps
# and searches with graphs on and off. Prints one table at the end; every line behind it stays in the output folder.
#
#   tools/gpu_check.sh                 builds first
#   tools/gpu_check.sh --bundle DIR    a bundle that was built elsewhere (tools/build.sh portable)
#   gpu_check.sh                       inside a bundle: that one
#   ... --out DIR                      where the output goes; default: gpu_check-TIME in this folder
#
# torch comes from LZERO_PYTHON, else from set-up's or the machine's python3. Exit code 0: all went well;
# 1: a test or a benchmark failed, numbers differ, a bar of memory or speed is missed, or the bundle, torch or the
# driver is not as it should be;
# 77: skipped, there is no GPU.
set -euo pipefail
export LC_ALL=C

time_limit=450  # seconds from the first look at the GPU to the end of the last stage
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bundle=''
out=''

fail() {
  echo "gpu_check: error: $*" >&2
  exit 1
}

parse_arguments() {
  while [ $# -gt 0 ]; do
    case $1 in
      --bundle | --out)
        [ $# -ge 2 ] || { echo "gpu_check: error: $1 needs a folder" >&2; exit 2; }
        if [ "$1" = --bundle ]; then bundle=$2; else out=$2; fi
        shift 2
        ;;
      -h | --help)
        sed -n '2,16s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 0
        ;;
      *)
        echo "gpu_check: error: unknown argument '$1'; allowed: --bundle DIR --out DIR --help" >&2
        exit 2
        ;;
    esac
  done
}

find_bundle() {
  if [ -z "$bundle" ] && [ -f "$here/BUILD.json" ]; then bundle=$here; fi
  if [ -z "$bundle" ]; then
    "$here/setup.sh" --quiet --cuda  # the tests load libtorch's CUDA part
    "$here/build.sh" portable
    bundle=$here/../build/release/bundle
  fi
  [ -x "$bundle/bin/lzero" ] || fail "$bundle is not a bundle: no bin/lzero (tools/build.sh portable makes one)"
  bundle=$(cd "$bundle" && pwd)
}

# The Python of set-up where there is one: it has the torch that the build was made with.
find_python() {
  local venv=$here/../.deps/venv/bin/python3
  python=${LZERO_PYTHON:-python3}
  if [ -z "${LZERO_PYTHON:-}" ] && [ -x "$venv" ]; then python=$venv; fi
  command -v "$python" >/dev/null || fail "no $python; set LZERO_PYTHON to a python3 with torch"
}

find_torch() {
  local folders
  folders=$("$python" "$bundle/find_torch.py" "$bundle/BUILD.json" 2>&1) || fail "${folders#error: }"
  export LD_LIBRARY_PATH=$folders${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# A build without nvcc leaves these out, and what is not there would not be checked.
check_bundle() {
  local part missing=''
  for part in bin/torch_cuda_test bin/mcts_cuda_test lib/liblzero_cuda.so lib/liblzero_cuda_graph.so; do
    [ -e "$bundle/$part" ] || missing="$missing $part"
  done
  [ -z "$missing" ] || fail "$bundle lacks$missing: it was built without nvcc; make it where nvcc is found"
}

# No GPU to be seen is a fault where a driver is, unless it was hidden on purpose.
driver_is_here() {
  case ${CUDA_VISIBLE_DEVICES-all} in '' | -1) return 1 ;; esac
  command -v nvidia-smi >/dev/null || compgen -G '/dev/nvidia[0-9]*' >/dev/null
}

# The doctor's line about the GPU is "ok" where a config may say inference.device: cuda.
find_gpu() {
  local line
  doctor=$(cd "${TMPDIR:-/tmp}" && "$bundle/bin/lzero" doctor 2>&1) || fail "lzero doctor: $doctor"
  line=$(grep -E '^(ok|note) +gpu ' <<<"$doctor") || fail "lzero doctor says nothing of a GPU: $doctor"
  gpu=$(sed -E 's/^(ok|note) +gpu +//' <<<"$line")
  if [[ $line == note* ]]; then
    gpu=${gpu%; inference.device*}
    # A device is there, and something of libtorch's CUDA part is not.
    if [[ $gpu == *', but '* ]]; then fail "$gpu"; fi
    if driver_is_here; then fail "nvidia-smi or /dev/nvidia0 is here, but lzero sees no GPU: $gpu"; fi
    echo "gpu_check: skipped: $gpu"
    exit 77
  fi
}

make_output_folder() {
  out=${out:-$PWD/gpu_check-$(date -u +%Y%m%dT%H%M%SZ)}
  mkdir -p "$out"
  out=$(cd "$out" && pwd)
  [ -z "$(ls -A "$out")" ] || fail "$out is not empty; give another --out"
  echo "$doctor" >"$out/doctor.txt"
}

# stage NAME SECONDS LINES COMMAND...: what a benchmark prints to NAME.jsonl, LINES at least, all else
# to NAME.log; a failure or a time limit is noted, and what comes after goes on.
stage() {
  local name=$1 limit=$2 lines=$3 code=0 begun=$SECONDS left=$((time_limit - SECONDS))
  shift 3
  if [ "$left" -lt "$limit" ]; then limit=$left; fi
  if [ "$limit" -lt 5 ]; then
    code=124
  elif [[ $name == *_test ]]; then
    (cd "$out" && timeout -k 5 "$limit" "$@") >"$out/$name.log" 2>&1 || code=$?
  else
    (cd "$out" && timeout -k 5 "$limit" "$@") >"$out/$name.jsonl" 2>"$out/$name.log" || code=$?
  fi
  printf '{"stage": "%s", "exit": %d, "seconds": %d, "limit_s": %d, "lines": %d}\n' \
    "$name" "$code" $((SECONDS - begun)) "$limit" "$lines" >>"$out/stages.jsonl"
  echo "gpu_check: $name: exit code $code after $((SECONDS - begun)) s"
  if [ "$code" -ne 0 ] && [ -s "$out/$name.log" ]; then tail -n 5 "$out/$name.log" | cut -c1-500; fi
}

run_tests() {
  local program name
  for program in "$bundle"/bin/*_test; do
    [ -x "$program" ] || continue
    name=$(basename "$program")
    # Ten runs of every family are too long for this check; loading and unloading is in it.
    stage "$name" 240 0 "$program" "--gtest_output=json:$out/$name.json" '--gtest_filter=-*TenRuns*'
  done
}

run_benchmarks() {
  local lzero=$bundle/bin/lzero size embed layers heads sizes
  stage parity 60 6 "$lzero" bench parity --json --device cuda --runner cuda_graph,cuda_search_graph \
    --dtype fp32,tf32,bf16 --searches 20 --batch 64
  stage train 60 0 "$lzero" train "$bundle/configs/classic/cartpole_unizero.yaml" inference.device=cuda \
    stop.max_env_steps=1500 stop.target_return=null evaluate.episodes=4 --run-dir "$out/run"
  stage unload 60 30 "$lzero" bench unload --json --device cuda --runner eager,cuda_graph,cuda_search_graph --cycles 10 \
    --embed 256
  for size in 64:2:2 768:2:8 256:4:8 768:8:8; do
    IFS=: read -r embed layers heads <<<"$size"
    sizes=(--embed "$embed" --layers "$layers" --heads "$heads" --batch "8,64,256")
    stage "step_${embed}_$layers" 60 9 "$lzero" bench step --json --device cuda --runner eager,cuda_graph \
      --dtype fp32,bf16 "${sizes[@]}"
    stage "search_${embed}_$layers" 60 9 "$lzero" bench search --json --device cuda --rounds 5 --sims 50 \
      --runner eager,cuda_graph --dtype fp32,bf16 "${sizes[@]}"
    stage "search_b_${embed}_$layers" 60 6 "$lzero" bench search --json --device cuda --rounds 5 --sims 50 \
      --runner cuda_search_graph --dtype fp32,bf16 "${sizes[@]}"
  done
}

parse_arguments "$@"
find_bundle
find_python
find_torch
check_bundle
SECONDS=0  # building is not part of the check; loading CUDA for the first time is
find_gpu
make_output_folder
run_tests
run_benchmarks
code=0
"$python" "$bundle/gpu_table.py" "$out" | tee "$out/table.txt" || code=1
echo "gpu_check: $SECONDS s; every line behind the table is in $out"
exit $code
