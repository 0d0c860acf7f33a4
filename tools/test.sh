#!/bin/sh
# Builds everything and runs every test. PyTorch, which the test of its binding needs, is downloaded
# while the build runs.
# Usage: tools/test.sh JOBS, in the repository's folder, once build/ is configured
set -eu
jobs=$1
if grep -qs '^CMAKE_CUDA_COMPILER:' build/CMakeCache.txt; then  # without CUDA there is no binding
  python3 bindings/torch/check_wheel.py --prepare build/torch_environment >build/torch_environment.log 2>&1 &
  download=$!
  trap 'kill "$download" 2>/dev/null || true' EXIT
fi
tools/build.py build all --jobs "$jobs"
ctest --test-dir build --output-on-failure --parallel "$jobs"
