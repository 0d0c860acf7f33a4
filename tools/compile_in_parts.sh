#!/bin/sh
# Runs a g++ compilation so that all processors share it: g++ reads the source once, then optimises its
# functions in as many parts. It inlines what is called once more often than in an ordinary compilation.
# What it warns of while it optimises is not shown.
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
# shellcheck disable=SC2086  # a word for each flag
"$1" $flags -w -Wno-psabi -flto=auto -flto-partition=balanced --param lto-partitions="$(nproc)" \
  -r -flinker-output=nolto-rel "$object" -o "$object.joined"
mv "$object.joined" "$object"
