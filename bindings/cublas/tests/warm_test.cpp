// A warm call takes no lock and no heap memory, and does not read the environment: neither a taken
// one nor one that is passed on.

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "matrices.hpp"

namespace {

std::atomic<long> heap_allocations{0}, locks_taken{0}, variables_read{0};

}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t*);
  static const auto next = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  locks_taken.fetch_add(1, std::memory_order_relaxed);
  return next(mutex);
}
extern "C" char* getenv(const char* name) noexcept {
  variables_read.fetch_add(1, std::memory_order_relaxed);
  const std::size_t length = std::strlen(name);
  for (char** entry = environ; *entry; ++entry) {
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
      return *entry + length + 1;
    }
  }
  return nullptr;
}
// noinline, so that the compiler does not pair free() with another operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  heap_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace shim_tests {
namespace {

class Warm : public Shim {
 protected:
  // What one call costs, the first two left out.
  void expect_nothing_taken() const {
    Case p;
    p.make();
    product(p);
    product(p);
    const long heap = heap_allocations, locks = locks_taken, variables = variables_read;
    product(p);
    EXPECT_EQ(heap_allocations - heap, 0);
    EXPECT_EQ(locks_taken - locks, 0);
    EXPECT_EQ(variables_read - variables, 0);
  }
};

TEST_F(Warm, ATakenCall) { expect_nothing_taken(); }

TEST_F(Warm, APassedOnCall) {
  cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  expect_nothing_taken();
}

TEST_F(Warm, LocksAndMemoryAreSeen) {
  const long heap = heap_allocations, variables = variables_read;
  ::operator delete(::operator new(8));
  EXPECT_EQ(heap_allocations, heap + 1);
  EXPECT_NE(std::getenv("PATH"), nullptr);
  EXPECT_EQ(variables_read, variables + 1);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const long locks = locks_taken;
  pthread_mutex_lock(&mutex);
  EXPECT_EQ(locks_taken, locks + 1);
  pthread_mutex_unlock(&mutex);
}

}  // namespace
}  // namespace shim_tests
