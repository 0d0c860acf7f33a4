// Bound before: a row of a million entries keeps one warp, or one block, busy while the others are
// done.
// Idea: 03_subwarp passes over such rows and notes them in a list; a second kernel puts 32 blocks
// to each of them. Their sums meet by flags (parts/flag_finish.hpp), in the order of the blocks.
//
// Prediction, where no row is that long: 03's, and a load of the count by each warp of the second
// kernel. Accepts: every matrix. What binds it: rows in between, and the lanes that wait for them.

#include "ops/spmv/rung.hpp"

namespace warpladder::spmv {
namespace {

constexpr int kThreads = 256;

template <class Offset, int kLanes>
__global__ void __launch_bounds__(kThreads)
    multiply_short(Csr<Offset> m, std::uint64_t* count, std::int64_t* list) {
  const std::int64_t row = std::int64_t{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const bool there = row < m.rows;
  const std::int64_t begin = there ? m.row_offsets[row] : 0,
                     end = there ? m.row_offsets[row + 1] : 0;
  const bool is_long = end - begin >= kLongRow;
  float sum = 0.0f;
  if (!is_long) {
    for (std::int64_t e = begin + lane; e < end; e += kLanes) {
      sum += __ldg(m.values + e) * __ldg(m.x + __ldg(m.column_indices + e));
    }
  }
  sum = parts::warp::reduce<kLanes>(sum, parts::warp::Sum());
  if (!there || lane > 0) return;
  if (is_long) {
    // Whatever the order of the list, each row is added up the same way.
    list[atomicAdd(reinterpret_cast<unsigned long long*>(count), 1ull)] = row;
  } else {
    parts::store_row(m, row, sum);
  }
}

// Block b of gridDim.y takes the b-th piece of every row in the list; the last one finishes.
template <class Offset>
__global__ void __launch_bounds__(kThreads)
    multiply_long(Csr<Offset> m, std::uint64_t* count, const std::int64_t* list) {
  __shared__ float of_warp[kThreads / 32];
  const int t = threadIdx.x;
  const auto rows = static_cast<std::int64_t>(*count);
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t row = list[i], begin = m.row_offsets[row], end = m.row_offsets[row + 1],
                       piece = (end - begin + gridDim.y - 1) / gridDim.y,
                       from = begin + blockIdx.y * piece,
                       to = from + piece < end ? from + piece : end;
    float sum = 0.0f;
    for (std::int64_t e = from + t; e < to; e += kThreads) {
      sum += __ldg(m.values + e) * __ldg(m.x + __ldg(m.column_indices + e));
    }
    sum = parts::warp::reduce(sum, parts::warp::Sum());
    if (t % 32 == 0) of_warp[t / 32] = sum;
    __syncthreads();  // the warps' sums are there before they are added up
    if (t < 32) {
      sum = parts::warp::reduce(t < kThreads / 32 ? of_warp[t] : 0.0f, parts::warp::Sum());
      if (parts::gather_value(count + 1 + i * kBlocksOfLongRow, sum) && t == 0) {
        parts::store_row(m, row, sum);
      }
    }
    __syncthreads();  // they have been before the next row's come
  }
  // All others have published, and so have read the count.
  if (rows > 0 && blockIdx.y + 1 == gridDim.y && t == 0) *count = 0;
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call& call, runtime::StreamView& stream) {
  const std::int64_t mean = mean_row(call.problem);
  const auto go = [&](auto lanes) {
    constexpr int kLanes = decltype(lanes)::value;
    runtime::launch(stream, {dim3(to_grid(ceil_div(m.rows, kThreads / kLanes))), dim3(kThreads)},
                    multiply_short<Offset, kLanes>, m, call.flags, call.scratch);
  };
  if (mean < 8) {
    go(std::integral_constant<int, 4>());
  } else if (mean < 32) {
    go(std::integral_constant<int, 16>());
  } else {
    go(std::integral_constant<int, 32>());
  }
  if (most_long_rows(call.problem) == 0) return;
  runtime::launch(stream, {dim3(1, kBlocksOfLongRow), dim3(kThreads)}, multiply_long<Offset>, m,
                  call.flags, call.scratch);
}

ladder::Totals predict(const Problem& p) {
  ladder::Totals t = predict_warp_per_row(p);
  if (most_long_rows(p) == 0) return t;
  const std::uint64_t warps = kBlocksOfLongRow * kThreads / 32;
  t.global_load_requests += warps;
  t.global_load_sectors += warps;
  return t;
}

}  // namespace

WARPLADDER_RUNG(05_long_rows) = {.idea = "several blocks for each long row",
                                 .accepts = "every matrix",
                                 .launch = launch_call<launch<std::int32_t>, launch<std::int64_t>>,
                                 .predict = predict_call<predict>};

}  // namespace warpladder::spmv
