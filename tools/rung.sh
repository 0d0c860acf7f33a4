#!/bin/sh
# Builds one rung alone, verifies it with every access checked, and explains it.
# Usage: tools/rung.sh OP/ID [OTHER], in the repository's folder, once build/ is configured. OTHER is a
# rung of the same operator to compare with. JOBS=N: compile N files at a time. Exit codes are those of
# warpladder; 2 where there is no such rung.
set -eu

rung=${1:-}
beside=${2:-}

# OP/ID WHAT: refuses what is no rung, and lists the operator's.
require() {
  op=${1%%/*}
  id=${1#*/}
  folder=src/ops/$op/rungs
  if [ -n "$op" ] && [ "$op" != "$1" ] && { [ -f "$folder/$id.cu" ] || [ -f "$folder/$id.sm90a.cu" ]; }
  then
    return
  fi
  echo "make rung: $2='$1' is no rung; say $2=OP/ID, as in $2=sgemm/row_01_naive" >&2
  [ ! -d "$folder" ] || ls "$folder" | sed -n 's/\(\.sm90a\)\{0,1\}\.cu$//p' | tr '\n' ' ' >&2
  exit 2
}
require "$rung" R
[ -z "$beside" ] || require "$beside" BESIDE
rungs=$rung${beside:+;$beside}

# With CUDA, the library's GPU code would be compiled again for each edit. Such a folder gets one beside
# it for the CPU alone, whose first build takes a minute or two.
folder=build
set --
if ! grep -qs -e '^CUDA=OFF[ ,]' -e ' nvcc=none ' build/.configured; then
  folder=build/rung
  set -- -G "$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' build/CMakeCache.txt)" \
    -DCMAKE_BUILD_TYPE=Release -DWARPLADDER_CUDA=OFF -DWARPLADDER_QUICK=ON
fi

# CMake alone knows which rung the program was configured for; asking it again takes seconds.
if ! grep -qsx "WARPLADDER_RUNG:STRING=$rungs" "$folder/CMakeCache.txt"; then
  cmake -S . -B "$folder" "$@" -DWARPLADDER_RUNG="$rungs" >build/rung.log || { cat build/rung.log >&2; exit 1; }
fi
tools/build.py "$folder" one_rung ${JOBS:+--jobs "$JOBS"}
program=$folder/bin/one_rung
status=0
"$program" verify "$rung" --device cpu || status=$?
# Of a rung that breaks CUDA's rules there is nothing to count.
[ "$status" -ne 0 ] || "$program" explain ${beside:+"$beside"} "$rung" || status=$?
exit "$status"
