// Compiling at run time: with a made-up compiler, and with NVRTC where it is installed.

#include "runtime/compile.hpp"

#include <dlfcn.h>

#include <thread>

#include "ops/sgemm/compiled_text.hpp"
#include "runtime/expression.hpp"
#include "runtime/testing.hpp"

namespace warpladder::runtime {
namespace {

constexpr int kDriver = 13000;

int compilations() {
  void* const library = ::dlopen(WARPLADDER_MADE_UP_NVRTC, RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<int (*)()>(::dlsym(library, "made_up_compilations"))();
}

class WithMadeUpCompiler : public InFolder {
 protected:
  CompiledCode compile_good(const KernelText& text, int capability = 90, int driver = kDriver) {
    CompiledCode compiled;
    const Status status = compile(text, capability, driver, compiler_, cache(), &compiled);
    EXPECT_TRUE(status.ok()) << status.sentence;
    return compiled;
  }
  CodeCache cache() const { return CodeCache(folder()); }

  const Nvrtc compiler_{{WARPLADDER_MADE_UP_NVRTC}};
  const KernelText text_{"source", "kernel<1>"};
};

TEST_F(WithMadeUpCompiler, CompilesOnceForEachThingThatMatters) {
  ASSERT_TRUE(compiler_.found()) << compiler_.why_not();
  EXPECT_EQ(compiler_.version(), "99.1");
  const int before = compilations();
  const CompiledCode cold = compile_good(text_), warm = compile_good(text_);
  EXPECT_FALSE(cold.from_cache);
  EXPECT_TRUE(warm.from_cache);
  EXPECT_EQ(cold.code, warm.code);
  EXPECT_EQ(compilations(), before + 1);
  EXPECT_FALSE(compile_good({"other source", "kernel<1>"}).from_cache);
  EXPECT_FALSE(compile_good({"source", "kernel<2>"}).from_cache);
  EXPECT_FALSE(compile_good(text_, 80).from_cache);
  EXPECT_FALSE(compile_good(text_, 90, kDriver + 10).from_cache);
  EXPECT_EQ(compilations(), before + 5);
  EXPECT_EQ(names().size(), 5u);
}

TEST_F(WithMadeUpCompiler, TellsUpdatesOfACompilerApart) {
  const std::string updated = path("updated.so");
  std::filesystem::copy_file(WARPLADDER_MADE_UP_NVRTC, updated);
  std::filesystem::last_write_time(updated, std::filesystem::file_time_type{});
  const Nvrtc update({updated});
  ASSERT_TRUE(update.found()) << update.why_not();
  EXPECT_EQ(update.version(), compiler_.version());
  const CodeCache shared(path("cache"));
  for (const Nvrtc* compiler : {&compiler_, &update}) {
    CompiledCode compiled;
    EXPECT_TRUE(compile(text_, 90, kDriver, *compiler, shared, &compiled).ok());
    EXPECT_FALSE(compiled.from_cache);
  }
  EXPECT_EQ(names("cache").size(), 2u);
}

TEST_F(WithMadeUpCompiler, CompilesAnewWhereAnEntryIsBroken) {
  const CompiledCode cold = compile_good(text_);
  spill(path(names().at(0)), "garbage");
  const CompiledCode again = compile_good(text_);
  EXPECT_FALSE(again.from_cache);
  EXPECT_EQ(again.code, cold.code);
  EXPECT_TRUE(compile_good(text_).from_cache);
}

TEST_F(WithMadeUpCompiler, KeepsNothingOfASourceThatIsRefused) {
  CompiledCode compiled;
  const Status status = compile({"BAD", "kernel"}, 90, kDriver, compiler_, cache(), &compiled);
  EXPECT_EQ(status.code, Code::invalid_argument);
  EXPECT_STREQ(status.sentence, "the compiler says: identifier \"BAD\" is undefined");
  EXPECT_TRUE(names().empty());
}

TEST_F(WithMadeUpCompiler, CompilesForTheGpuOrPtxForALaterOne) {
  EXPECT_EQ(compiler_.architecture_for(90), "sm_90");
  EXPECT_EQ(compiler_.architecture_for(80), "sm_80");
  EXPECT_EQ(compiler_.architecture_for(86), "compute_80");
  EXPECT_EQ(compiler_.architecture_for(120), "compute_90");
  CompiledCode compiled;
  const Status status = compile(text_, 61, kDriver, compiler_, cache(), &compiled);
  EXPECT_EQ(status.code, Code::unsupported_device);
  EXPECT_STREQ(status.sentence, "NVRTC 99.1 does not compile for compute capability 6.1");
}

TEST_F(WithMadeUpCompiler, ServesThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string source = "source " + std::to_string((i + t) % 5);
        EXPECT_NE(compile_good({source, "kernel"}).code.find(source), std::string::npos);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(names().size(), 5u);
}

TEST(Compiler, IsMissedInOneSentence) {
  const Nvrtc none({"/nowhere/libnvrtc.so.13"});
  EXPECT_FALSE(none.found());
  EXPECT_EQ(none.why_not(), "/nowhere/libnvrtc.so.13 cannot be loaded");
  CompiledCode compiled;
  const Status status = compile({"", ""}, 90, kDriver, none, CodeCache(""), &compiled);
  EXPECT_EQ(status.code, Code::no_compiler);
  EXPECT_STREQ(status.sentence,
               "NVRTC is not found: /nowhere/libnvrtc.so.13 cannot be loaded; WARPLADDER_NVRTC may "
               "name its file");
  // A library that is not NVRTC lacks its functions.
  EXPECT_FALSE(Nvrtc({"libm.so.6"}).found());
  EXPECT_TRUE(Nvrtc({"/nowhere", "libm.so.6", WARPLADDER_MADE_UP_NVRTC}).found());
}

TEST(Compiler, IsWhereTheEnvironmentSays) {
  ::setenv("CUDA_HOME", "/opt/cuda", 1);
  ::unsetenv("WARPLADDER_NVRTC");
  const std::vector<std::string> places = places_of_nvrtc();
  EXPECT_EQ(places.at(0), "libnvrtc.so.13");
  EXPECT_EQ(places.at(2), "/opt/cuda/lib64/libnvrtc.so.13");
  EXPECT_EQ(places.at(5), "/usr/local/cuda/lib64/libnvrtc.so.12");
  ::setenv("WARPLADDER_NVRTC", "mine.so", 1);
  EXPECT_EQ(places_of_nvrtc(), std::vector<std::string>{"mine.so"});
  ::unsetenv("WARPLADDER_NVRTC");
  ::unsetenv("CUDA_HOME");
}

TEST(Compiler, SaysTheFirstError) {
  EXPECT_EQ(first_error_of("a(1): warning: w\nb(2): error: e one\nb(3): error: e two\n"), "e one");
  EXPECT_EQ(first_error_of("out of memory\nmore"), "out of memory");
  EXPECT_EQ(first_error_of(""), "");
}

// The real one compiles without a GPU.
class WithNvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!compiler_.found()) GTEST_SKIP() << compiler_.why_not();
  }
  Status compile_all(const KernelText& text, int capability = 90) {
    return compile(text, capability, kDriver, compiler_, CodeCache(""), &compiled_);
  }
  const Nvrtc compiler_{places_of_nvrtc()};
  CompiledCode compiled_;
};

TEST_F(WithNvrtc, CompilesTheProductsKernels) {
  const sgemm::Problem p =
      sgemm::compact(100, 60, 7, sgemm::Layout::row_major, true, false, 2.0f, 1.0f);
  const KernelText constant{sgemm::kCompiledSource,
                            constant_product(p, 1, sgemm::kCompiledTiles[2]).text};
  EXPECT_EQ(constant.kernel,
            "multiply_by_parity<ParityShape<64, 64, 8, 8>, false, true, 1, "
            "ConstantProduct<100L, 60L, 7L, 100L, 60L, 60L, Factor::any, Factor::one>>");
  const Status one = compile_all(constant);
  ASSERT_TRUE(one.ok()) << one.sentence;
  EXPECT_EQ(compiled_.code.substr(1, 3), "ELF");
  const Status other =
      compile_all({sgemm::kCompiledSource + function_object("const float x", "x > 0 ? x : 0.1f*x"),
                   finished_product(p, 4, sgemm::kCompiledTiles[0]).text});
  EXPECT_TRUE(other.ok()) << other.sentence;
}

TEST_F(WithNvrtc, CompilesForOlderAndLaterGpus) {
  const KernelText text{"#include \"parts/fold.hpp\"\n" +
                            function_object("const float a, const float b", "fmaxf(a, b)"),
                        "warpladder::parts::fold<Function>"};
  for (const int capability : {75, 80, 120}) {
    if (compiler_.architecture_for(capability).empty()) continue;
    const Status status = compile_all(text, capability);
    EXPECT_TRUE(status.ok()) << capability << ": " << status.sentence;
  }
  // No compiler knows this one: it gets PTX.
  ASSERT_TRUE(compile_all(text, 9999).ok());
  EXPECT_NE(compiled_.code.find(".entry"), std::string::npos);
}

TEST_F(WithNvrtc, CompilesMapsAndFolds) {
  const std::string map = "#include \"parts/element_map.hpp\"\n",
                    fold = "#include \"parts/fold.hpp\"\n";
  const Status good = compile_all({map + function_object("const float x", "tanhf(x)"),
                                   "warpladder::parts::map_elements<Function, 4>"});
  EXPECT_TRUE(good.ok()) << good.sentence;
  const Status joined =
      compile_all({fold + function_object("const float a, const float b", "a > b ? a : b"),
                   "warpladder::parts::fold<Function>"});
  EXPECT_TRUE(joined.ok()) << joined.sentence;
  const Status bad = compile_all({map + function_object("const float x", "y + 1"),
                                  "warpladder::parts::map_elements<Function, 4>"});
  EXPECT_EQ(bad.code, Code::invalid_argument);
  EXPECT_STREQ(bad.sentence, "the compiler says: identifier \"y\" is undefined");
}

}  // namespace
}  // namespace warpladder::runtime
