#!/bin/sh
# Builds one rung alone, verifies it with every access checked, and explains it.
# Usage: tools/rung.sh OP/ID, in the repository's folder, once build/ is configured. JOBS=N: compile N
# files at a time. Exit codes are those of warpladder; 2 where there is no such rung.
set -eu

rung=${1:-}
op=${rung%%/*}
id=${rung#*/}
folder=src/ops/$op/rungs
if [ -z "$op" ] || [ "$op" = "$rung" ] || { [ ! -f "$folder/$id.cu" ] && [ ! -f "$folder/$id.sm90a.cu" ]; }
then
  echo "make rung: R='$rung' is no rung; say R=OP/ID, as in R=sgemm/row_01_naive" >&2
  [ ! -d "$folder" ] || ls "$folder" | sed -n 's/\(\.sm90a\)\{0,1\}\.cu$//p' | tr '\n' ' ' >&2
  exit 2
fi

# CMake alone knows which rung the program was configured for; asking it again takes seconds.
if ! grep -qsx "WARPLADDER_RUNG:STRING=$rung" build/CMakeCache.txt; then
  cmake -S . -B build -DWARPLADDER_RUNG="$rung" >build/rung.log || { cat build/rung.log >&2; exit 1; }
fi
tools/build.py build one_rung ${JOBS:+--jobs "$JOBS"}
program=build/bin/one_rung
status=0
"$program" verify "$rung" --device cpu || status=$?
# Of a rung that breaks CUDA's rules there is nothing to count.
[ "$status" -ne 0 ] || "$program" explain "$rung" || status=$?
exit "$status"
