#include "base/csr_assembly.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/parallel.hpp"

namespace warpladder {
namespace {

using Chunk = std::vector<SparseEntry>;

// A bucket of this many entries is sorted within a core's own cache. More buckets than this would
// be more than a core can write to in turns.
constexpr std::int64_t kBucketEntries = std::int64_t{1} << 14, kMaxBuckets = 2048;
constexpr std::size_t kShortRow = 32;  // sorted by insertion

struct Freeing {
  void operator()(SparseEntry* entries) const { std::free(entries); }
};
using EntryArray = std::unique_ptr<SparseEntry[], Freeing>;

// Uninitialised. Large ones lie in huge pages where the system has them. They are written to in
// more places at a time than the processor finds ordinary pages for.
EntryArray allocate_entries(std::int64_t count) {
  constexpr std::size_t kHugePage = std::size_t{1} << 21;
  const std::size_t wanted = static_cast<std::size_t>(count) * sizeof(SparseEntry);
  const std::size_t alignment = wanted < kHugePage ? 64 : kHugePage;
  const std::size_t bytes = (wanted / alignment + 1) * alignment;
  EntryArray entries(static_cast<SparseEntry*>(std::aligned_alloc(alignment, bytes)));
  if (!entries) throw std::bad_alloc();
  if (alignment == kHugePage) ::madvise(entries.get(), bytes, MADV_HUGEPAGE);
  return entries;
}

struct Place {
  std::int64_t row = 0;
  std::int32_t column = 0;
};

// What sorting one bucket found.
struct BucketResult {
  std::int64_t unique = 0, duplicates = 0, zeros = 0;
  std::optional<Place> overflow;  // the first one
};

template <typename Visit>
void visit_with_mirror(const Chunk& chunk, Mirror mirror, const Visit& visit) {
  for (const SparseEntry& entry : chunk) {
    visit(entry);
    if (mirror == Mirror::none || entry.row == entry.column) continue;
    // Square, so that the row fits into a column.
    visit(SparseEntry{entry.column, static_cast<std::int32_t>(entry.row),
                      mirror == Mirror::same ? entry.value : -entry.value});
  }
}

// Stable, since sums depend on the order.
void sort_by_column(std::span<SparseEntry> row) {
  const auto less = [](const SparseEntry& a, const SparseEntry& b) { return a.column < b.column; };
  if (row.size() > kShortRow) {
    if (!std::ranges::is_sorted(row, less)) std::stable_sort(row.begin(), row.end(), less);
    return;
  }
  for (std::size_t i = 1; i < row.size(); ++i) {
    const SparseEntry moved = row[i];
    std::size_t to = i;
    for (; to > 0 && less(moved, row[to - 1]); --to) row[to] = row[to - 1];
    row[to] = moved;
  }
}

class Assembler {
 public:
  Assembler(std::int64_t rows, std::vector<Chunk> chunks, Mirror mirror, unsigned threads)
      : rows_(rows), chunks_(std::move(chunks)), mirror_(mirror), threads_(threads) {}

  CsrAssembly assemble(std::int64_t columns, const std::string& name);

 private:
  std::span<Chunk> group(std::size_t i) {
    const std::size_t first = chunks_.size() * i / groups_;
    return std::span(chunks_).subspan(first, chunks_.size() * (i + 1) / groups_ - first);
  }
  std::size_t bucket_of(std::int64_t row) const {
    return static_cast<std::size_t>(row) >> bucket_shift_;
  }
  std::int64_t first_row(std::size_t bucket) const {
    return std::min(static_cast<std::int64_t>(bucket) << bucket_shift_, rows_);
  }

  void choose_buckets(std::int64_t entries);
  void count_buckets();
  void scatter_to_buckets();
  void sort_bucket(std::size_t bucket);
  void merge_row(std::span<const SparseEntry> row, SparseEntry*& out, BucketResult& result) const;

  std::int64_t rows_;
  std::vector<Chunk> chunks_;  // in groups of neighbours, each of which is one thread's at a time
  Mirror mirror_;
  unsigned threads_;
  std::size_t groups_ = 1, buckets_ = 1;
  int bucket_shift_ = 0;                            // a bucket holds 2^shift rows
  std::vector<std::vector<std::int64_t>> cursors_;  // [group][bucket]: where its next entry goes
  std::vector<std::int64_t> bucket_begins_;
  EntryArray entries_;                  // by bucket, in each of them in the order of the file
  std::vector<std::int64_t> row_ends_;  // [row + 1]: entries of the row, summed up in the end
  std::vector<BucketResult> results_;
};

void Assembler::choose_buckets(std::int64_t entries) {
  const auto wanted = std::clamp<std::int64_t>(entries / kBucketEntries, 1, kMaxBuckets);
  while (rows_ > 0 && (rows_ - 1) >> bucket_shift_ >= wanted) ++bucket_shift_;
  buckets_ = rows_ > 0 ? bucket_of(rows_ - 1) + 1 : 1;
  groups_ = std::clamp<std::size_t>(chunks_.size(), 1, 4 * std::size_t{threads_});
}

void Assembler::count_buckets() {
  cursors_.assign(groups_, std::vector<std::int64_t>(buckets_));
  parallel_for(groups_, threads_, [&](std::size_t i) {
    std::vector<std::int64_t>& counts = cursors_[i];
    for (const Chunk& chunk : group(i)) {
      visit_with_mirror(chunk, mirror_,
                        [&](const SparseEntry& entry) { ++counts[bucket_of(entry.row)]; });
    }
  });
  std::int64_t next = 0;
  for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
    bucket_begins_.push_back(next);
    for (auto& counts : cursors_) next += std::exchange(counts[bucket], next);
  }
  bucket_begins_.push_back(next);
}

void Assembler::scatter_to_buckets() {
  entries_ = allocate_entries(bucket_begins_.back());
  parallel_for(groups_, threads_, [&](std::size_t i) {
    std::vector<std::int64_t>& next = cursors_[i];
    for (Chunk& chunk : group(i)) {
      visit_with_mirror(chunk, mirror_, [&](const SparseEntry& entry) {
        entries_[static_cast<std::size_t>(next[bucket_of(entry.row)]++)] = entry;
      });
      Chunk().swap(chunk);
    }
  });
}

// Appends the row at `out`, each column once.
void Assembler::merge_row(std::span<const SparseEntry> row, SparseEntry*& out,
                          BucketResult& result) const {
  for (std::size_t i = 0; i < row.size();) {
    SparseEntry entry = row[i];
    std::size_t after = i + 1;
    if (after < row.size() && row[after].column == entry.column) {
      double sum = entry.value;
      for (; after < row.size() && row[after].column == entry.column; ++after) {
        sum += row[after].value;
      }
      entry.value = static_cast<float>(sum);
      // Of a pair of mirrored places, one is counted.
      const bool is_counted = mirror_ == Mirror::none || entry.row >= entry.column;
      if (is_counted) result.duplicates += static_cast<std::int64_t>(after - i - 1);
      if (!std::isfinite(entry.value) && !result.overflow) {
        result.overflow = Place{entry.row, entry.column};
      }
    }
    result.zeros += entry.value == 0;
    *out++ = entry;
    i = after;
  }
}

void Assembler::sort_bucket(std::size_t bucket) {
  const auto begin = static_cast<std::size_t>(bucket_begins_[bucket]);
  const std::span<SparseEntry> entries(
      entries_.get() + begin, static_cast<std::size_t>(bucket_begins_[bucket + 1]) - begin);
  if (entries.empty()) return;
  const std::int64_t first = first_row(bucket), count = first_row(bucket + 1) - first;
  const auto ends = std::span(row_ends_).subspan(static_cast<std::size_t>(first) + 1,
                                                 static_cast<std::size_t>(count));

  for (const SparseEntry& entry : entries) ++ends[static_cast<std::size_t>(entry.row - first)];
  std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), std::int64_t{0});
  const auto sorted = std::make_unique_for_overwrite<SparseEntry[]>(entries.size());
  for (const SparseEntry& entry : entries) {
    sorted[static_cast<std::size_t>(ends[static_cast<std::size_t>(entry.row - first)]++)] = entry;
  }
  SparseEntry* out = entries.data();
  std::int64_t row_begin = 0;
  for (std::int64_t& end : ends) {  // now the end of each row, to become its count
    const std::span row(sorted.get() + row_begin, sorted.get() + end);
    row_begin = end;
    sort_by_column(row);
    const SparseEntry* const old_out = out;
    merge_row(row, out, results_[bucket]);
    end = out - old_out;
  }
  results_[bucket].unique = out - entries.data();
}

CsrAssembly Assembler::assemble(std::int64_t columns, const std::string& name) {
  std::int64_t stored = 0;
  for (const Chunk& chunk : chunks_) stored += static_cast<std::int64_t>(chunk.size());
  const double most = static_cast<double>(stored) * (mirror_ == Mirror::none ? 1 : 2);
  require_memory(sizeof(std::int64_t) * static_cast<double>(rows_) +
                     (sizeof(SparseEntry) + sizeof(std::int32_t) + sizeof(float)) * most,
                 name);
  if (stored < kBucketEntries) threads_ = 1;
  choose_buckets(stored);
  count_buckets();
  scatter_to_buckets();
  row_ends_.resize(static_cast<std::size_t>(rows_) + 1);
  results_.resize(buckets_);
  parallel_for(buckets_, threads_, [&](std::size_t bucket) { sort_bucket(bucket); });

  CsrAssembly out;
  std::vector<std::int64_t> unique_begins(buckets_);
  std::int64_t nnz = 0;
  for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
    const BucketResult& result = results_[bucket];
    if (const auto& at = result.overflow) {
      throw_bad_input(name + ": the entries of row " + std::to_string(at->row + 1) + ", column " +
                      std::to_string(at->column + 1) +
                      " add up to a value beyond the range of fp32");
    }
    unique_begins[bucket] = nnz;
    nnz += result.unique;
    out.duplicates += result.duplicates;
    out.explicit_zeros += result.zeros;
  }
  std::inclusive_scan(row_ends_.begin(), row_ends_.end(), row_ends_.begin());
  CsrMatrix& matrix = out.matrix;
  matrix.rows = rows_;
  matrix.columns = columns;
  matrix.row_offsets = std::move(row_ends_);
  matrix.column_indices.resize(static_cast<std::size_t>(nnz));
  matrix.values.resize(static_cast<std::size_t>(nnz));
  parallel_for(buckets_, threads_, [&](std::size_t bucket) {
    const SparseEntry* const from = entries_.get() + bucket_begins_[bucket];
    const auto to = static_cast<std::size_t>(unique_begins[bucket]);
    for (std::size_t i = 0; i < static_cast<std::size_t>(results_[bucket].unique); ++i) {
      matrix.column_indices[to + i] = from[i].column;
      matrix.values[to + i] = from[i].value;
    }
  });
  return out;
}

}  // namespace

CsrAssembly assemble_csr(std::int64_t rows, std::int64_t columns, std::vector<Chunk> chunks,
                         Mirror mirror, unsigned threads, const std::string& name) {
  return Assembler(rows, std::move(chunks), mirror, threads).assemble(columns, name);
}

}  // namespace warpladder
