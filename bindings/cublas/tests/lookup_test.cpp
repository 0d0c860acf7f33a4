// The interposed dlsym(), and more than one cuBLAS in a process.

#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "matrices.hpp"

namespace shim_tests {
namespace {

using Sgemm = decltype(&cublasSgemm_v2);
using Lookup = Shim;

void* loaded(const char* name) { return dlopen(name, RTLD_LAZY | RTLD_NOLOAD); }
void* library(const std::string& name) {
  return dlopen((std::string(MADE_UP_FOLDER) + "/" + name).c_str(), RTLD_LAZY | RTLD_LOCAL);
}
bool is_from(const void* function, const char* file) {
  Dl_info info{};
  return dladdr(function, &info) &&
         std::filesystem::path(info.dli_fname).filename().string().find(file) == 0;
}

TEST_F(Lookup, ByHandleFindsThisLibrary) {
  void* const cublas = loaded("libcublas.so.13");
  ASSERT_NE(cublas, nullptr);
  void* const found = dlsym(cublas, "cublasSgemm_v2");
  EXPECT_TRUE(is_from(found, "libwarpladder_cublas"));
  Case p;
  p.make();
  const Counts counts("cublasSgemm_v2");
  const auto sgemm = reinterpret_cast<Sgemm>(found);
  EXPECT_EQ(sgemm(handle, p.op_a, p.op_b, 5, 4, 3, &p.alpha, p.a.data(), 6, p.b.data(), 5, &p.beta,
                  p.c.data(), 8),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_TAKEN(counts);
  p.expect_right();
}

TEST_F(Lookup, OfOtherFunctionsIsLeftAlone) {
  void* const cublas = loaded("libcublas.so.13");
  EXPECT_TRUE(is_from(dlsym(cublas, "cublasDestroy_v2"), "libcublas.so"));
  EXPECT_TRUE(is_from(dlsym(cublas, "cublasDgemm_v2"), "libcublas.so"));
  EXPECT_EQ(dlerror(), nullptr);
  EXPECT_EQ(dlsym(cublas, "cublasNothing"), nullptr);
  EXPECT_NE(dlerror(), nullptr);
}

// A library of its own that happens to have a function of such a name.
TEST_F(Lookup, InALibraryThatIsNoCublasIsLeftAlone) {
  void* const other = library("libnext_a.so");
  ASSERT_NE(other, nullptr) << dlerror();
  EXPECT_TRUE(is_from(dlsym(other, "cublasSgemmBatched"), "libnext_a"));
}

// RTLD_NEXT is what comes behind the caller, not behind this library. The program is linked with
// libnext_a.so and, behind it, libnext_b.so.
TEST_F(Lookup, OfTheNextLibraryGoesByTheCaller) {
  const auto ask = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "number_of_next"));
  ASSERT_NE(ask, nullptr);
  EXPECT_EQ(ask(), 2);
}

// A second cuBLAS, loaded by a library that is linked with it, has its calls passed on to itself.
TEST_F(Lookup, EachCublasGetsItsOwnCalls) {
  cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  expect_passed_on();
  void* const user = library("libuser_of_12.so");
  ASSERT_NE(user, nullptr) << dlerror();
  const auto passed = reinterpret_cast<int (*)()>(dlsym(user, "passed_on_to_12"));
  const auto taken = reinterpret_cast<int (*)()>(dlsym(user, "taken_of_12"));
  ASSERT_NE(passed, nullptr);
  const Counts counts("cublasSgemm_v2");
  EXPECT_EQ(passed(), 1);
  EXPECT_EQ(counts.ours(), 0);
  EXPECT_EQ(counts.theirs(), 0);
  EXPECT_EQ(taken(), 0);
  EXPECT_EQ(counts.ours(), 1);
  cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  expect_passed_on();
}

}  // namespace
}  // namespace shim_tests
