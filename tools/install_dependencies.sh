#!/bin/sh
# Brings what the build and the tests need. When all of it is there this is one dpkg-query call.
# Exit codes: 0 everything is there, 3 something is missing and could not be installed.
# WARPLADDER_DEPENDENCIES=present skips the search: the answer of whoever brings them otherwise.
set -eu

[ "${WARPLADDER_DEPENDENCIES:-}" != present ] || exit 0

# package:command. A command from anywhere will do. pydoc3 stands for python3 with its whole
# standard library: Debian's python3-minimal has a python3 too, but not unittest.
tools='g++:g++ make:make cmake:cmake ninja-build:ninja python3:pydoc3 binutils:addr2line
  pkg-config:pkg-config xz-utils:xz'
libraries='libcli11-dev libfmt-dev nlohmann-json3-dev libgtest-dev libopenblas-dev
  libopenblas-pthread-dev zlib1g-dev'

say() { printf 'dependencies: %s\n' "$*" >&2; }

require_new_cmake() {
  version=$(cmake --version | sed -n '1s/^cmake version //p')
  rest=${version#*.}
  if [ "${version%%.*}" -lt 3 ] || { [ "${version%%.*}" -eq 3 ] && [ "${rest%%.*}" -lt 25 ]; }; then
    say "cmake $version is too old: 3.25 or newer is needed (https://cmake.org/download)"
    exit 3
  fi
}

if ! command -v dpkg-query >/dev/null 2>&1; then
  cat >&2 <<'LIST'
dependencies: this is neither Debian nor Ubuntu, so nothing is installed. The build needs
  g++ 12 or newer, make, cmake 3.25 or newer, binutils, python3, xz; ninja if present
  CLI11, fmt, nlohmann-json, GoogleTest, OpenBLAS (static library, pthreads), zlib (static library)
dependencies: set WARPLADDER_DEPENDENCIES=present once they are where CMake finds them
LIST
  exit 3
fi

missing=
for entry in $tools; do
  command -v "${entry#*:}" >/dev/null 2>&1 || missing="$missing ${entry%%:*}"
done

# shellcheck disable=SC2086  # the lists are meant to be split into words
installed=$(dpkg-query -W -f '${Package}=${db:Status-Status}\n' $libraries 2>/dev/null) || true
newline='
'
for package in $libraries; do
  case "$newline$installed$newline" in
    *"$newline$package=installed$newline"*) ;;
    *) missing="$missing $package" ;;
  esac
done

if [ -z "$missing" ]; then
  require_new_cmake
  exit 0
fi

# shellcheck disable=SC2086
set -- env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 \
  install --no-install-recommends --no-remove $missing
as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    say "missing:$missing"
    say "run as root: apt-get update && apt-get install --no-install-recommends$missing"
    exit 3
  fi
  as_root=sudo
fi

say "installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# An update that fails, say of one foreign repository, need not stop the install.
$as_root apt-get -q -o DPkg::Lock::Timeout=120 update >"$log" 2>&1 || say 'apt-get update failed'
if ! $as_root "$@" >>"$log" 2>&1; then
  cat "$log" >&2
  say "apt-get could not install$missing"
  exit 3
fi
require_new_cmake
