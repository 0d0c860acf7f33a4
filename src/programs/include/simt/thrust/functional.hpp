#pragma once
// Tuples, pairs, complex numbers and function objects of thrust.

#include <complex>
#include <functional>
#include <tuple>
#include <utility>

namespace thrust {

template <class... T>
using tuple = std::tuple<T...>;
template <class A, class B>
using pair = std::pair<A, B>;
template <std::size_t i, class Tuple>
using tuple_element = std::tuple_element<i, Tuple>;
template <class Tuple>
using tuple_size = std::tuple_size<Tuple>;
using std::get;
using std::make_pair;
using std::make_tuple;
using std::swap;
using std::tie;
struct null_type {};

#define SIMT_BINARY(name, result, value)                                        \
  template <class T = void>                                                     \
  struct name {                                                                 \
    using first_argument_type = T;                                              \
    using second_argument_type = T;                                             \
    using result_type = result;                                                 \
    constexpr result operator()(const T& a, const T& b) const { return value; } \
  };                                                                            \
  template <>                                                                   \
  struct name<void> {                                                           \
    template <class A, class B>                                                 \
    constexpr auto operator()(const A& a, const B& b) const {                   \
      return value;                                                             \
    }                                                                           \
  };
SIMT_BINARY(plus, T, a + b)
SIMT_BINARY(minus, T, a - b)
SIMT_BINARY(multiplies, T, a* b)
SIMT_BINARY(divides, T, a / b)
SIMT_BINARY(modulus, T, a % b)
SIMT_BINARY(maximum, T, a < b ? b : a)
SIMT_BINARY(minimum, T, b < a ? b : a)
SIMT_BINARY(bit_and, T, a& b)
SIMT_BINARY(bit_or, T, a | b)
SIMT_BINARY(bit_xor, T, a ^ b)
SIMT_BINARY(less, bool, a < b)
SIMT_BINARY(greater, bool, b < a)
SIMT_BINARY(less_equal, bool, !(b < a))
SIMT_BINARY(greater_equal, bool, !(a < b))
SIMT_BINARY(equal_to, bool, a == b)
SIMT_BINARY(not_equal_to, bool, a != b)
SIMT_BINARY(logical_and, bool, a&& b)
SIMT_BINARY(logical_or, bool, a || b)
#undef SIMT_BINARY

#define SIMT_UNARY(name, result, value)                             \
  template <class T = void>                                         \
  struct name {                                                     \
    using argument_type = T;                                        \
    using result_type = result;                                     \
    constexpr result operator()(const T& a) const { return value; } \
  };
SIMT_UNARY(identity, T, a)
SIMT_UNARY(negate, T, -a)
SIMT_UNARY(square, T, a* a)
SIMT_UNARY(logical_not, bool, !a)
#undef SIMT_UNARY

template <class A, class R>
struct unary_function {
  using argument_type = A;
  using result_type = R;
};
template <class A, class B, class R>
struct binary_function {
  using first_argument_type = A;
  using second_argument_type = B;
  using result_type = R;
};
template <class Predicate>
auto not1(Predicate p) {
  return [p](const auto& a) { return !p(a); };
}

// std::complex with the conversions and names that thrust adds.
template <class T>
struct complex : std::complex<T> {
  constexpr complex() : std::complex<T>() {}
  constexpr complex(T real) : std::complex<T>(real) {}
  constexpr complex(T real, T imaginary) : std::complex<T>(real, imaginary) {}
  constexpr complex(const std::complex<T>& z) : std::complex<T>(z) {}
  template <class U>
  constexpr complex(const std::complex<U>& z)
      : std::complex<T>(static_cast<T>(z.real()), static_cast<T>(z.imag())) {}
};
#define SIMT_COMPLEX(op)                                                          \
  template <class T>                                                              \
  constexpr complex<T> operator op(const complex<T>& a, const complex<T>& b) {    \
    return std::complex<T>(a) op std::complex<T>(b);                              \
  }                                                                               \
  template <class T, class U, std::enable_if_t<std::is_arithmetic_v<U>, int> = 0> \
  constexpr complex<T> operator op(const complex<T>& a, U b) {                    \
    return std::complex<T>(a) op static_cast<T>(b);                               \
  }                                                                               \
  template <class T, class U, std::enable_if_t<std::is_arithmetic_v<U>, int> = 0> \
  constexpr complex<T> operator op(U a, const complex<T>& b) {                    \
    return static_cast<T>(a) op std::complex<T>(b);                               \
  }
SIMT_COMPLEX(+)
SIMT_COMPLEX(-)
SIMT_COMPLEX(*)
SIMT_COMPLEX(/)
#undef SIMT_COMPLEX
template <class T>
constexpr complex<T> operator-(const complex<T>& z) {
  return {-z.real(), -z.imag()};
}
#define SIMT_OF_COMPLEX(name)             \
  template <class T>                      \
  auto name(const complex<T>& z) {        \
    return std::name(std::complex<T>(z)); \
  }
SIMT_OF_COMPLEX(abs)
SIMT_OF_COMPLEX(arg)
SIMT_OF_COMPLEX(norm)
#undef SIMT_OF_COMPLEX
#define SIMT_TO_COMPLEX(name)                          \
  template <class T>                                   \
  complex<T> name(const complex<T>& z) {               \
    return std::name(static_cast<std::complex<T>>(z)); \
  }
SIMT_TO_COMPLEX(conj)
SIMT_TO_COMPLEX(exp)
SIMT_TO_COMPLEX(log)
SIMT_TO_COMPLEX(sqrt)
SIMT_TO_COMPLEX(sin)
SIMT_TO_COMPLEX(cos)
#undef SIMT_TO_COMPLEX
template <class T>
complex<T> polar(const T& radius, const T& angle = T()) {
  return std::polar(radius, angle);
}
template <class T, class E>
complex<T> pow(const complex<T>& z, const E& exponent) {
  return std::pow(std::complex<T>(z), exponent);
}

}  // namespace thrust
