#!/usr/bin/env bash
# Prepares a Debian 12 machine for lzero: the missing Debian packages, and under .deps/venv the torch
# wheel with the CUDA runtime libraries that libtorch asks for even where there is no GPU.
# Idempotent: what is there is left alone, and once all is there the network is not touched.
# Not a build: tools/run.sh and tools/test.sh build.
#
#   tools/setup.sh            install what is missing
#   tools/setup.sh --cuda     likewise, and what inference.device: cuda needs on a machine with a GPU
#   tools/setup.sh --python-envs    likewise, and under .deps/python_envs what environments of Gymnasium
#                                   need: Atari, MuJoCo, Box2D, MiniGrid, the DeepMind Control Suite, OpenCV;
#                                   and what lzero_cpp works beside: pandas, matplotlib, Stable-Baselines3
#   tools/setup.sh --gymnasium      of these Gymnasium alone
#   tools/setup.sh --tests          of these all, and clang-tidy, for tools/test.sh --full
#   tools/setup.sh --oracles        of these all, and the packages that tests compare with
#   tools/setup.sh --check    only report; exit 1 when something is missing
#   tools/setup.sh --quiet    no word when nothing is missing
set -euo pipefail
export LC_ALL=C

packages=(
  ca-certificates ccache clang-format cmake g++ libabsl-dev libcli11-dev libeigen3-dev libgif-dev
  libgmock-dev libgtest-dev libhwy-dev libpng-dev librandom123-dev libspdlog-dev libyaml-cpp-dev mold ninja-build
  nlohmann-json3-dev python3 python3-venv
)
torch_version=2.11.0
# What torch 2.11.0 names for CUDA 13.0; they unpack beside torch, where libtorch looks for them.
runtime_wheel=nvidia-cuda-runtime==13.0.96
cupti_wheel=nvidia-cuda-cupti==13.0.85

# Library and wheel of everything else that libtorch's CUDA part names; about 350 MB where the CUDA
# toolkit is there, else 2 GB.
cuda_parts=(
  libcufile.so.0:nvidia-cufile==1.15.1.6
  libcusparseLt.so.0:nvidia-cusparselt-cu13==0.8.0
  libnvshmem_host.so.3:nvidia-nvshmem-cu13==3.4.5
  libcusparse.so.12:nvidia-cusparse==12.6.3.3
  libcufft.so.12:nvidia-cufft==12.0.0.61
  libnccl.so.2:nvidia-nccl-cu13==2.28.9
  libcurand.so.10:nvidia-curand==10.4.0.35
  libcublas.so.13:nvidia-cublas==13.1.0.3
  libcudnn.so.9:nvidia-cudnn-cu13==9.19.0.56
)

# Packages of Python environments, with what they name themselves. dm_control fails with mujoco 4; wrappers
# of Gymnasium that resize pictures need OpenCV.
gymnasium_packages=(gymnasium==1.4.0)
env_packages=("gymnasium[box2d,mujoco]==1.4.0" ale_py==0.12.1 minigrid==3.2.0 mujoco==3.17.0 dm_control==1.0.50
              opencv_python_headless==5.0.0.93 wheel pandas matplotlib stable_baselines3==2.9.2)
# Skips what system headers declare: 2.5 times as fast as Debian's, version 14.
test_packages=(clang_tidy==23.1.4)
oracle_packages=(open_spiel==2.0.2 MinAtar==1.0.15 tensorboard safetensors)

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps=$root/.deps
log=$deps/setup.log
check=false
quiet=false
cuda=false
python_packages=()
changed=false
missing_parts=()

say() { echo "set-up: $*" >&2; }
note() { $quiet || say "$*"; }
# Package sources differ from machine to machine; their addresses do not belong in a log.
hide_addresses() { sed -E 's#[a-z]+://[^ ]*#(package source)#g'; }

fail() {
  say "error: $*"
  exit 1
}

fail_with_log() {
  say "error: $*; the end of $log:"
  tail -n 20 "$log" >&2 || true
  exit 1
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

megabytes() { awk -v bytes="$1" 'BEGIN { printf "%.0f MB", bytes / 1e6 }'; }

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    # shellcheck disable=SC2016
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
      echo "$package"
    fi
  done
}

install_packages() {
  local missing=("$@") size apt=(apt-get -o DPkg::Lock::Timeout=300)
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    fail "not root and no sudo here; have an administrator run: apt-get update && apt-get install ${missing[*]}"
  fi
  note "reading the package lists (apt-get update)"
  as_root "${apt[@]}" update 2>&1 | hide_addresses >>"$log" || fail_with_log "apt-get update failed"
  size=$("${apt[@]}" install --print-uris -qq --no-install-recommends "${missing[@]}" 2>>"$log" |
    awk '{ sum += $3 } END { printf "%d", sum }') || fail_with_log "apt-get knows no way to install: ${missing[*]}"
  say "installing ${#missing[@]} Debian packages and what they need, $(megabytes "$size") to download: ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive "${apt[@]}" install -y -q --no-install-recommends \
    "${missing[@]}" 2>&1 | hide_addresses >>"$log" || fail_with_log "apt-get install failed"
  changed=true
}

setup_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    note "not a Debian system: skipped the packages; needed by their Debian names: ${packages[*]}"
    return
  fi
  mapfile -t missing < <(missing_packages)
  if [ ${#missing[@]} -eq 0 ]; then
    note "Debian packages: all ${#packages[@]} are there, skipped"
  elif $check; then
    missing_parts+=("Debian packages: ${missing[*]}")
  else
    install_packages "${missing[@]}"
  fi
}

# python_has REQUIREMENT: .deps/python_envs holds it, in its version.
python_has() {
  local name=${1%%==*} folder
  name=${name%%[*}
  for folder in "$deps"/python_envs/lib/python3*/site-packages/"$name"-${1##*==}.dist-info \
                "$deps"/python_envs/lib/python3*/site-packages/"$name"-[0-9]*.dist-info; do
    if [ "$1" != "${1%==*}" ] && [ "${folder##*/}" != "$name-${1##*==}.dist-info" ]; then continue; fi
    if [ -f "$folder/RECORD" ]; then return 0; fi
  done
  return 1
}

# install_env_packages [ARGUMENT...]: pip install with them; nothing to do without.
install_env_packages() {
  if [ $# -eq 0 ]; then return; fi
  "$deps/python_envs/bin/python3" -m pip install --disable-pip-version-check --no-input \
    --progress-bar off "$@" 2>&1 | hide_addresses >>"$log" || fail_with_log "pip install $* failed"
}

setup_python_packages() {
  local package missing=() whole=() alone=() python
  if [ ${#python_packages[@]} -eq 0 ]; then return; fi
  for package in "${python_packages[@]}"; do
    # What an extra adds is known by one of its parts.
    if ! python_has "$package" || { [[ $package == *mujoco]* ]] && ! python_has imageio; }; then
      missing+=("$package")
    fi
  done
  if [ ${#missing[@]} -eq 0 ]; then
    note "Python packages of environments: there, skipped"
    return
  elif $check; then
    missing_parts+=("Python packages in .deps/python_envs: ${missing[*]}")
    return
  fi
  if ! "$deps/python_envs/bin/python3" -m pip --version >/dev/null 2>&1; then
    python=$(find_python)
    "$python" -m venv --clear "$deps/python_envs" >>"$log" 2>&1 || fail_with_log "python3 -m venv failed"
  fi
  say "installing ${missing[*]} and what they need (Gymnasium alone 20 MB, clang-tidy 45 MB, all about 280 MB)"
  for package in "${missing[@]}"; do
    # Its torch would come with all of CUDA: the one in .deps/venv is there.
    if [[ $package == stable_baselines3* ]]; then alone+=("$package"); else whole+=("$package"); fi
  done
  install_env_packages ${whole[@]+"${whole[@]}"}
  install_env_packages ${alone[@]+--no-deps "${alone[@]}"}
  changed=true
}

# Debian's own interpreter first; otherwise any CPython for which a wheel of torch exists.
find_python() {
  local candidate
  for candidate in /usr/bin/python3 python3 python3.{13,12,11,10}; do
    if "$candidate" -c 'import sys, venv, ensurepip
sys.exit(not (sys.implementation.name == "cpython" and (3, 10) <= sys.version_info < (3, 14)))' \
      2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  fail "no CPython 3.10 to 3.13 with the module venv found; on Debian: apt-get install python3 python3-venv"
}

# The folder site-packages of the virtual environment; nothing when there is none.
site_packages() {
  local folder
  for folder in "$deps"/venv/lib/python3*/site-packages; do
    if [ -d "$folder" ]; then
      echo "$folder"
      return
    fi
  done
}

# wheel_is_installed NAME==VERSION: pip writes RECORD last, with it the wheel is whole.
wheel_is_installed() {
  local name=${1//-/_}
  [ -n "$(site_packages)" ] && [ -f "$(site_packages)/${name/==/-}.dist-info/RECORD" ]
}

setup_venv() {
  if [ -n "$(site_packages)" ] && "$deps/venv/bin/python3" -m pip --version >/dev/null 2>&1; then
    return
  fi
  local python
  python=$(find_python)
  note "making the virtual environment .deps/venv"
  "$python" -m venv --clear "$deps/venv" >>"$log" 2>&1 || fail_with_log "python3 -m venv failed"
  changed=true
}

# install_wheels SIZE WHEEL...: with pip's own settings (its environment, its configuration files).
# --ignore-installed repairs what an interrupted installation left.
install_wheels() {
  local size=$1 wheel
  shift
  setup_venv
  say "installing $*, $size to download"
  "$deps/venv/bin/python3" -m pip install --no-deps --disable-pip-version-check --no-input \
    --progress-bar off --ignore-installed "$@" 2>&1 | hide_addresses >>"$log" ||
    fail_with_log "pip install $* failed"
  for wheel in "$@"; do
    wheel_is_installed "$wheel" || fail_with_log "pip left no whole $wheel in .deps/venv"
  done
  changed=true
}

setup_torch() {
  if [ -n "${LZERO_TORCH_DIR:-}" ]; then
    note "torch: LZERO_TORCH_DIR is set, skipped"
  elif wheel_is_installed "torch==$torch_version"; then
    note "torch $torch_version: there, skipped"
  elif $check; then
    missing_parts+=("the torch $torch_version wheel in .deps/venv")
  else
    install_wheels "about 530 MB (1.2 GB unpacked)" "torch==$torch_version"
  fi
}

# The folders of CUDA toolkits that tools/cmake/FindLzTorch.cmake looks in too.
toolkit_folders() {
  local folder
  for folder in /usr/local/cuda*/{lib64,lib,targets/x86_64-linux/lib,extras/CUPTI/lib64}; do
    if [ -d "$folder" ]; then echo "$folder"; fi
  done
}

# Succeeds when the loader or a toolkit has library $1, or the wheel $2 is installed.
library_is_found() {
  local folder
  if { ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | grep -F "$1" >/dev/null; then return 0; fi
  while IFS= read -r folder; do
    if [ -e "$folder/$1" ]; then return 0; fi
  done < <(toolkit_folders)
  wheel_is_installed "$2"
}

setup_cuda_libraries() {
  local wheels=()
  if [ -n "${LZERO_TORCH_DIR:-}" ]; then return; fi
  library_is_found libcudart.so.13 "$runtime_wheel" || wheels+=("$runtime_wheel")
  library_is_found libcupti.so.13 "$cupti_wheel" || wheels+=("$cupti_wheel")
  if [ ${#wheels[@]} -eq 0 ]; then
    note "CUDA 13 runtime libraries: there, skipped"
  elif $check; then
    missing_parts+=("libcudart.so.13 or libcupti.so.13: ${wheels[*]}")
  else
    install_wheels "13 MB or less" "${wheels[@]}"
  fi
}

setup_cuda_parts() {
  local part wheels=()
  if ! $cuda || [ -n "${LZERO_TORCH_DIR:-}" ]; then return; fi
  for part in "${cuda_parts[@]}"; do
    library_is_found "${part%%:*}" "${part#*:}" || wheels+=("${part#*:}")
  done
  if [ ${#wheels[@]} -eq 0 ]; then
    note "libraries of libtorch's CUDA part: there, skipped"
  elif $check; then
    missing_parts+=("libraries of libtorch's CUDA part: ${wheels[*]}")
  else
    install_wheels "350 MB to 2 GB" "${wheels[@]}"
  fi
}

# What libtorch_cpu names must be found, or the program would not start.
verify_torch() {
  local library unresolved
  library=${LZERO_TORCH_DIR:-$(site_packages)/torch}/lib/libtorch_cpu.so
  unresolved=$(LD_LIBRARY_PATH=$(toolkit_folders | paste -sd:) ldd "$library" 2>&1 |
    grep 'not found' || true)
  if [ -n "$unresolved" ]; then fail "libtorch does not find: $unresolved"; fi
}

run_all() {
  setup_packages
  setup_torch
  setup_cuda_libraries
  setup_cuda_parts
  setup_python_packages
}

for argument in "$@"; do
  case $argument in
    --check) check=true ;;
    --quiet) quiet=true ;;
    --cuda) cuda=true ;;
    --gymnasium) python_packages=("${gymnasium_packages[@]}") ;;
    --python-envs) python_packages=("${env_packages[@]}") ;;
    --tests) python_packages=("${env_packages[@]}" "${test_packages[@]}") ;;
    --oracles) python_packages=("${env_packages[@]}" "${oracle_packages[@]}") ;;
    -h | --help)
      sed -n '2,16s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      say "error: unknown argument '$argument'; allowed: --check --quiet --cuda --python-envs --gymnasium --tests --oracles --help"
      exit 2
      ;;
  esac
done

if $check; then
  run_all
  for part in ${missing_parts[@]+"${missing_parts[@]}"}; do say "missing: $part"; done
  [ ${#missing_parts[@]} -eq 0 ] || exit 1
  say "nothing is missing"
  exit 0
fi

mkdir -p "$deps"
exec 9>"$deps/.lock"
if command -v flock >/dev/null && ! flock -n 9; then
  say "waiting for another set-up of this tree"
  flock 9
fi
run_all 9>&-
if $changed; then
  verify_torch
  say "ready; details in .deps/setup.log"
else
  note "nothing to do"
fi
