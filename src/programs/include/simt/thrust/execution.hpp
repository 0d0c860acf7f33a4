#pragma once
// Where an algorithm of thrust runs. On the device it is a kernel of one thread: its accesses are
// checked like another kernel's, and are not counted.

#include "simt/thrust/iterators.hpp"

namespace thrust {
namespace detail {

enum class Place { by_iterators, host, device };
template <Place where>
struct policy {
  static constexpr Place place = where;
  policy on(cudaStream_t) const { return *this; }
  template <class Allocator>
  policy operator()(const Allocator&) const {
    return *this;
  }
};

template <class T, class = void>
struct policy_of {
  static constexpr bool is_policy = false;
  static constexpr Place place = Place::by_iterators;
};
template <Place where>
struct policy_of<policy<where>> {
  static constexpr bool is_policy = true;
  static constexpr Place place = where;
};

// Iterators over device memory become iterators over plain pointers within the kernel.
template <class I>
struct inner {
  static constexpr bool is_device = false;
  static I of(const I& i) { return i; }
};
template <class T>
struct inner<device_ptr<T>> {
  static constexpr bool is_device = true;
  static T* of(const device_ptr<T>& i) { return i.get(); }
};
template <class F, class I, class... More>
struct inner<transform_iterator<F, I, More...>> {
  static constexpr bool is_device = inner<I>::is_device;
  static auto of(const transform_iterator<F, I, More...>& i) {
    return transform_iterator<F, decltype(inner<I>::of(i.base))>(inner<I>::of(i.base), i.function);
  }
};
template <class E, class I>
struct inner<permutation_iterator<E, I>> {
  static constexpr bool is_device = inner<E>::is_device || inner<I>::is_device;
  static auto of(const permutation_iterator<E, I>& i) {
    return make_permutation_iterator(inner<E>::of(i.elements), inner<I>::of(i.indices));
  }
};
template <class... I>
struct inner<zip_iterator<std::tuple<I...>>> {
  static constexpr bool is_device = (inner<I>::is_device || ...);
  static auto of(const zip_iterator<std::tuple<I...>>& i) {
    return std::apply(
        [](const I&... part) { return make_zip_iterator(std::make_tuple(inner<I>::of(part)...)); },
        i.parts);
  }
};
template <class I>
struct inner<std::reverse_iterator<I>> {
  static constexpr bool is_device = inner<I>::is_device;
  static auto of(const std::reverse_iterator<I>& i) {
    return std::make_reverse_iterator(inner<I>::of(i.base()));
  }
};

// Runs `body` as a kernel of one thread, and hands its result to the host.
template <class Body>
auto on_device(const char* name, Body body) {
  using Result = decltype(body());
  const simt::Shape shape = simt::shape(1, 1);
  if constexpr (std::is_void_v<Result>) {
    simt::launch(
        shape, name, [](auto& b) { b(); }, body);
  } else {
    void* memory = nullptr;
    program_allocate(&memory, sizeof(Result), simt::kManaged);
    auto* const result = static_cast<Result*>(memory);
    simt::launch(
        shape, name, [](auto& b, Result* r) { ::new (r) Result(b()); }, body, result);
    Result value = *result;
    cudaFree(memory);
    return value;
  }
}

// An algorithm's run() works on inner iterators; finish() makes the caller's result of run()'s.
template <class Algorithm, Place asked, class... A>
auto run(const A&... a) {
  constexpr bool has_device = (inner<A>::is_device || ...);
  constexpr bool on_gpu = asked == Place::device || (asked == Place::by_iterators && has_device);
  const auto body = [=] { return Algorithm::run(inner<A>::of(a)...); };
  const auto here = [&] {
    if constexpr (on_gpu) {
      if (!program_in_kernel()) return on_device(Algorithm::name, body);
    }
    return body();
  };
  if constexpr (std::is_void_v<decltype(body())>) {
    here();
    return Algorithm::finish(a...);
  } else {
    return Algorithm::finish(here(), a...);
  }
}
template <class Algorithm, class First, class... A>
auto call(const First& first, const A&... a) {
  using Policy = policy_of<std::decay_t<First>>;
  if constexpr (Policy::is_policy) {
    return run<Algorithm, Policy::place>(a...);
  } else {
    return run<Algorithm, Place::by_iterators>(first, a...);
  }
}

}  // namespace detail

inline constexpr detail::policy<detail::Place::host> host{}, seq{};
inline constexpr detail::policy<detail::Place::device> device{};
namespace cuda {
inline constexpr detail::policy<detail::Place::device> par{}, par_nosync{};
}
namespace cuda_cub = cuda;

}  // namespace thrust
