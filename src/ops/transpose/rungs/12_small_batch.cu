// Bound before: 100,000 matrices of 8×8. Each takes a block whose tile is 1/32 full, and its rows
// of 32 bytes are a request each. Idea: a batch without gaps is one piece of memory on either side.
// A block brings as many whole matrices as fit in 16 KiB, 16 bytes a lane whatever their alignment.
// It writes them in the order of the output, 16 bytes a lane too. Where a word of the output comes
// from follows from its index by two divisions for each four of them, done as multiplications by
// reciprocals. One word in 33 of shared memory is left out, so that lanes which read a power of two
// apart meet few banks twice. Prediction, for a batch of small matrices: whole sectors read and
// written once. For one matrix of 128×128 or more: 04's counts, for that is its road. Accepts:
// every problem; out of place; its own road for batches without gaps of up to 4,096 elements a
// matrix. Predicted: 90 % of a copy from 64 MiB on for 8×8 and 32×32, on an H100. What binds it:
// memory.

#include <numeric>

#include "ops/transpose/rung.hpp"
#include "parts/staged_piece.hpp"

namespace warpladder::transpose {
namespace {

constexpr int kThreads = 256, kTile = 32;
using Piece = parts::StagedPiece<kThreads, 4>;

static_assert(Piece::kMost == kSmallMatrix);

// What a block is told: matrices of rows × columns, so many to a piece, fewer to the last; and what
// to multiply by for dividing.
struct Pieces {
  const float* in;
  float* out;
  int rows, columns, matrices, last_matrices;
  float of_matrix, of_row;

  constexpr int elements() const { return rows * columns; }
};

// Goes along the words of the output, from the qth of the piece on: at() is where the word lies in
// the input's piece.
class Source {
 public:
  __device__ __forceinline__ Source(const Pieces& p, int q) : p_(p) {
    const int matrix = divided(q, p.of_matrix), in_matrix = q - matrix * p.elements();
    column_ = divided(in_matrix, p.of_row);
    row_ = in_matrix - column_ * p.rows;
    matrix_ = matrix * p.elements();
  }
  __device__ __forceinline__ int at() const { return matrix_ + row_ * p_.columns + column_; }
  __device__ __forceinline__ void advance() {
    if (++row_ < p_.rows) return;
    row_ = 0;
    if (++column_ < p_.columns) return;
    column_ = 0;
    matrix_ += p_.elements();
  }

 private:
  // The product is off by a 2^22th of itself at most. It is at least half a reciprocal away from
  // the next integer, which for q below 2^20 is more.
  __device__ __forceinline__ static int divided(int q, float reciprocal) {
    return static_cast<int>((static_cast<float>(q) + 0.5f) * reciprocal);
  }

  const Pieces& p_;
  int matrix_, row_, column_;
};

// kWidth: words that a thread writes at once, 4 where the output's pieces begin on 16 bytes.
template <int kWidth>
__global__ void __launch_bounds__(kThreads, 6) small_matrices(Pieces p) {
  __shared__ float staged[Piece::kSize];
  const std::int64_t begin = std::int64_t{blockIdx.x} * p.matrices * p.elements();
  const int words = p.elements() * (blockIdx.x + 1 == gridDim.x ? p.last_matrices : p.matrices);
  float* out = p.out + begin;
  const int first = Piece::stage(staged, p.in + begin, words);
  for (int q = kWidth * threadIdx.x; q < words; q += kWidth * kThreads) {
    float x[kWidth] = {};
    Source source(p, q);
    WARPLADDER_UNROLL
    for (int w = 0; w < kWidth; ++w) {
      if (q + w < words) x[w] = staged[Piece::place_of(first + source.at())];
      source.advance();
    }
    if constexpr (kWidth == 4) {
      if (q + 4 <= words) {
        *reinterpret_cast<float4*>(&out[q]) = make_float4(x[0], x[1], x[2], x[3]);
        continue;
      }
    }
    WARPLADDER_UNROLL
    for (int w = 0; w < kWidth; ++w) {
      if (q + w < words) out[q + w] = x[w];
    }
  }
}

__global__ void __launch_bounds__(kTile * 8) any_shape(Tiles tiles) {
  transpose_words<kTile, kTile * 8>(tiles);
}

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  if (!is_small_batch(p)) {
    return launch_tiles<kTile, kTile>(call, stream, dim3(kTile * 8), 0, any_shape);
  }
  const int rows = static_cast<int>(p.rows), columns = static_cast<int>(p.columns),
            elements = rows * columns, most = Piece::kMost / elements;
  // Four of them, or as few as are whole vectors, begin on 16 bytes where the first does.
  const int whole = 4 / std::gcd(elements, 4),
            matrices = most < whole ? most : most / whole * whole;
  const std::int64_t pieces = (p.batch + matrices - 1) / matrices;
  const bool vectors =
      matrices * elements % 4 == 0 && reinterpret_cast<std::uintptr_t>(call.out) % 16 == 0;
  const Pieces told{call.in,
                    call.out,
                    rows,
                    columns,
                    matrices,
                    static_cast<int>(p.batch - (pieces - 1) * matrices),
                    1.0f / static_cast<float>(elements),
                    1.0f / static_cast<float>(rows)};
  runtime::launch(stream, {dim3(static_cast<unsigned>(pieces)), dim3(kThreads)},
                  vectors ? small_matrices<4> : small_matrices<1>, told);
}

}  // namespace

WARPLADDER_RUNG(12_small_batch) = {.idea = "many small matrices are one piece of memory",
                                   .accepts = "every problem; its own road for small batches",
                                   .launch = launch_call<launch>,
                                   .predict = predict_call<predict_words>,
                                   .takes = out_of_place};

}  // namespace warpladder::transpose
