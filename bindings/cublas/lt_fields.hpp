#pragma once
// Where cublasLt's descriptors hold their attributes. A call that is taken needs more than 30, each
// of them a question to cublasLt. So an attribute is read where cublasLt itself stores it, if that
// is certain.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "originals.hpp"

namespace warpladder::cublas {

enum class LtDescriptor { operation, layout };

// The descriptors of one kind, of one loaded cublasLt. All that is known of them was tried out on a
// descriptor of this library's own.
class LtFields {
 public:
  void learn(const Original& lt, LtDescriptor kind) noexcept;

  // False where cublasLt must be asked.
  bool read(const void* descriptor, int attribute, void* value, std::size_t bytes) const noexcept {
    if (attribute >= kMostAttributes || fields_[attribute].bytes != bytes) return false;
    if (std::memcmp(descriptor, &mark_, sizeof mark_) != 0) return false;
    std::memcpy(value, static_cast<const unsigned char*>(descriptor) + fields_[attribute].at,
                bytes);
    return true;
  }

 private:
  static constexpr int kMostAttributes = 40;
  struct Field {
    std::uint16_t at = 0, bytes = 0;  // no bytes: not known
  };
  Field fields_[kMostAttributes];
  // How a descriptor begins that holds all fields. Programs that were built with an older cuBLAS
  // may have shorter ones.
  std::uint32_t mark_ = 0;
};

// Of both kinds. Learned at the first call.
const LtFields* lt_fields(const Original& lt) noexcept;

}  // namespace warpladder::cublas
