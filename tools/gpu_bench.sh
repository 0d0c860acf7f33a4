#!/bin/sh
# Every rung's time on a GPU beside the rivals', for a folder under results/:
#   tools/gpu_bench.sh PROGRAM_DIR OUTPUT_DIR
# PROGRAM_DIR is build/bin. The naive rungs end at 4096, where a launch takes some of them 0.1 s.
# Where ncu is found, it reads the hardware's counters of one launch of each rung at 4096.
set -eu
programs=$1
out=$2
mkdir -p "$out"
fast='sgemm/row_03_thread_tile sgemm/row_04_vector_load sgemm/row_05_double_buffer
  sgemm/row_06_warp_tile sgemm/row_07_register_parity sgemm/col_05_micro_4x1 sgemm/col_06_float4
  sgemm/col_07_micro_4x4 sgemm/col_08_micro_8x8'

"$programs/warpladder" doctor --json "$out/doctor.json" > /dev/null
"$programs/warpladder" bench sgemm -a 'm,n,k=[pow2:8:12]' --device gpu \
  --json "$out/bench.json" --md "$out/bench.md"
# shellcheck disable=SC2086
"$programs/warpladder" bench $fast -a 'm,n,k=[pow2:13:14]' --device gpu \
  --json "$out/bench_large.json" --md "$out/bench_large.md"
"$programs/register_order" --json "$out/register_order.json"
if command -v ncu > /dev/null; then
  metrics=gpu__time_duration.sum,launch__registers_per_thread
  metrics=$metrics,sm__warps_active.avg.pct_of_peak_sustained_active
  metrics=$metrics,sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed
  metrics=$metrics,smsp__issue_active.avg.pct_of_peak_sustained_elapsed
  metrics=$metrics,l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed
  metrics=$metrics,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum
  metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
  metrics=$metrics,l1tex__t_sector_hit_rate.pct,lts__t_sector_hit_rate.pct,dram__bytes.sum
  # verify launches each rung once, in the order of the rows in its report.
  ncu --clock-control none --kernel-name regex:multiply --metrics "$metrics" --csv --page raw \
    --log-file "$out/ncu.log" "$programs/warpladder" verify sgemm --shape 4096x4096x4096 \
    --device gpu --json "$out/ncu_launches.json" > /dev/null
  grep '^"' "$out/ncu.log" > "$out/ncu.csv"  # the rest is about the process, with its path
  rm "$out/ncu.log"
fi
