#pragma once
// What can be reduced: values that join() in any grouping. Partial results meet in registers, by
// shuffles, in shared memory and in global memory; all of it is the same for every function.
//
// A function is a type with
//   Value              a partial result: a float, or a Found
//   none()             joins with anything and changes nothing
//   of(x, at)          the partial result of one element
//   of_vectors(v, at)  of elements in fours, whose first ones lie kStep apart from `at` on
//   join(a, b)         of two
//   padding()          an element that changes nothing behind another one
//   Running            a thread's own partial result, to which it adds elements in ascending order:
//                      one; kCount that lie `step` apart; or kVectors of four neighbours, whose
//                      first elements lie kStep apart

#include "device/kernel.hpp"
#include "parts/flags.hpp"
#include "parts/ptx/min_max.hpp"
#include "parts/reduction_function.hpp"
#include "parts/warp.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// A value and its index.
struct Found {
  float value;
  std::int64_t at;
};
constexpr std::int64_t kNowhere = INT64_MAX;  // later than any index

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
  __device__ __forceinline__ static Value of_vectors(const float4 (&v)[kVectors], std::int64_t) {
    float x[kVectors];
    WARPLADDER_UNROLL
    for (int u = 0; u < kVectors; ++u) x[u] = (v[u].x + v[u].y) + (v[u].z + v[u].w);
    return sum_of<0, kVectors>(x);
  }

  // What an addition rounds away is exactly a float (D. Knuth, The Art of Computer Programming,
  // vol. 2, 4.2.2); these are summed apart, so that the error does not grow with the count.
  class Running {
   public:
    __device__ __forceinline__ void add(float x, std::int64_t) {
      const float sum = sum_ + x, of_x = sum - sum_;
      lost_ += (sum_ - (sum - of_x)) + (x - of_x);
      sum_ = sum;
    }
    template <int kCount>
    __device__ __forceinline__ void add(const float (&x)[kCount], std::int64_t at, std::int64_t) {
      add(sum_of<0, kCount>(x), at);
    }
    template <int kStep, int kVectors>
    __device__ __forceinline__ void add(const float4 (&v)[kVectors], std::int64_t at) {
      add(of_vectors<kStep>(v, at), at);
    }
    // Of an infinite sum nothing is lost, though the formula says NaN.
    __device__ __forceinline__ Value value() const { return lost_ == lost_ ? sum_ + lost_ : sum_; }

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
  __device__ __forceinline__ static Value of_vectors(const float4 (&v)[kVectors], std::int64_t) {
    float best = none();
    WARPLADDER_UNROLL
    for (int u = 0; u < kVectors; ++u) {
      best = join(best, join(join(v[u].x, v[u].y), join(v[u].z, v[u].w)));
    }
    return best;
  }

  class Running {
   public:
    __device__ __forceinline__ void add(float x, std::int64_t) { value_ = join(value_, x); }
    template <int kCount>
    __device__ __forceinline__ void add(const float (&x)[kCount], std::int64_t, std::int64_t) {
      WARPLADDER_UNROLL
      for (int u = 0; u < kCount; ++u) value_ = join(value_, x[u]);
    }
    template <int kStep, int kVectors>
    __device__ __forceinline__ void add(const float4 (&v)[kVectors], std::int64_t at) {
      add(of_vectors<kStep>(v, at), at);
    }
    __device__ __forceinline__ Value value() const { return value_; }

   private:
    float value_ = none();
  };
};

// Where the least or the greatest is: a NaN before any number, then the lowest index.
template <bool kGreatest>
struct Place {
  using Value = Found;
  __device__ __forceinline__ static bool beats(float a, float b) {
    return kGreatest ? a > b : a < b;
  }
  __device__ __forceinline__ static constexpr float padding() {
    return Extreme<kGreatest>::padding();
  }
  __device__ __forceinline__ static Value none() { return {padding(), kNowhere}; }
  __device__ __forceinline__ static Value of(float x, std::int64_t at) { return {x, at}; }
  __device__ __forceinline__ static Value join(Value a, Value b) {
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    const bool equal = (a.value == b.value) | (a_nan & b_nan);
    const bool b_first = (equal & (b.at < a.at)) | (b_nan & !a_nan) | beats(b.value, a.value);
    return {chosen(b_first, b.value, a.value), chosen(b_first, b.at, a.at)};
  }
  // Without a branch, in which the lanes of a warp would part.
  __device__ __forceinline__ static std::int64_t chosen(bool first, std::int64_t a,
                                                        std::int64_t b) {
    const std::int64_t mask = -static_cast<std::int64_t>(first);
    return (a & mask) | (b & ~mask);
  }
  __device__ __forceinline__ static float chosen(bool first, float a, float b) {
    const unsigned mask = 0u - static_cast<unsigned>(first);
    return __uint_as_float((__float_as_uint(a) & mask) | (__float_as_uint(b) & ~mask));
  }

  // Of the first of these elements that is `best`, which is a NaN if there are any.
  template <int kStep, int kVectors>
  __device__ __forceinline__ static int offset_of(const float4 (&v)[kVectors], float best) {
    int where = 0;
    const auto look_at = [&](float x, int offset) { where = x == best || x != x ? offset : where; };
    WARPLADDER_UNROLL
    for (int u = kVectors - 1; u >= 0; --u) {
      look_at(v[u].w, u * kStep + 3);
      look_at(v[u].z, u * kStep + 2);
      look_at(v[u].y, u * kStep + 1);
      look_at(v[u].x, u * kStep);
    }
    return where;
  }
  template <int kStep, int kVectors>
  __device__ __forceinline__ static Value of_vectors(const float4 (&v)[kVectors], std::int64_t at) {
    const float best = Extreme<kGreatest>::template of_vectors<kStep>(v, at);
    return {best, at + offset_of<kStep>(v, best)};
  }

  class Running {
   public:
    // The index of an element is later than all before it, so that only a better one counts: a
    // greater (lesser) one or a NaN, unless there is a NaN already; and whichever is the first.
    __device__ __forceinline__ void add(float x, std::int64_t at) {
      const bool better = !is_as_good_as(x) | (at_ == kNowhere);
      best_ = chosen(better, x, best_);
      at_ = chosen(better, at, at_);
    }
    template <int kCount>
    __device__ __forceinline__ void add(const float (&x)[kCount], std::int64_t at,
                                        std::int64_t step) {
      WARPLADDER_UNROLL
      for (int u = 0; u < kCount; ++u) add(x[u], at + u * step);
    }
    template <int kStep, int kVectors>
    __device__ __forceinline__ void add(const float4 (&v)[kVectors], std::int64_t at) {
      // Where the best one is matters only where it is better than what there is.
      const float best = Extreme<kGreatest>::template of_vectors<kStep>(v, at);
      if (is_as_good_as(best) && at_ != kNowhere) return;
      at_ = at + offset_of<kStep>(v, best);
      best_ = best;
    }
    __device__ __forceinline__ Value value() const { return {best_, at_}; }

   private:
    __device__ __forceinline__ bool is_as_good_as(float x) const {
      return (kGreatest ? x <= best_ : x >= best_) | (best_ != best_);
    }

    float best_ = none().value;
    std::int64_t at_ = kNowhere;
  };
};

// visit(F{}) with the function's type; a mean is a sum until it is finished.
template <class Visit>
void for_function(Function function, const Visit& visit) {
  switch (function) {
    case Function::sum:
    case Function::mean:
      return visit(Sum{});
    case Function::min:
      return visit(Extreme<false>{});
    case Function::max:
      return visit(Extreme<true>{});
    case Function::argmin:
      return visit(Place<false>{});
    case Function::argmax:
      return visit(Place<true>{});
  }
}

// What one of kLanes neighbours, which go the same way, has of a line of n elements: 16 bytes at a
// time, kInFlight of them under way together. kLanes·kInFlight vectors are a turn; of `turns` who
// share the line this one takes the turns `turn`, `turn` + turns, … The up to three elements in
// front of the first whole vector, and those behind the last, belong to turn 0. kLanes is at
// least 4.
template <class F, int kLanes, int kInFlight>
__device__ __forceinline__ typename F::Value part_of_line(const float* line, std::int64_t n,
                                                          std::int64_t turn, std::int64_t turns) {
  constexpr int kStep = 4 * kLanes;
  const int lane = threadIdx.x % kLanes;
  const auto off = static_cast<int>(reinterpret_cast<std::uintptr_t>(line) / 4 % 4);
  const std::int64_t front = off == 0      ? 0
                             : n < 4 - off ? n
                                           : 4 - off,
                     count = (n - front) / 4, behind = front + 4 * count;
  const auto* vectors = reinterpret_cast<const float4*>(line + front);
  // The ends are under way with the rest.
  const bool has_first = turn == 0 && lane < front, has_last = turn == 0 && lane < n - behind;
  const float first = has_first ? line[lane] : 0.0f, last = has_last ? line[behind + lane] : 0.0f;
  typename F::Running running;
  if (has_first) running.add(first, lane);
  std::int64_t i = turn * kLanes * kInFlight + lane;
  for (; i + (kInFlight - 1) * kLanes < count; i += turns * kLanes * kInFlight) {
    float4 v[kInFlight];
    WARPLADDER_UNROLL
    for (int u = 0; u < kInFlight; ++u) v[u] = __ldg(&vectors[i + u * kLanes]);
    running.template add<kStep>(v, front + 4 * i);
  }
  if (i < count) {  // the last turn, cut short
    float4 v[kInFlight];
    WARPLADDER_UNROLL
    for (int u = 0; u < kInFlight; ++u) {
      constexpr float kPadding = F::padding();
      v[u] = make_float4(kPadding, kPadding, kPadding, kPadding);
      if (i + u * kLanes < count) v[u] = __ldg(&vectors[i + u * kLanes]);
    }
    running.template add<kStep>(v, front + 4 * i);
  }
  if (has_last) running.add(last, behind + lane);
  return running.value();
}

// The same where a turn of all threads of `blocks` blocks is enough, in the least of code: a kernel
// that has not run lately waits for its instructions too. n is less than 2^31.
template <class F, int kThreads, int kInFlight>
__device__ __forceinline__ typename F::Value part_at_once(const float* line, int n) {
  const int t = threadIdx.x,
            into = static_cast<int>(reinterpret_cast<std::uintptr_t>(line) / 4 % 4);
  const int front = min(n, -into & 3), count = (n - front) / 4, behind = (n - front) % 4;
  const int first = static_cast<int>(blockIdx.x) * kThreads * kInFlight + t;
  const auto* vectors = reinterpret_cast<const float4*>(line + front);
  constexpr float kPadding = F::padding();
  float4 v[kInFlight];
  WARPLADDER_UNROLL
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

// ---- partial results in shared memory: values and indices apart, which keeps words on their banks

template <class Value, int kCount>
struct SharedPartials {
  float value[kCount];
  __device__ __forceinline__ void set(int i, float v) { value[i] = v; }
  __device__ __forceinline__ float get(int i) const { return value[i]; }
};
template <int kCount>
struct SharedPartials<Found, kCount> {
  float value[kCount];
  std::int64_t at[kCount];
  __device__ __forceinline__ void set(int i, Found v) {
    value[i] = v.value;
    at[i] = v.at;
  }
  __device__ __forceinline__ Found get(int i) const { return {value[i], at[i]}; }
};

// ---- and between lanes

// Called by whole warps: the value of the lane whose number differs in just these bits.
__device__ __forceinline__ float exchange(float v, int bits) { return warp::exchange(v, bits); }
__device__ __forceinline__ Found exchange(Found v, int bits) {
  return {warp::exchange(v.value, bits), warp::exchange(v.at, bits)};
}

// Called by whole warps. Of each group of kWidth lanes, all get the join of the group's values.
template <class F, int kWidth = 32>
__device__ __forceinline__ typename F::Value warp_reduce(typename F::Value v) {
  WARPLADDER_UNROLL
  for (int distance = kWidth / 2; distance > 0; distance /= 2) {
    v = F::join(v, exchange(v, distance));
  }
  return v;
}

// Called by all kThreads threads of the block, once after another only with a barrier between.
// Valid in the first warp.
template <class F, int kThreads>
__device__ __forceinline__ typename F::Value block_reduce(typename F::Value v) {
  constexpr int kWarps = kThreads / 32;
  v = warp_reduce<F>(v);
  if constexpr (kWarps > 1) {
    __shared__ SharedPartials<typename F::Value, kWarps> of_warp;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) of_warp.set(warp, v);
    __syncthreads();  // every warp's result is there before the first warp takes them up
    if (warp == 0) v = warp_reduce<F, kWarps>(lane < kWarps ? of_warp.get(lane) : F::none());
  }
  return v;
}

// ---- and between blocks: a word for a value, two for a place

template <class F>
constexpr int kWordsOf = sizeof(typename F::Value) == sizeof(float) ? 1 : 2;

// Called by one thread.
__device__ __forceinline__ void publish(std::uint64_t* words, float v) { words[0] = to_word(v); }
__device__ __forceinline__ void publish(std::uint64_t* words, Found v) {
  words[0] = to_word(v.value);
  words[1] = to_word(v.at);
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
    WARPLADDER_UNROLL
    for (int u = 0; u < kWords * kInFlight; ++u) {
      const int i = first + u / kWords * step;
      word[u] = i < count ? words + i * stride + u % kWords : nullptr;
    }
    take_words(word, content);
    WARPLADDER_UNROLL
    for (int u = 0; u < kInFlight; ++u) {
      if (first + u * step >= count) continue;
      if constexpr (kWords == 1) {
        v = F::join(v, float_in(content[u]));
      } else {
        v = F::join(v, {float_in(content[2 * u]), index_in(content[2 * u + 1])});
      }
    }
  }
  return v;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
