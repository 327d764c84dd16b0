#!/usr/bin/env bash
# Proves that the project needs nothing but a bare Debian 12: makes one in FOLDER with debootstrap, from
# this machine's package sources and pip settings, clones the committed state of this checkout into it, and runs
# each COMMAND there (bash, in the clone), with the minutes each took. Needs root. Not a container:
# a chroot without the host's programs, libraries or environment.
#
#   tools/fresh_machine.sh [--reuse] [--remove] FOLDER COMMAND...
#   --reuse    FOLDER holds such a machine already: do not make it, do not clone
#   --remove   remove FOLDER at the end
#   tools/fresh_machine.sh --remove /var/fresh 'tools/run.sh train configs/classic/cartpole_unizero.yaml'
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
suite=bookworm
reuse=false
remove=false

say() { echo "fresh machine: $*"; }
fail() {
  echo "fresh machine: error: $*" >&2
  exit 1
}
# Addresses of package sources do not belong in a log.
hide_addresses() { sed -E 's#[a-z]+://[^ ]*#(package source)#g'; }
minutes_since() { awk -v seconds="$((SECONDS - $1))" 'BEGIN { printf "%.1f min", seconds / 60 }'; }

# The first source of this machine that carries the suite.
package_source() {
  local files=()
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
    if [ -f "$file" ]; then files+=("$file"); fi
  done
  awk -v suite="$suite" '
    $1 == "deb" { for (i = 2; i < NF; i++) if ($i ~ "://" && $(i + 1) == suite) { print $i; exit } }
    $1 == "URIs:" { address = $2 }
    $1 == "Suites:" { for (i = 2; i <= NF; i++) if ($i == suite) wanted = 1 }
    wanted && address { print address; exit }
    /^[[:space:]]*$/ { address = ""; wanted = 0 }' "${files[@]}"
}

make_machine() {
  local folder=$1 source started=$SECONDS file
  source=$(package_source)
  [ -n "$source" ] || fail "no package source for $suite in /etc/apt"
  command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
  if [ -e "$folder" ] && [ -n "$(ls -A "$folder")" ]; then fail "$folder is not empty"; fi
  mkdir -p "$folder"
  debootstrap --variant=minbase "$suite" "$folder" "$source" 2>&1 | hide_addresses \
    >"$folder.bootstrap.log" || fail "debootstrap failed, see $folder.bootstrap.log"
  rm -f "$folder"/etc/apt/sources.list
  for file in sources.list sources.list.d auth.conf auth.conf.d keyrings trusted.gpg trusted.gpg.d; do
    if [ -e "/etc/apt/$file" ]; then cp -a "/etc/apt/$file" "$folder/etc/apt/"; fi
  done
  for file in /etc/apt/apt.conf.d/*; do  # hooks would call programs that are not there
    grep -q 'Invoke' "$file" || cp "$file" "$folder/etc/apt/apt.conf.d/"
  done
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf; do
    if [ -e "$file" ]; then cp -L "$file" "$folder$file"; fi
  done
  if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
    cp /etc/ssl/certs/ca-certificates.crt "$folder/etc/host_certificates.crt"
  fi
  git clone --quiet --no-hardlinks "$root" "$folder/lzero"
  say "made in $(minutes_since "$started"), $(du -sh "$folder" | cut -f1), lzero $(git -C "$root" rev-parse --short HEAD)"
}

# run_inside FOLDER COMMAND: in a mount namespace of its own, so that nothing stays mounted.
run_inside() {
  local folder=$1 command=$2 environment=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8)
  while IFS= read -r line; do environment+=("$line"); done < <(env | grep -E '^(PIP_|https?_proxy=)' || true)
  if [ -e "$folder/etc/host_certificates.crt" ]; then
    environment+=(PIP_CERT=/etc/host_certificates.crt)
  fi
  # shellcheck disable=SC2016
  unshare --mount --propagation private bash -c '
    set -e
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount -t tmpfs tmpfs "$1/tmp"
    folder=$1 command=$2
    shift 2
    exec chroot "$folder" env -i "$@" bash -c "cd /lzero && $command"' \
    run_inside "$folder" "$command" "${environment[@]}"
}

while [ $# -gt 0 ]; do
  case $1 in
    --reuse) reuse=true ;;
    --remove) remove=true ;;
    --*) fail "unknown argument '$1'; allowed: --reuse --remove" ;;
    *) break ;;
  esac
  shift
done
[ $# -ge 2 ] || fail "usage: tools/fresh_machine.sh [--reuse] [--remove] FOLDER COMMAND..."
[ "$(id -u)" -eq 0 ] || fail "needs root (debootstrap and chroot)"
folder=$(realpath -m "$1")
shift
case $folder in
  "$root" | "$root"/*) fail "$folder lies inside the project, which would be cloned into itself" ;;
esac

if $reuse; then
  [ -d "$folder/lzero" ] || fail "$folder holds no machine made by this script"
else
  make_machine "$folder"
fi
result=0
for command in "$@"; do
  say "running: $command"
  started=$SECONDS
  code=0
  run_inside "$folder" "$command" || code=$?
  say "exit code $code after $(minutes_since "$started"): $command"
  if [ $code -ne 0 ]; then
    result=$code
    break
  fi
done
if $remove; then rm -rf --one-file-system "$folder" "$folder.bootstrap.log"; fi
exit $result
