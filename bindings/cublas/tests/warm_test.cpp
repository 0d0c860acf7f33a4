// A warm call takes no lock and no heap memory, and does not read the environment. This holds for a
// call that is taken and for one that is passed on.

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "library/taken.hpp"
#include "matrices.hpp"

namespace {

std::atomic<long> variables_read{0};

}  // namespace

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
    const long heap = taken::heap_allocations, locks = taken::locks, variables = variables_read;
    product(p);
    EXPECT_EQ(taken::heap_allocations - heap, 0);
    EXPECT_EQ(taken::locks - locks, 0);
    EXPECT_EQ(variables_read - variables, 0);
  }
};

TEST_F(Warm, ATakenCall) { expect_nothing_taken(); }

TEST_F(Warm, APassedOnCall) {
  cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  expect_nothing_taken();
}

TEST_F(Warm, LocksAndMemoryAreSeen) {
  const long heap = taken::heap_allocations, variables = variables_read;
  ::operator delete(::operator new(8));
  EXPECT_EQ(taken::heap_allocations, heap + 1);
  EXPECT_NE(std::getenv("PATH"), nullptr);
  EXPECT_EQ(variables_read, variables + 1);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const long locks = taken::locks;
  pthread_mutex_lock(&mutex);
  EXPECT_EQ(taken::locks, locks + 1);
  pthread_mutex_unlock(&mutex);
}

}  // namespace
}  // namespace shim_tests
