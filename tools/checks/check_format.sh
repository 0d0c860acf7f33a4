#!/bin/sh
# Are all C++ and CUDA sources as .clang-format wants them? check_format.sh REPO [CLANG_FORMAT]
# Other versions of clang-format differ in details, so only version 14 is asked (77: skipped).
set -eu
cd "$1"
program=${2:-clang-format}
if ! "$program" --version 2>/dev/null | grep -q 'version 14\.'; then
  echo "skipped: clang-format 14 is not installed"
  exit 77
fi
find src apps tests benchmarks tools -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' | sort |
  xargs "$program" --dry-run -Werror
