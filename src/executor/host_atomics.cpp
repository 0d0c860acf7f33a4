// What g++ -fsanitize=thread makes of std::atomic and of the __atomic and __sync builtins: calls of
// __tsan_atomic*. In the counted flavour host code is compiled so, too, and means its atomics. A
// kernel's own atomics are not among them (simt_functions.hpp).

#include <cstdint>

namespace {

constexpr int kOrder = __ATOMIC_SEQ_CST;  // at least what any caller asks for

}  // namespace

#define WARPLADDER_FETCH(bits, op)                                                       \
  std::uint##bits##_t __tsan_atomic##bits##_fetch_##op(volatile std::uint##bits##_t* p,  \
                                                       std::uint##bits##_t value, int) { \
    return __atomic_fetch_##op(p, value, kOrder);                                        \
  }
#define WARPLADDER_COMPARE(bits, strength, is_weak)                                            \
  int __tsan_atomic##bits##_compare_exchange_##strength(volatile std::uint##bits##_t* p,       \
                                                        std::uint##bits##_t* expected,         \
                                                        std::uint##bits##_t value, int, int) { \
    return __atomic_compare_exchange_n(p, expected, value, is_weak, kOrder, kOrder);           \
  }
#define WARPLADDER_ATOMICS(bits)                                                                \
  std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t* p, int) {  \
    return __atomic_load_n(p, kOrder);                                                          \
  }                                                                                             \
  void __tsan_atomic##bits##_store(volatile std::uint##bits##_t* p, std::uint##bits##_t value,  \
                                   int) {                                                       \
    __atomic_store_n(p, value, kOrder);                                                         \
  }                                                                                             \
  std::uint##bits##_t __tsan_atomic##bits##_exchange(volatile std::uint##bits##_t* p,           \
                                                     std::uint##bits##_t value, int) {          \
    return __atomic_exchange_n(p, value, kOrder);                                               \
  }                                                                                             \
  std::uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                               \
      volatile std::uint##bits##_t* p, std::uint##bits##_t expected, std::uint##bits##_t value, \
      int, int) {                                                                               \
    __atomic_compare_exchange_n(p, &expected, value, false, kOrder, kOrder);                    \
    return expected;                                                                            \
  }                                                                                             \
  WARPLADDER_COMPARE(bits, strong, false)                                                       \
  WARPLADDER_COMPARE(bits, weak, true)                                                          \
  WARPLADDER_FETCH(bits, add)                                                                   \
  WARPLADDER_FETCH(bits, sub)                                                                   \
  WARPLADDER_FETCH(bits, and)                                                                   \
  WARPLADDER_FETCH(bits, or)                                                                    \
  WARPLADDER_FETCH(bits, xor)                                                                   \
  WARPLADDER_FETCH(bits, nand)

extern "C" {
WARPLADDER_ATOMICS(8)
WARPLADDER_ATOMICS(16)
WARPLADDER_ATOMICS(32)
WARPLADDER_ATOMICS(64)
}
