#include "ops/sgemm/lab/accuracy_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/parallel.hpp"
#include "base/random_fill.hpp"
#include "base/suggest.hpp"

namespace warpladder::sgemm {
namespace {

// 2^x and ln x of operations that IEEE 754 rounds exactly. A library's functions differ in the last
// bit from one to the next, and the operands with them.
double power_of_two(double x) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  const double whole = std::floor(x), y = (x - whole) * kLn2;
  double sum = 1;
  for (int n = 20; n > 0; --n) sum = 1 + y / n * sum;
  return std::ldexp(sum, static_cast<int>(whole));
}
double natural_log(double x) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  int exponent = 0;
  const double m = std::frexp(x, &exponent), t = (m - 1) / (m + 1);  // |t| <= 1/3
  double sum = 0;
  for (int n = 41; n > 0; n -= 2) sum = sum * t * t + 1.0 / n;
  return 2 * t * sum + exponent * kLn2;
}

// What a draw is for; draws for different purposes have nothing in common.
enum class Purpose : std::uint32_t { element, line_scale, inner_scale, huge_place, remainder };

// One operand's draws. A line is a row of A or a column of B; `inner` runs along k in both.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint32_t operand) : seed_(seed), operand_(operand) {}

  PhiloxBlock draw(Purpose purpose, std::int64_t line, std::int64_t inner,
                   std::uint32_t attempt = 0) const {
    const auto low = [](auto value) { return static_cast<std::uint32_t>(value); };
    return philox4x32(
        {{low(line), low(inner), attempt << 8 | static_cast<std::uint32_t>(purpose), operand_}},
        {{low(seed_), low(seed_ >> 32)}});
  }
  double uniform(Purpose purpose, std::int64_t line, std::int64_t inner, float low,
                 float high) const {
    return static_cast<double>(uniform_from(draw(purpose, line, inner).word[0], low, high));
  }
  double element(std::int64_t line, std::int64_t inner) const {
    return uniform(Purpose::element, line, inner, -1, 1);
  }

 private:
  std::uint64_t seed_;
  std::uint32_t operand_;
};

struct Place {
  Dice a, b;  // of A's elements, and of B's
  std::int64_t lines, k, line, inner;
};
using Element = double (*)(const Place&);

constexpr float kScale = 20;  // scales lie in 2^-20 … 2^20

double of_a(const Place& p) { return p.a.element(p.line, p.inner); }
double of_b(const Place& p) { return p.b.element(p.line, p.inner); }

double positive(const Dice& d, const Place& p) {
  return d.uniform(Purpose::element, p.line, p.inner, 0, 1);
}

// G. Marsaglia's polar method.
double normal(const Dice& d, const Place& p) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    const PhiloxBlock random = d.draw(Purpose::element, p.line, p.inner, attempt);
    const double u = static_cast<double>(uniform_from(random.word[0], -1, 1));
    const double v = static_cast<double>(uniform_from(random.word[1], -1, 1));
    const double s = u * u + v * v;
    if (s > 0 && s < 1) return u * std::sqrt(-2 * natural_log(s) / s);
  }
}

double log_uniform(const Dice& d, const Place& p) {
  const PhiloxBlock random = d.draw(Purpose::element, p.line, p.inner);
  const double size =
      power_of_two(static_cast<double>(uniform_from(random.word[0], -kScale, kScale)));
  return random.word[1] & 1 ? -size : size;
}

double line_scale(const Dice& d, std::int64_t line) {
  return power_of_two(d.uniform(Purpose::line_scale, line, 0, -kScale, kScale));
}
double inner_scale(const Place& p, double sign) {
  return power_of_two(sign * p.a.uniform(Purpose::inner_scale, 0, p.inner, -kScale, kScale));
}

// The second half of k repeats the first with B's sign changed, but for a remainder of 2^-12. So
// the partial sums grow for half of k, and then vanish.
constexpr double kRemainder = 0x1p-12;
double remainder(const Place& p) {
  return kRemainder * p.b.uniform(Purpose::remainder, p.line, p.inner, -1, 1);
}
double cancelling_a(const Place& p) {
  const std::int64_t half = p.k / 2;
  return p.a.element(p.line, p.inner < 2 * half ? p.inner % half : p.inner);
}
double cancelling_b(const Place& p) {
  const std::int64_t half = p.k / 2;
  if (p.inner < half) return of_b(p);
  return p.inner < 2 * half ? remainder(p) - p.b.element(p.line, p.inner - half) : remainder(p);
}

double repeated_identity(const Place& p) {
  const std::int64_t period = std::min(p.lines, p.k);
  return p.line % period == p.inner % period ? 1 : 0;
}

double small_power(const Dice& d, const Place& p) {
  const PhiloxBlock random = d.draw(Purpose::element, p.line, p.inner);
  const double size = std::ldexp(1.0, static_cast<int>(random.word[0] % 5) - 2);
  return random.word[1] & 1 ? -size : size;
}

double one_huge(const Place& p) {
  const std::uint64_t place = p.a.draw(Purpose::huge_place, p.line, 0).word[0];
  const bool is_huge =
      place % static_cast<std::uint64_t>(p.k) == static_cast<std::uint64_t>(p.inner);
  return is_huge ? std::copysign(0x1p20, of_a(p)) : of_a(p);
}

double alternating(const Dice& d, const Place& p, bool is_large) {
  return d.uniform(Purpose::element, p.line, p.inner, 0.5f, 1) * (is_large ? 1.0 : 0x1p-30);
}

struct Recipe {
  const char *name, *what;
  Element a, b;
};

const Recipe kRecipes[] = {
    {"uniform", "uniform in [-1, 1]", of_a, of_b},
    {"positive", "uniform in [0, 1]: the sums grow with k",
     [](const Place& p) { return positive(p.a, p); },
     [](const Place& p) { return positive(p.b, p); }},
    {"normal", "standard normal", [](const Place& p) { return normal(p.a, p); },
     [](const Place& p) { return normal(p.b, p); }},
    {"log_uniform", "±2^x, x uniform in [-20, 20], of each element",
     [](const Place& p) { return log_uniform(p.a, p); },
     [](const Place& p) { return log_uniform(p.b, p); }},
    {"line_scaled", "uniform; each row of A, each column of B times a 2^x, x in [-20, 20]",
     [](const Place& p) { return of_a(p) * line_scale(p.a, p.line); },
     [](const Place& p) { return of_b(p) * line_scale(p.b, p.line); }},
    {"inner_scaled", "uniform; each column of A times a 2^x, x in [-20, 20], the row of B divided",
     [](const Place& p) { return of_a(p) * inner_scale(p, 1); },
     [](const Place& p) { return of_b(p) * inner_scale(p, -1); }},
    {"cancelling", "uniform; the second half of k takes back the first, but for some 2^-12",
     cancelling_a, cancelling_b},
    {"identity", "A of identities side by side, B uniform: exact up to k = m", repeated_identity,
     of_b},
    {"powers_of_two", "±2^x, x from -2 to 2: every sum is exact up to k = 65536",
     [](const Place& p) { return small_power(p.a, p); },
     [](const Place& p) { return small_power(p.b, p); }},
    {"one_huge", "uniform; one element in each row of A is ±2^20", one_huge, of_b},
    {"denormals", "A uniform in ±2^-127: denormal; B uniform in ±2^64",
     [](const Place& p) { return of_a(p) * 0x1p-127; },
     [](const Place& p) { return of_b(p) * 0x1p64; }},
    {"adversarial", "A's rows about 1, 2^-30, 1, …; B's columns about 2^-30, 1, 2^-30, …",
     [](const Place& p) { return alternating(p.a, p, p.inner % 2 == 0); },
     [](const Place& p) { return alternating(p.b, p, p.inner % 2 != 0); }},
};

const Recipe& find_recipe(const std::string& name) {
  const auto at = std::ranges::find_if(kRecipes, [&](const Recipe& r) { return r.name == name; });
  if (at != std::end(kRecipes)) return *at;
  throw_bad_input(fmt::format("sgemm has no distribution {}; its distributions are: {}",
                              in_quotes(name, kShownBytes),
                              known_names(name, names_of(kRecipes, &Recipe::name))));
}

}  // namespace

std::vector<ops::Distribution> accuracy_distributions() {
  std::vector<ops::Distribution> list;
  for (const Recipe& recipe : kRecipes) list.push_back({recipe.name, recipe.what});
  return list;
}

bool is_moderate(std::string_view distribution) {
  constexpr std::string_view kModerate[] = {"uniform", "positive", "normal", "line_scaled",
                                            "identity"};
  return std::ranges::find(kModerate, distribution) != std::end(kModerate);
}

HostOperands draw_operands(const std::string& distribution, std::int64_t m, std::int64_t n,
                           std::int64_t k, std::uint64_t seed) {
  const Recipe& recipe = find_recipe(distribution);
  const Dice a(seed, 1), b(seed, 2);
  HostOperands x;
  x.a.resize(static_cast<std::size_t>(m * k));
  x.b.resize(static_cast<std::size_t>(k * n));
  const auto elements = static_cast<double>(k);
  parallel_for(m, 1, threads_for(elements * static_cast<double>(m)),
               [&](std::int64_t i, std::int64_t) {
                 for (std::int64_t p = 0; p < k; ++p) {
                   x.a[static_cast<std::size_t>(i * k + p)] =
                       static_cast<float>(recipe.a({a, b, m, k, i, p}));
                 }
               });
  parallel_for(k, 64, threads_for(elements * static_cast<double>(n)),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t p = first; p < last; ++p) {
                   for (std::int64_t j = 0; j < n; ++j) {
                     x.b[static_cast<std::size_t>(p * n + j)] =
                         static_cast<float>(recipe.b({a, b, n, k, j, p}));
                   }
                 }
               });
  return x;
}

ProductTruth product_truth(const Problem& problem, const HostOperands& operands,
                           std::span<const std::int64_t> rows) {
  const auto n = static_cast<std::size_t>(problem.n), k = static_cast<std::size_t>(problem.k);
  ProductTruth truth;
  truth.value.resize(rows.size() * n);
  truth.magnitude.resize(rows.size() * n);
  const auto one_row = [&](std::size_t at) {
    // Apart, so that the compiler may keep a vector of each.
    std::vector<double> high(n), low(n), magnitude(n);
    const float* const a = operands.a.data() + static_cast<std::size_t>(rows[at]) * k;
    for (std::size_t p = 0; p < k; ++p) {
      const double left = a[p];
      const float* const b = operands.b.data() + p * n;
      for (std::size_t j = 0; j < n; ++j) {
        const double product = left * static_cast<double>(b[j]);  // exact: 48 bits of 53
        DoubleDouble sum{high[j], low[j]};
        sum.add(product);
        high[j] = sum.high;
        low[j] = sum.low;
        magnitude[j] += std::abs(product);
      }
    }
    for (std::size_t j = 0; j < n; ++j) {
      truth.value[at * n + j] = {high[j], low[j]};
      truth.magnitude[at * n + j] = magnitude[j];
    }
  };
  parallel_for(rows.size(), threads_for(static_cast<double>(truth.value.size() * k)), one_row);
  return truth;
}

}  // namespace warpladder::sgemm
