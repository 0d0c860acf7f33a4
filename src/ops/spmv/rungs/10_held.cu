// Bound before: without a plan, columns that lie anywhere ask the L2 cache for a line each. It
// answers one request of each of its slices in a cycle.
// Idea: part of x is not asked of the L2 cache. The blocks of a cluster hold the first columns of
// it in their shared memory, and reach each other's. Blocks then have to last: one to a
// multiprocessor, each of whose warps works alone on a chunk of entries, tile after tile, without
// barriers. While x of a tile is under way, so are the columns of the next.
//
// Prediction: two barriers of a cluster. Accepts: every matrix. What binds it: the L2 cache still,
// with fewer requests. Where columns are near each other the L1 cache has them as well. And a chunk
// has every row that ends in it, of which one warp adds up 16 at a time.

#include "ops/spmv/rung.hpp"
#include "parts/chunk_rows.hpp"
#include "parts/held_columns.hpp"

namespace warpladder::spmv {
namespace {

constexpr int kThreads = 32 * Chunks::kWarps, kItems = Chunks::kTile / 32, kHeldByBlock = 32 * 1024;
using Held = parts::HeldColumns<Chunks::kCluster, kHeldByBlock>;

struct Shared {
  float x[kHeldByBlock];
  float products[Chunks::kWarps][parts::PaddedProducts::words_for(Chunks::kTile)];
};
static_assert(sizeof(Shared) <= 153 * 1024);  // leaves 102 KB to L1, whose lines loads need

template <class Offset>
__global__ void __launch_bounds__(kThreads, 1)
    multiply(Csr<Offset> m, std::int64_t columns, int chunk_entries, std::uint64_t* flags) {
  auto& shared = *runtime::dynamic_shared<Shared>();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::int64_t chunk = std::int64_t{blockIdx.x} * Chunks::kWarps + warp,
                     first = chunk * chunk_entries, left = m.nnz - first;
  const int count = left <= 0 ? 0 : static_cast<int>(left < chunk_entries ? left : chunk_entries);
  const int* const chunk_columns = m.column_indices + first + lane;
  const float* const chunk_values = m.values + first + lane;
  int column[kItems];
  float value[kItems];
  parts::load_tile(column, chunk_columns, count);
  parts::load_tile(value, chunk_values, count);
  const Held held(m.x, shared.x, columns);
  held.fill<kThreads>();
  if (count > 0) {
    parts::ChunkRows<Offset> rows(m, chunk, chunk_entries);
    ptx::cluster_barrier();  // x is there for all of the cluster
    const parts::PaddedProducts products{shared.products[warp]};
    bool goes_on = false;
    WARPLADDER_NO_UNROLL
    for (int tile = 0; tile < count; tile += Chunks::kTile) {
      const int next = tile + Chunks::kTile;
      int next_column[kItems];
      float of_cluster[kItems], of_memory[kItems];
      parts::load_tile(next_column, chunk_columns + next, count - next);
      held.ask(column, of_cluster, of_memory);
      WARPLADDER_UNROLL
      for (int u = 0; u < kItems; ++u) {
        products[32 * u + lane] = value[u] * (of_cluster[u] + of_memory[u]);
        column[u] = next_column[u];
      }
      parts::load_tile(value, chunk_values + next, count - next);
      __syncwarp();  // the products are there before they are added up
      goes_on = rows.add(m, products, tile, next < count ? next : count);
      __syncwarp();  // and have been added up before the next take their places
    }
    rows.finish(m, flags, goes_on);
  } else {
    ptx::cluster_barrier();
  }
  // What a block holds stays until nobody asks for it.
  ptx::cluster_arrive_relaxed();
  ptx::cluster_wait();
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call& call, runtime::StreamView& stream) {
  const Chunks chunks = chunks_of(call.problem, *stream.machine);
  runtime::launch(stream,
                  {dim3(to_grid(chunks.blocks)), dim3(kThreads), sizeof(Shared), Chunks::kCluster},
                  multiply<Offset>, m, call.problem.columns, chunks.entries, call.flags);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t = nothing_predicted();
  t.barriers = 2 * chunks_of(p, machine).blocks * Chunks::kWarps;
  return t;
}

}  // namespace

WARPLADDER_RUNG(10_held) = {.idea = "part of x held in the shared memory of clusters",
                            .accepts = "every matrix",
                            .launch = launch_call<launch<std::int32_t>, launch<std::int64_t>>,
                            .predict = predict_call<predict>,
                            .needs = {.capability = 90, .shared_bytes = sizeof(Shared)}};

}  // namespace warpladder::spmv
