// Atomics of every form and type: what the cells hold at the end, and what each thread was told.

#include <algorithm>
#include <random>
#include <type_traits>

#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr int kCells = 7;

template <class T>
const char* spelling() {
  if constexpr (std::is_same_v<T, int>) return "int";
  if constexpr (std::is_same_v<T, unsigned>) return "unsigned";
  if constexpr (std::is_same_v<T, long long>) return "long long";
  if constexpr (std::is_same_v<T, unsigned long long>) return "unsigned long long";
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, double>) return "double";
}

// Any integer; floating-point numbers that are small and whole, so that every sum is exact.
template <class T>
std::vector<T> random_values(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& v : values) {
    const std::uint64_t bits = random();
    v = std::is_floating_point_v<T> ? static_cast<T>(static_cast<int>(bits % 2001) - 1000)
                                    : static_cast<T>(bits);
  }
  return values;
}

class Atomics : public EveryFlavour {
 protected:
  // The executor promises more than CUDA: threads take their turns in order, so that old values
  // and sums are the same in every run. A GPU is held to what holds in any order.
  template <class T, class Step>
  void check(const std::string& operation, const Step& step, bool any_order_same_end = true,
             std::vector<T> operands = random_values<T>(kBlocks * kThreads, 41)) {
    for (const bool shared : {false, true}) {
      const unsigned blocks = shared ? 1 : kBlocks;
      operands.resize(blocks * kThreads);
      const std::vector<T> start = random_values<T>(kCells, 43);
      std::vector<T> cells = start, told(operands.size());
      for (std::size_t t = 0; t < operands.size(); ++t) {
        told[t] = cells[t % kCells];
        cells[t % kCells] = step(told[t], operands[t]);
      }
      const Buffer<T> in(target(), operands);
      Buffer<T> on(target(), start), before(target(), operands.size());
      const std::string type = spelling<T>();
      const std::string kernel =
          (shared ? "in_shared<" : "in_global<") + operation + "<" + type + ">, " + type + ">";
      run(kernel, {{blocks}, {kThreads}}, on, in, before, kCells);
      if (!on_gpu()) {
        EXPECT_EQ(on.download(), cells) << kernel;
        EXPECT_EQ(before.download(), told) << kernel;
      } else if (any_order_same_end) {
        EXPECT_EQ(on.download(), cells) << kernel;
      }
      if (operation == "Exchange") expect_nothing_lost(start, operands, before, on);
    }
  }

  // Exchanges pass values on: what was put in comes out once, or is still there.
  template <class T>
  void expect_nothing_lost(const std::vector<T>& start, const std::vector<T>& operands,
                           const Buffer<T>& before, const Buffer<T>& cells) {
    std::vector<T> in = start, out = before.download();
    in.insert(in.end(), operands.begin(), operands.end());
    const std::vector<T> left = cells.download();
    out.insert(out.end(), left.begin(), left.end());
    std::sort(in.begin(), in.end());
    std::sort(out.begin(), out.end());
    EXPECT_EQ(in, out);
  }

  static constexpr unsigned kBlocks = 5, kThreads = 320;
};
WARPLADDER_IN_EVERY_FLAVOUR(Atomics);

// Integer sums wrap; unsigned arithmetic says so without undefined behaviour.
template <class T>
T wrapped_sum(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}
template <class T>
T wrapped_triple_and_add(T a, T b) {
  return wrapped_sum(wrapped_sum(a, a), wrapped_sum(a, b));
}

TEST_P(Atomics, Add) {
  check<int>("Add", wrapped_sum<int>);
  check<unsigned>("Add", wrapped_sum<unsigned>);
  check<unsigned long long>("Add", wrapped_sum<unsigned long long>);
  check<float>("Add", [](float a, float b) { return a + b; });
  check<double>("Add", [](double a, double b) { return a + b; });
}

TEST_P(Atomics, Subtract) {
  const auto difference = [](auto a, auto b) {
    return static_cast<decltype(a)>(static_cast<unsigned>(a) - static_cast<unsigned>(b));
  };
  check<int>("Subtract", difference);
  check<unsigned>("Subtract", difference);
}

TEST_P(Atomics, Exchange) {
  const auto operand = [](auto, auto b) { return b; };
  check<int>("Exchange", operand, false);
  check<unsigned>("Exchange", operand, false);
  check<unsigned long long>("Exchange", operand, false);
  check<float>("Exchange", operand, false);
}

TEST_P(Atomics, MinAndMax) {
  const auto low = [](auto a, auto b) { return a < b ? a : b; };
  const auto high = [](auto a, auto b) { return a > b ? a : b; };
  check<int>("Min", low);
  check<unsigned>("Min", low);
  check<long long>("Min", low);
  check<unsigned long long>("Min", low);
  check<int>("Max", high);
  check<unsigned>("Max", high);
  check<long long>("Max", high);
  check<unsigned long long>("Max", high);
  check<float>("MaxByBits", high);
}

TEST_P(Atomics, Bits) {
  const auto both = [](auto a, auto b) { return static_cast<decltype(a)>(a & b); };
  const auto either = [](auto a, auto b) { return static_cast<decltype(a)>(a | b); };
  const auto odd = [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); };
  check<int>("And", both);
  check<unsigned>("And", both);
  check<unsigned long long>("And", both);
  check<int>("Or", either);
  check<unsigned>("Or", either);
  check<unsigned long long>("Or", either);
  check<int>("Xor", odd);
  check<unsigned>("Xor", odd);
  check<unsigned long long>("Xor", odd);
}

// Small limits, so that they wrap many times; one limit for all, so that the order is all the same.
TEST_P(Atomics, IncrementAndDecrementWrap) {
  for (const unsigned limit : {0u, 1u, 5u, 100u}) {
    const std::vector<unsigned> limits(kBlocks * kThreads, limit);
    // CUDA: ((old >= val) ? 0 : (old + 1)) and (((old == 0) || (old > val)) ? val : (old - 1)).
    check<unsigned>(
        "Increment", [](unsigned old, unsigned val) { return old >= val ? 0 : old + 1; }, true,
        limits);
    check<unsigned>(
        "Decrement",
        [](unsigned old, unsigned val) { return old == 0 || old > val ? val : old - 1; }, true,
        limits);
  }
}

TEST_P(Atomics, CompareAndSwap) {
  check<int>("TripleAndAdd", wrapped_triple_and_add<int>, false);
  check<unsigned>("TripleAndAdd", wrapped_triple_and_add<unsigned>, false);
  check<unsigned long long>("TripleAndAdd", wrapped_triple_and_add<unsigned long long>, false);
  // With one operand for all the order does not matter, and a lost update would show on a GPU too.
  const std::vector<unsigned> ones(kBlocks * kThreads, 1);
  check<unsigned>("TripleAndAdd", wrapped_triple_and_add<unsigned>, true, ones);
}

}  // namespace
}  // namespace warpladder::kernel_tests
