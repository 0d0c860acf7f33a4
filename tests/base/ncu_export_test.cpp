// Exports of Nsight Compute, as its pages have them.

#include "base/ncu_export.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace warpladder {
namespace {

const std::string kLong =
    "==PROF== Connected to process 7\n"
    "a program may say \"what, it likes\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Section Name\",\"Metric "
    "Name\","
    "\"Metric Unit\",\"Metric Value\"\n"
    "\"0\",\"7\",\"void unnamed>::add<1, 2>(float *)\",\"(16, 16, 1)\",\"(64, 1, 1)\",\"s\","
    "\"gpu__time_duration.sum\",\"us\",\"14.5\"\n"
    "\"0\",\"7\",\"void unnamed>::add<1, 2>(float *)\",\"(16, 16, 1)\",\"(64, 1, 1)\",\"s\","
    "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\",\"sector\",\"134,187\"\n"
    "the program prints between rows\n"
    "\"1\",\"7\",\"scale(float *)\",\"(32, 1, 1)\",\"(2, 1, "
    "1)\",\"s\",\"dram__bytes.sum\",\"Kbyte\","
    "\"1,024.5\"\n";

TEST(NcuExport, ARowAMetric) {
  const std::vector<NcuLaunch> launches = parse_ncu_export(kLong, "x.csv");
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].kernel, "void unnamed>::add<1, 2>(float *)");
  EXPECT_EQ(launches[0].block_threads, 256u);
  EXPECT_EQ(launches[0].grid_blocks, 64u);
  ASSERT_EQ(launches[0].values.size(), 2u);
  EXPECT_DOUBLE_EQ(*launches[0].find("gpu__time_duration.sum")->value, 14.5e-6);
  EXPECT_EQ(*launches[0].find("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")->value, 134187);
  EXPECT_EQ(*launches[1].find("dram__bytes.sum")->value, 1024500);
  EXPECT_EQ(launches[1].find("absent"), nullptr);
}

const std::string kRaw =
    "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid "
    "Size\",\"CC\",\"dram__bytes.sum\",\"launch__grid_size\","
    "\"launch__kernel_name\"\r\n"
    "\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"\",\"\"\r\n"
    "\"0\",\"k\",\"(32, 1, 1)\",\"(4, 2, 1)\",\"9.0\",\"2.5\",\"8\",\"k, \"\"the\"\" first\"\r\n"
    "\"1\",\"k\",\"(32, 1, 1)\",\"(4, 2, 1)\",\"9.0\",\"n/a\",\"8\",\"k\"\r\n";

TEST(NcuExport, ARowALaunchWithItsUnits) {
  const std::vector<NcuLaunch> launches = parse_ncu_export(kRaw, "x.csv");
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(*launches[0].find("dram__bytes.sum")->value, 2500000);
  EXPECT_EQ(*launches[0].find("launch__grid_size")->value, 8);
  EXPECT_EQ(launches[0].find("launch__kernel_name")->text, "k, \"the\" first");
  EXPECT_FALSE(launches[1].find("dram__bytes.sum")->value);
  EXPECT_EQ(launches[0].grid_blocks, 8u);
}

TEST(NcuExport, ANumberOfAnotherLanguageIsNone) {
  const std::string table =
      "ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n0,k,m_a,sector,\"2.048,0\"\n";
  EXPECT_FALSE(parse_ncu_export(table, "x.csv")[0].find("m_a")->value);
}

TEST(NcuExport, BaseUnitsAreNotScaled) {
  const std::string base =
      "ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n0,k,m_a,byte,5\n0,k,m_b,block,7\n"
      "0,k,m_c,%,12.5\n0,k,m_d,Ghz,1.5\n";
  const std::vector<NcuLaunch> launches = parse_ncu_export(base, "x.csv");
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(*launches[0].find("m_a")->value, 5);
  EXPECT_EQ(*launches[0].find("m_b")->value, 7);
  EXPECT_EQ(*launches[0].find("m_c")->value, 12.5);
  EXPECT_EQ(*launches[0].find("m_d")->value, 1.5e9);
  EXPECT_EQ(launches[0].block_threads, 0u);
}

TEST(NcuExport, ACommaThatPartsNoThousandsMakesNoNumber) {
  const std::string text =
      "ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n0,k,m_a,,\"1,5\"\n0,k,m_b,,\"1,500\"\n";
  const std::vector<NcuLaunch> launches = parse_ncu_export(text, "x.csv");
  EXPECT_FALSE(launches.at(0).find("m_a")->value);
  EXPECT_EQ(*launches[0].find("m_b")->value, 1500);
}

std::string refusal(const std::string& text) {
  try {
    parse_ncu_export(text, "x.csv");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "accepted";
}

TEST(NcuExport, RefusalsNameTheFileAndTheLine) {
  EXPECT_EQ(refusal(""), "x.csv holds no table of Nsight Compute; export one with ncu --csv");
  EXPECT_EQ(refusal("ID,Kernel Name,Metric Name,Metric Value\n"), "x.csv holds no launch");
  EXPECT_EQ(refusal("ID,Kernel Name,Metric Name,Metric Value\n0,k,m\n"),
            "x.csv, line 2: the row has 3 fields where the header has 4");
  // A quote that never ends takes the rest of the file.
  EXPECT_EQ(refusal(kLong.substr(0, kLong.rfind('"'))),
            "x.csv, line 7: a quote in the row never ends");
}

}  // namespace
}  // namespace warpladder
