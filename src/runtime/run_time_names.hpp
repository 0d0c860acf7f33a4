#pragma once
// For kernels that are compiled at run time: the names of the standard library that kernels use.
// The compiler then has no headers but those which the library brings along.

using int8_t = signed char;
using uint8_t = unsigned char;
using int32_t = int;
using uint32_t = unsigned;
using int64_t = long;
using uint64_t = unsigned long;

namespace std {
using size_t = decltype(sizeof 0);
using int32_t = ::int32_t;
using uint32_t = ::uint32_t;
using int64_t = ::int64_t;
using uint64_t = ::uint64_t;
using uintptr_t = unsigned long;

template <class T, T kValue>
struct integral_constant {
  static constexpr T value = kValue;
  constexpr operator T() const { return kValue; }
};
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;

template <class, class>
inline constexpr bool is_same_v = false;
template <class T>
inline constexpr bool is_same_v<T, T> = true;

template <bool, class Yes, class>
struct conditional {
  using type = Yes;
};
template <class Yes, class No>
struct conditional<false, Yes, No> {
  using type = No;
};
template <bool kCondition, class Yes, class No>
using conditional_t = typename conditional<kCondition, Yes, No>::type;

template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;
}  // namespace std
