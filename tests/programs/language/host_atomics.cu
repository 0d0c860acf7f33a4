// Atomics of the host, which the flavour that is checked hands to the executor.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

__global__ void nothing() {}

template <class T>
static bool add_up() {
  std::atomic<T> sum{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) ++sum;
    });
  }
  for (std::thread& thread : threads) thread.join();
  bool right = sum.load() == 80;
  right = right && sum.exchange(12) == 80 && sum.fetch_sub(4) == 12 && sum.fetch_or(3) == 8;
  right = right && sum.fetch_xor(1) == 11 && sum.fetch_and(7) == 10;
  T expected = 5;
  right = right && !sum.compare_exchange_strong(expected, 6) && expected == 2;
  while (!sum.compare_exchange_weak(expected, 9)) {
  }
  return right && sum.load() == 9;
}
static bool use_builtins() {
  int value = 6;
  const bool swapped = __sync_bool_compare_and_swap(&value, 6, 7);
  return swapped && __sync_val_compare_and_swap(&value, 1, 2) == 7 &&
         __sync_fetch_and_nand(&value, 5) == 7 && value == ~5 &&
         __sync_lock_test_and_set(&value, 1);
}

static void say(const char* what, bool ok) { std::printf("%s %s\n", what, ok ? "ok" : "WRONG"); }

int main() {
  say("8 bits", add_up<std::uint8_t>());
  say("16 bits", add_up<std::uint16_t>());
  say("32 bits", add_up<std::uint32_t>());
  say("64 bits", add_up<std::uint64_t>());
  say("builtins", use_builtins());
  std::once_flag once;
  int calls = 0;
  for (int i = 0; i < 2; ++i) std::call_once(once, [&] { ++calls; });
  say("once", calls == 1 && std::make_shared<int>(3).use_count() == 1);
  nothing<<<1, 1>>>();
  cudaDeviceSynchronize();
}
