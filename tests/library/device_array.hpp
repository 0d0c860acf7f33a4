#pragma once
// Memory of the current CUDA device, real or made up, as the library's tests use it.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace warpladder::library_tests {

inline void require(cudaError_t error, const char* what) {
  if (error) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

// Elements in device memory, with one more before and behind that nothing may write.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::vector<T> values) : values_(std::move(values)) {
    values_.insert(values_.begin(), T{});
    values_.push_back(T{});
    void* memory = nullptr;
    require(cudaMalloc(&memory, bytes()), "cudaMalloc");
    memory_ = static_cast<T*>(memory);
    require(cudaMemcpy(memory_, values_.data(), bytes(), cudaMemcpyHostToDevice), "upload");
    require(cudaDeviceSynchronize(), "upload");
  }
  ~DeviceArray() { cudaFree(memory_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return memory_ + 1; }
  std::size_t size() const { return values_.size() - 2; }
  // Waits for the device.
  std::vector<T> download() const {
    require(cudaDeviceSynchronize(), "a kernel");
    std::vector<T> now(values_.size());
    require(cudaMemcpy(now.data(), memory_, bytes(), cudaMemcpyDeviceToHost), "download");
    if (now.front() != T{} || now.back() != T{}) throw std::runtime_error("written outside");
    return {now.begin() + 1, now.end() - 1};
  }

 private:
  std::size_t bytes() const { return values_.size() * sizeof(T); }
  std::vector<T> values_;
  T* memory_ = nullptr;
};

}  // namespace warpladder::library_tests
