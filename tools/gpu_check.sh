#!/bin/sh
# Everything that a GPU has to say about correctness:
#   tools/gpu_check.sh PROGRAM_DIR OUTPUT_DIR
# All rungs on all cases, the executor's language tests on the GPU itself, and compute-sanitizer's
# memcheck and racecheck over both. PROGRAM_DIR is build/bin; the programs need nothing but CUDA.
set -u
programs=$1
out=$2
mkdir -p "$out"
failed=0

note() {
  if [ "$2" -eq 0 ]; then echo "$1: ok"; else echo "$1: FAILED ($2)"; failed=1; fi
}

"$programs/warpladder" doctor --json "$out/doctor.json" > "$out/doctor.md"
note doctor $?
"$programs/warpladder" verify --device gpu --json "$out/verify.json" > "$out/verify.md"
note verify $?
"$programs/warpladder" verify transpose/09_whole_sectors transpose/10_in_place \
  reduce/08_by_size reduce_axis/04_split sgemv/08_full_waves --large --device gpu \
  --json "$out/verify_large.json" > "$out/verify_large.md"
note "verify --large" $?
for tests in rung_tests kernel_tests; do
  "$programs/$tests" --gtest_brief=1 --gtest_filter='*gpu*:*Gpu*' --gtest_output="json:$out/$tests.json" \
    > "$out/$tests.txt" 2>&1
  note "$tests on the GPU" $?
  for tool in memcheck racecheck; do
    # A test that asks for an absurd allocation gets an API error; that is what it is after.
    compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 9 \
      "$programs/$tests" --gtest_brief=1 --gtest_filter='*gpu*:*Gpu*' > "$out/${tests}_$tool.txt" 2>&1
    note "$tests under $tool" $?
  done
done
# Both ways of cuBLAS on every case, and the timing itself.
"$programs/rung_tests" --gtest_brief=1 --gtest_filter='Bench.*:Rivals.*' \
  --gtest_output="json:$out/lab_tests.json" > "$out/lab_tests.txt" 2>&1
note "timing on the GPU" $?
exit $failed
