// How fast Matrix Market files are read: MB of text a second, plain and compressed with gzip, into
// CSR. Usage: matrix_market_speed FOLDER [--json FILE]
//
// Writes random.mtx (more than 200 MB) and random.mtx.gz to the folder, unless they are there.
// Leaves them to programs that read them too; compare.py is one.

#include <fmt/format.h>
#include <stdlib.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/matrix_market.hpp"
#include "base/parallel.hpp"
#include "base/provenance.hpp"
#include "base/random_fill.hpp"
#include "base/text_table.hpp"

namespace warpladder {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 7;
constexpr std::uint32_t kSize = 1'000'000;
constexpr std::uint64_t kEntries = 8'500'000;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

// Unsorted, as a program that adds up finite elements leaves them.
void write_random(const std::string& path) {
  AtomicFile file(path);
  std::string text = fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", kSize,
                                 kSize, kEntries);
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    const PhiloxBlock random = random_block(1, i);
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", random.word[0] % kSize + 1,
                   random.word[1] % kSize + 1, uniform_from(random.word[2], -1.0f, 1.0f));
    if (text.size() < kChunkBytes) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
  file.commit();
}

void write_gzip(const std::string& from, const std::string& to) {
  std::ifstream text(from, std::ios::binary);
  const gzFile file = ::gzopen(to.c_str(), "wb6");
  if (file == nullptr) throw_bad_input("cannot write '" + to + "'");
  std::vector<char> chunk(kChunkBytes);
  bool is_written = true;
  while (is_written && text.read(chunk.data(), static_cast<std::streamsize>(chunk.size())),
         text.gcount() > 0) {
    const auto count = static_cast<unsigned>(text.gcount());
    is_written = ::gzwrite(file, chunk.data(), count) == static_cast<int>(count);
  }
  if (::gzclose(file) != Z_OK || !is_written) throw_resource("cannot write '" + to + "'");
}

struct Row {
  std::string name;
  std::string path;
  unsigned threads;
  std::vector<double> seconds = {};
};

double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  return samples[samples.size() / 2];
}

int run(int argc, char** argv) {
  if (argc != 2 && !(argc == 4 && std::strcmp(argv[2], "--json") == 0)) {
    throw_bad_input("usage: matrix_market_speed FOLDER [--json FILE]");
  }
  const fs::path folder = argv[1];
  const std::string plain = folder / "random.mtx", zipped = folder / "random.mtx.gz";
  if (!fs::exists(plain)) write_random(plain);
  if (!fs::exists(zipped)) write_gzip(plain, zipped);

  std::vector<Row> rows{{"plain", plain, host_threads()}, {"gzip", zipped, host_threads()}};
  if (host_threads() > 1) rows.push_back({"plain", plain, 1});
  const double megabytes = static_cast<double>(fs::file_size(plain)) * 1e-6;
  for (int round = 0; round < kRounds; ++round) {
    for (Row& row : rows) {
      const auto begin = std::chrono::steady_clock::now();
      const MatrixMarket file =
          read_matrix_market(row.path, {}, {MatrixMarketReading{}.block_bytes, row.threads});
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
      if (file.stored_entries != static_cast<std::int64_t>(kEntries)) {
        throw_bad_input("'" + row.path + "' is another file; remove it");
      }
      row.seconds.push_back(time.count());
    }
  }

  double load = 0;
  ::getloadavg(&load, 1);
  TextTable table({{fmt::format("{:.0f} MB of text", megabytes), Align::left},
                   {"threads", Align::right},
                   {"ms", Align::right},
                   {"MB/s", Align::right}});
  nlohmann::json report = provenance({argv, static_cast<std::size_t>(argc)});
  report["text_mb"] = megabytes;
  report["gzip_mb"] = static_cast<double>(fs::file_size(zipped)) * 1e-6;
  report["load_average"] = load;
  for (const Row& row : rows) {
    const double time = median(row.seconds);
    table.add_row({row.name, std::to_string(row.threads), fmt::format("{:.0f}", time * 1e3),
                   fmt::format("{:.0f}", megabytes / time)});
    report["rows"].push_back({{"name", row.name},
                              {"threads", row.threads},
                              {"mb_per_s", megabytes / time},
                              {"samples_s", row.seconds}});
  }
  fmt::print("{}", table.render(table_format_for(1)));
  fmt::print("Medians of {} interleaved rounds; load average {:.2f}.\n", kRounds, load);
  if (argc == 4) write_file(argv[3], report.dump(1) + "\n");
  return 0;
}

}  // namespace
}  // namespace warpladder

int main(int argc, char** argv) {
  try {
    return warpladder::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
