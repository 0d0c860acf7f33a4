// Bound before: where columns are random, the L2 cache. It answers one request of each of its
// slices in a cycle, whatever part of a 128-byte line that asks for. Nearly every entry makes a
// request of its own.
// Idea: ask for x in the order of the columns. A plan has sorted the entries of each tile, as long
// a tile as shared memory holds. Neighbouring lanes then ask for one line, in one request, and each
// product goes to its place in the tile. Tiles so long leave room for one block to a
// multiprocessor, so its warps have roles. One copies the values of the next tile, eighteen ask for
// x and multiply, thirteen add up the rows of the tile before. A block has a strip of neighbouring
// tiles; strips are cut where they cost about the same.
//
// Prediction: a barrier a block. Accepts: every matrix; a plan holds for any values. What binds it:
// the L2 cache, with fewer requests. Where columns are near each other, the words of the plan are
// as many as the columns that they stand for, and nothing is won.

#include "ops/spmv/rung.hpp"
#include "parts/strip.hpp"

namespace warpladder::spmv {
namespace {

constexpr int kGatherers = 32 * LongTile::kWarps, kAdders = parts::kAdders,
              kThreads = kGatherers + kAdders + 32;

template <class Offset>
using Order = parts::XOrder<LongTile, Offset>;
using Shared = parts::StripShared<LongTile::kMost>;
static_assert(sizeof(Shared) <= 163 * 1024);  // leaves 92 KB to L1, whose lines every load needs

template <class Offset>
__global__ void __launch_bounds__(kThreads, 1)
    multiply(Csr<Offset> m, std::uint64_t* flags, Order<Offset> order, LongTile shape) {
  auto& shared = *runtime::dynamic_shared<Shared>();
  const int t = threadIdx.x;
  const parts::Strip strip{order.strip_tiles[blockIdx.x], order.strip_tiles[blockIdx.x + 1]};
  if (strip.tile == strip.end) {  // a row that goes through has nothing here
    if (t == 0 && order.starts[strip.tile].cuts()) flags[blockIdx.x] = parts::to_word(0.0f);
    return;
  }
  if (t == 0) shared.init(kGatherers);
  __syncthreads();  // the barriers are there
  if (t < kGatherers) {
    parts::StripPlace at;
    const auto begin = [&] {
      ptx::wait(&shared.full[at.stage], at.parity);
      return shared.tiles[at.stage];
    };
    const auto end = [&] {
      ptx::arrive(&shared.multiplied[at.stage]);
      at.advance();
    };
    parts::XGatherer<LongTile, Offset>(m, order, t).multiply(strip, shape.own(), begin, end);
  } else if (t < kGatherers + kAdders) {
    parts::add_rows(m, shape, strip, order, t - kGatherers, flags, shared);
  } else {
    parts::copy_values(m, shape, strip, shared);
  }
}

template <class Offset>
__global__ void __launch_bounds__(kSearchThreads)
    find_starts(LongTile shape, Csr<Offset> m, parts::TileStart<Offset>* starts, std::int64_t count,
                bool every_row) {
  find_starts_of(shape, m, starts, count, every_row);
}

using OrderShared = parts::OrderShared<LongTile::kMost>;
template <class Offset>
__global__ void __launch_bounds__(parts::kOrderThreads)
    order_columns(LongTile shape, Csr<Offset> m, Order<Offset> order, int buckets,
                  int bucket_log2) {
  parts::order_tile(shape, m, order, buckets, bucket_log2, *runtime::dynamic_shared<OrderShared>());
}

template <class Offset>
__global__ void __launch_bounds__(parts::kOrderThreads) cut_strips(Order<Offset> order) {
  parts::cut_strips(order);
}

template <class Offset>
Order<Offset> order_in(const Call& call, const runtime::Machine& machine) {
  return {call.plan + order_at(call.problem), order_layout(call.problem, machine)};
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call& call, runtime::StreamView& stream) {
  const auto order = order_in<Offset>(call, *stream.machine);
  runtime::launch(stream, {dim3(to_grid(order.strips)), dim3(kThreads), sizeof(Shared)},
                  multiply<Offset>, m, call.flags, order, long_tile(call.problem, *stream.machine));
}

template <class Offset>
void prepare(const Csr<Offset>& m, const Call& call, runtime::StreamView& stream) {
  const LongTile shape = long_tile(call.problem, *stream.machine);
  const auto order = order_in<Offset>(call, *stream.machine);
  // A bucket is a line of x or more.
  int bucket_log2 = 5;
  while (call.problem.columns > std::int64_t{1} << (bucket_log2 + parts::kBucketsLog2)) {
    ++bucket_log2;
  }
  const int buckets = static_cast<int>(ceil_div(call.problem.columns, 1 << bucket_log2));
  launch_search(stream, find_starts<Offset>, shape, m, order.starts);
  runtime::launch(stream,
                  {dim3(to_grid(order.tiles)), dim3(parts::kOrderThreads), sizeof(OrderShared)},
                  order_columns<Offset>, shape, m, order, buckets, bucket_log2);
  runtime::launch(stream, {dim3(1), dim3(parts::kOrderThreads)}, cut_strips<Offset>, order);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t = nothing_predicted();
  t.barriers = order_layout(p, machine).strips * kThreads / 32;
  return t;
}

}  // namespace

WARPLADDER_RUNG(09_sorted) = {.idea = "x asked for in the order of columns, by a plan",
                              .accepts = "every matrix",
                              .launch = launch_call<launch<std::int32_t>, launch<std::int64_t>>,
                              .predict = predict_call<predict>,
                              .prepare = prepare_call<prepare<std::int32_t>, prepare<std::int64_t>>,
                              .needs = {.capability = 80, .shared_bytes = sizeof(Shared)}};

}  // namespace warpladder::spmv
