#!/bin/sh
# Every rung's time on a GPU beside the rivals', as reports that tools/keep_recording.py keeps:
#   tools/gpu_bench.sh PROGRAM_DIR OUTPUT_DIR [OPERATOR ...]
# PROGRAM_DIR is build/bin; without operators, all of them. Where ncu is found, it reads the
# hardware's counters of one launch of each rung.
set -eu
programs=$1
out=$2
shift 2
if [ $# -eq 0 ]; then
  # Every operator has rungs; the tensor-core ladder of sgemm and its dispatch have parts of their own.
  for rungs in "$(dirname "$0")"/../src/ops/*/rungs; do
    set -- "$@" "$(basename "$(dirname "$rungs")")"
  done
  set -- "$@" sgemm_tensor sgemm_every_shape
fi
mkdir -p "$out"

# bench NAME ARGUMENT...: a report, named like its recording
bench() {
  name=$1
  shift
  "$programs/warpladder" bench "$@" --device gpu --json "$out/$name.json" > /dev/null
}

# counters NAME KERNELS OPERATOR SHAPE: verify launches each rung once, in the order of its report
counters() {
  command -v ncu > /dev/null || return 0
  metrics=gpu__time_duration.sum,launch__registers_per_thread
  metrics=$metrics,sm__warps_active.avg.pct_of_peak_sustained_active
  metrics=$metrics,sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active
  metrics=$metrics,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed
  metrics=$metrics,sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed
  metrics=$metrics,smsp__issue_active.avg.pct_of_peak_sustained_elapsed
  metrics=$metrics,l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed
  metrics=$metrics,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum
  metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
  metrics=$metrics,l1tex__t_sector_hit_rate.pct,lts__t_sector_hit_rate.pct,dram__bytes.sum
  ncu --clock-control none --kernel-name "regex:$2" --metrics "$metrics" --csv --page raw \
    --log-file "$out/ncu.log" "$programs/warpladder" verify "$3" --shape "$4" --device gpu \
    --json "$out/$1_launches.json" > /dev/null
  grep '^"' "$out/ncu.log" > "$out/$1.csv"  # the rest is about the process, with its path
  rm "$out/ncu.log"
}

"$programs/warpladder" doctor --json "$out/doctor.json" > /dev/null
for op in "$@"; do
  case $op in
    sgemm)  # the naive rungs end at 4096, where a launch takes some of them 0.1 s
      fast='sgemm/row_03_thread_tile sgemm/row_04_vector_load sgemm/row_05_double_buffer
        sgemm/row_06_warp_tile sgemm/row_07_register_parity sgemm/row_08_double
        sgemm/col_05_micro_4x1 sgemm/col_06_float4 sgemm/col_07_micro_4x4 sgemm/col_08_micro_8x8'
      # shellcheck disable=SC2086
      bench sgemm sgemm/row_01_naive sgemm/row_02_block_tile sgemm/col_01_naive \
        sgemm/col_02_block_tile sgemm/col_03_flat_block sgemm/col_04_conflict_free $fast \
        -a 'm,n,k=[pow2:8:12]'
      # shellcheck disable=SC2086
      bench sgemm_large $fast -a 'm,n,k=[pow2:13:14]'
      "$programs/register_order" --json "$out/register_order.json"
      counters sgemm_counters multiply sgemm 4096x4096x4096
      ;;
    sgemm_tensor)
      tensor='sgemm/tc_01_tf32_once sgemm/tc_02_3xtf32 sgemm/tc_03_promoted sgemm/tc_04_fp16_split
        sgemm/tc_05_tma_ring sgemm/tc_06_warp_specialised sgemm/tc_07_persistent
        sgemm/tc_08_cluster sgemm/tc_22_shared_k sgemm/tc_23_edge_tiles sgemm/tc_24_staged_rows
        sgemm/tc_25_kahan sgemm/tc_09_split_k sgemm/tc_10_full_range sgemm/tc_13_mma_sync
        sgemm/row_08_double'
      best='sgemm/tc_09_split_k sgemm/tc_10_full_range'
      # shellcheck disable=SC2086
      bench sgemm_tensor sgemm/row_07_register_parity $tensor -a 'm,n,k=[1024,2048,4096,8192,16384]'
      bench sgemm_one_tile sgemm/tc_16_one_tile sgemm/tc_17_one_ring sgemm/tc_26_halves_once \
        sgemm/tc_03_promoted -a 'm,n,k=[1024,4096,8192]'
      for variant in row_nt row_tn row_tt col_nn col_nt col_tn col_tt; do
        # shellcheck disable=SC2086
        bench "sgemm_tensor_$variant" $best --variant "$variant" -a 'm,n,k=[4096]'
      done
      shapes=4096x4096x16,4096x4096x64,4096x4096x256,4096x4096x512,1024x1024x64,1024x1024x256
      bench sgemm_tensor_short sgemm/row_07_register_parity sgemm/tc_10_full_range sgemm/row_08_double \
        -a "shape=[128x128x128,256x256x256,512x512x512,$shapes,1024x1024x512,300x7000x700]"
      bench sgemm_tensor_wide sgemm/tc_10_full_range --variant row_nn_wide \
        -a 'm,n,k=[1024,2048,4096,8192]'
      bench sgemm_tensor_prepared sgemm/tc_09_split_k sgemm/tc_10_full_range sgemm/tc_11_prepared \
        sgemm/tc_14_prepared_full_range sgemm/row_08_double \
        -a 'shape=[64x4096x4096,512x4096x4096,1024x1024x1024,4096x4096x4096]'
      # shellcheck disable=SC2086
      bench sgemm_tensor_ragged sgemm/tc_08_cluster sgemm/tc_23_edge_tiles sgemm/tc_24_staged_rows $best \
        -a 'shape=[4095x4097x4099,1000x1000x1000,2047x2049x2051]'
      # shellcheck disable=SC2086
      "$programs/warpladder" accuracy sgemm/row_07_register_parity $tensor --device gpu \
        --json "$out/sgemm_accuracy.json" > /dev/null
      # shellcheck disable=SC2086
      "$programs/warpladder" accuracy sgemm/row_07_register_parity $best sgemm/row_08_double \
        --device gpu -a 'm,n=[1024]' -a 'k=[64,256,512,1024,4096,16384]' \
        --json "$out/sgemm_accuracy_1024.json" > /dev/null
      "$programs/warpladder" accuracy sgemm/tc_10_full_range sgemm/row_08_double --device gpu \
        -a 'm=[2048,8192]' -a 'n=[512,3000]' -a 'k=[256,512,900]' \
        --json "$out/sgemm_accuracy_short.json" > /dev/null
      counters sgemm_tensor_counters multiply sgemm 8192x8192x8192
      ;;
    sgemm_every_shape)
      files=$(dirname "$0")/../benchmarks/every_shape
      bench sgemm_every_shape sgemm/dispatch --shapes "$files/shapes.txt"
      "$programs/warpladder" accuracy sgemm/dispatch --shapes "$files/accuracy.txt" --device gpu \
        --json "$out/sgemm_every_shape_accuracy.json" > /dev/null
      ;;
    transpose)
      best='transpose/06_vector transpose/07_rotated transpose/08_thin transpose/09_whole_sectors'
      # shellcheck disable=SC2086
      shapes=1024x1024,4096x4096,8192x8192,16384x16384,1000x3000,4097x4095,8193x8191
      bench transpose $best -a "shape=[$shapes,16383x16385,1048576x33,33x1048576]"
      bench transpose_rungs transpose -a 'shape=[1024x1024,4096x4096,4097x4095]'
      shapes=1x1,7x7,33x33,64x64,100x100,513x511,1x100000,100000x1,3x100000,100000x3,17x65536
      bench transpose_more $best -a "shape=[$shapes,65536x17,64x1048576,1048576x64]"
      bench transpose_in_place transpose --variant in_place -a 'shape=[1024x1024,8192x8192]'
      ;;
    reduce)
      top=reduce/08_by_size
      bench reduce $top -a 'n=[pow2:0:30]'
      bench reduce_rungs reduce -a 'n=[1024,16384,262144,4194304,67108864,268435456]'
      odd=3,7,100,333,1000,1500,3000,4095,4097,5000,8193,10000,16385,20000,32769,50000,100000
      bench reduce_odd $top -a "n=[$odd,131073,200000,500000,1000000,3000001,10000000,50000003]"
      bench reduce_functions $top --variant all -a 'n=[65536,1048576,16777216,268435456]'
      ;;
    reduce_axis)
      functions=row_sum,row_max,row_argmax,column_sum,column_max,column_argmax
      bench reduce_axis reduce_axis/04_split --variant "$functions"
      bench reduce_axis_rungs reduce_axis --variant row_sum,column_sum
      ;;
    sgemv)
      bench sgemv sgemv/08_full_waves --variant all
      bench sgemv_rungs sgemv --variant row_n,row_t \
        -a 'shape=[4096x4096,1048576x64,64x1048576,8192x1024]'
      # drawn once, sizes and their ratios log-uniform
      shapes=5x1060,4154x2242,52044x1986,33237x3397,27x4987,4x82678,509x80419
      shapes=$shapes,18x32,1236x2,112x2270,57x567,2995x1,19046x154,348x251
      shapes=$shapes,3360x1002,5x1118,36x337,1313x1,1x17478,218381x4
      bench sgemv_random sgemv/08_full_waves --variant all -a "shape=[$shapes]"
      ;;
    warp)
      bench warp warp -a 'tiles=[pow2:13:20]'
      ;;
    *)
      bench "$op" "$op"
      ;;
  esac
done
