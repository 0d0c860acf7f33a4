#pragma once
// cub's algorithms over device memory: thrust's, as one thread. The first call asks for the size of
// temporary storage; none is needed, but programs expect to allocate some.

#include "simt/cub/common.hpp"

namespace cub {

#define SIMT_ASKS_FOR_STORAGE(temporary, bytes) \
  if (!(temporary)) return (bytes) = 256, cudaSuccess

template <class T>
struct DoubleBuffer {
  T* d_buffers[2];
  int selector = 0;
  DoubleBuffer(T* current = nullptr, T* alternate = nullptr) : d_buffers{current, alternate} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

template <class Result, class Body>
cudaError_t store_on_device(const char* name, Result out, Body body) {
  thrust::detail::on_device(name, [=] { *out = body(); });
  return cudaSuccess;
}

struct DeviceReduce {
  template <class I, class O, class N, class Op, class T>
  static cudaError_t Reduce(void* temporary, std::size_t& bytes, I in, O out, N n, Op op, T start,
                            cudaStream_t = nullptr, bool = false) {
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);
    return store_on_device("cub::DeviceReduce", out, [=] {
      T sum = start;
      for (N i = 0; i < n; ++i) sum = op(sum, in[i]);
      return sum;
    });
  }
  template <class I, class O, class N>
  static cudaError_t Sum(void* temporary, std::size_t& bytes, I in, O out, N n,
                         cudaStream_t = nullptr, bool = false) {
    return Reduce(temporary, bytes, in, out, n, cub::Sum(), thrust::iterator_value_t<I>());
  }
#define SIMT_EXTREME(name, Op, Wrapped, result)                                         \
  template <class I, class O, class N>                                                  \
  static cudaError_t name(void* temporary, std::size_t& bytes, I in, O out, N n,        \
                          cudaStream_t = nullptr, bool = false) {                       \
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);                                            \
    return store_on_device("cub::DeviceReduce", out, [=] {                              \
      const auto all = Wrapped;                                                         \
      auto best = all[0];                                                               \
      for (N i = 1; i < n; ++i) best = Op()(best, static_cast<decltype(best)>(all[i])); \
      return result;                                                                    \
    });                                                                                 \
  }
  SIMT_EXTREME(Min, cub::Min, in, best)
  SIMT_EXTREME(Max, cub::Max, in, best)
  SIMT_EXTREME(ArgMin, cub::ArgMin, ArgIndexInputIterator<I>(in), best)
  SIMT_EXTREME(ArgMax, cub::ArgMax, ArgIndexInputIterator<I>(in), best)
#undef SIMT_EXTREME
  template <class K, class KO, class V, class VO, class Count, class Op, class N>
  static cudaError_t ReduceByKey(void* temporary, std::size_t& bytes, K keys, KO keys_out, V values,
                                 VO values_out, Count count, Op op, N n, cudaStream_t = nullptr) {
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);
    return store_on_device("cub::DeviceReduce", count, [=] {
      return thrust::detail::reduce_by_key_algorithm::run(keys, keys + n, values, keys_out,
                                                          values_out, thrust::equal_to<>(), op);
    });
  }
};

struct DeviceScan {
  template <class I, class O, class Op, class T, class N>
  static cudaError_t ExclusiveScan(void* temporary, std::size_t& bytes, I in, O out, Op op, T start,
                                   N n, cudaStream_t = nullptr, bool = false) {
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);
    thrust::detail::on_device("cub::DeviceScan", [=] {
      thrust::detail::exclusive_scan_algorithm::run(in, in + n, out, start, op);
    });
    return cudaSuccess;
  }
  template <class I, class O, class Op, class N>
  static cudaError_t InclusiveScan(void* temporary, std::size_t& bytes, I in, O out, Op op, N n,
                                   cudaStream_t = nullptr, bool = false) {
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);
    thrust::detail::on_device("cub::DeviceScan", [=] {
      thrust::detail::inclusive_scan_algorithm::run(in, in + n, out, op);
    });
    return cudaSuccess;
  }
  template <class I, class O, class N>
  static cudaError_t ExclusiveSum(void* temporary, std::size_t& bytes, I in, O out, N n,
                                  cudaStream_t = nullptr, bool = false) {
    using T = thrust::iterator_value_t<I>;
    return ExclusiveScan(temporary, bytes, in, out, thrust::plus<T>(), T(), n);
  }
  template <class I, class O, class N>
  static cudaError_t InclusiveSum(void* temporary, std::size_t& bytes, I in, O out, N n,
                                  cudaStream_t = nullptr, bool = false) {
    using T = thrust::iterator_value_t<I>;
    return InclusiveScan(temporary, bytes, in, out, thrust::plus<T>(), n);
  }
};

struct DeviceSelect {
  template <class I, class F, class O, class Count, class N>
  static cudaError_t Flagged(void* temporary, std::size_t& bytes, I in, F flags, O out, Count count,
                             N n, cudaStream_t = nullptr, bool = false) {
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);
    return store_on_device("cub::DeviceSelect", count, [=] {
      return thrust::detail::copy_if_algorithm::run(in, in + n, flags, out,
                                                    [](const auto& flag) { return bool(flag); });
    });
  }
  template <class I, class O, class Count, class N, class P>
  static cudaError_t If(void* temporary, std::size_t& bytes, I in, O out, Count count, N n, P p,
                        cudaStream_t = nullptr, bool = false) {
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);
    return store_on_device("cub::DeviceSelect", count, [=] {
      return thrust::detail::copy_if_algorithm::run(in, in + n, out, p);
    });
  }
  template <class I, class O, class Count, class N>
  static cudaError_t Unique(void* temporary, std::size_t& bytes, I in, O out, Count count, N n,
                            cudaStream_t = nullptr, bool = false) {
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);
    return store_on_device("cub::DeviceSelect", count, [=] {
      return thrust::detail::unique_copy_algorithm::run(in, in + n, out);
    });
  }
};

struct DeviceRunLengthEncode {
  template <class I, class U, class C, class Count, class N>
  static cudaError_t Encode(void* temporary, std::size_t& bytes, I in, U unique, C counts,
                            Count count, N n, cudaStream_t = nullptr, bool = false) {
    using Length = thrust::iterator_value_t<C>;
    return DeviceReduce::ReduceByKey(temporary, bytes, in, unique,
                                     thrust::constant_iterator<Length>(1), counts, count,
                                     thrust::plus<Length>(), n);
  }
};

struct DeviceHistogram {
  template <class I, class H, class Level, class N>
  static cudaError_t HistogramEven(void* temporary, std::size_t& bytes, I in, H* histogram,
                                   int levels, Level low, Level high, N n, cudaStream_t = nullptr) {
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);
    thrust::detail::on_device("cub::DeviceHistogram", [=] {
      const int bins = levels - 1;
      for (int i = 0; i < bins; ++i) histogram[i] = 0;
      for (N i = 0; i < n; ++i) {
        const Level sample = static_cast<Level>(in[i]);
        if (sample < low || !(sample < high)) continue;
        ++histogram[static_cast<int>((sample - low) * static_cast<Level>(bins) / (high - low))];
      }
    });
    return cudaSuccess;
  }
};

struct DeviceSegmentedReduce {
  template <class I, class O, class B, class E, class Op, class T>
  static cudaError_t Reduce(void* temporary, std::size_t& bytes, I in, O out, int segments,
                            B begins, E ends, Op op, T start, cudaStream_t = nullptr,
                            bool = false) {
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);
    thrust::detail::on_device("cub::DeviceSegmentedReduce", [=] {
      for (int s = 0; s < segments; ++s) {
        T sum = start;
        for (auto i = begins[s]; i < ends[s]; ++i) sum = op(sum, in[i]);
        out[s] = sum;
      }
    });
    return cudaSuccess;
  }
#define SIMT_SEGMENTED(name, op, start)                                                   \
  template <class I, class O, class B, class E>                                           \
  static cudaError_t name(void* temporary, std::size_t& bytes, I in, O out, int segments, \
                          B begins, E ends, cudaStream_t = nullptr, bool = false) {       \
    using T = thrust::iterator_value_t<I>;                                                \
    return Reduce(temporary, bytes, in, out, segments, begins, ends, op, T(start));       \
  }
  SIMT_SEGMENTED(Sum, cub::Sum(), 0)
  SIMT_SEGMENTED(Max, cub::Max(), std::numeric_limits<T>::lowest())
  SIMT_SEGMENTED(Min, cub::Min(), std::numeric_limits<T>::max())
#undef SIMT_SEGMENTED
};

}  // namespace cub
