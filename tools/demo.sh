#!/bin/sh
# A short tour that needs no GPU: each command is printed, then run. It ends with a page.
# Usage: tools/demo.sh PROGRAM PAGE.html, in the repository's folder
set -eu
program=$1
page=$2
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT

run() {
  printf '\n$ %s\n' "$*"
  "$@"
}
say() { printf '\n# %s\n' "$*"; }

say 'What this machine has'
run "$program" doctor
say 'Every access of these kernels is checked, every result compared with float64'
run "$program" verify vector_add 'sgemm/row_*' 'transpose/0*' --device cpu
say 'Why a row of 33 words is faster than one of 32: the line to blame, and bank conflicts'
run "$program" explain transpose/03_tile_coalesced transpose/04_padded --html "$reports/banks.html"
say 'A bug: the same kernel without its barrier'
run "$program" verify transpose/missing_barrier --device cpu --json "$reports/bug.json" || true

for rung in row_01_naive row_03_thread_tile row_04_vector_load; do
  "$program" explain "sgemm/$rung" --shape 128x128x128 --json "$reports/$rung.json" >/dev/null
done
python3 tools/demo_page.py "$reports" "$page"
say "All of it as a page: $page"
