// All of Hopper's asynchronous machinery at once, against sums of the matrices themselves.

#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr int kColumns = 64;
constexpr std::size_t kShared = 3 * (3 * 8192) + 6 * 8;

// Small integers, so that all sums are exact.
std::vector<_Float16> integers(std::size_t count, unsigned state) {
  std::vector<_Float16> values(count);
  for (_Float16& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<_Float16>(static_cast<int>(state >> 24) % 9 - 4);
  }
  return values;
}

struct Problem {
  int lines, k;
  std::vector<_Float16> a, b;

  Problem(int clusters, int tiles)
      : lines(clusters * 256),
        k(tiles * 64),
        a(integers(static_cast<std::size_t>(lines * k), 1)),
        b(integers(static_cast<std::size_t>(kColumns * k), 2)) {}

  std::vector<float> truth() const {
    std::vector<float> c(static_cast<std::size_t>(lines * kColumns));
    for (int line = 0; line < lines; ++line) {
      for (int column = 0; column < kColumns; ++column) {
        int sum = 0;
        for (int i = 0; i < k; ++i) {
          sum += static_cast<int>(a[static_cast<std::size_t>(line * k + i)]) *
                 static_cast<int>(b[static_cast<std::size_t>(column * k + i)]);
        }
        c[static_cast<std::size_t>(line * kColumns + column)] = static_cast<float>(sum);
      }
    }
    return c;
  }
  std::vector<float> run(device::Stream& stream, Flavour flavour, const std::string& kernel) const {
    const Buffer<_Float16> a_there(stream.target, a), b_there(stream.target, b);
    Buffer<float> out(stream.target, static_cast<std::size_t>(lines * kColumns));
    const auto map = [&](const auto& data, int rows, int box) {
      return device::encode(stream.target, {data.data(), 2, rows, k, k, box});
    };
    kernel_tests::run(stream, flavour, kernel,
                      {{static_cast<unsigned>(lines / 128)}, {384}, kShared, 2},
                      map(a_there, lines, 64), map(b_there, kColumns, kColumns / 2), out, k / 64);
    return out.download();
  }
};

class Pipeline : public EveryFlavour {};
WARPLADDER_IN_EVERY_FLAVOUR(Pipeline);

TEST_P(Pipeline, MultipliesInAClusterOfTwo) {
  for (const int tiles : {1, 2, 3, 4, 11}) {
    const Problem problem(2, tiles);
    device::Stream stream(target());
    EXPECT_EQ(problem.run(stream, GetParam(), "cluster_product<false>"), problem.truth()) << tiles;
  }
}

// A stage that is given back before its products are done is overwritten while they need it.
TEST(HastyPipelineOfProducts, MultipliesWhatCameLater) {
  const Problem problem(1, 11);
  for (const Flavour flavour : {Flavour::plain, Flavour::counted}) {
    device::Stream stream(Target::cpu);
    EXPECT_NE(problem.run(stream, flavour, "cluster_product<true>"), problem.truth());
    EXPECT_EQ(problem.run(stream, flavour, "cluster_product<false>"), problem.truth());
  }
}

TEST(PipelineCounts, AreThoseOfTheProduct) {
  const Problem problem(2, 4);
  std::vector<std::vector<executor::KernelCounts>> counts(2);
  for (unsigned i = 0; i < 2; ++i) {
    device::Stream stream(Target::cpu);
    stream.executor_threads = i + 1;
    stream.record_counts = &counts[i];
    problem.run(stream, Flavour::counted, "cluster_product<false>");
  }
  EXPECT_EQ(counts[0], counts[1]) << "on one and on two OS threads";
  std::uint64_t fmas = 0, bytes = 0;
  for (const executor::EventCounts& e : counts[0].at(0).events) {
    fmas += e.tensor_fmas;
    bytes += e.bulk_bytes;
  }
  EXPECT_EQ(fmas, 512u * 64 * 256);
  EXPECT_EQ(bytes, 2u * 256 * (512 + 2 * 64)) << "A once, and B once for each cluster";
}

}  // namespace
}  // namespace warpladder::kernel_tests
