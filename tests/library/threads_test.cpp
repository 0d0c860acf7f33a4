// One handle from many threads and streams: every result is checked, bit by bit, against the result
// of the same call alone.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <thread>
#include <tuple>

#include "library/testing.hpp"

namespace warpladder::library_tests {
namespace {

class Threads : public WithHandle {};

// Calls in all, from WARPLADDER_TEST_CALLS where it is set.
int calls_wanted() {
  const char* const wish = std::getenv("WARPLADDER_TEST_CALLS");
  return wish ? std::atoi(wish) : 400;
}

TEST_F(Threads, ShareAHandle) {
  constexpr int kThreads = 8, kStreams = 4, kMost = 150;
  constexpr std::size_t kArea = kMost * kMost;
  const DeviceArray<float> a(random_floats(kArea, 1)), b(random_floats(kArea, 2));
  const int calls = calls_wanted() / kThreads;
  std::atomic<int> wrong{0};
  const auto work = [&](unsigned thread) {
    std::mt19937 generator(thread);
    cudaStream_t streams[kStreams];
    for (cudaStream_t& stream : streams) {
      require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    }
    struct Output {
      DeviceArray<float> there{std::vector<float>(kArea, 0)};
    };
    Output outputs[kStreams];
    std::map<std::tuple<int, int, int, int>, std::vector<float>> known;
    for (int call = 0; call < calls; ++call) {
      const unsigned which = generator() % kStreams;
      const int kind = static_cast<int>(generator() % 4),
                m = 1 + static_cast<int>(generator() % 12) * 12,
                n = 1 + static_cast<int>(generator() % 12) * 12,
                k = 1 + static_cast<int>(generator() % 12) * 12;
      float* const out = outputs[which].there.data();
      warpladder_status status = WARPLADDER_SUCCESS;
      std::size_t elements = 1;
      switch (kind) {
        case 0:
          status =
              warpladder_sgemm(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, WARPLADDER_OP_T, m,
                               n, k, 1, a.data(), k, b.data(), k, 0, out, n, streams[which]);
          elements = static_cast<std::size_t>(m * n);
          break;
        case 1:
          status = warpladder_sgemv(handle_, WARPLADDER_COLUMN_MAJOR, WARPLADDER_OP_T, m, n, 1,
                                    a.data(), m, b.data(), 1, 0, out, 1, streams[which]);
          elements = static_cast<std::size_t>(n);
          break;
        case 2:
          status = warpladder_reduce(handle_, WARPLADDER_SUM, std::int64_t{m} * n, a.data(), out,
                                     streams[which]);
          break;
        default:
          status = warpladder_reduce_axis(handle_, WARPLADDER_MAX, 0, m, n, b.data(), n, out,
                                          streams[which]);
          elements = static_cast<std::size_t>(n);
      }
      if (status != WARPLADDER_SUCCESS) {
        ++wrong;
        continue;
      }
      std::vector<float> result(elements);
      require(cudaMemcpyAsync(result.data(), out, elements * sizeof(float), cudaMemcpyDeviceToHost,
                              streams[which]),
              "download");
      require(cudaStreamSynchronize(streams[which]), "download");
      const auto [first, is_new] = known.try_emplace({kind, m, n, k}, result);
      if (!is_new && first->second != result) ++wrong;
    }
    for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
    return known;
  };
  std::vector<std::map<std::tuple<int, int, int, int>, std::vector<float>>> known(kThreads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      try {
        known[t] = work(t);
      } catch (const std::exception& failure) {
        ADD_FAILURE() << failure.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  // Threads agree with each other, and with the same call made alone.
  std::map<std::tuple<int, int, int, int>, std::vector<float>> all;
  for (const auto& of_thread : known) {
    for (const auto& [call, result] : of_thread) {
      const auto [first, is_new] = all.try_emplace(call, result);
      EXPECT_EQ(first->second, result);
    }
  }
  const DeviceArray<float> alone(std::vector<float>(kArea, 0));
  for (const auto& [call, result] : all) {
    const auto [kind, m, n, k] = call;
    if (kind != 0) continue;
    ASSERT_SUCCEEDS(warpladder_sgemm(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N,
                                     WARPLADDER_OP_T, m, n, k, 1, a.data(), k, b.data(), k, 0,
                                     alone.data(), n, nullptr));
    const auto again = alone.download();
    EXPECT_TRUE(std::equal(result.begin(), result.end(), again.begin()));
  }
}

// A thread remembers its last plans; a new one remembers none. Sizes are the same, and all else
// that a plan follows from changes from call to call.
TEST_F(Threads, RememberPlansApart) {
  constexpr int kSize = 60, kDepth = 640;
  constexpr std::size_t kArea = kSize * kDepth;
  const DeviceArray<float> a(random_floats(kArea, 1)), b(random_floats(kArea, 2)),
      out(std::vector<float>(kSize * kSize, 0));
  const auto product = [&](int which) {
    const auto arithmetic = static_cast<warpladder_arithmetic>(which % 3);
    const bool by_rows = which / 3 % 2 == 0, trans_a = which / 6 % 2 != 0, scales = which / 12 != 0;
    const auto layout = by_rows ? WARPLADDER_ROW_MAJOR : WARPLADDER_COLUMN_MAJOR;
    EXPECT_EQ(warpladder_set_arithmetic(handle_, arithmetic), WARPLADDER_SUCCESS);
    EXPECT_EQ(warpladder_sgemm(handle_, layout, trans_a ? WARPLADDER_OP_T : WARPLADDER_OP_N,
                               WARPLADDER_OP_N, kSize, kSize, kDepth, scales ? 0.0f : 1.0f,
                               a.data(), by_rows == trans_a ? kSize : kDepth, b.data(),
                               by_rows ? kSize : kDepth, 0, out.data(), kSize, nullptr),
              WARPLADDER_SUCCESS);
    return out.download();
  };
  std::vector<std::vector<float>> known;
  for (int round = 0; round < 2; ++round) {
    for (int which = 0; which < 24; ++which) {
      std::vector<float> result = product(which);
      if (round == 0) {
        known.push_back(std::move(result));
      } else {
        EXPECT_EQ(result, known[static_cast<std::size_t>(which)]) << which;
      }
    }
  }
  for (int which = 0; which < 24; ++which) {
    std::thread([&] { EXPECT_EQ(product(which), known[static_cast<std::size_t>(which)]); }).join();
  }
}

}  // namespace
}  // namespace warpladder::library_tests
