#pragma once
// A large array of zeros. The system gives the memory of a page when it is first written to, so an
// array of which little is used costs little.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace warpladder::executor {

// Of all bits zero, a T must be what T() is.
template <class T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  ZeroedArray() = default;
  explicit ZeroedArray(std::size_t size)
      : data_(static_cast<T*>(std::calloc(size ? size : 1, sizeof(T)))), size_(size) {
    if (!data_) throw std::bad_alloc();
  }
  std::size_t size() const { return size_; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  T& operator[](std::size_t at) { return data_.get()[at]; }
  const T& operator[](std::size_t at) const { return data_.get()[at]; }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace warpladder::executor
