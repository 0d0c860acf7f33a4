#!/bin/sh
# What a GPU counts for every rung, and for patterns of accesses to shared memory, in four minutes:
#   tools/agreement_gpu.sh PROGRAM_DIR OUTPUT_DIR
# PROGRAM_DIR is build/bin of a build for this GPU. Needs ncu; tools/agreement.py reduce reads what comes out.
set -eu
tools=$(dirname "$0")
program=$1/agreement
problems=$tools/../benchmarks/agreement/problems.txt
out=$2
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

profile() {
  ncu --clock-control none --cache-control none --profile-from-start off \
    --print-kernel-base mangled "$@"
}

wavefronts=l1tex__data_pipe_lsu_wavefronts_mem_shared_op
conflicts=l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op
shared=${wavefronts}_ld.sum,${wavefronts}_st.sum,${conflicts}_ld.sum,${conflicts}_st.sum
profile --metrics "$shared" --csv --page raw --log-file "$work/patterns.csv" \
  "$program" patterns "$out/patterns.jsonl"

metrics=$shared
for kind in ld st; do
  metrics=$metrics,l1tex__t_requests_pipe_lsu_mem_global_op_$kind.sum
  metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_global_op_$kind.sum
done
for fma in ffma dfma; do
  metrics=$metrics,smsp__sass_thread_inst_executed_op_${fma}_pred_on.sum
done
profile --metrics "$metrics" --csv --page raw --log-file "$work/counters.csv" \
  "$program" rungs "$problems" "$out/rungs.jsonl"

profile --section SourceCounters --export "$work/source" "$program" rungs "$problems" \
  "$work/again.jsonl"
python3 "$tools/extract_instructions.py" "$work/source.ncu-rep" "$out/source.jsonl.gz"
for name in patterns counters; do
  gzip -c "$work/$name.csv" > "$out/$name.csv.gz"
done
