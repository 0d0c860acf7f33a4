#pragma once
// thrust's vectors: of host memory, a std::vector; of device memory, an allocation.

#include <initializer_list>
#include <memory>
#include <vector>

#include "simt/thrust/rearranging.hpp"

namespace thrust {

template <class T, class Allocator = std::allocator<T>>
class device_vector;

template <class T, class Allocator = std::allocator<T>>
class host_vector : public std::vector<T, Allocator> {
 public:
  using Base = std::vector<T, Allocator>;
  using Base::Base;
  host_vector() = default;
  host_vector(const Base& other) : Base(other) {}
  template <class U, class A>
  host_vector(const device_vector<U, A>& other) {
    *this = other;
  }
  template <class U>
  host_vector(const device_ptr<U>& first, const device_ptr<U>& last)
      : Base(static_cast<std::size_t>(last - first)) {
    thrust::copy(first, last, this->begin());
  }
  template <class U, class A>
  host_vector& operator=(const device_vector<U, A>& other) {
    this->resize(other.size());
    thrust::copy(other.begin(), other.end(), this->begin());
    return *this;
  }
};

template <class T, class Allocator>
class device_vector {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using iterator = device_ptr<T>;
  using const_iterator = device_ptr<const T>;
  using pointer = device_ptr<T>;
  using const_pointer = device_ptr<const T>;
  using reference = device_reference<T>;
  using const_reference = device_reference<const T>;

  device_vector() = default;
  explicit device_vector(std::size_t n) { resize(n); }
  device_vector(std::size_t n, const T& value) { resize(n, value); }
  device_vector(std::initializer_list<T> list) { assign(list.begin(), list.end()); }
  template <class I, std::enable_if_t<!std::is_arithmetic_v<I>, int> = 0>
  device_vector(I first, I last) {
    assign(first, last);
  }
  device_vector(const device_vector& other) { assign(other.begin(), other.end()); }
  device_vector(device_vector&& other) noexcept { swap(other); }
  template <class U, class A>
  device_vector(const device_vector<U, A>& other) {
    assign(other.begin(), other.end());
  }
  template <class U, class A>
  device_vector(const std::vector<U, A>& other) {
    assign(other.begin(), other.end());
  }
  ~device_vector() { cudaFree(data_); }

  device_vector& operator=(const device_vector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  device_vector& operator=(device_vector&& other) noexcept {
    swap(other);
    return *this;
  }
  template <class U, class A>
  device_vector& operator=(const std::vector<U, A>& other) {
    assign(other.begin(), other.end());
    return *this;
  }
  template <class U, class A>
  device_vector& operator=(const device_vector<U, A>& other) {
    assign(other.begin(), other.end());
    return *this;
  }

  template <class I, std::enable_if_t<!std::is_arithmetic_v<I>, int> = 0>
  void assign(I first, I last) {
    const auto n = static_cast<std::size_t>(thrust::distance(first, last));
    reserve(n);
    size_ = n;
    thrust::copy(first, last, begin());
  }
  void assign(std::size_t n, const T& value) {
    clear();
    resize(n, value);
  }
  void reserve(std::size_t n) {
    if (n <= capacity_) return;
    void* memory = nullptr;
    program_allocate(&memory, n * sizeof(T), simt::kDevice);
    if (size_) cudaMemcpy(memory, data_, size_ * sizeof(T), cudaMemcpyDeviceToDevice);
    cudaFree(data_);
    data_ = static_cast<T*>(memory);
    capacity_ = n;
  }
  void resize(std::size_t n, const T& value = T()) {
    reserve(n);
    if (n > size_) thrust::fill(device_ptr<T>(data_ + size_), device_ptr<T>(data_ + n), value);
    size_ = n;
  }
  void push_back(const T& value) {
    if (size_ == capacity_) reserve(size_ ? 2 * size_ : 8);
    cudaMemcpy(data_ + size_++, &value, sizeof(T), cudaMemcpyHostToDevice);
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void shrink_to_fit() {
    device_vector exact(begin(), end());
    swap(exact);
  }
  iterator erase(iterator at) { return erase(at, at + 1); }
  iterator erase(iterator first, iterator last) {
    thrust::copy(last, end(), first);
    size_ -= static_cast<std::size_t>(last - first);
    return first;
  }
  iterator insert(iterator at, const T& value) {
    const std::ptrdiff_t place = at - begin();
    push_back(value);
    for (std::ptrdiff_t i = end() - begin() - 1; i > place; --i) begin()[i] = begin()[i - 1];
    begin()[place] = value;
    return begin() + place;
  }
  void swap(device_vector& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  pointer data() { return pointer(data_); }
  const_pointer data() const { return const_pointer(data_); }
  iterator begin() { return iterator(data_); }
  iterator end() { return iterator(data_ + size_); }
  const_iterator begin() const { return const_iterator(data_); }
  const_iterator end() const { return const_iterator(data_ + size_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  auto rbegin() { return std::make_reverse_iterator(end()); }
  auto rend() { return std::make_reverse_iterator(begin()); }
  reference operator[](std::size_t i) { return reference(data_ + i); }
  const_reference operator[](std::size_t i) const { return const_reference(data_ + i); }
  reference front() { return (*this)[0]; }
  reference back() { return (*this)[size_ - 1]; }
  const_reference front() const { return (*this)[0]; }
  const_reference back() const { return (*this)[size_ - 1]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};
template <class T, class A, class B>
bool operator==(const device_vector<T, A>& a, const device_vector<T, B>& b) {
  return a.size() == b.size() && thrust::equal(a.begin(), a.end(), b.begin());
}
template <class T, class A, class B>
bool operator==(const host_vector<T, A>& a, const device_vector<T, B>& b) {
  return a == host_vector<T>(b);
}
template <class T, class A, class B>
bool operator==(const device_vector<T, A>& a, const host_vector<T, B>& b) {
  return host_vector<T>(a) == b;
}
template <class T>
using universal_vector = device_vector<T>;

class system_error : public std::exception {
 public:
  const char* what() const noexcept override { return "an error of thrust"; }
};

}  // namespace thrust
