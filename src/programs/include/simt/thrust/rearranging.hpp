#pragma once
// thrust's algorithms that move elements: copies, sorts, selections, and those by key.

#include <new>

#include "simt/thrust/algorithms.hpp"

namespace thrust {
namespace detail {

// ---- copies, also between host and device
template <class I>
auto* plain_pointer(I i) {
  if constexpr (std::is_pointer_v<I>) {
    return i;
  } else if constexpr (inner<I>::is_device && std::is_pointer_v<decltype(inner<I>::of(i))>) {
    return inner<I>::of(i);
  } else {
    return i.base();
  }
}
template <class I, class = void>
struct is_plain : std::bool_constant<std::is_pointer_v<I> ||
                                     std::is_pointer_v<decltype(inner<I>::of(std::declval<I>()))>> {
};
template <class T, class C>
struct is_plain<__gnu_cxx::__normal_iterator<T*, C>> : std::true_type {};

struct copy_algorithm : gives_place<2> {
  static constexpr const char* name = "thrust::copy";
  template <class I, class O>
  static std::ptrdiff_t run(I first, I last, O out) {
    const std::ptrdiff_t n = last - first;
    for (; first != last; ++first, ++out) *out = *first;
    return n;
  }
};
template <class I, class O>
O copy_between(I first, I last, O out) {
  constexpr bool is_plain_pair =
      is_plain<I>::value && is_plain<O>::value && std::is_same_v<value_of<I>, value_of<O>>;
  if constexpr (inner<I>::is_device == inner<O>::is_device) {
    return run<copy_algorithm, Place::by_iterators>(first, last, out);
  } else if constexpr (is_plain_pair) {
    const std::ptrdiff_t n = last - first;
    if (n > 0) {
      cudaMemcpy((void*)plain_pointer(out), plain_pointer(first),
                 static_cast<std::size_t>(n) * sizeof(value_of<I>), cudaMemcpyDefault);
    }
    return out + n;
  } else {
    for (; first != last; ++first, ++out) *out = static_cast<value_of<I>>(*first);
    return out;
  }
}
}  // namespace detail
template <class First, class... A>
auto copy(const First& first, const A&... a) {
  using Policy = detail::policy_of<std::decay_t<First>>;
  if constexpr (Policy::is_policy) {
    return detail::run<detail::copy_algorithm, Policy::place>(a...);
  } else {
    return detail::copy_between(first, a...);
  }
}
template <class I, class N, class O>
O copy_n(I first, N n, O out) {
  return thrust::copy(first, first + static_cast<std::ptrdiff_t>(n), out);
}
template <detail::Place where, class I, class N, class O>
O copy_n(const detail::policy<where>& p, I first, N n, O out) {
  return thrust::copy(p, first, first + static_cast<std::ptrdiff_t>(n), out);
}
namespace detail {

// ---- sorting: by merging, which keeps the order of equal elements
template <class T, class Less>
void merge_sort(T* items, T* spare, std::ptrdiff_t n, Less is_less) {
  constexpr std::ptrdiff_t kRun = 16;
  for (std::ptrdiff_t begin = 0; begin < n; begin += kRun) {
    const std::ptrdiff_t end = begin + kRun < n ? begin + kRun : n;
    for (std::ptrdiff_t i = begin + 1; i < end; ++i) {
      const T item = items[i];
      std::ptrdiff_t at = i;
      for (; at > begin && is_less(item, items[at - 1]); --at) items[at] = items[at - 1];
      items[at] = item;
    }
  }
  T *from = items, *to = spare;
  for (std::ptrdiff_t width = kRun; width < n; width *= 2) {
    for (std::ptrdiff_t begin = 0; begin < n; begin += 2 * width) {
      const std::ptrdiff_t middle = begin + width < n ? begin + width : n;
      const std::ptrdiff_t end = middle + width < n ? middle + width : n;
      std::ptrdiff_t a = begin, b = middle;
      for (std::ptrdiff_t i = begin; i < end; ++i) {
        to[i] = a < middle && (b == end || !is_less(from[b], from[a])) ? from[a++] : from[b++];
      }
    }
    T* const kept = from;
    from = to;
    to = kept;
  }
  for (std::ptrdiff_t i = 0; from != items && i < n; ++i) items[i] = from[i];
}
// Memory of the device's heap within a kernel, of the host's outside of one.
template <class T>
struct scratch {
  T* items;
  explicit scratch(std::ptrdiff_t n)
      : items(static_cast<T*>(malloc(static_cast<std::size_t>(n > 0 ? n : 1) * sizeof(T)))) {}
  scratch(const scratch&) = delete;
  ~scratch() { free(items); }
};

struct sort_algorithm : gives_nothing {
  static constexpr const char* name = "thrust::sort";
  template <class I, class Less = less<value_of<I>>>
  static void run(I first, I last, Less is_less = Less()) {
    const std::ptrdiff_t n = last - first;
    const scratch<value_of<I>> memory(2 * n);
    for (std::ptrdiff_t i = 0; i < n; ++i) ::new (memory.items + i) value_of<I>(first[i]);
    for (std::ptrdiff_t i = n; i < 2 * n; ++i)
      ::new (memory.items + i) value_of<I>(memory.items[0]);
    merge_sort(memory.items, memory.items + n, n, is_less);
    for (std::ptrdiff_t i = 0; i < n; ++i) first[i] = memory.items[i];
  }
};
struct sort_by_key_algorithm : gives_nothing {
  static constexpr const char* name = "thrust::sort_by_key";
  template <class K, class V, class Less = less<value_of<K>>>
  static void run(K first, K last, V values, Less is_less = Less()) {
    struct Item {
      value_of<K> key;
      value_of<V> value;
    };
    const std::ptrdiff_t n = last - first;
    const scratch<Item> memory(2 * n);
    for (std::ptrdiff_t i = 0; i < 2 * n; ++i) {
      const std::ptrdiff_t from = i < n ? i : 0;
      ::new (memory.items + i) Item{first[from], values[from]};
    }
    merge_sort(memory.items, memory.items + n, n,
               [is_less](const Item& a, const Item& b) { return is_less(a.key, b.key); });
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      first[i] = memory.items[i].key;
      values[i] = memory.items[i].value;
    }
  }
};
}  // namespace detail
#define SIMT_SORT(called, algorithm)                          \
  template <class First, class... A>                          \
  void called(const First& first, const A&... a) {            \
    detail::call<detail::algorithm##_algorithm>(first, a...); \
  }
SIMT_SORT(sort, sort)
SIMT_SORT(stable_sort, sort)
SIMT_SORT(sort_by_key, sort_by_key)
SIMT_SORT(stable_sort_by_key, sort_by_key)
#undef SIMT_SORT
namespace detail {

// ---- selections
SIMT_ALGORITHM(remove_if, gives_place<0>)
template <class I, class P>
static std::ptrdiff_t run(I first, I last, P p) {
  return run(first, last, first, p);
}
template <class I, class S, class P>
static std::ptrdiff_t run(I first, I last, S stencil, P p) {
  I out = first;
  const I begin = first;
  for (; first != last; ++first, ++stencil) {
    if (p(*stencil)) continue;
    if (out != first) *out = static_cast<value_of<I>>(*first);
    ++out;
  }
  return out - begin;
}
SIMT_END(remove_if)
SIMT_ALGORITHM(remove, gives_place<0>)
template <class I, class T>
static std::ptrdiff_t run(I first, I last, const T& value) {
  return remove_if_algorithm::run(first, last, [value](const auto& x) { return x == value; });
}
SIMT_END(remove)
SIMT_ALGORITHM(copy_if, gives_output_end)
template <class I, class O, class P>
static std::ptrdiff_t run(I first, I last, O out, P p) {
  return run(first, last, first, out, p);
}
template <class I, class S, class O, class P>
static std::ptrdiff_t run(I first, I last, S stencil, O out, P p) {
  std::ptrdiff_t n = 0;
  for (; first != last; ++first, ++stencil) {
    if (!p(*stencil)) continue;
    *out = *first;
    ++out, ++n;
  }
  return n;
}
SIMT_END(copy_if)
SIMT_ALGORITHM(remove_copy_if, gives_place<2>)
template <class I, class O, class P>
static std::ptrdiff_t run(I first, I last, O out, P p) {
  return copy_if_algorithm::run(first, last, out, [p](const auto& x) { return !p(x); });
}
SIMT_END(remove_copy_if)
SIMT_ALGORITHM(partition, gives_place<0>)
template <class I, class P>
static std::ptrdiff_t run(I first, I last, P p) {
  const std::ptrdiff_t n = last - first;
  const scratch<value_of<I>> memory(n);
  std::ptrdiff_t yes = 0, no = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const value_of<I> item = first[i];
    if (p(item)) {
      first[yes++] = item;
    } else {
      ::new (memory.items + no++) value_of<I>(item);
    }
  }
  for (std::ptrdiff_t i = 0; i < no; ++i) first[yes + i] = memory.items[i];
  return yes;
}
SIMT_END(partition)
SIMT_ALGORITHM(unique, gives_place<0>)
template <class I, class Same = equal_to<value_of<I>>>
static std::ptrdiff_t run(I first, I last, Same same = Same()) {
  const std::ptrdiff_t n = last - first;
  std::ptrdiff_t kept = n > 0;
  for (std::ptrdiff_t i = 1; i < n; ++i) {
    const value_of<I> item = first[i];
    if (!same(first[kept - 1], item)) first[kept++] = item;
  }
  return kept;
}
SIMT_END(unique)
SIMT_ALGORITHM(unique_copy, gives_place<2>)
template <class I, class O, class Same = equal_to<value_of<I>>>
static std::ptrdiff_t run(I first, I last, O out, Same same = Same()) {
  const std::ptrdiff_t n = last - first;
  std::ptrdiff_t kept = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    if (i == 0 || !same(first[i - 1], first[i])) out[kept++] = first[i];
  }
  return kept;
}
SIMT_END(unique_copy)

// ---- by key: runs of equal keys
// Of two outputs: keys and values, each moved on.
template <std::size_t i, std::size_t j>
struct gives_places {
  template <class... A>
  static auto finish(std::ptrdiff_t n, const A&... a) {
    const auto all = std::tie(a...);
    return thrust::make_pair(std::get<i>(all) + n, std::get<j>(all) + n);
  }
};
using gives_both_outputs = gives_places<3, 4>;
using gives_both_inputs = gives_places<0, 2>;
SIMT_ALGORITHM(reduce_by_key, gives_both_outputs)
template <class K, class V, class KO, class VO, class Same = equal_to<value_of<K>>,
          class F = plus<value_of<V>>>
static std::ptrdiff_t run(K first, K last, V values, KO keys_out, VO values_out, Same same = Same(),
                          F f = F()) {
  const std::ptrdiff_t n = last - first;
  std::ptrdiff_t kept = 0;
  for (std::ptrdiff_t i = 0; i < n;) {
    value_of<V> sum = values[i];
    std::ptrdiff_t end = i + 1;
    for (; end < n && same(first[end - 1], first[end]); ++end) sum = f(sum, values[end]);
    keys_out[kept] = first[i];
    values_out[kept++] = sum;
    i = end;
  }
  return kept;
}
SIMT_END(reduce_by_key)
SIMT_ALGORITHM(unique_by_key, gives_both_inputs)
template <class K, class V, class Same = equal_to<value_of<K>>>
static std::ptrdiff_t run(K first, K last, V values, Same same = Same()) {
  const std::ptrdiff_t n = last - first;
  std::ptrdiff_t kept = n > 0;
  for (std::ptrdiff_t i = 1; i < n; ++i) {
    if (same(first[kept - 1], first[i])) continue;
    first[kept] = static_cast<value_of<K>>(first[i]);
    values[kept++] = static_cast<value_of<V>>(values[i]);
  }
  return kept;
}
SIMT_END(unique_by_key)
SIMT_ALGORITHM(unique_by_key_copy, gives_both_outputs)
template <class K, class V, class KO, class VO, class Same = equal_to<value_of<K>>>
static std::ptrdiff_t run(K first, K last, V values, KO keys_out, VO values_out,
                          Same same = Same()) {
  const auto keep_first = [](const value_of<V>& a, const value_of<V>&) { return a; };
  return reduce_by_key_algorithm::run(first, last, values, keys_out, values_out, same, keep_first);
}
SIMT_END(unique_by_key_copy)
SIMT_ALGORITHM(inclusive_scan_by_key, gives_place<3>)
template <class K, class V, class O, class Same = equal_to<value_of<K>>,
          class F = plus<value_of<V>>>
static std::ptrdiff_t run(K first, K last, V values, O out, Same same = Same(), F f = F()) {
  const std::ptrdiff_t n = last - first;
  value_of<V> sum{};
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const bool goes_on = i > 0 && same(first[i - 1], first[i]);
    const value_of<V> value = values[i];
    out[i] = sum = goes_on ? f(sum, value) : value;
  }
  return n;
}
SIMT_END(inclusive_scan_by_key)
SIMT_ALGORITHM(exclusive_scan_by_key, gives_place<3>)
template <class K, class V, class O, class T = value_of<V>, class Same = equal_to<value_of<K>>,
          class F = plus<T>>
static std::ptrdiff_t run(K first, K last, V values, O out, T start = T(0), Same same = Same(),
                          F f = F()) {
  const std::ptrdiff_t n = last - first;
  T sum = start;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    if (i > 0 && !same(first[i - 1], first[i])) sum = start;
    const T next = f(sum, static_cast<value_of<V>>(values[i]));
    out[i] = sum;
    sum = next;
  }
  return n;
}
SIMT_END(exclusive_scan_by_key)
SIMT_ALGORITHM(merge, gives_value)
template <class I, class J, class O, class Less = less<value_of<I>>>
static O run(I a, I a_end, J b, J b_end, O out, Less is_less = Less()) {
  for (; a != a_end || b != b_end; ++out) {
    if (a != a_end && (b == b_end || !is_less(*b, *a))) {
      *out = *a++;
    } else {
      *out = *b++;
    }
  }
  return out;
}
SIMT_END(merge)

// ---- binary searches: of one value, or of each of several
struct places_in_order {
  template <class I, class T, class Less>
  static std::ptrdiff_t lower(I first, std::ptrdiff_t n, const T& value, Less is_less) {
    std::ptrdiff_t low = 0;
    while (low < n) {
      const std::ptrdiff_t middle = low + (n - low) / 2;
      is_less(first[middle], value) ? low = middle + 1 : n = middle;
    }
    return low;
  }
  template <class I, class T, class Less>
  static std::ptrdiff_t upper(I first, std::ptrdiff_t n, const T& value, Less is_less) {
    return lower(first, n, value, [&](const auto& a, const auto& b) { return !is_less(b, a); });
  }
};
#define SIMT_SEARCH(algorithm, place, one)                                                      \
  struct algorithm##_algorithm {                                                                \
    static constexpr const char* name = "thrust::" #algorithm;                                  \
    template <class I, class T>                                                                 \
    static auto run(I first, I last, const T& value) {                                          \
      return run(first, last, value, less<value_of<I>>());                                      \
    }                                                                                           \
    template <class I, class T, class Less>                                                     \
    static auto run(I first, I last, const T& value, Less is_less) {                            \
      const std::ptrdiff_t n = last - first;                                                    \
      return place;                                                                             \
    }                                                                                           \
    template <class I, class V, class O, class Less = less<value_of<I>>>                        \
    static std::ptrdiff_t run(I first, I last, V values, V end, O out, Less is_less = Less()) { \
      const std::ptrdiff_t count = end - values;                                                \
      for (; values != end; ++values, ++out) {                                                  \
        *out = run(first, last, static_cast<value_of<V>>(*values), is_less);                    \
      }                                                                                         \
      return count;                                                                             \
    }                                                                                           \
    template <class R, class I, class T>                                                        \
    static auto finish(R result, I first, I, const T&) {                                        \
      return one;                                                                               \
    }                                                                                           \
    template <class R, class I, class T, class Less>                                            \
    static auto finish(R result, I first, I, const T&, Less) {                                  \
      return one;                                                                               \
    }                                                                                           \
    template <class R, class I, class V, class O, class... More>                                \
    static O finish(R count, I, I, V, V, O out, More...) {                                      \
      return out + count;                                                                       \
    }                                                                                           \
  };                                                                                            \
  }                                                                                             \
  template <class First, class... A>                                                            \
  auto algorithm(const First& first, const A&... a) {                                           \
    return detail::call<detail::algorithm##_algorithm>(first, a...);                            \
  }                                                                                             \
  namespace detail {
SIMT_SEARCH(lower_bound, places_in_order::lower(first, n, value, is_less), first + result)
SIMT_SEARCH(upper_bound, places_in_order::upper(first, n, value, is_less), first + result)
SIMT_SEARCH(binary_search,
            (places_in_order::lower(first, n, value, is_less) <
             places_in_order::upper(first, n, value, is_less)),
            result)
#undef SIMT_SEARCH
#undef SIMT_ALGORITHM
#undef SIMT_END

}  // namespace detail
template <class... A>
auto stable_partition(const A&... a) {
  return thrust::partition(a...);
}

}  // namespace thrust
