// Products with a prepared B that tensor cores multiply: values, and one B for several threads and
// streams at once.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <thread>

#include "library/testing.hpp"
#if defined(WARPLADDER_LIBRARY_FLAVOUR)
#include "library/made_up_cuda.hpp"
#endif

namespace warpladder::library_tests {
namespace {

// A GPU takes pairs only for products that would take the executor minutes. A made-up GPU of few
// multiprocessors takes them for smaller ones.
class Prepared : public WithHandle {
 protected:
#if defined(WARPLADDER_LIBRARY_FLAVOUR)
  static constexpr std::int64_t kM = 190, kN = 240, kK = 1030;
  void SetUp() override {
    runtime::Machine machine;
    machine.multiprocessors = 4;
    made_up::set_devices({made_up::Device { machine }});
    WithHandle::SetUp();
  }
  void TearDown() override {
    WithHandle::TearDown();
    made_up::set_devices({made_up::Device {}});
  }
#else
  static constexpr std::int64_t kM = 1000, kN = 1100, kK = 1030;
#endif

  struct Operands {
    warpladder_layout layout;
    bool trans_b;
    std::vector<float> a, b;  // A and op(B), by rows and by columns: element (i, l) and (l, j)
    std::int64_t b_line() const { return (layout == WARPLADDER_ROW_MAJOR) == trans_b ? kK : kN; }
    float a_at(std::int64_t i, std::int64_t l) const {
      return a[static_cast<std::size_t>(layout == WARPLADDER_ROW_MAJOR ? i * kK + l : i + l * kM)];
    }
    float b_at(std::int64_t l, std::int64_t j) const {
      return b[static_cast<std::size_t>(b_line() == kK ? j * kK + l : l * kN + j)];
    }
    // Where C(i, j) lies.
    std::size_t place(std::int64_t i, std::int64_t j) const {
      return static_cast<std::size_t>(layout == WARPLADDER_ROW_MAJOR ? i * kN + j : i + j * kM);
    }
  };
  static Operands draw(warpladder_layout layout, bool trans_b) {
    return {layout, trans_b, random_floats(kM * kK, 1), random_floats(kK * kN, 2)};
  }

  warpladder_prepared prepare(const Operands& x, const float* b, warpladder_stream stream) {
    warpladder_prepared prepared = nullptr;
    EXPECT_SUCCEEDS(warpladder_sgemm_prepare(handle_, x.layout,
                                             x.trans_b ? WARPLADDER_OP_T : WARPLADDER_OP_N, kN, kK,
                                             b, x.b_line(), &prepared, stream));
    return prepared;
  }
  // alpha·A·B, with the first m rows of A.
  warpladder_status multiply(const Operands& x, warpladder_prepared b, const float* a, float* c,
                             warpladder_stream stream, std::int64_t m = kM, float alpha = 1.0f) {
    const bool rows = x.layout == WARPLADDER_ROW_MAJOR;
    return warpladder_sgemm_prepared(handle_, WARPLADDER_OP_N, m, alpha, a, rows ? kK : kM, b, 0, c,
                                     rows ? kN : kM, stream);
  }
  // Of every row in the executor, of some on a GPU.
  static void expect_product(const Operands& x, const std::vector<float>& c) {
    for (std::int64_t i = 0; i<kM; i += kM> 500 ? 61 : 7) {
      for (std::int64_t j = 0; j < kN; ++j) {
        double sum = 0, magnitude = 0;
        for (std::int64_t l = 0; l < kK; ++l) {
          const double term = double{x.a_at(i, l)} * x.b_at(l, j);
          sum += term;
          magnitude += std::abs(term);
        }
        const float got = c[x.place(i, j)];
        if (std::isfinite(sum)) {
          ASSERT_NEAR(got, sum, 0x1p-24 * (kK + 16) * magnitude) << i << ' ' << j;
        } else {
          ASSERT_TRUE(std::isnan(sum) ? std::isnan(got) : got == sum) << i << ' ' << j;
        }
      }
    }
  }
};

TEST_F(Prepared, IsRightInEveryLayoutAndRange) {
  const std::vector<std::function<void(Operands&)>> changes = {
      [](Operands&) {},
      [](Operands& x) {  // no half holds both
        for (std::size_t i = 0; i < x.b.size(); ++i) {
          x.b[i] = std::ldexp(x.b[i], static_cast<int>(i * 7 % 41) - 20);
        }
      },
      [](Operands& x) { x.b[x.b.size() / 3] = INFINITY; }};
  for (const auto layout : {WARPLADDER_ROW_MAJOR, WARPLADDER_COLUMN_MAJOR}) {
    for (const bool trans_b : {false, true}) {
      for (const auto& change : changes) {
        Operands x = draw(layout, trans_b);
        change(x);
        const DeviceArray<float> a(x.a), b(x.b), c(std::vector<float>(kM * kN, NAN));
        warpladder_prepared prepared = prepare(x, b.data(), nullptr);
        std::size_t bytes = 0;
        EXPECT_SUCCEEDS(warpladder_sgemm_prepared_workspace_bytes(handle_, kM, prepared, &bytes));
        EXPECT_GE(bytes, std::size_t{8 * kM * kK}) << "no tensor cores";
        EXPECT_LT(bytes, std::size_t{8 * kM * (kK + 64) + 64 * kM + 8192}) << "B is split again";
        require(cudaDeviceSynchronize(), "prepare");
        require(cudaMemset(b.data(), 0xff, x.b.size() * sizeof(float)), "cudaMemset");
        EXPECT_SUCCEEDS(multiply(x, prepared, a.data(), c.data(), nullptr));
        expect_product(x, c.download());
        EXPECT_SUCCEEDS(warpladder_prepared_destroy(handle_, prepared, nullptr));
      }
    }
  }
}

TEST_F(Prepared, NeedsNoMoreWorkspaceThanItSays) {
  const Operands x = draw(WARPLADDER_ROW_MAJOR, false);
  const DeviceArray<float> a(x.a), b(x.b), c(std::vector<float>(kM * kN, NAN));
  warpladder_prepared prepared = prepare(x, b.data(), nullptr);
  std::size_t bytes = 0;
  EXPECT_SUCCEEDS(warpladder_sgemm_prepared_workspace_bytes(handle_, kM, prepared, &bytes));
  const DeviceArray<unsigned char> workspace(std::vector<unsigned char>(bytes + 512, 0xff));
  auto* const aligned =
      workspace.data() + (256 - reinterpret_cast<std::uintptr_t>(workspace.data()) % 256);
  ASSERT_SUCCEEDS(warpladder_set_workspace(handle_, nullptr, aligned, bytes));
  EXPECT_SUCCEEDS(multiply(x, prepared, a.data(), c.data(), nullptr));
  expect_product(x, c.download());
  EXPECT_SUCCEEDS(multiply(x, prepared, a.data(), c.data(), nullptr, kM, 0.0f));
  EXPECT_EQ(c.download(), std::vector<float>(kM * kN, 0.0f)) << "alpha = 0";
  const auto after = workspace.download();
  const auto end =
      after.begin() + (aligned - workspace.data()) + static_cast<std::ptrdiff_t>(bytes);
  EXPECT_TRUE(std::all_of(end, after.end(), [](unsigned char byte) { return byte == 0xff; }));
  ASSERT_SUCCEEDS(warpladder_set_workspace(handle_, nullptr, aligned, bytes - 1));
  EXPECT_EQ(multiply(x, prepared, a.data(), c.data(), nullptr), WARPLADDER_WORKSPACE_TOO_SMALL);
  ASSERT_SUCCEEDS(warpladder_set_workspace(handle_, nullptr, nullptr, 0));
  EXPECT_SUCCEEDS(warpladder_prepared_destroy(handle_, prepared, nullptr));
}

// The arithmetic may change after B was prepared, and before.
TEST_F(Prepared, ServesEveryArithmetic) {
  const Operands x = draw(WARPLADDER_ROW_MAJOR, true);
  const DeviceArray<float> a(x.a), b(x.b);
  for (const auto first : {WARPLADDER_ARITHMETIC_ACCURATE, WARPLADDER_ARITHMETIC_CUDA_CORES}) {
    ASSERT_SUCCEEDS(warpladder_set_arithmetic(handle_, first));
    warpladder_prepared prepared = prepare(x, b.data(), nullptr);
    for (const auto arithmetic : {WARPLADDER_ARITHMETIC_CUDA_CORES, WARPLADDER_ARITHMETIC_ACCURATE,
                                  WARPLADDER_ARITHMETIC_DOUBLE_ROUNDED}) {
      ASSERT_SUCCEEDS(warpladder_set_arithmetic(handle_, arithmetic));
      const DeviceArray<float> c(std::vector<float>(kM * kN, NAN));
      EXPECT_SUCCEEDS(multiply(x, prepared, a.data(), c.data(), nullptr));
      expect_product(x, c.download());
    }
    EXPECT_SUCCEEDS(warpladder_prepared_destroy(handle_, prepared, nullptr));
  }
}

// One B for threads and streams that race, among them products that FP16 pairs do not suffice for.
// Every result is, bit by bit, that of the same call alone.
TEST_F(Prepared, ServesManyThreadsAndStreamsAtOnce) {
  constexpr int kThreads = 4, kStreams = 2, kRounds = kM > 500 ? 20 : 1;
  Operands x = draw(WARPLADDER_ROW_MAJOR, false);
  const DeviceArray<float> moderate(x.a), b(x.b);
  for (std::size_t i = 0; i < x.a.size(); ++i) {
    x.a[i] = std::ldexp(x.a[i], static_cast<int>(i * 7 % 41) - 20);
  }
  const DeviceArray<float> wide(x.a);
  warpladder_prepared prepared = prepare(x, b.data(), nullptr);
  require(cudaDeviceSynchronize(), "prepare");
  const float* const operands[] = {moderate.data(), wide.data()};
  const std::int64_t rows[] = {kM, kM - 37};
  std::vector<float> alone[2][2];
  for (int which = 0; which < 2; ++which) {
    for (int size = 0; size < 2; ++size) {
      const DeviceArray<float> c(std::vector<float>(kM * kN, 0.0f));
      ASSERT_SUCCEEDS(multiply(x, prepared, operands[which], c.data(), nullptr, rows[size]));
      alone[which][size] = c.download();
    }
  }
  std::atomic<int> wrong{0};
  const auto work = [&](int thread) {
    cudaStream_t streams[kStreams];
    struct Output {
      DeviceArray<float> there{std::vector<float>(kM * kN, 0.0f)};
    } outputs[kStreams];
    for (cudaStream_t& stream : streams) {
      require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    }
    for (int round = 0; round < kRounds; ++round) {
      const auto which_of = [&](int s) { return (thread + s + round) % 2; };
      const auto size_of = [&](int s) { return (thread / 2 + s + round / 2) % 2; };
      for (int s = 0; s < kStreams; ++s) {
        float* const c = outputs[s].there.data();
        require(cudaMemsetAsync(c, 0, kM * kN * sizeof(float), streams[s]), "memset");
        wrong += multiply(x, prepared, operands[which_of(s)], c, streams[s], rows[size_of(s)]) !=
                 WARPLADDER_SUCCESS;
      }
      for (int s = 0; s < kStreams; ++s) {
        require(cudaStreamSynchronize(streams[s]), "products");
        wrong += outputs[s].there.download() != alone[which_of(s)][size_of(s)];
      }
    }
    for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      try {
        work(t);
      } catch (const std::exception& failure) {
        ADD_FAILURE() << failure.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_SUCCEEDS(warpladder_prepared_destroy(handle_, prepared, nullptr));
}

}  // namespace
}  // namespace warpladder::library_tests
