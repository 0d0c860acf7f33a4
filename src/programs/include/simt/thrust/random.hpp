#pragma once
// thrust's random engines, whose sequences are defined, and its distributions.

#include <random>

#include "simt/thrust/execution.hpp"

namespace thrust {
namespace random {
using std::minstd_rand;
using std::minstd_rand0;
using std::ranlux24;
using std::ranlux48;
using default_random_engine = std::minstd_rand;

template <class T = double>
class uniform_real_distribution {
 public:
  explicit uniform_real_distribution(T low = 0, T high = 1) : low_(low), high_(high) {}
  template <class Engine>
  T operator()(Engine& engine) const {
    const T range = static_cast<T>(Engine::max() - Engine::min()) + 1;
    return low_ + (high_ - low_) * (static_cast<T>(engine() - Engine::min()) / range);
  }

 private:
  T low_, high_;
};
template <class T = int>
class uniform_int_distribution {
 public:
  explicit uniform_int_distribution(T low = 0, T high = std::numeric_limits<T>::max())
      : low_(low), high_(high) {}
  template <class Engine>
  T operator()(Engine& engine) const {
    const uniform_real_distribution<double> real(static_cast<double>(low_),
                                                 static_cast<double>(high_) + 1);
    return static_cast<T>(real(engine));
  }

 private:
  T low_, high_;
};
template <class T = double>
using normal_distribution = std::normal_distribution<T>;
}  // namespace random
using random::default_random_engine;
using random::minstd_rand;
using random::minstd_rand0;
using random::normal_distribution;
using random::uniform_int_distribution;
using random::uniform_real_distribution;

namespace detail {
struct shuffle_algorithm {
  static constexpr const char* name = "thrust::shuffle";
  template <class I, class Engine>
  static void run(I first, I last, Engine engine) {
    for (std::ptrdiff_t i = last - first - 1; i > 0; --i) {
      const auto j = static_cast<std::ptrdiff_t>(engine() % static_cast<unsigned long>(i + 1));
      const typename std::iterator_traits<I>::value_type kept = first[i];
      first[i] = static_cast<typename std::iterator_traits<I>::value_type>(first[j]);
      first[j] = kept;
    }
  }
  template <class... A>
  static void finish(const A&...) {}
};
}  // namespace detail
template <class First, class... A>
void shuffle(const First& first, const A&... a) {
  detail::call<detail::shuffle_algorithm>(first, a...);
}
}  // namespace thrust
