#pragma once
// What can be reduced: values that join() in any grouping. Partial results meet in registers, by
// shuffles, in shared memory and in global memory; all of it is the same for every function.
//
// A function is a type with
//   Value              a partial result: a float, or a Found of the line's length
//   none()             joins with anything and changes nothing
//   of(x, at)          the partial result of one element
//   of_vectors(v, at)  of elements in fours, whose first ones lie kStep apart from `at` on
//   join(a, b)         of two
//   padding()          an element that changes nothing behind another one
//   Running<Order>     a thread's own partial result, to which it adds elements in ascending order:
//                      add(x, k) one, kCount or kVectors of four, whose first is its kth (k is an
//                      Order); value(index_of) once it has any, index_of(k) being where its kth
//                      lies

#include <type_traits>

#include "parts/flags.hpp"
#include "parts/ptx/min_max.hpp"
#include "parts/reduction_function.hpp"
#include "parts/warp.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// A place as one number, the greater the better: the rank of its value above, and below what its
// index leaves to the greatest. A Word of 64 bits holds the indices of up to 2^32 elements.
constexpr std::int64_t kMostNarrow = std::int64_t{1} << 32;
__extension__ using WideWord = unsigned __int128;
template <class Word>
struct Found {
  using Index = std::conditional_t<sizeof(Word) == 8, unsigned, std::uint64_t>;
  static constexpr int kIndexBits = 8 * sizeof(Index);
  Word word;

  __device__ __forceinline__ static Found at(unsigned rank, std::int64_t index) {
    return {Word{rank} << kIndexBits | ~static_cast<Index>(index)};
  }
  // Of no rank that a value has; but not zero, which flags take for nothing at all.
  __device__ __forceinline__ static Found nowhere() { return {1}; }
  // -1 if it is nowhere.
  __device__ __forceinline__ std::int64_t index() const {
    return word == 1 ? -1 : static_cast<std::int64_t>(~static_cast<Index>(word));
  }
};

struct Sum {
  using Value = float;
  __device__ __forceinline__ static constexpr float padding() { return 0.0f; }
  __device__ __forceinline__ static Value none() { return padding(); }
  __device__ __forceinline__ static Value of(float x, std::int64_t) { return x; }
  __device__ __forceinline__ static Value join(Value a, Value b) { return a + b; }

  template <int kFirst, int kEnd>
  __device__ __forceinline__ static float sum_of(const float* x) {
    if constexpr (kEnd - kFirst == 1) {
      return x[kFirst];
    } else {
      constexpr int kMiddle = (kFirst + kEnd) / 2;
      return sum_of<kFirst, kMiddle>(x) + sum_of<kMiddle, kEnd>(x);
    }
  }
  template <int kStep, int kVectors>
  __device__ WARPLADDER_INLINE_ON_GPU static Value of_vectors(const float4 (&v)[kVectors],
                                                              std::int64_t) {
    float x[kVectors];
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kVectors; ++u) x[u] = (v[u].x + v[u].y) + (v[u].z + v[u].w);
    return sum_of<0, kVectors>(x);
  }

  // What an addition rounds away is exactly a float (D. Knuth, The Art of Computer Programming,
  // vol. 2, 4.2.2); these are summed apart, so that the error does not grow with the count.
  template <class Order = int>
  class Running {
   public:
    __device__ __forceinline__ void add(float x, Order) {
      const float sum = sum_ + x, of_x = sum - sum_;
      lost_ += (sum_ - (sum - of_x)) + (x - of_x);
      sum_ = sum;
    }
    template <int kCount>
    __device__ __forceinline__ void add(const float (&x)[kCount], Order k) {
      add(sum_of<0, kCount>(x), k);
    }
    template <int kVectors>
    __device__ __forceinline__ void add(const float4 (&v)[kVectors], Order k) {
      add(of_vectors<0>(v, 0), k);
    }
    // Of an infinite sum nothing is lost, though the formula says NaN.
    template <class IndexOf>
    __device__ __forceinline__ Value value(const IndexOf&) const {
      return lost_ == lost_ ? sum_ + lost_ : sum_;
    }

   private:
    float sum_ = 0.0f, lost_ = 0.0f;
  };
};

template <bool kGreatest>
struct Extreme {
  using Value = float;
  __device__ __forceinline__ static constexpr float padding() {
    return kGreatest ? -INFINITY : INFINITY;
  }
  __device__ __forceinline__ static Value none() { return padding(); }
  __device__ __forceinline__ static Value of(float x, std::int64_t) { return x; }
  __device__ __forceinline__ static Value join(Value a, Value b) {
    return kGreatest ? ptx::maximum(a, b) : ptx::minimum(a, b);
  }

  template <int kStep, int kVectors>
  __device__ WARPLADDER_INLINE_ON_GPU static Value of_vectors(const float4 (&v)[kVectors],
                                                              std::int64_t) {
    float best = none();
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kVectors; ++u) {
      best = join(best, join(join(v[u].x, v[u].y), join(v[u].z, v[u].w)));
    }
    return best;
  }

  template <class Order = int>
  class Running {
   public:
    __device__ __forceinline__ void add(float x, Order) { value_ = join(value_, x); }
    template <int kCount>
    __device__ __forceinline__ void add(const float (&x)[kCount], Order) {
      WARPLADDER_UNROLL_ON_GPU
      for (int u = 0; u < kCount; ++u) value_ = join(value_, x[u]);
    }
    template <int kVectors>
    __device__ __forceinline__ void add(const float4 (&v)[kVectors], Order k) {
      add(of_vectors<0>(v, 0), k);
    }
    template <class IndexOf>
    __device__ __forceinline__ Value value(const IndexOf&) const {
      return value_;
    }

   private:
    float value_ = none();
  };
};

// Where the least or the greatest is: a NaN before any number, then the lowest index.
template <bool kGreatest, class Word>
struct Place {
  using Value = Found<Word>;
  __device__ __forceinline__ static constexpr float padding() {
    return Extreme<kGreatest>::padding();
  }
  __device__ __forceinline__ static Value none() { return Value::nowhere(); }
  __device__ __forceinline__ static Value of(float x, std::int64_t at) {
    // Floats of one sign are ordered as their bits are; adding 0 makes a zero of either sign one.
    const unsigned bits = __float_as_uint((kGreatest ? x : -x) + 0.0f),
                   rank = bits ^ (1u << 31 | (0u - (bits >> 31)));
    return Value::at(x == x ? rank : ~0u, at);
  }
  __device__ __forceinline__ static Value join(Value a, Value b) {
    return {a.word > b.word ? a.word : b.word};
  }

  // Of the first of these elements that is `best`, which is a NaN if there are any.
  template <int kStep, int kVectors>
  __device__ WARPLADDER_INLINE_ON_GPU static int offset_of(const float4 (&v)[kVectors],
                                                           float best) {
    int where = 0;
    const auto look_at = [&](float x, int offset) { where = x == best || x != x ? offset : where; };
    WARPLADDER_UNROLL_ON_GPU
    for (int u = kVectors - 1; u >= 0; --u) {
      look_at(v[u].w, u * kStep + 3);
      look_at(v[u].z, u * kStep + 2);
      look_at(v[u].y, u * kStep + 1);
      look_at(v[u].x, u * kStep);
    }
    return where;
  }
  template <int kStep, int kVectors>
  __device__ WARPLADDER_INLINE_ON_GPU static Value of_vectors(const float4 (&v)[kVectors],
                                                              std::int64_t at) {
    const float best = Extreme<kGreatest>::template of_vectors<kStep>(v, at);
    return of(best, at + offset_of<kStep>(v, best));
  }

  template <class Order = int>
  class Running {
   public:
    __device__ __forceinline__ void add(float x, Order k) {
      const float one[1] = {x};
      add(one, k);
    }
    template <int kCount>
    __device__ __forceinline__ void add(const float (&x)[kCount], Order k) {
      int where = -1;
      WARPLADDER_UNROLL_ON_GPU
      for (int u = 0; u < kCount; ++u) {
        // A NaN is better than any number, and nothing is better than a NaN.
        const bool better = !is_as_good(best_, x[u]) & (best_ == best_);
        best_ = ptx::select(better, x[u], best_);
        where = ptx::select(better, u, where);
      }
      at_ = ptx::select(where >= 0, static_cast<Order>(k + where), at_);
    }
    template <int kVectors>
    __device__ __forceinline__ void add(const float4 (&v)[kVectors], Order k) {
      float x[4 * kVectors];
      WARPLADDER_UNROLL_ON_GPU
      for (int u = 0; u < kVectors; ++u) {
        x[4 * u] = v[u].x;
        x[4 * u + 1] = v[u].y;
        x[4 * u + 2] = v[u].z;
        x[4 * u + 3] = v[u].w;
      }
      add(x, k);
    }
    template <class IndexOf>
    __device__ __forceinline__ Value value(const IndexOf& index_of) const {
      return of(best_, index_of(at_));
    }

   private:
    __device__ __forceinline__ static bool is_as_good(float a, float b) {
      return kGreatest ? a >= b : a <= b;
    }

    float best_ = padding();
    Order at_ = 0;  // where nothing beats padding, the first
  };
};

template <class F>
constexpr bool kIsPlace = !std::is_same_v<typename F::Value, float>;

// visit(F{}) with the function's type, for lines of so many elements; a mean is a sum until it is
// finished.
template <class Visit>
void for_function(Function function, std::int64_t length, const Visit& visit) {
  const bool narrow = length <= kMostNarrow;
  switch (function) {
    case Function::sum:
    case Function::mean:
      return visit(Sum{});
    case Function::min:
      return visit(Extreme<false>{});
    case Function::max:
      return visit(Extreme<true>{});
    case Function::argmin:
      return narrow ? visit(Place<false, std::uint64_t>{}) : visit(Place<false, WideWord>{});
    case Function::argmax:
      return narrow ? visit(Place<true, std::uint64_t>{}) : visit(Place<true, WideWord>{});
  }
}

// What one of kLanes neighbours, which go the same way, has of a line of n elements. It takes 16
// bytes at a time, kInFlight of them under way together. kLanes·kInFlight vectors are a turn. Of
// `turns` groups that share the line this one takes the turns `turn`, `turn` + turns and so on. The
// up to three elements in front of the first whole vector, and those behind the last, belong to
// turn 0. kLanes is at
// least 4.
template <class F, int kLanes, int kInFlight>
__device__ __forceinline__ typename F::Value part_of_line(const float* line, std::int64_t n,
                                                          std::int64_t turn, std::int64_t turns) {
  const int lane = threadIdx.x % kLanes,
            into = static_cast<int>(reinterpret_cast<std::uintptr_t>(line) / 4 % 4);
  const int front = static_cast<int>(min(n, std::int64_t{-into & 3}));
  const std::int64_t count = (n - front) / 4, begin = turn * kLanes * kInFlight + lane,
                     leap = turns * kLanes * kInFlight;
  const int behind = static_cast<int>((n - front) % 4);
  // The elements in front of the vectors and behind them, one to a lane, under way with the rest.
  const bool has_end = turn == 0 && lane < front + behind;
  const std::int64_t end = lane < front ? lane : n - behind + lane - front;
  const float at_end = has_end ? line[end] : 0.0f;
  typename F::template Running<> running;
  const auto* at = reinterpret_cast<const float4*>(line + front) + begin;
  std::int64_t left = count - begin;
  int k = 0;
  WARPLADDER_NO_UNROLL
  for (; left > (kInFlight - 1) * kLanes; left -= leap, at += leap, k += 4 * kInFlight) {
    float4 v[kInFlight];
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) v[u] = __ldg(&at[u * kLanes]);
    running.add(v, k);
  }
  if (left > 0) {  // the last turn, cut short
    float4 v[kInFlight];
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      constexpr float kPadding = F::padding();
      v[u] = make_float4(kPadding, kPadding, kPadding, kPadding);
      if (left > u * kLanes) v[u] = __ldg(&at[u * kLanes]);
    }
    running.add(v, k);
  }
  const auto index_of = [&](int of) {
    const int vector = of / 4;
    return front + of % 4 + 4 * (begin + vector / kInFlight * leap + vector % kInFlight * kLanes);
  };
  typename F::Value v = begin < count ? running.value(index_of) : F::none();
  if (has_end) v = F::join(v, F::of(at_end, end));
  return v;
}

// The same where a turn of all threads of `blocks` blocks is enough, in the least of code. A kernel
// that has not run lately waits for its instructions, too. n is less than 2^31.
template <class F, int kThreads, int kInFlight>
__device__ __forceinline__ typename F::Value part_at_once(const float* line, int n) {
  const int t = threadIdx.x,
            into = static_cast<int>(reinterpret_cast<std::uintptr_t>(line) / 4 % 4);
  const int front = min(n, -into & 3), count = (n - front) / 4, behind = (n - front) % 4;
  const int first = static_cast<int>(blockIdx.x) * kThreads * kInFlight + t;
  const auto* vectors = reinterpret_cast<const float4*>(line + front);
  constexpr float kPadding = F::padding();
  float4 v[kInFlight];
  WARPLADDER_UNROLL_ON_GPU
  for (int u = 0; u < kInFlight; ++u) {
    v[u] = make_float4(kPadding, kPadding, kPadding, kPadding);
    if (first + u * kThreads < count) v[u] = __ldg(&vectors[first + u * kThreads]);
  }
  // The elements in front of the vectors and behind them, one to a thread of the first block.
  const bool has_end = blockIdx.x == 0 && t < front + behind;
  const int end = t < front ? t : n - behind + t - front;
  const float at_end = has_end ? line[end] : kPadding;
  auto result = F::none();
  if (first < count) result = F::template of_vectors<4 * kThreads>(v, front + 4 * first);
  if (has_end) result = F::join(result, F::of(at_end, end));
  return result;
}

// ---- between lanes

// Called by whole warps: the value of the lane whose number differs in just these bits.
__device__ __forceinline__ float exchange(float v, int bits) { return warp::exchange(v, bits); }
__device__ __forceinline__ Found<std::uint64_t> exchange(Found<std::uint64_t> v, int bits) {
  return {warp::exchange(v.word, bits)};
}
__device__ __forceinline__ Found<WideWord> exchange(Found<WideWord> v, int bits) {
  const auto high = static_cast<std::uint64_t>(v.word >> 64),
             low = static_cast<std::uint64_t>(v.word);
  return {WideWord{warp::exchange(high, bits)} << 64 | warp::exchange(low, bits)};
}

// Called by whole warps. Of each group of kWidth lanes, all get the join of the group's values.
template <class F, int kWidth = 32>
__device__ __forceinline__ typename F::Value warp_reduce(typename F::Value v) {
  if constexpr (kWidth == 32 && std::is_same_v<typename F::Value, Found<std::uint64_t>>) {
    // The best rank, then of those who have it the lowest index: an instruction each.
    const unsigned rank = static_cast<unsigned>(v.word >> 32), best = warp::greatest(rank),
                   low = rank == best ? static_cast<unsigned>(v.word) : 0,
                   lowest = warp::greatest(low);
    return {std::uint64_t{best} << 32 | lowest};
  } else {
    WARPLADDER_UNROLL_ON_GPU
    for (int distance = kWidth / 2; distance > 0; distance /= 2) {
      v = F::join(v, exchange(v, distance));
    }
    return v;
  }
}

// Called by all kThreads threads of the block, once after another only with a barrier between.
// Valid in the first warp.
template <class F, int kThreads>
__device__ __forceinline__ typename F::Value block_reduce(typename F::Value v) {
  constexpr int kWarps = kThreads / 32;
  v = warp_reduce<F>(v);
  if constexpr (kWarps > 1) {
    __shared__ typename F::Value of_warp[kWarps];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) of_warp[warp] = v;
    __syncthreads();  // every warp's result is there before the first warp takes them up
    if (warp == 0) v = warp_reduce<F, kWarps>(lane < kWarps ? of_warp[lane] : F::none());
  }
  return v;
}

// How groups of threads hand over partial results of kWidth · kAcross columns in shared memory.
// Each group has something of all columns: its thread a has those of the columns a·kWidth + c.
// Lanes that write, and lanes that read one column or neighbouring ones, do so on different banks,
// as far as that can be had.
template <class Value, int kThreads, int kAcross, int kWidth>
struct PartialTable {
  static constexpr int kGroups = kThreads / kAcross, kLanes = kGroups / kWidth,
                       kBanks = 128 / sizeof(Value);  // that take such a value in one go
  static constexpr int kOfThread = kGroups + (kAcross < kBanks ? kBanks / kAcross : 1),
                       kRest = kAcross * kOfThread % kBanks,
                       kOfNeighbour = kAcross * kOfThread + (kLanes + kBanks - kRest) % kBanks,
                       kSize = kGroups == 1 ? 1 : kWidth * kOfNeighbour;

  // Called by the kThreads threads, with kWidth values each, and a table of kSize. Returns column
  // i's join, valid in the first of the kLanes threads from i·kLanes on.
  template <class F>
  __device__ __forceinline__ static Value join(Value* table, const Value (&v)[kWidth]) {
    const int t = threadIdx.x, column = t / kLanes;
    WARPLADDER_UNROLL_ON_GPU
    for (int c = 0; c < kWidth; ++c) {
      table[c * kOfNeighbour + t % kAcross * kOfThread + t / kAcross] = v[c];
    }
    __syncthreads();  // all are there before they are joined
    const Value* of_column =
        &table[column % kWidth * kOfNeighbour + column / kWidth * kOfThread + t % kLanes];
    Value joined = of_column[0];
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 1; j < kWidth; ++j) joined = F::join(joined, of_column[j * kLanes]);
    return warp_reduce<F, kLanes>(joined);
  }
};

// ---- and between blocks: a word for a value, two for a place of a wide line

template <class F>
constexpr int kWordsOf = sizeof(typename F::Value) == 16 ? 2 : 1;

// Called by one thread.
__device__ __forceinline__ void publish(std::uint64_t* words, float v) { words[0] = to_word(v); }
__device__ __forceinline__ void publish(std::uint64_t* words, Found<std::uint64_t> v) {
  words[0] = v.word;
}
__device__ __forceinline__ void publish(std::uint64_t* words, Found<WideWord> v) {
  words[0] = static_cast<std::uint64_t>(v.word);
  words[1] = static_cast<std::uint64_t>(v.word >> 64) + 1;
}
template <class Value>
__device__ __forceinline__ Value published(const std::uint64_t* words) {
  if constexpr (sizeof(Value) == 4) {
    return float_in(words[0]);
  } else if constexpr (sizeof(Value) == 8) {
    return {words[0]};
  } else {
    return {WideWord{words[1] - 1} << 64 | words[0]};
  }
}

// The join of what was published at words + first·stride, words + (first + step)·stride and so on
// below `count`, in that order; kInFlight are waited for together. Called by one thread.
template <class F, int kInFlight>
__device__ __forceinline__ typename F::Value collect(std::uint64_t* words, std::int64_t stride,
                                                     int first, int step, int count) {
  constexpr int kWords = kWordsOf<F>;
  typename F::Value v = F::none();
  for (; first < count; first += step * kInFlight) {
    std::uint64_t *word[kWords * kInFlight], content[kWords * kInFlight];
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kWords * kInFlight; ++u) {
      const int i = first + u / kWords * step;
      word[u] = i < count ? words + i * stride + u % kWords : nullptr;
    }
    take_words(word, content);
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      if (first + u * step >= count) continue;
      v = F::join(v, published<typename F::Value>(&content[u * kWords]));
    }
  }
  return v;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
