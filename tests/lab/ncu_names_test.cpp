// Names of Nsight Compute's metrics, taken apart and set beside ours.

#include "lab/ncu_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "lab/ncu_compare.hpp"
#include "lab/ncu_metrics.hpp"

namespace warpladder::lab {
namespace {

std::string joined(std::string_view metric) {
  std::string text;
  for (const NamePart& part : take_apart(metric)) {
    text += (text.empty() ? "" : " ") + part.text + "=" + name(part.role);
  }
  return text;
}

TEST(NcuNames, EachPartHasItsRole) {
  EXPECT_EQ(joined("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"),
            "l1tex=unit data_bank_conflicts=quantity pipe_lsu=qualifier mem_shared=qualifier "
            "op_ld=qualifier .sum=rollup");
  EXPECT_EQ(joined("sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed"),
            "sm=unit pipe_fma=stage cycles_active=quantity .avg=rollup "
            ".pct_of_peak_sustained_elapsed=submetric");
  EXPECT_EQ(joined("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"),
            "l1tex=unit average=stage t=stage sectors=quantity per_request=qualifier "
            "pipe_lsu=qualifier mem_global=qualifier op_ld=qualifier .ratio=rollup");
  EXPECT_EQ(joined("breakdown:dram__bytes.sum.per_second"),
            "breakdown:=words dram=unit bytes=quantity .sum=rollup .per_second=submetric");
  EXPECT_EQ(joined("launch__registers_per_thread"), "launch=unit registers_per_thread=words");
}

TEST(NcuNames, UnknownPartsSaySo) {
  EXPECT_EQ(joined("xyz__t_sectors_foo_bar_op_ld.median"),
            "xyz=unknown t=stage sectors=quantity foo_bar=unknown op_ld=qualifier .median=unknown");
  for (const NamePart& part : take_apart("xyz__foo.bar")) {
    EXPECT_EQ(part.words.find("not known here as a"), 0u) << part.text;
  }
  EXPECT_EQ(joined("foo"), "foo=words");
  // No name is too odd to be taken apart.
  for (const char* odd : {"", ".", "__", "a__", "__.", "::", "_", "a__b__c", "per", "sm__per"}) {
    EXPECT_FALSE(take_apart(odd).empty()) << odd;
  }
}

TEST(NcuNames, PhrasesAreThereOnce) {
  for (const auto* list : {&name_phrases(), &unit_phrases(), &suffix_phrases()}) {
    std::set<std::string> seen;
    for (const NamePhrase& p : *list) EXPECT_TRUE(seen.insert(p.phrase).second) << p.phrase;
  }
}

TEST(NcuNames, EveryMetricOfOursIsKnownAndHasACounterpart) {
  for (const NcuMetric& metric : ncu_metrics({})) {
    EXPECT_TRUE(std::ranges::none_of(take_apart(metric.name), [](const NamePart& part) {
      return part.role == NameRole::unknown;
    })) << metric.name;
    EXPECT_EQ(counterpart_of(metric.name).find("Ours: "), 0u) << metric.name;
  }
}

TEST(NcuNames, CounterpartsSayWhatDiffers) {
  EXPECT_EQ(counterpart_of("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
            "Ours: global load sectors.");
  EXPECT_EQ(counterpart_of("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.max"),
            "Ours has the sum over all units alone: global load sectors.");
  EXPECT_EQ(counterpart_of("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum.per_second"),
            "Ours has no time, only the count behind it: global load sectors.");
  EXPECT_EQ(counterpart_of("lts__t_sectors.sum"),
            "Nothing of ours: what is behind L1 is not simulated.");
  EXPECT_EQ(counterpart_of("l1tex__t_sector_hit_rate.pct"),
            "Nothing of ours: no cache is simulated.");
  EXPECT_EQ(counterpart_of("gpu__time_duration.sum"), "Nothing of ours: nothing is timed.");
}

TEST(NcuCompare, KernelsMatchByTheirBareNames) {
  EXPECT_EQ(bare_kernel_name("void unnamed>::multiply<Tile<512, 3>, int>(Csr<T2>)"), "multiply");
  EXPECT_EQ(bare_kernel_name("void <unnamed>::multiply<1, 1>(Gemm)"), "multiply");
  EXPECT_EQ(bare_kernel_name("(anonymous namespace)::multiply(int)"), "multiply");
  EXPECT_EQ(bare_kernel_name("counted::multiply<4>"), "multiply");
  EXPECT_EQ(bare_kernel_name("void scale(float *)"), "scale");
  EXPECT_EQ(bare_kernel_name("scale"), "scale");
}

executor::KernelCounts launch_of(std::uint64_t sectors) {
  executor::KernelCounts k;
  k.kernel = "scale";
  k.grid = {2, 1, 1};
  k.block = {32, 1, 1};
  executor::AccessCounts a;
  a.file = "k.cu";
  a.requests = 10;
  a.sectors = sectors;
  k.accesses.push_back(a);
  return k;
}

NcuLaunch measured(std::uint64_t blocks, double sectors) {
  return {"scale(float *)",
          32,
          blocks,
          {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "", sectors},
           {"gpu__time_duration.sum", "ns", "", 5.0}}};
}

TEST(NcuCompare, MeansOverLaunchesOfOneSize) {
  Explanation e;
  e.launches = {launch_of(40), launch_of(60)};
  const auto list = beside(e, {measured(2, 40), measured(2, 44), measured(9, 1000)});
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].our_launches, 2u);
  EXPECT_EQ(list[0].measured_launches, 2u);
  EXPECT_EQ(list[0].others, 1u);
  ASSERT_EQ(list[0].rows.size(), 1u);
  EXPECT_EQ(list[0].rows[0].measured, 42);
  EXPECT_EQ(list[0].rows[0].ours, 50);
}

TEST(NcuCompare, SaysWhyNothingIsCompared) {
  Explanation e;
  e.launches = {launch_of(40)};
  EXPECT_EQ(beside(e, {measured(9, 40)}).at(0).problem,
            "the export's launches have other sizes, 9 blocks of 32 threads where 2 of 32 were "
            "counted");
  NcuLaunch other = measured(2, 40);
  other.kernel = "add(float *)";
  EXPECT_EQ(beside(e, {other}).at(0).problem, "the export holds no launch of it");
  NcuLaunch labels = measured(2, 40);
  labels.values = {{"Duration", "ns", "5", 5.0}};
  EXPECT_EQ(beside(e, {labels}).at(0).problem.find("the export holds no metric that is counted"),
            0u);
}

TEST(NcuCompare, NamesWhatHasNoNumber) {
  Explanation e;
  e.launches = {launch_of(40)};
  NcuLaunch without = measured(2, 40);
  without.values.push_back({"launch__block_size", "", "n/a", std::nullopt});
  without.values.push_back({"gpu__cycles_active.avg", "", "n/a", std::nullopt});
  EXPECT_EQ(beside(e, {without}).at(0).no_numbers, std::vector<std::string>{"launch__block_size"});
}

TEST(NcuCompare, RefusesAnExportOfOtherKernels) {
  Explanation a, b;
  a.launches = {launch_of(40)};
  b.launches = {launch_of(40)};
  b.launches[0].kernel = "add";
  NcuLaunch copy = measured(2, 40);
  copy.kernel = "copy(float *)";
  EXPECT_NO_THROW(require_launch_of({&a, &b}, {copy, measured(9, 40)}));
  try {
    require_launch_of({&a, &b}, {copy});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_STREQ(error.what(),
                 "the export of --ncu holds launches of copy, but none of add, scale");
  }
}

}  // namespace
}  // namespace warpladder::lab
