#pragma once
// thrust's pointers to device memory and its made-up iterators.

#include <iterator>

#include "simt/runtime_api.hpp"
#include "simt/thrust/functional.hpp"

namespace thrust {

template <class T>
class device_ptr;

// An element of device memory. Host code copies it; a kernel uses it in place.
template <class T>
class device_reference {
 public:
  using value_type = std::remove_const_t<T>;
  explicit device_reference(T* pointer) : pointer_(pointer) {}
  device_reference(const device_reference&) = default;
  operator value_type() const {
    if (program_in_kernel()) return *pointer_;
    alignas(T) unsigned char bytes[sizeof(T)];
    cudaMemcpy(bytes, pointer_, sizeof(T), cudaMemcpyDeviceToHost);
    return *reinterpret_cast<value_type*>(bytes);
  }
  const device_reference& operator=(const value_type& value) const {
    if (program_in_kernel()) {
      *const_cast<value_type*>(pointer_) = value;
    } else {
      cudaMemcpy(const_cast<value_type*>(pointer_), &value, sizeof(T), cudaMemcpyHostToDevice);
    }
    return *this;
  }
  const device_reference& operator=(const device_reference& other) const {
    return *this = static_cast<value_type>(other);
  }
  device_ptr<T> operator&() const;
#define SIMT_ASSIGN(op)                                                              \
  template <class U>                                                                 \
  const device_reference& operator op##=(const U& value) const {                     \
    return *this = static_cast<value_type>(static_cast<value_type>(*this) op value); \
  }
  SIMT_ASSIGN(+)
  SIMT_ASSIGN(-)
  SIMT_ASSIGN(*)
  SIMT_ASSIGN(/)
#undef SIMT_ASSIGN
  const device_reference& operator++() const { return *this += value_type(1); }
  const device_reference& operator--() const { return *this -= value_type(1); }

 private:
  T* pointer_;
};

// What random-access iterators share. Self has get_at(), move(n) and steps_to(other).
template <class Self, class Value, class Reference, class Pointer = void>
struct iterator_base {
  using iterator_category = std::random_access_iterator_tag;
  using difference_type = std::ptrdiff_t;
  using value_type = Value;
  using reference = Reference;
  using pointer = Pointer;
  Self& self() { return *static_cast<Self*>(this); }
  const Self& self() const { return *static_cast<const Self*>(this); }
  Reference operator*() const { return self().get_at(); }
  Reference operator[](difference_type n) const { return *(self() + n); }
  Self& operator+=(difference_type n) { return self().move(n), self(); }
  Self& operator-=(difference_type n) { return self().move(-n), self(); }
  Self& operator++() { return *this += 1; }
  Self& operator--() { return *this -= 1; }
  Self operator++(int) { return ++*this, self() - 1; }
  Self operator--(int) { return --*this, self() + 1; }
  friend Self operator+(Self a, difference_type n) { return a += n; }
  friend Self operator+(difference_type n, Self a) { return a += n; }
  friend Self operator-(Self a, difference_type n) { return a -= n; }
  friend difference_type operator-(const Self& a, const Self& b) { return b.steps_to(a); }
  friend bool operator==(const Self& a, const Self& b) { return b.steps_to(a) == 0; }
  friend bool operator!=(const Self& a, const Self& b) { return b.steps_to(a) != 0; }
  friend bool operator<(const Self& a, const Self& b) { return b.steps_to(a) < 0; }
  friend bool operator>(const Self& a, const Self& b) { return b.steps_to(a) > 0; }
  friend bool operator<=(const Self& a, const Self& b) { return b.steps_to(a) <= 0; }
  friend bool operator>=(const Self& a, const Self& b) { return b.steps_to(a) >= 0; }
};

template <class T>
class device_ptr : public iterator_base<device_ptr<T>, std::remove_const_t<T>, device_reference<T>,
                                        device_ptr<T>> {
 public:
  device_ptr() = default;
  device_ptr(std::nullptr_t) {}
  explicit device_ptr(T* pointer) : pointer_(pointer) {}
  template <class U, std::enable_if_t<std::is_convertible_v<U*, T*>, int> = 0>
  device_ptr(const device_ptr<U>& other) : pointer_(other.get()) {}
  T* get() const { return pointer_; }
  device_reference<T> get_at() const { return device_reference<T>(pointer_); }
  void move(std::ptrdiff_t n) { pointer_ += n; }
  std::ptrdiff_t steps_to(const device_ptr& other) const { return other.pointer_ - pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }

 private:
  T* pointer_ = nullptr;
};
template <>
class device_ptr<void> {
 public:
  explicit device_ptr(void* pointer = nullptr) : pointer_(pointer) {}
  void* get() const { return pointer_; }

 private:
  void* pointer_;
};
template <class T>
device_ptr<T> device_reference<T>::operator&() const {
  return device_ptr<T>(pointer_);
}
template <class T>
T* raw_pointer_cast(T* pointer) {
  return pointer;
}
template <class T>
T* raw_pointer_cast(const device_ptr<T>& pointer) {
  return pointer.get();
}
template <class T>
device_ptr<T> device_pointer_cast(T* pointer) {
  return device_ptr<T>(pointer);
}
template <class T>
device_ptr<T> device_pointer_cast(const device_ptr<T>& pointer) {
  return pointer;
}
template <class T>
device_ptr<T> device_malloc(std::size_t count) {
  void* pointer = nullptr;
  program_allocate(&pointer, count * sizeof(T), simt::kDevice);
  return device_ptr<T>(static_cast<T*>(pointer));
}
template <class T>
void device_free(const device_ptr<T>& pointer) {
  cudaFree(const_cast<std::remove_const_t<T>*>(pointer.get()));
}

template <class T, class... Ignored>
struct counting_iterator : iterator_base<counting_iterator<T, Ignored...>, T, T> {
  T value;
  counting_iterator(T v = T()) : value(v) {}
  T get_at() const { return value; }
  void move(std::ptrdiff_t n) { value = static_cast<T>(value + n); }
  std::ptrdiff_t steps_to(const counting_iterator& other) const {
    return static_cast<std::ptrdiff_t>(other.value) - static_cast<std::ptrdiff_t>(value);
  }
};
template <class T>
counting_iterator<T> make_counting_iterator(T value) {
  return {value};
}

template <class T, class... Ignored>
struct constant_iterator : iterator_base<constant_iterator<T, Ignored...>, T, T> {
  T value;
  std::ptrdiff_t at;
  constant_iterator(T v = T(), std::ptrdiff_t i = 0) : value(v), at(i) {}
  T get_at() const { return value; }
  void move(std::ptrdiff_t n) { at += n; }
  std::ptrdiff_t steps_to(const constant_iterator& other) const { return other.at - at; }
};
template <class T>
constant_iterator<T> make_constant_iterator(T value, std::ptrdiff_t at = 0) {
  return {value, at};
}

struct nothing {
  template <class T>
  const nothing& operator=(const T&) const {
    return *this;
  }
};
template <class... Ignored>
struct discard_iterator : iterator_base<discard_iterator<Ignored...>, nothing, nothing> {
  std::ptrdiff_t at;
  discard_iterator(std::ptrdiff_t i = 0) : at(i) {}
  nothing get_at() const { return {}; }
  void move(std::ptrdiff_t n) { at += n; }
  std::ptrdiff_t steps_to(const discard_iterator& other) const { return other.at - at; }
};
inline discard_iterator<> make_discard_iterator(std::ptrdiff_t at = 0) { return {at}; }

template <class F, class I>
using mapped = std::decay_t<std::invoke_result_t<F, typename std::iterator_traits<I>::reference>>;
template <class F, class I, class... Ignored>
struct transform_iterator
    : iterator_base<transform_iterator<F, I, Ignored...>, mapped<F, I>, mapped<F, I>> {
  I base;
  F function;
  transform_iterator() = default;
  transform_iterator(I i, F f = F()) : base(i), function(f) {}
  mapped<F, I> get_at() const { return function(*base); }
  void move(std::ptrdiff_t n) { base += n; }
  std::ptrdiff_t steps_to(const transform_iterator& other) const { return other.base - base; }
};
template <class F, class I>
transform_iterator<F, I> make_transform_iterator(I base, F function) {
  return {base, function};
}

template <class Elements, class Indices>
struct permutation_iterator : iterator_base<permutation_iterator<Elements, Indices>,
                                            typename std::iterator_traits<Elements>::value_type,
                                            typename std::iterator_traits<Elements>::reference> {
  Elements elements;
  Indices indices;
  permutation_iterator() = default;
  permutation_iterator(Elements e, Indices i) : elements(e), indices(i) {}
  typename std::iterator_traits<Elements>::reference get_at() const {
    return elements[static_cast<std::ptrdiff_t>(*indices)];
  }
  void move(std::ptrdiff_t n) { indices += n; }
  std::ptrdiff_t steps_to(const permutation_iterator& other) const {
    return other.indices - indices;
  }
};
template <class Elements, class Indices>
permutation_iterator<Elements, Indices> make_permutation_iterator(Elements e, Indices i) {
  return {e, i};
}

template <class Tuple>
struct zip_iterator;
template <class... I>
struct zip_iterator<std::tuple<I...>>
    : iterator_base<zip_iterator<std::tuple<I...>>,
                    std::tuple<typename std::iterator_traits<I>::value_type...>,
                    std::tuple<typename std::iterator_traits<I>::reference...>> {
  std::tuple<I...> parts;
  zip_iterator() = default;
  zip_iterator(std::tuple<I...> p) : parts(p) {}
  const std::tuple<I...>& get_iterator_tuple() const { return parts; }
  std::tuple<typename std::iterator_traits<I>::reference...> get_at() const {
    return std::apply(
        [](const I&... i) {
          return std::tuple<typename std::iterator_traits<I>::reference...>(*i...);
        },
        parts);
  }
  void move(std::ptrdiff_t n) {
    std::apply([n](I&... i) { ((i += n), ...); }, parts);
  }
  std::ptrdiff_t steps_to(const zip_iterator& other) const {
    return std::get<0>(other.parts) - std::get<0>(parts);
  }
};
template <class... I>
zip_iterator<std::tuple<I...>> make_zip_iterator(const std::tuple<I...>& parts) {
  return {parts};
}
template <class... I>
zip_iterator<std::tuple<I...>> make_zip_iterator(I... parts) {
  return {std::tuple<I...>(parts...)};
}
template <class F>
struct zip_function {
  F function;
  template <class Tuple>
  auto operator()(Tuple&& t) const {
    return std::apply(function, std::forward<Tuple>(t));
  }
};
template <class F>
zip_function<F> make_zip_function(F function) {
  return {function};
}

using std::reverse_iterator;
template <class I>
std::reverse_iterator<I> make_reverse_iterator(I i) {
  return std::reverse_iterator<I>(i);
}
template <class I>
using iterator_difference = std::iterator_traits<I>;
template <class I>
using iterator_value = std::iterator_traits<I>;
template <class I>
using iterator_value_t = typename std::iterator_traits<I>::value_type;
template <class I>
std::ptrdiff_t distance(I first, I last) {
  return last - first;
}
template <class I, class N>
void advance(I& i, N n) {
  i += static_cast<std::ptrdiff_t>(n);
}
template <class I>
I next(I i, std::ptrdiff_t n = 1) {
  return i + n;
}

}  // namespace thrust
