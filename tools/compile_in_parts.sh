#!/bin/sh
# Runs a g++ compilation so that all processors share it: g++ reads the source once, then optimises its
# functions in parts, two for a processor, for parts of one size take different times. It inlines what is
# called once more often than in an ordinary compilation. What it warns of while it optimises is not shown.
# Usage: tools/compile_in_parts.sh g++ FLAG... -o OBJECT -c SOURCE
set -eu

object=
flags=
before=
for word in "$@"; do
  [ "$before" != -o ] || object=$word
  before=$word
  case $word in
    -f*-map=*) ;;  # done when the source is read; a path may hold spaces
    -f* | -g* | -m* | -O*) flags="$flags $word" ;;
  esac
done
"$@" -flto
# Without -fdisable-ipa-comdats kernels that one template's function launches would be one part. g++ notes that.
# shellcheck disable=SC2086  # a word for each flag
said=$("$1" $flags -w -Wno-psabi -fdisable-ipa-comdats -flto=auto -flto-partition=balanced \
  --param lto-partitions="$((2 * $(nproc)))" -r -flinker-output=nolto-rel "$object" -o "$object.joined" 2>&1) || {
  printf '%s\n' "$said" | grep -v 'note: disable pass' >&2
  exit 1
}
mv "$object.joined" "$object"
