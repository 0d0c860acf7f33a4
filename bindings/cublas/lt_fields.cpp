#include "lt_fields.hpp"

#include <cublasLt.h>

#include <atomic>
#include <mutex>

namespace warpladder::cublas {
namespace {

// Larger than any version's.
struct Descriptor {
  static constexpr std::size_t kBytes = 1024;
  alignas(8) unsigned char bytes[kBytes] = {};

  std::uint32_t mark() const {
    std::uint32_t first = 0;
    std::memcpy(&first, bytes, sizeof first);
    return first;
  }
};

// cublasLt's functions for one kind.
class Maker {
 public:
  Maker(const Original& lt, LtDescriptor kind)
      : lt_(lt),
        is_operation_(kind == LtDescriptor::operation),
        init_(is_operation_ ? Symbol::cublasLtMatmulDescInit_internal
                            : Symbol::cublasLtMatrixLayoutInit_internal),
        get_(is_operation_ ? Symbol::cublasLtMatmulDescGetAttribute
                           : Symbol::cublasLtMatrixLayoutGetAttribute),
        set_(is_operation_ ? Symbol::cublasLtMatmulDescSetAttribute
                           : Symbol::cublasLtMatrixLayoutSetAttribute) {}

  bool is_there() const { return lt_.has(init_) && lt_.has(get_) && lt_.has(set_); }

  // As a program would that has `bytes` for it.
  bool init(Descriptor& d, std::size_t bytes = Descriptor::kBytes) const {
    void* const at = d.bytes;
    constexpr std::uint64_t kRows = 1;
    constexpr std::int64_t kLd = 1;
    const auto status =
        is_operation_ ? lt_.call<cublasStatus_t>(init_, at, bytes, CUBLAS_COMPUTE_32F, CUDA_R_32F)
                      : lt_.call<cublasStatus_t>(init_, at, bytes, CUDA_R_32F, kRows, kRows, kLd);
    return status == CUBLAS_STATUS_SUCCESS;
  }
  // 0 where this version has no such attribute.
  std::size_t bytes_of(const Descriptor& d, int attribute) const {
    std::size_t bytes = 0;
    const auto status =
        lt_.call<cublasStatus_t>(get_, static_cast<const void*>(d.bytes), attribute,
                                 static_cast<void*>(nullptr), std::size_t{0}, &bytes);
    return status == CUBLAS_STATUS_SUCCESS ? bytes : 0;
  }
  // Whether cublasLt's answer is what lies at `at`.
  bool answers_from(const Descriptor& d, int attribute, std::size_t at, std::size_t bytes) const {
    std::uint64_t answer = 0;
    std::size_t written = 0;
    const auto status = lt_.call<cublasStatus_t>(get_, static_cast<const void*>(d.bytes), attribute,
                                                 static_cast<void*>(&answer), bytes, &written);
    return status == CUBLAS_STATUS_SUCCESS && std::memcmp(d.bytes + at, &answer, bytes) == 0;
  }
  bool set(Descriptor& d, int attribute, std::uint64_t value, std::size_t bytes) const {
    return lt_.call<cublasStatus_t>(set_, static_cast<void*>(d.bytes), attribute,
                                    static_cast<const void*>(&value),
                                    bytes) == CUBLAS_STATUS_SUCCESS;
  }

 private:
  const Original& lt_;
  const bool is_operation_;
  const Symbol init_, get_, set_;
};

// The fewest bytes that a descriptor with such a beginning has.
std::size_t least_bytes(const Maker& maker, std::uint32_t mark) {
  std::size_t least = 0;
  for (std::size_t bytes = Descriptor::kBytes; bytes > 0; bytes -= 4) {
    Descriptor d;
    if (maker.init(d, bytes) && d.mark() == mark) least = bytes;
  }
  return least;
}

// Where the two descriptors differ, if one has `value` there and the other value + 1. These differ
// in their first byte, and the rest is equal.
bool find(const Descriptor& a, std::uint64_t value, const Descriptor& b, std::size_t bytes,
          std::size_t* at) {
  const std::uint64_t next = value + 1;
  std::size_t first = 0;
  while (first < Descriptor::kBytes && a.bytes[first] == b.bytes[first]) ++first;
  const std::size_t end = first + bytes;
  if (end > Descriptor::kBytes) return false;
  *at = first;
  return std::memcmp(a.bytes + first, &value, bytes) == 0 &&
         std::memcmp(b.bytes + first, &next, bytes) == 0 &&
         std::memcmp(a.bytes + end, b.bytes + end, Descriptor::kBytes - end) == 0;
}

}  // namespace

void LtFields::learn(const Original& lt, LtDescriptor kind) noexcept {
  const Maker maker(lt, kind);
  Descriptor whole;
  if (!maker.is_there() || !maker.init(whole)) return;
  mark_ = whole.mark();
  const std::size_t least = least_bytes(maker, mark_);
  for (int attribute = 0; attribute < kMostAttributes; ++attribute) {
    const std::size_t bytes = maker.bytes_of(whole, attribute);
    if (bytes != 4 && bytes != 8) continue;
    // Good values of most attributes, or of the others.
    for (const std::uint64_t value : {1, 0}) {
      Descriptor a = whole, b = whole;
      std::size_t at = 0;
      const bool is_set =
          maker.set(a, attribute, value, bytes) && maker.set(b, attribute, value + 1, bytes);
      if (!is_set || !find(a, value, b, bytes, &at) || at + bytes > least) continue;
      const bool is_read = maker.answers_from(whole, attribute, at, bytes) &&
                           maker.answers_from(a, attribute, at, bytes) &&
                           maker.answers_from(b, attribute, at, bytes);
      if (!is_read) continue;
      fields_[attribute] = {static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(bytes)};
      break;
    }
  }
}

namespace {

struct Known {
  std::atomic<const Original*> lt{nullptr};
  LtFields fields[2];
};
Known known[kMostOriginals];
std::mutex learning;

const Known* find(const Original& lt) {
  for (const Known& each : known) {
    if (each.lt.load(std::memory_order_acquire) == &lt) return &each;
  }
  return nullptr;
}
const Known& learn(const Original& lt) {
  const std::lock_guard lock(learning);
  if (const Known* const there = find(lt)) return *there;
  Known* unused = known;  // there is one for each original
  while (unused->lt.load(std::memory_order_relaxed)) ++unused;
  for (const auto kind : {LtDescriptor::operation, LtDescriptor::layout}) {
    unused->fields[static_cast<int>(kind)].learn(lt, kind);
  }
  unused->lt.store(&lt, std::memory_order_release);
  return *unused;
}

}  // namespace

const LtFields* lt_fields(const Original& lt) noexcept {
  const Known* const there = find(lt);
  return (there ? *there : learn(lt)).fields;
}

}  // namespace warpladder::cublas
