#!/bin/sh
# The drop-in's clients on a GPU, each with cuBLAS alone and with the library preloaded.
#
#   run_clients.sh LIBRARY FOLDER [SAMPLES]
#
# LIBRARY: libwarpladder_cublas.so. FOLDER: where old_api and current_api lie; what is printed goes
# there, too. SAMPLES: a folder with NVIDIA's samples as programs (matrixMulCUBLAS, batchCUBLAS,
# simpleCUBLAS), which run where they are found. PYTHON names the interpreter. A client whose package
# is missing is skipped, with a sentence. Exit code 1 where a client fails.
set -u
if [ $# -lt 2 ]; then
  sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
library=$(realpath "$1")
folder=$(realpath "$2")
samples=${3:-}
here=$(dirname "$(realpath "$0")")
python=${PYTHON:-python3}
failed=0

# run NAME COMMAND…: both ways, one file each.
run() {
  name=$1
  shift
  for way in cublas warpladder; do
    out="$folder/$name.$way.txt"
    if [ "$way" = warpladder ]; then
      LD_PRELOAD=$library WARPLADDER_CUBLAS=${MODE:-log} timeout 240 "$@" > "$out" 2>&1
    else
      timeout 240 "$@" > "$out" 2>&1
    fi
    code=$?
    echo "== $name, $way: exit $code"
    grep -v ': taken$' "$out" | head -60
    if [ "$code" -ne 0 ] && [ "$way" = warpladder ]; then failed=1; fi
  done
}

for program in old_api current_api; do
  if [ -x "$folder/$program" ]; then
    run "$program" "$folder/$program"
  else
    echo "skipped: $folder/$program is not there"
  fi
done
for package in torch cupy jax; do
  if "$python" -c "import $package" 2> /dev/null; then
    run "$package" "$python" "$here/${package}_client.py"
  else
    echo "skipped: $python has no $package"
  fi
done
for sample in matrixMulCUBLAS batchCUBLAS simpleCUBLAS; do
  if [ -n "$samples" ] && [ -x "$samples/$sample" ]; then
    run "$sample" "$samples/$sample"
  else
    echo "skipped: there is no $sample"
  fi
done
exit $failed
