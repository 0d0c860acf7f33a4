// The four shuffles, for every type, width and argument and for partial masks, lane by lane.

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

using Lanes = std::array<int, 32>;

constexpr int kUntouched = 77;  // what stands where no lane writes

enum class Form { index, up, down, exclusive_or };
constexpr Form kForms[] = {Form::index, Form::up, Form::down, Form::exclusive_or};
const char* spelling(Form form) {
  constexpr const char* names[] = {"index", "up", "down", "exclusive_or"};
  return names[static_cast<int>(form)];
}

// The lane that each lane reads: the CUDA guide's words as moves of whole segments.
Lanes sources(Form form, int width, const Lanes& arguments) {
  Lanes from;
  std::iota(from.begin(), from.end(), 0);
  const Lanes self = from;
  const int delta = arguments[0];  // up and down: the same for all
  for (int begin = 0; begin < 32; begin += width) {
    const auto segment = self.begin() + begin;
    const auto to = from.begin() + begin;
    switch (form) {
      case Form::index:  // modulo width, within the lane's own segment
        for (int i = 0; i < width; ++i) {
          int index = arguments[begin + i];
          while (index < 0) index += width;
          while (index >= width) index -= width;
          to[i] = segment[index];
        }
        break;
      case Form::up:  // moves the segment up by delta; its first lanes keep their own
        if (delta < width) std::copy(segment, segment + width - delta, to + delta);
        break;
      case Form::down:
        if (delta < width) std::copy(segment + delta, segment + width, to);
        break;
      case Form::exclusive_or:  // may reach into earlier segments, never into later ones
        for (int i = 0; i < width; ++i) {
          const int source = (begin + i) ^ arguments[begin + i];
          if (source < begin + width) to[i] = source;
        }
    }
  }
  return from;
}

struct Cases {
  std::vector<unsigned> masks;
  std::vector<int> widths, arguments;
  std::vector<Lanes> from;
  std::size_t size() const { return masks.size(); }
};

// Every width and mask with every argument for which each lane reads from a lane that takes part.
Cases cases_of(Form form) {
  std::mt19937 random(11);
  std::vector<Lanes> arguments;
  for (int a = 0; a < 32; ++a) {
    arguments.emplace_back();
    arguments.back().fill(a);
  }
  if (form == Form::index) {
    for (const int a : {-1, -17, 32, 35, 100}) {
      arguments.emplace_back();
      arguments.back().fill(a);
    }
    for (int i = 0; i < 40; ++i) {
      for (int& a : arguments.emplace_back()) a = static_cast<int>(random() % 32);
    }
  }
  Cases cases;
  for (const unsigned mask : {0xffffffffu, 0x0000ffffu, 0xffff0000u, 0x55555555u, 0xaaaaaaaau,
                              0x0f0f0f0fu, 0x80000001u, 0x00000001u, 0x7fffffffu}) {
    for (const int width : {2, 4, 8, 16, 32}) {
      for (const Lanes& a : arguments) {
        const Lanes from = sources(form, width, a);
        bool legal = true;
        for (int lane = 0; lane < 32; ++lane) {
          if (mask >> lane & 1) legal &= (mask >> from[lane] & 1) != 0;
        }
        if (!legal) continue;
        cases.masks.push_back(mask);
        cases.widths.push_back(width);
        cases.arguments.insert(cases.arguments.end(), a.begin(), a.end());
        cases.from.push_back(from);
      }
    }
  }
  return cases;
}

class Shuffle : public EveryFlavour {
 protected:
  template <class T>
  void check(const std::string& type, const std::vector<T>& in) {
    for (const Form form : kForms) {
      const Cases cases = cases_of(form);
      ASSERT_GT(cases.size(), 200u);
      std::vector<T> expected(32 * cases.size(), static_cast<T>(kUntouched));
      for (std::size_t c = 0; c < cases.size(); ++c) {
        for (int lane = 0; lane < 32; ++lane) {
          if (cases.masks[c] >> lane & 1) expected[32 * c + lane] = in[cases.from[c][lane]];
        }
      }
      const Buffer<T> from(target(), in);
      const Buffer<unsigned> masks(target(), cases.masks);
      const Buffer<int> widths(target(), cases.widths), arguments(target(), cases.arguments);
      Buffer<T> to(target(), std::vector<T>(expected.size(), static_cast<T>(kUntouched)));
      run("shuffles<" + type + ", Form::" + spelling(form) + ">", {{1}, {32}}, from, to, masks,
          widths, arguments, static_cast<int>(cases.size()));
      const std::vector<T> got = to.download();
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], expected[i])
            << spelling(form) << " with argument " << cases.arguments[i] << ", width "
            << cases.widths[i / 32] << ", mask " << std::hex << cases.masks[i / 32] << std::dec
            << ", lane " << i % 32;
      }
    }
  }
};
WARPLADDER_IN_EVERY_FLAVOUR(Shuffle);

// Values that lose something if they pass through a narrower or another type.
template <class T>
std::vector<T> distinct(T first, T step) {
  std::vector<T> values(32);
  for (int lane = 0; lane < 32; ++lane) values[lane] = static_cast<T>(first + step * lane);
  return values;
}

TEST_P(Shuffle, MovesInts) { check<int>("int", distinct(-5, 1 << 26)); }
TEST_P(Shuffle, MovesUnsigneds) { check<unsigned>("unsigned", distinct(0x80000001u, 3u)); }
TEST_P(Shuffle, MovesFloats) { check<float>("float", distinct(-1.5f, 0.375f)); }
TEST_P(Shuffle, MovesDoubles) { check<double>("double", distinct(1e300, -1e286)); }
TEST_P(Shuffle, MovesLongLongs) { check<long long>("long long", distinct(-3LL, (1LL << 40) + 1)); }

}  // namespace
}  // namespace warpladder::kernel_tests
