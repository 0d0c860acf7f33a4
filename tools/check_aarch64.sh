#!/bin/sh
# Compiles the library for 64-bit Arm, where a cross compiler is installed (g++-aarch64-linux-gnu):
#   tools/check_aarch64.sh [BUILD_FOLDER]
# Nothing runs. What nvcc makes for the GPU does not depend on the host, so GPU code is compiled to PTX
# alone, with little optimisation, and for the oldest GPU: `make test` takes the paths of new ones
# elsewhere. Exit code 77: no cross compiler, or no nvcc.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build/aarch64}
if ! command -v aarch64-linux-gnu-g++ > /dev/null; then
  echo 'no cross compiler for 64-bit Arm is installed (Debian and Ubuntu: g++-aarch64-linux-gnu)'
  exit 77
fi
if ! command -v nvcc > /dev/null && ! command -v /usr/local/cuda/bin/nvcc > /dev/null; then
  echo 'no nvcc is installed'
  exit 77
fi
cmake -S "$root" -B "$build" --toolchain "$root/cmake/aarch64-linux-gnu.cmake" \
  -DCMAKE_BUILD_TYPE=Release -DWARPLADDER_LAB=OFF -DWARPLADDER_WERROR=ON \
  -DWARPLADDER_ARCHITECTURES=75-virtual -DWARPLADDER_QUICK=ON \
  -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_CUDA_FLAGS_RELEASE=-O0
cmake --build "$build" --parallel "$(nproc)" --target warpladder_static
library=$build/lib/libwarpladder.a
machines=$(readelf -h "$library" | sed -n 's/^ *Machine: *//p' | sort -u)
[ "$machines" = AArch64 ] || { echo "$library holds objects for: $machines" >&2; exit 1; }
echo "$library holds objects for AArch64 alone"
