#include "base/matrix_market.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/csr_assembly.hpp"
#include "base/error.hpp"
#include "base/file_descriptor.hpp"
#include "base/gzip_input.hpp"
#include "base/host_memory.hpp"
#include "base/in_quotes.hpp"
#include "base/matrix_market_header.hpp"
#include "base/matrix_market_lines.hpp"
#include "base/parallel.hpp"
#include "base/text_blocks.hpp"

namespace warpladder {
namespace {

using Lines = MatrixMarketLines;

// Whether memory is left is asked once for so many bytes of text; the shortest entries, four bytes
// of text, take sixteen.
constexpr std::size_t kTextPerCheck = std::size_t{1} << 26, kMemoryPerText = 4;

class Reader {
 public:
  Reader(ReadBytes source, const std::string& name, const MatrixMarketReading& reading)
      : name_(name),
        block_bytes_(reading.block_bytes),
        threads_(reading.threads > 0 ? reading.threads : host_threads()),
        input_(std::move(source), name),
        blocks_([this](std::span<std::byte> out) { return input_.read(out); }, block_bytes_) {}

  MatrixMarket read() {
    read_header();
    // What has been read is the rest of a block at most: not worth a thread.
    run_on_threads(blocks_.is_read() ? 1 : threads_, [this] { parse_blocks(); });
    require_right_lines();
    return assemble();
  }

 private:
  void read_header();
  void parse_blocks();
  Lines* next_block(TextBlock& block);
  void require_right_lines() const;
  MatrixMarket assemble();
  void add_places();

  std::string name_;
  std::size_t block_bytes_;
  unsigned threads_;
  GzipInput input_;
  TextBlocks blocks_;
  MatrixMarketHeader header_;
  std::int64_t header_lines_ = 0;

  std::mutex mutex_;            // guards the input and what follows
  std::deque<Lines> results_;   // one for each block, in order
  std::exception_ptr failure_;  // of the input, after the last of them
  std::size_t unchecked_bytes_ = 0;
  std::atomic<std::int64_t> seen_{0};  // entries
  std::atomic<bool> stop_{false};
};

void Reader::read_header() {
  MatrixMarketHeaderParser parser(name_);
  TextBlock block;
  bool is_complete = false;
  while (!is_complete) {
    if (!blocks_.next(block)) parser.fail_at_end();
    std::string_view text = block.text;
    // A long first line of something else gets the parser's own sentence.
    if (block.is_cut && (parser.lines() > 0 || text.starts_with('%'))) {
      throw_bad_input(
          matrix_market_sentence(name_, parser.lines() + 1, matrix_market_cut_line(block)));
    }
    while (!is_complete && !text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      is_complete = parser.take_line(line);
      text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    blocks_.put_back(text);
  }
  header_ = parser.header();
  header_lines_ = parser.lines();
}

Lines* Reader::next_block(TextBlock& block) {
  const std::lock_guard lock(mutex_);
  if (stop_) return nullptr;
  try {
    unchecked_bytes_ += block_bytes_;
    if (unchecked_bytes_ >= kTextPerCheck) {
      unchecked_bytes_ = 0;
      require_memory(kMemoryPerText * kTextPerCheck, name_);
    }
    if (blocks_.next(block)) return &results_.emplace_back();
  } catch (...) {
    failure_ = std::current_exception();
  }
  stop_ = true;
  return nullptr;
}

// Blocks are handed out in order and all of them are finished. So the first fault is among them,
// whichever thread is the first to stop.
void Reader::parse_blocks() {
  TextBlock block;
  Lines scratch;
  while (Lines* const result = next_block(block)) {
    *result = parse_matrix_market_lines(block, header_, scratch);
    const std::int64_t seen = seen_ += result->count();
    if (result->fault || seen > header_.entries) stop_ = true;
  }
}

void Reader::require_right_lines() const {
  std::int64_t line = header_lines_, count = 0;
  bool is_below = false, is_above = false;
  const std::string claim =
      "the number of entries is said to be " + std::to_string(header_.entries);
  for (const Lines& lines : results_) {
    std::optional<Lines::Fault> first;
    const auto consider = [&first](std::int64_t at, const std::string& reason) {
      if (!first || at < first->line) first = Lines::Fault{at, reason, true};
    };
    // The later of the first below and the first above the diagonal is the one that contradicts.
    const bool is_mixed =
        (is_below || lines.first_below > 0) && (is_above || lines.first_above > 0);
    if (is_mixed) {
      consider(std::max(is_below ? 0 : lines.first_below, is_above ? 0 : lines.first_above),
               "the entries before are on the other side of the diagonal, but a symmetric or "
               "skew-symmetric file holds one triangle");
    }
    const std::int64_t wanted = header_.entries - count;
    if (lines.count() + (lines.fault && lines.fault->is_entry ? 1 : 0) > wanted) {
      consider(lines.line_of(wanted), claim + ", but here is one more");
    }
    if (lines.fault) consider(lines.fault->line, lines.fault->reason);
    if (first) {
      throw_bad_input(matrix_market_sentence(name_, line + first->line, first->reason));
    }
    is_below |= lines.first_below > 0;
    is_above |= lines.first_above > 0;
    line += lines.lines;
    count += lines.count();
  }
  if (failure_) std::rethrow_exception(failure_);
  if (count < header_.entries) {
    throw_bad_input(matrix_market_sentence(
        name_, line, claim + ", but the file ends after " + std::to_string(count)));
  }
}

// Gives the values of an array their places; zeros go.
void Reader::add_places() {
  std::vector<std::int64_t> begins;
  std::int64_t next = 0;
  for (const Lines& lines : results_) {
    begins.push_back(next);
    next += lines.count();
  }
  const std::int64_t n = header_.rows;
  const std::int64_t below = header_.symmetry == MatrixMarketSymmetry::skew_symmetric ? 1 : 0;
  const bool is_general = header_.symmetry == MatrixMarketSymmetry::general;
  const auto first_row = [=](std::int64_t column) { return is_general ? 0 : column + below; };
  // Values in the columns before this one.
  const auto column_begin = [=](std::int64_t column) {
    return is_general ? column * n : column * (n - below) - column * (column - 1) / 2;
  };
  parallel_for(results_.size(), threads_, [&](std::size_t i) {
    Lines& lines = results_[i];
    if (lines.dense.empty()) return;
    std::int64_t column = 0;
    for (std::int64_t last = header_.columns; last - column > 1;) {
      const std::int64_t middle = column + (last - column) / 2;
      (column_begin(middle) <= begins[i] ? column : last) = middle;
    }
    std::int64_t row = first_row(column) + begins[i] - column_begin(column);
    for (const float value : lines.dense) {
      if (value != 0) lines.entries.push_back({row, static_cast<std::int32_t>(column), value});
      if (++row == n) row = first_row(++column);
    }
    std::vector<float>().swap(lines.dense);
  });
}

MatrixMarket Reader::assemble() {
  MatrixMarket out;
  out.format = header_.format;
  out.field = header_.field;
  out.symmetry = header_.symmetry;
  out.stored_entries = header_.entries;
  if (header_.format == MatrixMarketFormat::array) add_places();
  std::vector<std::vector<SparseEntry>> chunks;
  for (Lines& lines : results_) chunks.push_back(std::move(lines.entries));
  results_.clear();
  const Mirror mirror = header_.symmetry == MatrixMarketSymmetry::symmetric        ? Mirror::same
                        : header_.symmetry == MatrixMarketSymmetry::skew_symmetric ? Mirror::negated
                                                                                   : Mirror::none;
  CsrAssembly assembly =
      assemble_csr(header_.rows, header_.columns, std::move(chunks), mirror, threads_, name_);
  out.matrix = std::move(assembly.matrix);
  out.duplicates = assembly.duplicates;
  out.explicit_zeros = assembly.explicit_zeros;
  return out;
}

std::size_t read_some(int descriptor, std::span<std::byte> out, const std::string& name) {
  for (;;) {
    const ssize_t got = ::read(descriptor, out.data(), out.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EINTR) continue;
    throw_resource("cannot read " + name + ": " + std::generic_category().message(errno));
  }
}

}  // namespace

MatrixMarket parse_matrix_market(std::span<const std::byte> bytes, std::string_view name,
                                 const MatrixMarketReading& reading) {
  const auto read = [&bytes](std::span<std::byte> out) {
    const auto piece = bytes.first(std::min(out.size(), bytes.size()));
    std::ranges::copy(piece, out.begin());
    bytes = bytes.subspan(piece.size());
    return piece.size();
  };
  return Reader(read, std::string(name), reading).read();
}

MatrixMarket read_matrix_market(const std::string& path, std::string_view argument,
                                const MatrixMarketReading& reading) {
  const std::string name = file_subject(path, argument);
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) {
    throw_bad_input("cannot open " + name + ": " + std::generic_category().message(errno));
  }
  if (S_ISDIR(status.st_mode)) throw_bad_input(name + " is a directory, not a Matrix Market file");
  try {
    const auto read = [&](std::span<std::byte> out) { return read_some(file.get(), out, name); };
    return Reader(read, name, reading).read();
  } catch (const std::bad_alloc&) {
    throw_resource(name + " does not fit into the memory of this machine");
  }
}

bool is_complex_matrix_market(const std::string& path, std::string_view argument) {
  const std::unique_ptr<gzFile_s, decltype(&gzclose)> file(gzopen(path.c_str(), "rb"), gzclose);
  std::string text(4096, '\0');
  const int bytes = file ? gzread(file.get(), text.data(), static_cast<unsigned>(text.size())) : 0;
  if (bytes <= 0) return false;
  text.resize(static_cast<std::size_t>(bytes));
  MatrixMarketHeaderParser parser(file_subject(path, argument));
  try {
    parser.take_line(std::string_view(text).substr(0, text.find('\n')));
  } catch (const Error&) {
    if (!parser.is_complex()) throw;
  }
  return parser.is_complex();
}

void write_matrix_market(const std::string& path, const CsrMatrix& matrix,
                         std::string_view argument) {
  constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
  AtomicFile file(path, argument);
  std::string text = fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n",
                                 matrix.rows, matrix.columns, matrix.nnz());
  for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row) {
    const auto end = static_cast<std::size_t>(matrix.row_offsets[row + 1]);
    for (auto i = static_cast<std::size_t>(matrix.row_offsets[row]); i < end; ++i) {
      const std::int64_t column = std::int64_t{matrix.column_indices[i]} + 1;
      const float value = matrix.values[i];
      if (!std::isfinite(value)) {
        throw_bad_input(fmt::format(
            "cannot write {}: the value of row {}, column {} is {}, but Matrix Market files hold "
            "finite numbers",
            file_subject(path, argument), row + 1, column, value));
      }
      fmt::format_to(std::back_inserter(text), "{} {} {}\n", row + 1, column, value);
      if (text.size() < kChunkBytes) continue;
      file.write(text);
      text.clear();
    }
  }
  file.write(text);
  file.commit();
}

}  // namespace warpladder
