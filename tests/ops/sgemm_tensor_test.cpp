// The rungs of sgemm on tensor cores beyond what all rungs share. These are the choice between them
// and CUDA cores, the same bits in every run, and the promise about their errors.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>

#include "device/device.hpp"
#include "lab/accuracy.hpp"
#include "ops/lab/judge.hpp"
#include "ops/sgemm/lab/accuracy_cases.hpp"
#include "ops/sgemm/lab/dispatch.hpp"

namespace warpladder::sgemm {
namespace {

TEST(SgemmPlan, TakesPairsWhereTheyPayAndAreAccurate) {
  const auto planned = [](std::int64_t m, std::int64_t n, std::int64_t k,
                          const runtime::Machine& machine = {}) -> std::string {
    return plain::plan(compact(m, n, k), machine).id;
  };
  EXPECT_EQ(planned(4096, 4096, 4096), "tc_10_full_range");
  EXPECT_EQ(planned(1024, 1024, 1024), "tc_10_full_range");
  EXPECT_EQ(planned(4096, 4096, 256), "tc_10_full_range");
  EXPECT_NE(planned(4096, 4096, 200), "tc_10_full_range");
  EXPECT_EQ(planned(4096, 4096, 1), "row_22_columns_stay");
  EXPECT_EQ(planned(8, 4096, 4096), "row_11_few_rows");
  EXPECT_EQ(planned(512, 512, 8192), "tc_15_split_on_the_way");
  EXPECT_NE(planned(16, 16, 2048), "tc_10_full_range");
  EXPECT_EQ(choose(compact(8, 8, 8), runtime::Target::cpu).id, "row_04_vector_load");
  EXPECT_EQ(choose(compact(8, 8, 8), runtime::Target::gpu).id, "dispatch");
}

// By their data sheets.
runtime::Machine a_100() {
  runtime::Machine m;
  m.capability = 80;
  m.multiprocessors = 108;
  m.shared_bytes_per_block = 163 << 10;
  m.shared_bytes_per_multiprocessor = 164 << 10;
  m.fp32_flops_per_s = m.f64_tensor_flops_per_s = 19.5e12;
  m.tf32_tensor_flops_per_s = 156e12;
  m.f16_tensor_flops_per_s = 312e12;
  m.memory_bytes_per_s = 1.555e12;
  return m;
}
runtime::Machine rtx_4090() {
  runtime::Machine m;
  m.capability = 89;
  m.multiprocessors = 128;
  m.shared_bytes_per_block = 99 << 10;
  m.shared_bytes_per_multiprocessor = 100 << 10;
  m.fp32_flops_per_s = 82.6e12;
  m.f64_tensor_flops_per_s = 0;
  m.tf32_tensor_flops_per_s = 165e12;
  m.f16_tensor_flops_per_s = 330e12;
  m.memory_bytes_per_s = 1.008e12;
  return m;
}

TEST(SgemmPlan, TakesProductsByWarpsOnOtherGpusWhereTheyPay) {
  const auto planned = [](const runtime::Machine& machine, std::int64_t m, std::int64_t n,
                          std::int64_t k, Arithmetic arithmetic = Arithmetic::accurate) {
    const Problem p = compact(m, n, k);
    const Plan plan = plain::plan(p, machine, arithmetic);
    EXPECT_TRUE(ladder::runs_on(machine, *plan.rung)) << plan.id;
    return std::string(plan.id);
  };
  EXPECT_EQ(planned(a_100(), 4096, 4096, 4096), "tc_13_mma_sync");
  EXPECT_EQ(planned(a_100(), 2048, 2048, 2048), "tc_13_mma_sync");
  EXPECT_EQ(planned(a_100(), 4096, 4096, 4096, Arithmetic::cuda_cores), "row_20_parity_split_k");
  EXPECT_NE(planned(a_100(), 4096, 4096, 128), "tc_13_mma_sync");
  EXPECT_EQ(planned(a_100(), 8, 4096, 4096), "row_11_few_rows");
  // A GeForce card multiplies halves no faster than it would have to.
  EXPECT_NE(planned(rtx_4090(), 4096, 4096, 4096), "tc_13_mma_sync");
  runtime::Machine without_code = a_100();
  without_code.capability = 75;
  EXPECT_NE(planned(without_code, 4096, 4096, 4096), "tc_13_mma_sync");
}

// row_07's tiles of 128×256 were found for 4096³. 306 of them on 132 multiprocessors leave most of
// a third wave idle, where 612 tiles of 128×128 fill a fifth.
TEST(SgemmPlan, TakesTilesOfAnotherShapeWhereTheyFillTheirWaves) {
  const ladder::AnyRung& rung = ladder::find_rung("sgemm", "row_07_register_parity");
  const auto sectors_of = [](const Problem& p, std::uint64_t rows, std::uint64_t columns) {
    return (p.m * p.n / columns + p.m * p.n / rows) * p.k * sizeof(float) / 32;
  };
  const auto predicted = [&](const Problem& p) {
    const Call call{.problem = p};
    return rung.predict(ladder::AnyCall(call), runtime::Machine()).global_load_sectors;
  };
  const Problem found = compact(4096, 4096, 4096), near = compact(2304, 4352, 4096);
  EXPECT_EQ(predicted(found), sectors_of(found, 128, 256));
  EXPECT_EQ(predicted(near), sectors_of(near, 128, 128));
}

TEST(SgemmPlan, FollowsTheArithmeticAndTheBatch) {
  const runtime::Machine a100 = a_100();
  const Problem large = compact(4096, 4096, 4096), small = compact(64, 64, 64);
  const auto planned = [](const Problem& p, const runtime::Machine& machine, Arithmetic arithmetic,
                          const Batch& batch = {}) -> std::string {
    return plain::plan(p, machine, arithmetic, batch).id;
  };
  EXPECT_EQ(planned(large, {}, Arithmetic::cuda_cores), "row_31_packed_operands");
  EXPECT_EQ(planned(compact(6092, 88, 15960), {}, Arithmetic::cuda_cores), "row_33_low_tiles");
  EXPECT_EQ(planned(large, {}, Arithmetic::double_rounded), "row_14_double_split_k");
  EXPECT_EQ(planned(large, a100, Arithmetic::double_rounded), "row_10_batched_double");
  EXPECT_EQ(planned(compact(8, 8, 8), {}, Arithmetic::accurate, {.count = 999}),
            "row_15_tiny_products");
  EXPECT_EQ(planned(small, {}, Arithmetic::accurate, {.count = 999}), "tc_18_streamed_terms");
  // Of shorter sums the terms' errors are larger than cublasSgemm's.
  EXPECT_EQ(planned(compact(64, 64, 31), {}, Arithmetic::accurate, {.count = 999}),
            "row_24_batched_parity");
  EXPECT_EQ(planned(compact(1, 64, 64), {}, Arithmetic::accurate, {.count = 999}),
            "row_18_batched_vectors");
  EXPECT_EQ(planned(small, {}, Arithmetic::cuda_cores, {.count = 999}), "row_26_small_tiles");
  EXPECT_EQ(planned(compact(24, 39, 53), {}, Arithmetic::accurate, {.count = 1712}),
            "row_29_fitted_tiles");
  EXPECT_EQ(planned(compact(68, 169, 58), {}, Arithmetic::accurate, {.count = 1866}),
            "row_32_whole_depth");
  // Whatever the memory's bandwidth, Hopper's plans are those that were measured on an H200.
  runtime::Machine h100;
  h100.memory_bytes_per_s = 3.352e12;
  for (const Problem& p : {compact(17, 4097, 4099), compact(2047, 2049, 33)}) {
    EXPECT_EQ(planned(p, h100, Arithmetic::accurate), planned(p, {}, Arithmetic::accurate));
  }
  EXPECT_EQ(planned(small, a100, Arithmetic::accurate, {.count = 999}), "row_16_streamed");
  const Plan slices = plain::plan(compact(20, 116, 6350), {}, Arithmetic::cuda_cores, {.count = 2});
  EXPECT_EQ(std::string(slices.id), "row_26_small_tiles");
  EXPECT_GE(slices.workspace_bytes, 2 * 2 * sizeof(float) * 20 * 116);
  EXPECT_EQ(planned(large, {}, Arithmetic::accurate, {.count = 9}), "tc_10_full_range");
  EXPECT_EQ(planned(large, {}, Arithmetic::accurate, {.count = 1, .arrays = true}),
            "tc_18_streamed_terms");
  EXPECT_EQ(planned(small, {}, Arithmetic::double_rounded, {.count = 999}),
            "row_17_streamed_double");
}

// What the layout decides: few rows times lines along k or across it, and ragged lines of a short
// k.
TEST(SgemmPlan, FollowsTheLayoutOfFewLines) {
  const auto planned = [](const Problem& p, const runtime::Machine& machine = {}) -> std::string {
    return plain::plan(p, machine).id;
  };
  const Layout rows = Layout::row_major, columns = Layout::column_major;
  for (const runtime::Machine& machine : {runtime::Machine{}, a_100()}) {
    EXPECT_EQ(planned(compact(4, 4096, 11008, rows, false, true), machine), "row_19_few_lines");
    EXPECT_EQ(planned(compact(4096, 4, 11008, rows, false, true), machine), "row_19_few_lines");
    EXPECT_EQ(planned(compact(4, 4096, 11008, columns, true, false), machine), "row_19_few_lines");
    for (const Problem& p : {compact(4, 4096, 11008), compact(9, 4096, 11008, rows, false, true),
                             compact(4, 4096, 1 << 20, rows, false, true)}) {
      EXPECT_NE(planned(p, machine), "row_19_few_lines") << p.m << "x" << p.n << "x" << p.k;
    }
  }
  EXPECT_EQ(planned(compact(4, 4096, 512, rows, false, true)), "row_19_few_lines");
  EXPECT_EQ(planned(compact(2, 7342, 1308, rows, true, false)), "row_28_even_shares");
  EXPECT_EQ(planned(compact(7342, 2, 1308, rows, true, false)), "row_28_even_shares");
  // Eight rows' long sums lose more than cublasSgemm's.
  EXPECT_NE(planned(compact(8, 4096, 11008, rows, false, true)), "row_19_few_lines");
  const auto rounded_once = [](const Problem& p) -> std::string {
    return plain::plan(p, {}, Arithmetic::double_rounded).id;
  };
  EXPECT_EQ(rounded_once(compact(4095, 4097, 64)), "row_17_streamed_double");
  EXPECT_NE(rounded_once(compact(4096, 4096, 64)), "row_17_streamed_double");
  EXPECT_NE(rounded_once(compact(4095, 4097, 8)), "row_17_streamed_double");
}

// Where B was split beforehand, a product need only split A, and pairs pay earlier.
TEST(SgemmPlan, TakesAPreparedBWhereItPays) {
  const auto planned = [](const Problem& p, Arithmetic arithmetic = Arithmetic::accurate) {
    const Plan plan = plain::plan(p, {}, arithmetic, {}, true);
    if (!plan.rung->workspace_bytes) {  // it states no need of its own
      EXPECT_LE(plan.workspace_bytes, prepared_workspace_bytes(p));
    }
    EXPECT_EQ(plan.prepared_bytes, plan.rung->prepare ? prepared_bytes(p) : 0);
    return std::string(plan.id);
  };
  const Problem large = compact(4096, 4096, 4096);
  EXPECT_EQ(planned(large), "tc_14_prepared_full_range");
  EXPECT_EQ(planned(compact(256, 4096, 4096)), "tc_14_prepared_full_range");
  EXPECT_EQ(plain::plan(compact(64, 4096, 4096), {}).id, std::string("tc_21_mapped_lines"));
  EXPECT_NE(planned(compact(16, 16, 2048)), "tc_14_prepared_full_range");
  EXPECT_EQ(planned(compact(4096, 4096, 4096, Layout::row_major, false, false, 0.0f)),
            "row_07_register_parity");
  EXPECT_EQ(planned(large, Arithmetic::cuda_cores), "row_31_packed_operands");
  EXPECT_EQ(planned(large, Arithmetic::double_rounded), "row_14_double_split_k");

  const auto prepared = [](const Problem& p, const runtime::Machine& machine = {},
                           Arithmetic arithmetic = Arithmetic::accurate) {
    const Plan plan = plain::plan_preparation(p, machine, arithmetic);
    EXPECT_EQ(plan.rung != nullptr, plan.prepared_bytes > 0);
    EXPECT_TRUE(!plan.rung || plan.rung->prepare);
    return plan.prepared_bytes;
  };
  runtime::Machine a100;
  a100.capability = 80;
  EXPECT_EQ(prepared(compact(1, 4096, 4096)), prepared_bytes(large)) << "whatever m is";
  EXPECT_GT(prepared(compact(1, 512, 256)), 0u);
  EXPECT_EQ(prepared(compact(1, 4096, 255)), 0u);
  EXPECT_EQ(prepared(compact(1, 8, 4096)), 0u);
  EXPECT_EQ(prepared(large, a100), 0u);
  EXPECT_EQ(prepared(large, {}, Arithmetic::cuda_cores), 0u);
  EXPECT_EQ(prepared(large, {}, Arithmetic::double_rounded), 0u);
  EXPECT_LE(prepared_bytes(large), std::size_t{4096} * (12 * 4096 + 32) + 4096);
}

// A product whose operands a distribution of the accuracy lab draws.
class Product {
 public:
  Product(runtime::Target target, const Problem& p, const std::string& distribution)
      : stream_(target),
        drawn_(draw_operands(distribution, p.m, p.n, p.k, 1)),
        a_(target, drawn_.a),
        b_(target, drawn_.b),
        c_(target, static_cast<std::size_t>(p.m * p.n)),
        workspace_(target, workspace_bytes(p)),
        prepared_(target, prepared_bytes(p)),
        call_{p, a_.data(), b_.data(), c_.data(), workspace_.data(), Values::moderate} {
    call_.prepared_b = prepared_.data();
  }

  const Call& call() const { return call_; }
  // On the CPU.
  void fill_workspace(std::uint32_t word) {
    std::fill_n(static_cast<std::uint32_t*>(call_.workspace),
                workspace_bytes(call_.problem) / sizeof word, word);
  }
  void poison_c() { std::fill_n(call_.c, call_.problem.m * call_.problem.n, ops::poison()); }
  std::vector<std::uint32_t> bits(const ladder::AnyRung& rung, runtime::Flavour flavour,
                                  unsigned threads) {
    stream_.executor_threads = threads;
    workspace_.fill(static_cast<unsigned char>(0xff - threads));
    prepared_.fill(static_cast<unsigned char>(0xff - threads));
    if (const ladder::Launcher prepare = rung.preparation(flavour)) prepare(call_, stream_);
    rung.launcher(flavour)(call_, stream_);
    stream_.synchronize();
    return bits();
  }
  std::vector<std::uint32_t> bits() const {
    std::vector<std::uint32_t> bits;
    for (const float x : c_.download()) bits.push_back(std::bit_cast<std::uint32_t>(x));
    return bits;
  }

 private:
  device::Stream stream_;
  HostOperands drawn_;
  device::Buffer<float> a_, b_, c_;
  device::Memory workspace_, prepared_;
  Call call_;
};

void expect_the_same_bits(runtime::Target target, runtime::Flavour flavour, const Problem& p) {
  for (const char* distribution : {"uniform", "log_uniform"}) {
    Product product(target, p, distribution);
    for (const ladder::AnyRung* rung : ladder::rungs_of("sgemm")) {
      if (!rung->id.starts_with("tc_") && rung->id != "row_08_double") continue;
      const auto once = product.bits(*rung, flavour, 1);
      for (unsigned run = 2; run < 5; ++run) {
        EXPECT_TRUE(once == product.bits(*rung, flavour, run))
            << rung->id << ' ' << p.m << 'x' << p.n << 'x' << p.k << ' ' << distribution;
      }
    }
  }
}

// Whatever the order in which blocks run, whoever splits what, whatever the workspace held.
TEST(SgemmTensorRungs, GiveTheSameBitsInEveryRun) {
  expect_the_same_bits(runtime::Target::cpu, runtime::Flavour::plain, compact(130, 270, 600));
}

TEST(SgemmTensorRungs, GiveTheSameBitsInEveryRunOfAGpu) {
  const auto there = device::availability(runtime::Target::gpu);
  if (!there.available) GTEST_SKIP() << there.why_not;
  for (const Problem& p :
       {compact(200, 200, 4096), compact(600, 700, 1500), compact(1000, 900, 800),
        compact(2100, 1930, 1111), compact(1500, 1501, 2000), compact(4095, 4097, 300),
        compact(4097, 4353, 300)}) {
    expect_the_same_bits(runtime::Target::gpu, runtime::Flavour::gpu, p);
  }
}

// A prepared B changes when it is split, and nothing else.
void expect_the_bits_of_full_range(runtime::Target target, runtime::Flavour flavour,
                                   const Problem& p) {
  const ladder::AnyRung &full_range = ladder::find_rung("sgemm", "tc_10_full_range"),
                        &prepared = ladder::find_rung("sgemm", "tc_14_prepared_full_range");
  for (const char* distribution : {"uniform", "log_uniform"}) {
    Product product(target, p, distribution);
    EXPECT_TRUE(product.bits(full_range, flavour, 2) == product.bits(prepared, flavour, 2))
        << p.m << 'x' << p.n << 'x' << p.k << ' ' << (p.layout == Layout::column_major) << p.trans_a
        << p.trans_b << ' ' << distribution;
  }
}

TEST(SgemmTensorRungs, GiveTheSameBitsWithAPreparedB) {
  const auto cpu = runtime::Target::cpu;
  const auto plain = runtime::Flavour::plain;
  for (const Layout layout : {Layout::row_major, Layout::column_major}) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        expect_the_bits_of_full_range(cpu, plain, compact(70, 140, 300, layout, trans_a, trans_b));
      }
    }
  }
  // Lines longer than a block holds, a pass of more than one wave, and machines of other sizes.
  expect_the_bits_of_full_range(cpu, plain, compact(20, 40, 2100));
  expect_the_bits_of_full_range(cpu, plain, compact(20, 4400, 70));
  for (const int multiprocessors : {16, 114}) {
    runtime::Machine machine;
    machine.multiprocessors = multiprocessors;
    const device::StandIn stand_in(machine);
    expect_the_bits_of_full_range(cpu, plain, compact(270, 600, 70));
  }
}

TEST(SgemmTensorRungs, GiveTheSameBitsWithAPreparedBOnAGpu) {
  const auto there = device::availability(runtime::Target::gpu);
  if (!there.available) GTEST_SKIP() << there.why_not;
  for (const Problem& p :
       {compact(64, 4096, 4096), compact(200, 200, 4096), compact(1000, 900, 800),
        compact(2100, 1930, 1111, Layout::column_major), compact(2049, 1930, 333),
        compact(1024, 4096, 1024, Layout::row_major, true, true), compact(300, 300, 20000),
        compact(300, 300, 20000, Layout::row_major, false, true)}) {
    expect_the_bits_of_full_range(runtime::Target::gpu, runtime::Flavour::gpu, p);
  }
}

// What a product that FP16 pairs do not hold leaves in the workspace does not lead the next one
// astray.
TEST(SgemmTensorRungs, ForgetAProductThatHalvesDoNotHold) {
  const runtime::Target cpu = runtime::Target::cpu;
  const Problem p = compact(20, 4400, 70);
  const ladder::AnyRung& rung = ladder::find_rung("sgemm", "tc_10_full_range");
  Product moderate(cpu, p, "uniform"), wide(cpu, p, "log_uniform");
  const auto expected = moderate.bits(rung, runtime::Flavour::plain, 2);
  const auto multiply = [&](const Call& call) {
    device::Stream stream(cpu);
    rung.launcher(runtime::Flavour::plain)(call, stream);
    stream.synchronize();
  };
  Call in_the_same = wide.call();
  in_the_same.workspace = moderate.call().workspace;
  multiply(in_the_same);
  moderate.poison_c();
  multiply(moderate.call());
  EXPECT_TRUE(expected == moderate.bits());

  // Nor does memory that happens to hold the word by which blocks leave (parts::kStop).
  moderate.fill_workspace(0x57a6e0ff);
  moderate.poison_c();
  multiply(moderate.call());
  EXPECT_TRUE(expected == moderate.bits());
}

// Where blocks of a cluster share, and where they do not; an odd number of groups along k. A pass
// of more blocks than begin at once; clusters of three; and lines that two blocks of the pass
// share.
TEST(SgemmTensorRungs, PredictTheirCountsWhereTilesEnd) {
  for (const auto& [multiprocessors, m, n, k] : {std::array{12, 270, 820, 70},
                                                 {12, 300, 1024, 100},
                                                 {12, 300, 820, 90},
                                                 {12, 20, 400, 70},
                                                 {24, 768, 778, 70},
                                                 {12, 198, 1892, 70},
                                                 {4, 590, 101, 1100},
                                                 {7, 200, 101, 2100},
                                                 {12, 3, 5, 28700}}) {
    runtime::Machine machine;
    machine.multiprocessors = multiprocessors;
    const device::StandIn stand_in(machine);
    Product product(runtime::Target::cpu, compact(m, n, k), "uniform");
    for (const char* id : {"tc_08_cluster", "tc_09_split_k", "tc_10_full_range", "tc_11_prepared",
                           "tc_14_prepared_full_range", "tc_23_edge_tiles", "tc_24_staged_rows"}) {
      const bool of_one = n == 1024 || k >= 2100;
      if (of_one && id != std::string("tc_10_full_range")) continue;
      const ladder::AnyRung& rung = ladder::find_rung("sgemm", id);
      device::Stream stream(runtime::Target::cpu);
      if (const auto prepare = rung.preparation(runtime::Flavour::counted)) {
        prepare(product.call(), stream);
      }
      std::vector<executor::KernelCounts> counts;
      stream.record_counts = &counts;
      rung.launcher(runtime::Flavour::counted)(product.call(), stream);
      EXPECT_TRUE(ladder::agrees(ladder::totals_of(counts), rung.predict(product.call(), machine)))
          << id << ' ' << m << 'x' << n << 'x' << k;
    }
  }
}

// Sums in float64, rounded once. C is the float next to the exact sum, or to one that differs from
// it by what float64 may lose.
TEST(SgemmTensorRungs, InFloat64RoundOnce) {
  for (const runtime::Flavour flavour : {runtime::Flavour::plain, runtime::Flavour::counted}) {
    for (const Problem& p : {compact(70, 66, 37), compact(33, 130, 512), compact(16, 20, 4096)}) {
      const bool counted = flavour == runtime::Flavour::counted;
      const ladder::AnyRung& rung = ladder::find_rung(
          "sgemm", counted ? "row_08_double" : plain::plan(p, {}, Arithmetic::double_rounded).id);
      for (const char* distribution : {"positive", "log_uniform", "cancelling"}) {
        Product product(runtime::Target::cpu, p, distribution);
        const HostOperands drawn = draw_operands(distribution, p.m, p.n, p.k, 1);
        const std::vector<std::uint32_t> bits = product.bits(rung, flavour, 2);
        for (std::int64_t i = 0; i < p.m * p.n; ++i) {
          __float128 exact = 0, magnitude = 0;
          for (std::int64_t l = 0; l < p.k; ++l) {
            const double x =
                static_cast<double>(drawn.a[static_cast<std::size_t>(i / p.n * p.k + l)]) *
                static_cast<double>(drawn.b[static_cast<std::size_t>(l * p.n + i % p.n)]);
            exact += x;
            magnitude += x < 0 ? -x : x;
          }
          const __float128 slack = magnitude * static_cast<double>(p.k) * 0x1p-53;
          const float c = std::bit_cast<float>(bits[static_cast<std::size_t>(i)]);
          ASSERT_GE(c, static_cast<float>(exact - slack)) << distribution << ' ' << i;
          ASSERT_LE(c, static_cast<float>(exact + slack)) << distribution << ' ' << i;
        }
      }
    }
  }
}

void expect_no_worse_than_cublas(std::initializer_list<const char*> rungs,
                                 std::vector<std::vector<std::int64_t>> shapes) {
  lab::AccuracyRequest request;
  request.op = &ops::find_operator("sgemm");
  for (const char* id : rungs) request.rungs.push_back(&ladder::find_rung("sgemm", id));
  for (const ops::Distribution& d : request.op->accuracy()->distributions()) {
    request.distributions.push_back(d.name);
  }
  request.target = runtime::Target::gpu;
  request.shapes = std::move(shapes);
  const lab::AccuracyReport report = lab::accuracy(request);
  for (const lab::Excess& e : lab::worse_than_rival(report, 1.0)) {
    const ops::AccuracyProblem& p = report.problems[e.problem];
    ADD_FAILURE() << e.rung << ' ' << p.distribution << ' ' << testing::PrintToString(p.shape)
                  << ' ' << e.measure->key << ' ' << e.error << " and " << e.of_rival;
  }
}

// README: what dispatch brings to tensor cores has no larger an error than cuBLAS's, by the norm
// and by element.
TEST(SgemmTensorRungs, AreNoWorseThanCublasOnAGpu) {
  const auto there = device::availability(runtime::Target::gpu);
  if (!there.available) GTEST_SKIP() << there.why_not;
  expect_no_worse_than_cublas({"tc_10_full_range"},
                              {{256, 256, 1024}, {256, 256, 4096}, {1024, 1024, 1024}});
  expect_no_worse_than_cublas({"row_08_double"},
                              {{256, 256, 16}, {256, 256, 256}, {256, 256, 512}, {1024, 1024, 64}});
}

}  // namespace
}  // namespace warpladder::sgemm
