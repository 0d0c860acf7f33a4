// The rewriting of a person's source, on texts whose outcome is plain by hand.

#include "programs/rewrite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "programs/ptx.hpp"

namespace warpladder::programs {
namespace {

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

std::string rewrite(const std::string& source) { return rewritten(source, kernel_names(source)); }

auto lines(const std::string& text) { return std::ranges::count(text, '\n'); }

TEST(Rewrite, LaunchesBecomeCalls) {
  const std::string out = rewrite("k<float, 2><<<grid, dim3(8, 8), 4 * n>>>(a, NULL, f(x, y));");
  expect_has(out, "::simt::launch(::simt::shape(grid, dim3(8, 8), 4 * n), \"k<float, 2>\"");
  expect_has(out, "{ k<float, 2>(simt_a...); }, a, nullptr, f(x, y));");
}

TEST(Rewrite, LaunchesWithoutArgumentsHaveNone) {
  expect_has(rewrite("ns::k<<<1, 1>>>();"), "{ ns::k(simt_a...); });");
}

TEST(Rewrite, LaunchesThatAFormatterHasSplit) {
  expect_has(rewrite("k << <1, 2 >> > (a);"), "::simt::launch(::simt::shape(1, 2 )");
}

TEST(Rewrite, AVariableThatPointsToAKernelIsLaunchedByItsAddress) {
  const std::string source =
      "__global__ void k(int* p) {}\nvoid f(void (*v)(int*)) { v<<<1, 2>>>(p); }";
  expect_has(rewrite(source), "::simt::launch_pointer(::simt::shape(1, 2), v, p);");
}

TEST(Rewrite, TheHostLooksUpAPointerInAMemberAnArrayOrBrackets) {
  const std::string kernel = "__global__ void k(int* p) {}\n";
  for (const char* const pointer : {"a[i]", "s.f", "s->f", "(*f)", "(x ? k : f)"}) {
    const std::string launch = std::string("void g() { ") + pointer + "<<<1, 2>>>(p); }";
    expect_has(rewrite(kernel + launch),
               std::string("launch_pointer(::simt::shape(1, 2), ") + pointer + ", p);");
  }
  for (const char* const name : {"k", "inner::k", "k<int, 3>"}) {
    const std::string launch = std::string("void g() { ") + name + "<<<1, 2>>>(p); }";
    EXPECT_EQ(rewrite(kernel + launch).find("launch_pointer"), std::string::npos) << name;
  }
}

TEST(Rewrite, AKernelThatAPointerPointsToAsksWhetherItWasLaunched) {
  const std::string source =
      "template <class T> __global__ void __launch_bounds__(64) k(T* p) {\n}\n"
      "__global__ void k(int);\n__global__ void other() {}\n"
      "int main() { k<int><<<1, 2>>>(p); other<<<1, 1>>>(); }\n";
  const auto kernels = kernel_names(source);
  EXPECT_EQ(pointed_to(source, kernels), std::set<std::string>());
  const auto pointers = pointed_to(source + "auto f = k<int>;", kernels);
  EXPECT_EQ(pointers, std::set<std::string>{"k"});
  const std::string out = rewritten(source, kernels, pointers);
  const std::string guard = "{ ::program_enter_kernel(\"k\", __builtin_return_address(0));";
  expect_has(out, "k(T* p) " + guard + "\n}");
  EXPECT_EQ(out.find(guard), out.rfind(guard));
  EXPECT_EQ(lines(out), lines(source));
}

TEST(Rewrite, ElementsOfVolatileArraysAreMarked) {
  const std::string head = "__device__ void f(volatile T* v, int t) { ";
  expect_has(rewrite(head + "v[t] += v[t + 1]; }"),
             "::simt::before_store(v[t]) += ::simt::before_load(v[t + 1]);");
  expect_has(rewrite(head + "v[v[t]] = 0; }"),
             "::simt::before_store(v[::simt::before_load(v[t])]) = 0;");
  expect_has(rewrite(head + "if (v[t] == 3) return v[t][1]; ++v[t]; v[t] <<= 1; x = a <= v[t]; }"),
             "if (::simt::before_load(v[t]) == 3) return ::simt::before_load(v[t][1]); "
             "++::simt::before_store(v[t]); ::simt::before_store(v[t]) <<= 1; "
             "x = a <= ::simt::before_load(v[t]);");
  for (const char* const declared :
       {"volatile int *v = w;", "__shared__ volatile float v[32];", "const volatile T v[2][3];",
        "volatile __shared__ unsigned int v[64];"}) {
    const std::string text = std::string("{ ") + declared + " x = v[t]; } void g() { y = v[0]; }";
    EXPECT_EQ(rewrite(text), std::string("{ ") + declared +
                                 " x = ::simt::before_load(v[t]); } void g() { y = v[0]; }");
  }
  for (const char* const other :
       {"volatile int n = 0; n = m[1];", "x = ((volatile int*)v)[t];", "volatile int* f(int v[]);",
        "void f(volatile int* v); int g(int* v) { return v[0]; }",
        "{ volatile int* v; s.v[0] = p->v[1]; int v[3]; }", "asm volatile(\"x\"); v[1] = 2;"}) {
    EXPECT_EQ(rewrite(other).find("::simt::before"), std::string::npos) << rewrite(other);
  }
}

TEST(Rewrite, LinesStayWhereTheyAre) {
  const std::string source = "k<<<grid,\n    block>>>\n    (a,\n     b);\nint x;\n";
  const std::string out = rewrite(source);
  EXPECT_EQ(lines(out), lines(source));
  EXPECT_TRUE(out.ends_with("\nint x;\n"));
  const std::string macro = "#define RUN(n) \\\n  k<<<1, \\\n      n>>>(a)\nint y;\n";
  EXPECT_EQ(lines(rewrite(macro)), lines(macro));
}

TEST(Rewrite, OutputAndStringsAreNoLaunches) {
  for (const std::string source :
       {"std::cout << \"a <<< b >>> (c)\" << std::endl;", "// k<<<1, 2>>>(a)\n",
        "std::cout << \"Grid: \" << x << \" >> > (\";", "int a = b << (c << 2);"}) {
    EXPECT_EQ(rewrite(source), source);
  }
}

TEST(Rewrite, DynamicSharedMemoryInAFunctionIsAPointer) {
  expect_has(rewrite("void f() { extern __shared__ float part[]; }"),
             "{ float* const part = (float*)::simt_dynamic_shared(); }");
  expect_has(rewrite("template <class T> void f() { extern __shared__ __align__(16) T s[]; }"),
             "T* const s = (T*)::simt_dynamic_shared();");
  expect_has(rewrite("void f() { __shared__ extern int s[]; }"),
             "int* const s = (int*)::simt_dynamic_shared();");
}

TEST(Rewrite, AlignmentOfSharedMemoryComesFirst) {
  expect_has(rewrite("void f() { __shared__ alignas(16) float4 s[2][32]; }"),
             "alignas(16) __shared__  float4 s[2][32];");
  expect_has(rewrite("void f() { extern __shared__ alignas(128) char s[]; }"),
             "char* const s = (char*)::simt_dynamic_shared();");
}

TEST(Rewrite, DynamicSharedMemoryOfAFileIsTheExecutors) {
  const std::string out = rewrite("namespace n {\nextern __shared__ int s[];\n}");
  expect_has(out, "extern thread_local");
  expect_has(out, "s[] __asm__(\"warpladder_dynamic_shared\");");
}

TEST(Rewrite, HostVariablesMayBeCalledLikeCudasOwn) {
  const std::string out =
      rewrite("void h() { dim3 blockDim(8); k<<<4, blockDim>>>(); }\nvoid d() { blockDim.x; }");
  expect_has(out, "dim3 simt_blockDim(8);");
  expect_has(out, "::simt::shape(4, simt_blockDim)");
  expect_has(out, "{ blockDim.x; }");
  expect_has(
      rewrite("void h(P p) { p.gridDim = dim3(1); p.func = (void*)k; cudaKernelNodeParams q; }"),
      "p.simt_gridDim = dim3(1); p.func = k;");
}

TEST(Rewrite, ConstConstantsStayReadOnlyData) {
  EXPECT_EQ(rewrite("__constant__ const int a = 1;"), " const int a = 1;");
  EXPECT_EQ(rewrite("__constant__ int b[2];"), "__constant__ int b[2];");
}

TEST(Rewrite, KernelsAreKnownByName) {
  const auto names = kernel_names(
      "__global__ void a(int x);\ntemplate <class T> __global__ void __launch_bounds__(64) b(T* p) "
      "{}\n"
      "// __global__ void c()\n");
  EXPECT_EQ(names, (std::set<std::string>{"a", "b"}));
}

TEST(Rewrite, APlainCallOfAKernelIsFound) {
  const std::string source =
      "__global__ void k(int* p) {}\nint main() {\n  k<<<1, 1>>>(p);\n  k(p);\n}\n";
  const auto uses = uses_of(source, kernel_names(source));
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_TRUE(uses[0].is_call);
  EXPECT_EQ(uses[0].kernel, "k");
  EXPECT_EQ(uses[0].line, 4);
}

TEST(Rewrite, AFunctionOfAKernelsNameIsTold) {
  const std::string source =
      "template <class T>\n__global__ void k(T* p) {}\nvoid k(int n) {}\nint main() { k(1); }\n";
  const auto uses = uses_of(source, kernel_names(source));
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_FALSE(uses[0].is_call);
  EXPECT_EQ(uses[0].line, 3);
  EXPECT_TRUE(uses[1].is_call);
}

TEST(Ptx, KnownInstructionsHaveAMeaning) {
  EXPECT_EQ(meaning_of_ptx(R"("mov.u32 %0, %%laneid;" : "=r"(lane))"), "lane = ::simt::lane()");
  EXPECT_EQ(meaning_of_ptx(R"("bar.sync 1, 64;" ::: "memory")"), "::simt_named_barrier(1, 64)");
  EXPECT_EQ(meaning_of_ptx(R"("barrier.sync %0, %1;" :: "r"(id), "r"(n))"),
            "::simt_named_barrier(id, n)");
  EXPECT_EQ(meaning_of_ptx(R"("cp.async.wait_group 2;\n" ::)"), "::simt_cp_async_wait(2)");
  EXPECT_EQ(meaning_of_ptx(R"("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c))"),
            "d = fma(a, b, c)");
}

TEST(Ptx, OperandsGoToFunctionsInTheOrderOfTheText) {
  EXPECT_EQ(meaning_of_ptx(R"("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];\n"
                              : "=r"(r0), "=r"(r1) : "r"(address))"),
            "::simt::ptx::ldmatrix_x2_trans(r0, r1, address)");
  EXPECT_EQ(meaning_of_ptx(R"("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;"
                              :: "r"(to), "l"(from))"),
            "::simt::ptx::cp_async(to, from, 16)");
  EXPECT_EQ(
      meaning_of_ptx(R"("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(d) : "r"(a), "r"(b), "r"(c))"),
      "::simt::ptx::lop3(d, a, b, c, 0xe8)");
  EXPECT_EQ(meaning_of_ptx("\"ld.volatile.global.v4.b32 {%0, %1, %2, %3}, [%4];\" \\\n : \"=r\"(x),"
                           "\"=r\"(y), \"=r\"(z), \"=r\"(w) : \"l\"(p)"),
            "::simt::ptx::load_v4(x, y, z, w, p)");
  EXPECT_EQ(meaning_of_ptx(R"("mov.u32 %0, %%tid.y;" : "=r"(t))"), "t = ::simt_thread_idx().y");
  EXPECT_EQ(meaning_of_ptx(R"("add.u32 %0, %1, %2; brev.b32 %0, %0;" : "=r"(d) : "r"(a), "r"(b))"),
            "d = (a) + (b), ::simt::ptx::brev(d, d)");
}

TEST(Ptx, WhatIsUnknownIsACallThatGccRefuses) {
  EXPECT_EQ(meaning_of_ptx(R"("tensormap.replace;" ::)"), "::simt_unknown_ptx()");
  EXPECT_EQ(meaning_of_ptx(R"("" ::: "memory")"), std::nullopt);
}

}  // namespace
}  // namespace warpladder::programs
