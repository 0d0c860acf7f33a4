#!/bin/sh
# A short tour that needs no GPU: each command is printed, then run. Usage: tools/demo.sh [PROGRAM]
set -eu
program=${1:-build/bin/warpladder}

run() {
  printf '\n$ %s\n' "$*"
  "$@"
}

run "$program" doctor
run "$program" list sgemm
run "$program" verify vector_add sgemm --device cpu
run "$program" explain sgemm/row_01_naive sgemm/row_02_block_tile --shape 256x256x256
