#include "base/recording.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/testing.hpp"

namespace warpladder {
namespace {

constexpr const char* kBench = R"({"schema_version": 1, "verb": "bench", "target": "gpu",
  "device": {"gpu": {"GPU": "NVIDIA H100", "multiprocessors": "132"}},
  "rows": [{"op": "sgemm", "rung": "row_01_naive", "variant": "row_nn", "shape": [64, 32, 16],
    "rival": false, "verified": true, "worst_error_over_bound": null, "flops": 65536.0,
    "samples_s": [1e-5, 2e-5], "cold_samples_s": [3e-5], "counts": {"fmas": 32768},
    "sm_clock_mhz": {"least": 1755, "most": 1980}}]})";

TEST(Recording, HoldsWhatTheReportSays) {
  const Recording recording = parse_recording(kBench, "input");
  EXPECT_EQ(recording.verb, "bench");
  EXPECT_EQ(recording.text({"device", "gpu", "GPU"}), "NVIDIA H100");
  EXPECT_EQ(recording.text({"device", "tpu"}), "");
  EXPECT_FALSE(recording.head.contains("rows"));
  EXPECT_TRUE(recording.has_samples());
  ASSERT_EQ(recording.rows.size(), 1u);
  const RecordedRow& row = recording.rows[0];
  EXPECT_EQ(row.op + row.rung + row.variant, "sgemmrow_01_naiverow_nn");
  EXPECT_EQ(row.shape, (std::vector<std::int64_t>{64, 32, 16}));
  EXPECT_TRUE(row.verified && row.names_variant && !row.rival);
  EXPECT_TRUE(std::isinf(row.worst_error_over_bound));
  EXPECT_EQ(row.samples_s, (std::vector<double>{1e-5, 2e-5}));
  EXPECT_EQ(row.cold_samples_s, std::vector<double>{3e-5});
  EXPECT_EQ(row.counts.at("fmas"), 32768u);
  EXPECT_EQ(row.clocks.least_mhz, 1755);
  EXPECT_EQ(row.clocks.most_mhz, 1980);
}

TEST(Recording, NamesRowsOfOtherProgramsByTheirTextsAndWholeNumbers) {
  const Recording recording = parse_recording(
      R"({"schema_version": 1, "argv": ["host_time"], "rows": [
         {"call": "cublasSgemm", "size": 128, "median_s": 1.5e-6, "samples_s": [1e-6, 2e-6]}]})",
      "input");
  ASSERT_EQ(recording.rows.size(), 1u);
  EXPECT_EQ(recording.rows[0].op, "host_time");
  EXPECT_EQ(recording.rows[0].rung, "cublasSgemm");
  EXPECT_EQ(recording.rows[0].variant, "size 128");
}

TEST(Recording, LeavesRowsOfAnotherFormToTheirProgram) {
  const Recording recording =
      parse_recording(R"({"program": "cublas_shim", "rows": [{"samples_ns": [30]}]})", "input");
  EXPECT_EQ(recording.verb, "cublas_shim");
  EXPECT_TRUE(recording.rows.empty());
}

TEST(Recording, RefusesWithASentenceThatSaysWhere) {
  const auto row = [](const char* members) {
    return std::string(R"({"schema_version": 1, "verb": "bench", "rows": [{"op": "a",)") +
           R"("rung": "b"}, {"op": "a", "rung": "b",)" + members + "}]}";
  };
  const std::pair<std::string, std::string> cases[] = {
      {row(R"("samples_s": [1e-6, -1])"),
       "input: rows[1].samples_s[1] is '-1', but must be a number above 0"},
      {row(R"("samples_s": [null])"),
       "input: rows[1].samples_s[0] is 'null', but must be a number above 0"},
      {row(R"("shape": [1e30])"), "input: rows[1].shape[0] is '1e+30', but must be a size"},
      {row(R"("skipped": 7)"), "input: rows[1].skipped is '7', but must be a text"},
      {row(R"("flops": "many")"),
       "input: rows[1].flops is '\"many\"', but must be a number of at least 0"},
      {row(R"("samples_s": [1e999])"), "input holds a number that is too large"},
      {R"({"rows": [{}]})", "input holds rows, but no schema_version"},
      {R"({"schema_version": 2})",
       "input: schema_version is '2', but must be 1, the only one that this program reads"},
      {R"([])", "input holds no report: its JSON is no object"},
      {"", "input ends within a value: it is cut short, or no JSON"},
      {"{\"verb\":\n  bench}", "input is no JSON at line 2, byte 12"},
      {std::string(50, '['), "input nests more than 16 levels"},
  };
  for (const auto& [text, sentence] : cases) {
    EXPECT_EQ(testing::sentence_of([&] { parse_recording(text, "input"); }), sentence) << text;
  }
}

// Each beginning of a good report is no report.
TEST(Recording, RefusesEveryTruncation) {
  const std::string whole = kBench;
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_THROW(parse_recording(whole.substr(0, bytes), "input"), Error) << bytes;
  }
}

TEST(Recording, TextsCannotDriveATerminal) {
  const Recording recording = parse_recording(
      R"({"schema_version": 1, "verb": "bench", "device": {"gpu": {"GPU": "\u001b[2J"}},
          "rows": [{"op": "a\u001b[31m", "rung": "b\u0000c", "samples_s": [1]}]})",
      "input");
  EXPECT_EQ(recording.rows[0].op, "a\\x1b[31m");
  EXPECT_EQ(recording.rows[0].rung, "b\\x00c");
  EXPECT_EQ(recording.text({"device", "gpu", "GPU"}), "\\x1b[2J");
}

TEST(Recording, NamesNoFoldersOutsideTheWorkingDirectory) {
  const testing::TempDir folder;
  testing::spill(folder.file("a.json"), kBench);
  EXPECT_EQ(read_recording(folder.file("a.json")).name, "a.json");
}

// Those that are compressed, unpacked into a folder; but for the times of plans, which are large
// and no page of `bench`.
void unpack_recordings(const std::filesystem::path& results, const std::string& folder) {
  constexpr const char* kUnpack =
      "import lzma, pathlib, sys\n"
      "for path in pathlib.Path(sys.argv[1]).rglob('*.json.xz'):\n"
      "    if 'plan_times' in path.name: continue\n"
      "    name = path.parent.name + '_' + path.stem\n"
      "    pathlib.Path(sys.argv[2], name).write_bytes(lzma.decompress(path.read_bytes()))\n";
  testing::spill(folder + "/unpack.py", kUnpack);
  const std::string command = std::string("'") + WARPLADDER_PYTHON + "' '" + folder +
                              "/unpack.py' '" + results.string() + "' '" + folder + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
}

TEST(Recording, ReadsEveryRecordingThatTheRepositoryHolds) {
  std::size_t with_samples = 0;
  const std::filesystem::path results = std::filesystem::path(WARPLADDER_SOURCE_DIR) / "results";
  const testing::TempDir unpacked;
  unpack_recordings(results, unpacked.path());
  std::vector<std::filesystem::path> paths;
  for (const std::filesystem::path& folder : {results, std::filesystem::path(unpacked.path())}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".json") paths.push_back(entry.path());
    }
  }
  for (const std::string path : paths) {
    Recording recording;
    ASSERT_NO_THROW(recording = read_recording(path)) << path;
    std::ifstream file(path);
    const nlohmann::json whole = nlohmann::json::parse(file);
    std::size_t expected = 0, samples = 0;
    for (const auto& row : whole.value("rows", nlohmann::json::array())) {
      expected += row.value("samples_s", nlohmann::json::array()).size();
    }
    for (const RecordedRow& row : recording.rows) samples += row.samples_s.size();
    EXPECT_EQ(samples, expected) << path;
    with_samples += recording.has_samples();
  }
  EXPECT_GE(with_samples, 40u);
}

}  // namespace
}  // namespace warpladder
