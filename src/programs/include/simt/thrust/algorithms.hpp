#pragma once
// thrust's algorithms over each element: fill, transform, count, find, reduce, scan.

#include "simt/thrust/execution.hpp"

namespace thrust {
namespace detail {

// What an algorithm hands its caller: a value, nothing, or argument `i` moved on by run()'s result.
struct gives_value {
  template <class R, class... A>
  static R finish(R result, const A&...) {
    return result;
  }
};
struct gives_nothing {
  template <class... A>
  static void finish(const A&...) {}
};
template <std::size_t i>
struct gives_place {
  template <class... A>
  static auto finish(std::ptrdiff_t n, const A&... a) {
    return std::get<i>(std::tie(a...)) + n;
  }
};
// The output moved on: the last argument but one.
struct gives_output_end {
  template <class... A>
  static auto finish(std::ptrdiff_t n, const A&... a) {
    return std::get<sizeof...(A) - 2>(std::tie(a...)) + n;
  }
};
template <class I>
using value_of = typename std::iterator_traits<I>::value_type;

#define SIMT_ALGORITHM(algorithm, result) \
  struct algorithm##_algorithm : result { \
    static constexpr const char* name = "thrust::" #algorithm;
#define SIMT_END(algorithm)                                          \
  }                                                                  \
  ;                                                                  \
  }                                                                  \
  template <class First, class... A>                                 \
  auto algorithm(const First& first, const A&... a) {                \
    return detail::call<detail::algorithm##_algorithm>(first, a...); \
  }                                                                  \
  namespace detail {

SIMT_ALGORITHM(fill, gives_nothing)
template <class I, class T>
static void run(I first, I last, const T& value) {
  for (; first != last; ++first) *first = value;
}
SIMT_END(fill)
SIMT_ALGORITHM(fill_n, gives_place<0>)
template <class I, class N, class T>
static std::ptrdiff_t run(I first, N n, const T& value) {
  for (N i = 0; i < n; ++i, ++first) *first = value;
  return static_cast<std::ptrdiff_t>(n);
}
SIMT_END(fill_n)
SIMT_ALGORITHM(sequence, gives_nothing)
template <class I, class T = value_of<I>>
static void run(I first, I last, T start = T(0), T step = T(1)) {
  for (std::ptrdiff_t i = 0; first != last; ++first, ++i) {
    *first = static_cast<value_of<I>>(start + static_cast<T>(i) * step);
  }
}
SIMT_END(sequence)
SIMT_ALGORITHM(generate, gives_nothing)
template <class I, class F>
static void run(I first, I last, F f) {
  for (; first != last; ++first) *first = f();
}
SIMT_END(generate)
SIMT_ALGORITHM(tabulate, gives_nothing)
template <class I, class F>
static void run(I first, I last, F f) {
  for (std::ptrdiff_t i = 0; first != last; ++first, ++i) *first = f(i);
}
SIMT_END(tabulate)
SIMT_ALGORITHM(for_each, gives_place<0>)
template <class I, class F>
static std::ptrdiff_t run(I first, I last, F f) {
  const std::ptrdiff_t n = last - first;
  for (; first != last; ++first) f(*first);
  return n;
}
SIMT_END(for_each)
SIMT_ALGORITHM(for_each_n, gives_place<0>)
template <class I, class N, class F>
static std::ptrdiff_t run(I first, N n, F f) {
  for (N i = 0; i < n; ++i, ++first) f(*first);
  return static_cast<std::ptrdiff_t>(n);
}
SIMT_END(for_each_n)

SIMT_ALGORITHM(transform, gives_output_end)
template <class I, class O, class F>
static std::ptrdiff_t run(I first, I last, O out, F f) {
  const std::ptrdiff_t n = last - first;
  for (; first != last; ++first, ++out) *out = f(*first);
  return n;
}
template <class I, class J, class O, class F>
static std::ptrdiff_t run(I first, I last, J second, O out, F f) {
  const std::ptrdiff_t n = last - first;
  for (; first != last; ++first, ++second, ++out) *out = f(*first, *second);
  return n;
}
SIMT_END(transform)
SIMT_ALGORITHM(transform_if, gives_value)
template <class I, class O, class F, class P>
static O run(I first, I last, O out, F f, P p) {
  for (; first != last; ++first, ++out) {
    if (p(*first)) *out = f(*first);
  }
  return out;
}
template <class I, class S, class O, class F, class P>
static O run(I first, I last, S stencil, O out, F f, P p) {
  for (; first != last; ++first, ++stencil, ++out) {
    if (p(*stencil)) *out = f(*first);
  }
  return out;
}
SIMT_END(transform_if)
SIMT_ALGORITHM(adjacent_difference, gives_place<2>)
template <class I, class O, class F = minus<value_of<I>>>
static std::ptrdiff_t run(I first, I last, O out, F f = F()) {
  const std::ptrdiff_t n = last - first;
  if (n == 0) return 0;
  value_of<I> before = *first;
  *out = before;
  for (++first, ++out; first != last; ++first, ++out) {
    const value_of<I> now = *first;
    *out = f(now, before);
    before = now;
  }
  return n;
}
SIMT_END(adjacent_difference)
SIMT_ALGORITHM(gather, gives_place<3>)
template <class M, class I, class O>
static std::ptrdiff_t run(M first, M last, I in, O out) {
  const std::ptrdiff_t n = last - first;
  for (; first != last; ++first, ++out) *out = in[static_cast<std::ptrdiff_t>(*first)];
  return n;
}
SIMT_END(gather)
SIMT_ALGORITHM(scatter, gives_nothing)
template <class I, class M, class O>
static void run(I first, I last, M map, O out) {
  for (; first != last; ++first, ++map) out[static_cast<std::ptrdiff_t>(*map)] = *first;
}
SIMT_END(scatter)
SIMT_ALGORITHM(swap_ranges, gives_place<2>)
template <class I, class J>
static std::ptrdiff_t run(I first, I last, J other) {
  const std::ptrdiff_t n = last - first;
  for (; first != last; ++first, ++other) {
    const value_of<I> kept = *first;
    *first = static_cast<value_of<J>>(*other);
    *other = kept;
  }
  return n;
}
SIMT_END(swap_ranges)
SIMT_ALGORITHM(reverse, gives_nothing)
template <class I>
static void run(I first, I last) {
  for (; first < last && first < --last; ++first) {
    const value_of<I> kept = *first;
    *first = static_cast<value_of<I>>(*last);
    *last = kept;
  }
}
SIMT_END(reverse)
SIMT_ALGORITHM(replace, gives_nothing)
template <class I, class T>
static void run(I first, I last, const T& old, const T& fresh) {
  for (; first != last; ++first) {
    if (*first == old) *first = fresh;
  }
}
SIMT_END(replace)
SIMT_ALGORITHM(replace_if, gives_nothing)
template <class I, class P, class T>
static void run(I first, I last, P p, const T& fresh) {
  for (; first != last; ++first) {
    if (p(*first)) *first = fresh;
  }
}
template <class I, class S, class P, class T>
static void run(I first, I last, S stencil, P p, const T& fresh) {
  for (; first != last; ++first, ++stencil) {
    if (p(*stencil)) *first = fresh;
  }
}
SIMT_END(replace_if)

// ---- searches and counts
SIMT_ALGORITHM(count, gives_value)
template <class I, class T>
static std::ptrdiff_t run(I first, I last, const T& value) {
  std::ptrdiff_t n = 0;
  for (; first != last; ++first) n += *first == value;
  return n;
}
SIMT_END(count)
SIMT_ALGORITHM(count_if, gives_value)
template <class I, class P>
static std::ptrdiff_t run(I first, I last, P p) {
  std::ptrdiff_t n = 0;
  for (; first != last; ++first) n += static_cast<bool>(p(*first));
  return n;
}
SIMT_END(count_if)
SIMT_ALGORITHM(find, gives_place<0>)
template <class I, class T>
static std::ptrdiff_t run(I first, I last, const T& value) {
  const I begin = first;
  while (first != last && !(*first == value)) ++first;
  return first - begin;
}
SIMT_END(find)
SIMT_ALGORITHM(find_if, gives_place<0>)
template <class I, class P>
static std::ptrdiff_t run(I first, I last, P p) {
  const I begin = first;
  while (first != last && !p(*first)) ++first;
  return first - begin;
}
SIMT_END(find_if)
SIMT_ALGORITHM(find_if_not, gives_place<0>)
template <class I, class P>
static std::ptrdiff_t run(I first, I last, P p) {
  const I begin = first;
  while (first != last && p(*first)) ++first;
  return first - begin;
}
SIMT_END(find_if_not)
#define SIMT_QUANTIFIER(algorithm, found, result) \
  SIMT_ALGORITHM(algorithm, gives_value)          \
  template <class I, class P>                     \
  static bool run(I first, I last, P p) {         \
    for (; first != last; ++first) {              \
      if (found p(*first)) return result;         \
    }                                             \
    return !result;                               \
  }                                               \
  SIMT_END(algorithm)
SIMT_QUANTIFIER(all_of, !, false)
SIMT_QUANTIFIER(any_of, , true)
SIMT_QUANTIFIER(none_of, , false)
#undef SIMT_QUANTIFIER
SIMT_ALGORITHM(equal, gives_value)
template <class I, class J, class P = equal_to<>>
static bool run(I first, I last, J other, P p = P()) {
  for (; first != last; ++first, ++other) {
    if (!p(*first, *other)) return false;
  }
  return true;
}
SIMT_END(equal)
SIMT_ALGORITHM(is_sorted, gives_value)
template <class I, class Less = less<value_of<I>>>
static bool run(I first, I last, Less is_less = Less()) {
  if (first == last) return true;
  for (I next = first + 1; next != last; ++first, ++next) {
    if (is_less(*next, *first)) return false;
  }
  return true;
}
SIMT_END(is_sorted)
SIMT_ALGORITHM(min_element, gives_place<0>)
template <class I, class Less = less<value_of<I>>>
static std::ptrdiff_t run(I first, I last, Less is_less = Less()) {
  std::ptrdiff_t best = 0;
  for (std::ptrdiff_t i = 1; i < last - first; ++i) {
    if (is_less(first[i], first[best])) best = i;
  }
  return best;
}
SIMT_END(min_element)
SIMT_ALGORITHM(max_element, gives_place<0>)
template <class I, class Less = less<value_of<I>>>
static std::ptrdiff_t run(I first, I last, Less is_less = Less()) {
  return min_element_algorithm::run(
      first, last, [is_less](const auto& a, const auto& b) { return is_less(b, a); });
}
SIMT_END(max_element)

// ---- reductions and scans, in the order of the elements
SIMT_ALGORITHM(reduce, gives_value)
template <class I>
static value_of<I> run(I first, I last) {
  return run(first, last, value_of<I>(0));
}
template <class I, class T, class F = plus<T>>
static T run(I first, I last, T sum, F f = F()) {
  for (; first != last; ++first) sum = f(sum, static_cast<value_of<I>>(*first));
  return sum;
}
SIMT_END(reduce)
SIMT_ALGORITHM(transform_reduce, gives_value)
template <class I, class U, class T, class F>
static T run(I first, I last, U u, T sum, F f) {
  for (; first != last; ++first) sum = f(sum, u(*first));
  return sum;
}
SIMT_END(transform_reduce)
SIMT_ALGORITHM(inner_product, gives_value)
template <class I, class J, class T, class F = plus<T>, class G = multiplies<T>>
static T run(I first, I last, J other, T sum, F f = F(), G g = G()) {
  for (; first != last; ++first, ++other) sum = f(sum, g(*first, *other));
  return sum;
}
SIMT_END(inner_product)
SIMT_ALGORITHM(inclusive_scan, gives_place<2>)
template <class I, class O, class F = plus<value_of<I>>>
static std::ptrdiff_t run(I first, I last, O out, F f = F()) {
  const std::ptrdiff_t n = last - first;
  if (n == 0) return 0;
  value_of<I> sum = *first;
  *out = sum;
  for (++first, ++out; first != last; ++first, ++out) *out = sum = f(sum, *first);
  return n;
}
SIMT_END(inclusive_scan)
SIMT_ALGORITHM(exclusive_scan, gives_place<2>)
template <class I, class O>
static std::ptrdiff_t run(I first, I last, O out) {
  return run(first, last, out, value_of<I>(0));
}
template <class I, class O, class T, class F = plus<T>>
static std::ptrdiff_t run(I first, I last, O out, T sum, F f = F()) {
  const std::ptrdiff_t n = last - first;
  for (; first != last; ++first, ++out) {
    const T next = f(sum, static_cast<value_of<I>>(*first));  // `out` may be `first`
    *out = sum;
    sum = next;
  }
  return n;
}
SIMT_END(exclusive_scan)
SIMT_ALGORITHM(transform_inclusive_scan, gives_place<2>)
template <class I, class O, class U, class F>
static std::ptrdiff_t run(I first, I last, O out, U u, F f) {
  return inclusive_scan_algorithm::run(make_transform_iterator(first, u),
                                       make_transform_iterator(last, u), out, f);
}
SIMT_END(transform_inclusive_scan)
SIMT_ALGORITHM(transform_exclusive_scan, gives_place<2>)
template <class I, class O, class U, class T, class F>
static std::ptrdiff_t run(I first, I last, O out, U u, T sum, F f) {
  return exclusive_scan_algorithm::run(make_transform_iterator(first, u),
                                       make_transform_iterator(last, u), out, sum, f);
}
SIMT_END(transform_exclusive_scan)

}  // namespace detail

template <class... A>
auto minmax_element(const A&... a) {
  return thrust::make_pair(thrust::min_element(a...), thrust::max_element(a...));
}

}  // namespace thrust
