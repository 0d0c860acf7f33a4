#pragma once
// cub's loads, stores, exchanges and sorts of a block's items.

#include "simt/cub/block.hpp"

namespace cub {

template <class T, int x, int items, bool slices = false, int y = 1, int z = 1, int arch = 0>
class BlockExchange {
  static constexpr int kThreads = x * y * z;

 public:
  using TempStorage = Room<T, kThreads * items>;
  SIMT_INLINE BlockExchange(TempStorage& room) : at_(room.items()) {}

  template <class U>
  SIMT_INLINE void StripedToBlocked(const T (&in)[items], U (&out)[items]) {
    put_striped(in);
    __syncthreads();
    get_blocked(out);
  }
  template <class U>
  SIMT_INLINE void BlockedToStriped(const T (&in)[items], U (&out)[items]) {
    put_blocked(in);
    __syncthreads();
    get_striped(out);
  }
  template <class U, class Rank>
  SIMT_INLINE void ScatterToBlocked(const T (&in)[items], U (&out)[items],
                                    const Rank (&ranks)[items]) {
    for (int i = 0; i < items; ++i) at_[ranks[i]] = in[i];
    __syncthreads();
    get_blocked(out);
  }
  template <class U, class Rank>
  SIMT_INLINE void ScatterToStriped(const T (&in)[items], U (&out)[items],
                                    const Rank (&ranks)[items]) {
    for (int i = 0; i < items; ++i) at_[ranks[i]] = in[i];
    __syncthreads();
    get_striped(out);
  }
  SIMT_INLINE void StripedToBlocked(T (&both)[items]) { StripedToBlocked(both, both); }
  SIMT_INLINE void BlockedToStriped(T (&both)[items]) { BlockedToStriped(both, both); }

 private:
  static SIMT_INLINE int rank() { return static_cast<int>(simt::thread_rank()); }
  SIMT_INLINE void put_striped(const T (&in)[items]) {
    for (int i = 0; i < items; ++i) at_[i * kThreads + rank()] = in[i];
  }
  SIMT_INLINE void put_blocked(const T (&in)[items]) {
    for (int i = 0; i < items; ++i) at_[rank() * items + i] = in[i];
  }
  template <class U>
  SIMT_INLINE void get_striped(U (&out)[items]) {
    for (int i = 0; i < items; ++i) out[i] = at_[i * kThreads + rank()];
  }
  template <class U>
  SIMT_INLINE void get_blocked(U (&out)[items]) {
    for (int i = 0; i < items; ++i) out[i] = at_[rank() * items + i];
  }
  T* at_;
};

// ---- direct loads and stores; items at and behind `valid` are left alone
constexpr int kAllValid = 0x7fffffff;
template <int items, class T, class I>
SIMT_INLINE void LoadDirectBlocked(int thread, I from, T (&out)[items], int valid = kAllValid) {
  for (int i = 0; i < items; ++i) {
    if (thread * items + i < valid) out[i] = from[thread * items + i];
  }
}
template <int threads, int items, class T, class I>
SIMT_INLINE void LoadDirectStriped(int thread, I from, T (&out)[items], int valid = kAllValid) {
  for (int i = 0; i < items; ++i) {
    if (thread + i * threads < valid) out[i] = from[thread + i * threads];
  }
}
template <int items, class T, class I>
SIMT_INLINE void StoreDirectBlocked(int thread, I to, T (&in)[items], int valid = kAllValid) {
  for (int i = 0; i < items; ++i) {
    if (thread * items + i < valid) to[thread * items + i] = in[i];
  }
}
template <int threads, int items, class T, class I>
SIMT_INLINE void StoreDirectStriped(int thread, I to, T (&in)[items], int valid = kAllValid) {
  for (int i = 0; i < items; ++i) {
    if (thread + i * threads < valid) to[thread + i * threads] = in[i];
  }
}

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <class T, int x, int items, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT, int y = 1,
          int z = 1, int arch = 0>
class BlockLoad {
  using Exchange = BlockExchange<T, x, items, false, y, z>;
  static constexpr bool kTransposes = algorithm >= BLOCK_LOAD_TRANSPOSE;

 public:
  using TempStorage = std::conditional_t<kTransposes, typename Exchange::TempStorage, Room<T, 1>>;
  SIMT_INLINE BlockLoad(TempStorage& room) : room_(room) {}
  template <class I>
  SIMT_INLINE void Load(I from, T (&out)[items], int valid = kAllValid) {
    const int thread = static_cast<int>(simt::thread_rank());
    if constexpr (kTransposes) {
      LoadDirectStriped<x * y * z>(thread, from, out, valid);
      Exchange(room_).StripedToBlocked(out, out);
    } else if constexpr (algorithm == BLOCK_LOAD_STRIPED) {
      LoadDirectStriped<x * y * z>(thread, from, out, valid);
    } else {
      LoadDirectBlocked(thread, from, out, valid);
    }
  }
  template <class I, class Default>
  SIMT_INLINE void Load(I from, T (&out)[items], int valid, Default otherwise) {
    for (T& item : out) item = otherwise;
    Load(from, out, valid);
  }

 private:
  TempStorage& room_;
};

template <class T, int x, int items, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT, int y = 1,
          int z = 1, int arch = 0>
class BlockStore {
  using Exchange = BlockExchange<T, x, items, false, y, z>;
  static constexpr bool kTransposes = algorithm >= BLOCK_STORE_TRANSPOSE;

 public:
  using TempStorage = std::conditional_t<kTransposes, typename Exchange::TempStorage, Room<T, 1>>;
  SIMT_INLINE BlockStore(TempStorage& room) : room_(room) {}
  template <class I>
  SIMT_INLINE void Store(I to, T (&in)[items], int valid = kAllValid) {
    const int thread = static_cast<int>(simt::thread_rank());
    if constexpr (kTransposes) {
      Exchange(room_).BlockedToStriped(in, in);
      StoreDirectStriped<x * y * z>(thread, to, in, valid);
    } else if constexpr (algorithm == BLOCK_STORE_STRIPED) {
      StoreDirectStriped<x * y * z>(thread, to, in, valid);
    } else {
      StoreDirectBlocked(thread, to, in, valid);
    }
  }

 private:
  TempStorage& room_;
};

// Each item counts those that come before it; equal keys keep their order.
template <class K, int x, int items, class V = NullType, int... ignored>
class BlockRadixSort {
 public:
  struct TempStorage {
    Room<K, x * items> keys;
    Room<V, x * items> values;
  };
  SIMT_INLINE BlockRadixSort(TempStorage& room) : room_(room) {}
  SIMT_INLINE void Sort(K (&keys)[items], int = 0, int = 64) {
    sort(keys, (V*)nullptr, thrust::less<K>(), items, 1);
  }
  SIMT_INLINE void Sort(K (&keys)[items], V (&values)[items], int = 0, int = 64) {
    sort(keys, values, thrust::less<K>(), items, 1);
  }
  SIMT_INLINE void SortDescending(K (&keys)[items], int = 0, int = 64) {
    sort(keys, (V*)nullptr, thrust::greater<K>(), items, 1);
  }
  SIMT_INLINE void SortDescending(K (&keys)[items], V (&values)[items], int = 0, int = 64) {
    sort(keys, values, thrust::greater<K>(), items, 1);
  }
  SIMT_INLINE void SortBlockedToStriped(K (&keys)[items], int = 0, int = 64) {
    sort(keys, (V*)nullptr, thrust::less<K>(), 1, x);
  }
  SIMT_INLINE void SortBlockedToStriped(K (&keys)[items], V (&values)[items], int = 0, int = 64) {
    sort(keys, values, thrust::less<K>(), 1, x);
  }

 private:
  template <class Less>
  SIMT_INLINE void sort(K (&keys)[items], V* values, Less is_less, int of_thread, int of_item) {
    const int first = static_cast<int>(simt::thread_rank()) * items;
    K* const all = room_.keys.items();
    for (int i = 0; i < items; ++i) all[first + i] = keys[i];
    __syncthreads();
    int place[items] = {};
    for (int other = 0; other < x * items; ++other) {
      const K key = all[other];
      for (int i = 0; i < items; ++i) {
        place[i] += is_less(key, keys[i]) || (!is_less(keys[i], key) && other < first + i);
      }
    }
    __syncthreads();
    for (int i = 0; i < items; ++i) {
      all[place[i]] = keys[i];
      if (values) room_.values.items()[place[i]] = values[i];
    }
    __syncthreads();
    const int begin = static_cast<int>(simt::thread_rank()) * of_thread;
    for (int i = 0; i < items; ++i) {
      keys[i] = all[begin + i * of_item];
      if (values) values[i] = room_.values.items()[begin + i * of_item];
    }
  }
  TempStorage& room_;
};

}  // namespace cub
