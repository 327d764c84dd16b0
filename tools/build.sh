#!/usr/bin/env bash
# Configures a CMake preset if needed and builds it, with one progress line on stderr; the compilers'
# full output goes to build/PRESET/build.log, whose end is shown when the build fails.
#
#   tools/build.sh PRESET [TARGET...]
#   tools/build.sh portable     the release build, and from it the folder build/release/bundle, which runs
#                               on any machine with the same version of torch: gpu_check.sh, lzero.sh
#
# LZERO_CMAKE_OPTIONS, when set, is passed to CMake where a folder is configured: -DLZERO_TORCH=OFF builds
# without libtorch. LZERO_JOBS: compilers at a time.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ $# -eq 0 ]; then
  echo "usage: tools/build.sh PRESET [TARGET...], or: tools/build.sh portable" >&2
  exit 2
fi
case $1 in
  -h | --help)
    sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
esac
if [ "$1" = portable ]; then set -- release bundle; fi
is_bundle=false
if [ "${2:-}" = bundle ]; then is_bundle=true; fi
preset=$1
shift
folder=$root/build/$preset
log=$folder/build.log
jobs=${LZERO_JOBS:-$(nproc)}
started=$SECONDS

fail() {
  echo "build: error: $1; the end of $log:" >&2
  tail -n 40 "$log" >&2
  exit 1
}

# Shows ninja's last "[12/345]" while process $1 lives: in place on a terminal, else now and then.
show_progress() {
  local step='' shown='' ticks=0
  for _ in {1..9}; do  # mostly there is nothing to build
    kill -0 "$1" 2>/dev/null || return 0
    sleep 0.1
  done
  while kill -0 "$1" 2>/dev/null; do
    sleep 1
    ticks=$((ticks + 1))
    step=$(grep -aoE '^\[[0-9]+/[0-9]+\]' "$log" | tail -n 1 || true)
    if [ "$step" = "$shown" ]; then continue; fi
    if [ -t 2 ]; then
      printf '\rbuild: %s %s ' "$preset" "$step" >&2
    elif [ $((ticks % 60)) -eq 0 ]; then
      echo "build: $preset $step after $((SECONDS - started)) s" >&2
    else
      continue
    fi
    shown=$step
  done
  if [ -t 2 ] && [ -n "$shown" ]; then printf '\r\033[K' >&2; fi
}

if [ ! -f "$folder/build.ninja" ]; then
  presets=$(cd "$root" && cmake --list-presets | sed -n 's/^ *"\([^"]*\)".*/\1/p')
  if ! grep -qxF -e "$preset" <<<"$presets"; then
    echo "build: error: no preset '$preset'; allowed: portable, ${presets//$'\n'/, }" >&2
    exit 2
  fi
fi

mkdir -p "$folder"
exec 9>"$folder/.lock"
if ! flock -n 9; then  # two builds in one folder would write over each other
  echo "build: waiting for another build of $preset" >&2
  flock 9
fi

if [ ! -f "$folder/build.ninja" ]; then
  echo "build: configuring $preset" >&2
  (cd "$root" && cmake --preset "$preset" ${LZERO_CMAKE_OPTIONS:-}) >"$log" 2>&1 9>&- ||
    fail "configuring $preset failed (tools/setup.sh installs what may be missing)"
fi
ninja -C "$folder" -j "$jobs" "$@" >"$log" 2>&1 9>&- &
ninja_process=$!
trap 'kill "$ninja_process" 2>/dev/null || true' INT TERM
show_progress "$ninja_process"
wait "$ninja_process" || fail "building $preset failed"
if grep -qE '^\[[0-9/]+\] (Building|Linking)' "$log"; then  # not only the look-up of the commit
  echo "build: $preset built in $((SECONDS - started)) s" >&2
fi
if $is_bundle; then echo "build: $folder/bundle, $(du -sm "$folder/bundle" | cut -f1) MB" >&2; fi
