#include "ops/spmv/lab/generators.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/host_memory.hpp"
#include "base/in_quotes.hpp"
#include "base/parallel.hpp"
#include "base/parse.hpp"
#include "base/random_fill.hpp"
#include "base/suggest.hpp"

namespace warpladder::spmv {
namespace {

constexpr std::int64_t kMostColumns = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kRowsAtOnce = 1024;
constexpr std::int64_t kEdgesAtOnce = 1 << 14;

// Disjoint parts of the counter's space. Values have the first, which is fill_uniform's.
enum class Stream : std::uint32_t { values, rows, edges, places };

PhiloxBlock random_words(std::uint64_t seed, Stream stream, std::uint64_t index,
                         std::uint32_t block) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  return philox4x32({{low(index), low(index >> 32), block, static_cast<std::uint32_t>(stream)}},
                    {{low(seed), low(seed >> 32)}});
}

// Random numbers that depend on the seed, the stream, the index and how many were drawn before.
class Draws {
 public:
  Draws(std::uint64_t seed, Stream stream, std::uint64_t index)
      : seed_(seed), stream_(stream), index_(index) {}

  // Uniform in 0 ... count - 1, for count < 2^32: the upper half of 64 bits times count, so that
  // no number is noticeably likelier than another.
  std::int64_t below(std::int64_t count) {
    if (drawn_ % 2 == 0) words_ = random_words(seed_, stream_, index_, drawn_ / 2);
    const std::uint64_t high = words_.word[2 * (drawn_ % 2)];
    const std::uint64_t low = words_.word[2 * (drawn_ % 2) + 1];
    ++drawn_;
    const auto n = static_cast<std::uint64_t>(count);
    return static_cast<std::int64_t>((high * n + ((low * n) >> 32)) >> 32);
  }

 private:
  std::uint64_t seed_;
  Stream stream_;
  std::uint64_t index_;
  std::uint32_t drawn_ = 0;
  PhiloxBlock words_{};
};

// What a spec gives to each key of its generator.
class Sizes {
 public:
  Sizes(const Generator& generator, std::string_view list, std::string subject)
      : subject_(std::move(subject)) {
    for (const GeneratorKey& key : generator.keys) entries_.push_back({key.name, key.value, false});
    for (std::size_t first = 0; first <= list.size();) {
      const std::size_t last = std::min(list.find(',', first), list.size());
      set(generator, list.substr(first, last - first));
      first = last + 1;
    }
  }
  Sizes(const Generator& generator, std::string subject) : subject_(std::move(subject)) {
    for (const GeneratorKey& key : generator.keys) entries_.push_back({key.name, key.value, false});
  }

  const std::string& subject() const { return subject_; }
  std::int64_t operator[](std::string_view key) const { return entry(key)->value.value(); }
  std::int64_t get_or(std::string_view key, std::int64_t otherwise) const {
    return entry(key)->value.value_or(otherwise);
  }
  std::uint64_t seed() const { return static_cast<std::uint64_t>((*this)["seed"]); }

  [[noreturn]] void refuse(std::string_view key, const std::string& complaint) const {
    throw_bad_input(fmt::format("{}: {} is {}, {}", subject_, key, (*this)[key], complaint));
  }
  void at_most(std::string_view key, std::int64_t most, const char* reason) const {
    if ((*this)[key] > most) {
      refuse(key, fmt::format("but the greatest is {}, because {}", most, reason));
    }
  }
  void at_least(std::string_view key, std::int64_t least) const {
    if ((*this)[key] < least) refuse(key, fmt::format("but the least is {}", least));
  }
  // Of a key that is the number of columns, or its root.
  void columns_at_most(std::string_view key, std::int64_t most) const {
    at_most(key, most, "column indices have 32 bits");
  }
  // Beside the result, `more_bytes` are needed on the way to it.
  void require_memory_for(double rows, double nnz, double more_bytes = 0) const {
    require_memory((rows + 1) * sizeof(std::int64_t) +
                       nnz * (sizeof(std::int32_t) + sizeof(float)) + more_bytes,
                   subject_);
  }

 private:
  struct Entry {
    std::string key;
    std::optional<std::int64_t> value;
    bool is_given;
  };

  std::vector<Entry>::const_iterator entry(std::string_view key) const {
    return std::ranges::find(entries_, key, &Entry::key);
  }

  void set(const Generator& generator, std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos) {
      throw_bad_input(text.empty()
                          ? fmt::format("{} lacks a key, as in {}", subject_, generator.form())
                          : fmt::format("{}: {} has no '='; write it as in {}", subject_,
                                        in_quotes(text, kShownBytes), generator.form()));
    }
    const std::string_view key = text.substr(0, equals);
    const auto at = entries_.begin() + (entry(key) - entries_.cbegin());
    if (at == entries_.end()) {
      throw_bad_input(fmt::format("{}: {} has no key {}; it has: {}", subject_, generator.name,
                                  in_quotes(key, kShownBytes),
                                  known_names(key, names_of(entries_, &Entry::key))));
    }
    if (at->is_given) throw_bad_input(fmt::format("{}: {} is given more than once", subject_, key));
    at->value = parse_size(text.substr(equals + 1), fmt::format("{}: {}", subject_, key));
    at->is_given = true;
  }

  std::string subject_;
  std::vector<Entry> entries_;
};

// A matrix whose rows do not depend on each other.
struct Pattern {
  std::int64_t rows = 0, columns = 0;
  std::function<std::int64_t(std::int64_t row)> length;
  // Writes as many columns as length() says, in ascending order.
  std::function<void(std::int64_t row, std::span<std::int32_t> columns)> fill;
};

// Distinct and in ascending order. What is drawn a second time is drawn again, so that all sets of
// so many are equally likely. As long as they are half of all columns at most, that ends soon.
void draw_few(Draws& draws, std::int64_t columns, std::span<std::int32_t> out) {
  for (std::size_t have = 0; have < out.size();) {
    const auto fresh = out.begin() + static_cast<std::ptrdiff_t>(have);
    std::generate(fresh, out.end(),
                  [&] { return static_cast<std::int32_t>(draws.below(columns)); });
    std::sort(fresh, out.end());
    std::inplace_merge(out.begin(), fresh, out.end());
    have = static_cast<std::size_t>(std::unique(out.begin(), out.end()) - out.begin());
  }
}

// The same for any number of them: more than half are what a draw of the others leaves.
void draw_columns(Draws draws, std::int64_t columns, std::span<std::int32_t> out) {
  const auto length = static_cast<std::int64_t>(out.size());
  if (length <= columns / 2) return draw_few(draws, columns, out);
  std::vector<std::int32_t> left_out(static_cast<std::size_t>(columns - length));
  draw_few(draws, columns, left_out);
  auto next = left_out.begin();
  auto place = out.begin();
  for (std::int64_t column = 0; column < columns; ++column) {
    if (next != left_out.end() && *next == column) {
      ++next;
    } else {
      *place++ = static_cast<std::int32_t>(column);
    }
  }
}

void fill_values(CsrMatrix& matrix, std::uint64_t seed) {
  matrix.values.resize(matrix.column_indices.size());
  fill_uniform(matrix.values, seed, -1.0f, 1.0f);
}

std::span<std::int32_t> row_of(CsrMatrix& matrix, std::int64_t row) {
  const std::int64_t first = matrix.row_offsets[row], last = matrix.row_offsets[row + 1];
  return {matrix.column_indices.data() + first, static_cast<std::size_t>(last - first)};
}

CsrMatrix build(const Pattern& pattern, std::uint64_t seed, unsigned threads) {
  CsrMatrix matrix;
  matrix.rows = pattern.rows;
  matrix.columns = pattern.columns;
  auto& offsets = matrix.row_offsets;
  offsets.assign(static_cast<std::size_t>(pattern.rows) + 1, 0);
  parallel_for(pattern.rows, kRowsAtOnce, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) offsets[row + 1] = pattern.length(row);
  });
  std::inclusive_scan(offsets.begin(), offsets.end(), offsets.begin());
  matrix.column_indices.resize(static_cast<std::size_t>(offsets.back()));
  parallel_for(pattern.rows, kRowsAtOnce, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) pattern.fill(row, row_of(matrix, row));
  });
  fill_values(matrix, seed);
  return matrix;
}

// Calls visit(column) for a point of an n^dimensions grid and its neighbours, in ascending order.
template <typename Visit>
void visit_stencil(std::uint32_t row, std::uint32_t n, int dimensions, const Visit& visit) {
  std::uint32_t strides[3] = {1, n, n * n}, coordinates[3] = {row % n, row / n % n, row / n / n};
  if (dimensions == 2) coordinates[2] = 0;
  for (int d = dimensions - 1; d >= 0; --d) {
    if (coordinates[d] > 0) visit(row - strides[d]);
  }
  visit(row);
  for (int d = 0; d < dimensions; ++d) {
    if (coordinates[d] + 1 < n) visit(row + strides[d]);
  }
}

CsrMatrix stencil(const Sizes& sizes, int dimensions, unsigned threads) {
  sizes.columns_at_most("n", dimensions == 2 ? 46340 : 1290);  // the roots of kMostColumns
  const std::int64_t rows =
      dimensions == 2 ? sizes["n"] * sizes["n"] : sizes["n"] * sizes["n"] * sizes["n"];
  sizes.require_memory_for(rows, (2.0 * dimensions + 1) * rows);
  const auto n = static_cast<std::uint32_t>(sizes["n"]);
  const auto length = [=](std::int64_t row) {
    std::int64_t count = 0;
    visit_stencil(static_cast<std::uint32_t>(row), n, dimensions, [&](std::uint32_t) { ++count; });
    return count;
  };
  const auto fill = [=](std::int64_t row, std::span<std::int32_t> out) {
    std::size_t at = 0;
    visit_stencil(static_cast<std::uint32_t>(row), n, dimensions,
                  [&](std::uint32_t column) { out[at++] = static_cast<std::int32_t>(column); });
  };
  return build({rows, rows, length, fill}, sizes.seed(), threads);
}

void fill_with_consecutive(std::span<std::int32_t> out, std::int64_t first) {
  std::iota(out.begin(), out.end(), static_cast<std::int32_t>(first));
}

CsrMatrix banded(const Sizes& sizes, unsigned threads) {
  sizes.columns_at_most("rows", kMostColumns);
  const std::int64_t rows = sizes["rows"], reach = sizes["band"] / 2;
  if (sizes["band"] % 2 == 0) {
    sizes.refuse("band", "but must be odd: the diagonal and as many to its left as to its right");
  }
  sizes.require_memory_for(rows, 1.0 * rows * std::min(sizes["band"], rows));
  const auto first_of = [=](std::int64_t row) { return row - std::min(row, reach); };
  const auto length = [=](std::int64_t row) {
    return row + std::min(rows - 1 - row, reach) + 1 - first_of(row);
  };
  const auto fill = [=](std::int64_t row, std::span<std::int32_t> out) {
    fill_with_consecutive(out, first_of(row));
  };
  return build({rows, rows, length, fill}, sizes.seed(), threads);
}

CsrMatrix uniform(const Sizes& sizes, unsigned threads) {
  const std::int64_t rows = sizes["rows"], per_row = sizes["per_row"];
  const std::int64_t columns = sizes.get_or("columns", rows);
  sizes.columns_at_most(columns == rows ? "rows" : "columns", kMostColumns);
  sizes.at_most("per_row", columns, "there are no more columns");
  sizes.require_memory_for(rows, 1.0 * rows * per_row);
  const auto length = [=](std::int64_t) { return per_row; };
  const auto fill = [=, seed = sizes.seed()](std::int64_t row, std::span<std::int32_t> out) {
    draw_columns(Draws(seed, Stream::rows, row), columns, out);
  };
  return build({rows, columns, length, fill}, sizes.seed(), threads);
}

// In each of `scale` steps an edge falls into one quarter of what is left of the matrix. The
// chances are 0.57 upper left, 0.19 upper right, 0.19 lower left and 0.05 lower right. In units of
// 2^-16, so that one block of random words serves eight steps.
constexpr std::uint32_t kUpperLeft = 37356, kUpper = 49807, kNotLowerRight = 62259;

struct Edge {
  std::int32_t row, column;
};

Edge rmat_edge(std::uint64_t seed, std::int64_t index, std::int64_t scale) {
  constexpr std::int64_t kStepsOfBlock = 8;
  Edge edge{0, 0};
  PhiloxBlock words{};
  for (std::int64_t step = 0; step < scale; ++step) {
    const std::int64_t at = step % kStepsOfBlock;
    if (at == 0) {
      const auto block = static_cast<std::uint32_t>(step / kStepsOfBlock);
      words = random_words(seed, Stream::edges, static_cast<std::uint64_t>(index), block);
    }
    const std::uint32_t chance = words.word[at / 2] >> (16 * (at % 2)) & 0xFFFF;
    const bool is_lower = chance >= kUpper;
    const bool is_right = chance >= (is_lower ? kNotLowerRight : kUpperLeft);
    edge.row = 2 * edge.row + is_lower;
    edge.column = 2 * edge.column + is_right;
  }
  return edge;
}

CsrMatrix rmat(const Sizes& sizes, unsigned threads) {
  sizes.columns_at_most("scale", 30);
  const std::int64_t scale = sizes["scale"], rows = std::int64_t{1} << scale;
  const double edges_wanted = 1.0 * rows * sizes["edge"];
  sizes.require_memory_for(rows, edges_wanted,
                           8.0 * rows + (sizeof(Edge) + sizeof(std::int32_t)) * edges_wanted);

  // Into buckets, one for each row. The threads fill a bucket in any order; sorting it hides that.
  const auto one_more = [](std::int64_t& count) {
    return std::atomic_ref(count).fetch_add(1, std::memory_order_relaxed);
  };
  std::vector<Edge> edges(static_cast<std::size_t>(rows * sizes["edge"]));
  const auto edge_count = static_cast<std::int64_t>(edges.size());
  std::vector<std::int64_t> ends(static_cast<std::size_t>(rows) + 1, 0);
  parallel_for(edge_count, kEdgesAtOnce, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t e = first; e < last; ++e) {
      edges[e] = rmat_edge(sizes.seed(), e, scale);
      one_more(ends[edges[e].row + 1]);
    }
  });
  std::inclusive_scan(ends.begin(), ends.end(), ends.begin());
  std::vector<std::int32_t> columns(edges.size());
  parallel_for(edge_count, kEdgesAtOnce, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t e = first; e < last; ++e) {
      columns[one_more(ends[edges[e].row])] = edges[e].column;  // ends[row] began as its start
    }
  });
  edges = {};

  const auto bucket = [&](std::int64_t row) {
    const std::int64_t first = row == 0 ? 0 : ends[row - 1];
    return std::span(columns).subspan(first, ends[row] - first);
  };
  const auto length = [&](std::int64_t row) {
    const auto all = bucket(row);
    std::sort(all.begin(), all.end());
    return static_cast<std::int64_t>(std::unique(all.begin(), all.end()) - all.begin());
  };
  const auto fill = [&](std::int64_t row, std::span<std::int32_t> out) {
    std::copy_n(bucket(row).begin(), out.size(), out.begin());
  };
  return build({rows, rows, length, fill}, sizes.seed(), threads);
}

CsrMatrix dense_rows(const Sizes& sizes, unsigned threads) {
  sizes.columns_at_most("rows", kMostColumns);
  const std::int64_t rows = sizes["rows"], per_row = sizes["per_row"], dense = sizes["dense"];
  sizes.at_most("dense", rows, "there are no more rows");
  sizes.at_most("per_row", rows, "there are no more columns");
  sizes.require_memory_for(rows, 1.0 * dense * rows + 1.0 * (rows - dense) * per_row, 8.0 * dense);
  std::vector<std::int64_t> places;  // in the middles of `dense` equal parts
  for (std::int64_t i = 0; i < dense; ++i) places.push_back((2 * i + 1) * rows / (2 * dense));
  const auto length = [&](std::int64_t row) {
    return std::ranges::binary_search(places, row) ? rows : per_row;
  };
  const auto fill = [&](std::int64_t row, std::span<std::int32_t> out) {
    draw_columns(Draws(sizes.seed(), Stream::rows, row), rows, out);
  };
  return build({rows, rows, length, fill}, sizes.seed(), threads);
}

CsrMatrix arrow(const Sizes& sizes, unsigned threads) {
  sizes.columns_at_most("rows", kMostColumns);
  const std::int64_t rows = sizes["rows"];
  sizes.require_memory_for(rows, 3.0 * rows);
  const auto length = [=](std::int64_t row) { return row == 0 ? rows : 2; };
  const auto fill = [](std::int64_t row, std::span<std::int32_t> out) {
    if (row == 0) return fill_with_consecutive(out, 0);
    out[0] = 0;
    out[1] = static_cast<std::int32_t>(row);
  };
  return build({rows, rows, length, fill}, sizes.seed(), threads);
}

CsrMatrix empty_rows(const Sizes& sizes, unsigned threads) {
  constexpr std::int64_t kShortRows = 3;
  sizes.columns_at_most("rows", kMostColumns);
  sizes.at_least("run", 1);
  sizes.at_least("per_row", 1);
  const std::int64_t rows = sizes["rows"], run = std::min(sizes["run"], rows);
  if (rows > 0) sizes.at_most("per_row", rows, "there are no more columns");
  const std::int64_t most = sizes["per_row"], period = run + kShortRows;
  sizes.require_memory_for(rows, 1.0 * most * kShortRows * (1.0 * rows / period + 1));
  const auto length = [=, seed = sizes.seed()](std::int64_t row) -> std::int64_t {
    if (row % period < run || row == rows - 1) return 0;
    return 1 + Draws(seed, Stream::places, row).below(most);
  };
  const auto fill = [=, seed = sizes.seed()](std::int64_t row, std::span<std::int32_t> out) {
    draw_columns(Draws(seed, Stream::rows, row), rows, out);
  };
  return build({rows, rows, length, fill}, sizes.seed(), threads);
}

CsrMatrix single_row(const Sizes& sizes, unsigned threads) {
  sizes.columns_at_most("columns", kMostColumns);
  const std::int64_t columns = sizes["columns"];
  sizes.require_memory_for(1, columns);
  const auto length = [=](std::int64_t) { return columns; };
  const auto fill = [](std::int64_t, std::span<std::int32_t> out) {
    fill_with_consecutive(out, 0);
  };
  return build({1, columns, length, fill}, sizes.seed(), threads);
}

CsrMatrix single_column(const Sizes& sizes, unsigned threads) {
  const std::int64_t rows = sizes["rows"];
  sizes.require_memory_for(rows, rows);
  const auto length = [](std::int64_t) { return std::int64_t{1}; };
  const auto fill = [](std::int64_t, std::span<std::int32_t> out) { out[0] = 0; };
  return build({rows, 1, length, fill}, sizes.seed(), threads);
}

// Zipf's law: the row of a rank (1, 2, …) has 1/rank of the longest one's entries, within limits.
std::int64_t zipf_length(std::int64_t longest, std::int64_t rank, std::int64_t columns) {
  return std::clamp<std::int64_t>(longest / rank, 1, columns);
}

// The greatest `longest` with which `ranks` rows have no more than `total` entries.
std::int64_t longest_for(std::int64_t total, std::int64_t ranks, std::int64_t columns) {
  const auto fits = [=](std::int64_t longest) {
    std::int64_t sum = 0;
    for (std::int64_t rank = 1; rank <= ranks && sum <= total; ++rank) {
      sum += zipf_length(longest, rank, columns);
    }
    return sum <= total;
  };
  std::int64_t low = 0, high = ranks * columns;  // at which every row is full
  while (low < high) {
    const std::int64_t middle = high - (high - low) / 2;
    fits(middle) ? low = middle : high = middle - 1;
  }
  return low;
}

CsrMatrix power_law(const Sizes& sizes, unsigned threads) {
  sizes.columns_at_most("rows", kMostColumns);
  sizes.at_least("per_row", 1);
  const std::int64_t rows = sizes["rows"], per_row = sizes["per_row"];
  const std::int64_t filled = (rows + 4) / 5;
  if (rows > 0) sizes.at_most("per_row", filled, "four rows of five are empty");
  sizes.require_memory_for(rows, 1.0 * rows * per_row, 8.0 * rows);

  // Which rows are filled, and with which rank: the beginning of a random order of all rows.
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows)), rank_of(order.size(), 0);
  std::iota(order.begin(), order.end(), 0);
  Draws draws(sizes.seed(), Stream::places, 0);
  for (std::int64_t i = 0; i < filled; ++i) {
    std::swap(order[i], order[i + draws.below(rows - i)]);
    rank_of[order[i]] = static_cast<std::int32_t>(i + 1);
  }
  order = {};
  const std::int64_t longest = longest_for(rows * per_row, filled, rows);
  const auto length = [&](std::int64_t row) {
    return rank_of[row] == 0 ? 0 : zipf_length(longest, rank_of[row], rows);
  };
  const auto fill = [&](std::int64_t row, std::span<std::int32_t> out) {
    draw_columns(Draws(sizes.seed(), Stream::rows, row), rows, out);
  };
  return build({rows, rows, length, fill}, sizes.seed(), threads);
}

struct Kind {
  Generator generator;
  CsrMatrix (*make)(const Sizes& sizes, unsigned threads);
};

const std::vector<Kind>& kinds() {
  constexpr std::int64_t kMillion = 1000000;
  const GeneratorKey rows{"rows", kMillion}, seed{"seed", 1};
  const auto in_plane = [](const Sizes& sizes, unsigned t) { return stencil(sizes, 2, t); };
  const auto in_space = [](const Sizes& sizes, unsigned t) { return stencil(sizes, 3, t); };
  static const std::vector<Kind> list{
      {{"stencil2d", "each point of an n x n grid with its 4 neighbours", {{"n", 4096}, seed}},
       in_plane},
      {{"stencil3d", "each point of an n x n x n grid with its 6 neighbours", {{"n", 128}, seed}},
       in_space},
      {{"banded", "all of |i - j| <= (band - 1) / 2", {rows, {"band", 33}, seed}}, banded},
      {{"uniform",
        "per_row random columns in each row; as many columns as rows, or columns=N",
        {rows, {"columns", std::nullopt}, {"per_row", 16}, seed}},
       uniform},
      {{"rmat",
        "a graph of 2^scale vertices and edge * 2^scale edges with few hubs; twins are merged",
        {{"scale", 20}, {"edge", 16}, seed}},
       rmat},
      {{"dense_rows",
        "per_row random columns in each row, but `dense` rows are full",
        {rows, {"per_row", 8}, {"dense", 4}, seed}},
       dense_rows},
      {{"arrow", "the first row, the first column and the diagonal", {rows, seed}}, arrow},
      {{"empty_rows",
        "`run` empty rows, three of 1 to per_row entries, and so on; the last row is empty",
        {rows, {"run", 97}, {"per_row", 4}, seed}},
       empty_rows},
      {{"single_row", "one full row", {{"columns", kMillion}, seed}}, single_row},
      {{"single_column", "one full column", {rows, seed}}, single_column},
      {{"power_law",
        "four rows of five are empty, the others' lengths follow Zipf's law; per_row is the mean",
        {rows, {"per_row", 8}, seed}},
       power_law},
  };
  return list;
}

const Kind* find_kind(std::string_view spec) {
  const std::string_view name = spec.substr(0, spec.find(':'));
  const auto at = std::ranges::find(kinds(), name, [](const Kind& k) { return k.generator.name; });
  return at == kinds().end() ? nullptr : &*at;
}

}  // namespace

std::string Generator::form() const {
  std::vector<std::string> parts;
  for (const GeneratorKey& key : keys) {
    if (key.value) parts.push_back(fmt::format("{}={}", key.name, *key.value));
  }
  return fmt::format("{}:{}", name, fmt::join(parts, ","));
}

const std::vector<Generator>& generators() {
  static const std::vector<Generator> list = [] {
    std::vector<Generator> all;
    for (const Kind& kind : kinds()) all.push_back(kind.generator);
    return all;
  }();
  return list;
}

std::string known_generators(std::string_view spec) {
  return known_names(spec.substr(0, spec.find(':')), names_of(generators(), &Generator::name));
}

bool names_generator(std::string_view spec) { return find_kind(spec) != nullptr; }

CsrMatrix generate(std::string_view spec, std::string_view argument, unsigned threads) {
  const std::string quoted = in_quotes(spec, kShownBytes);
  const std::string subject = argument.empty() ? quoted : fmt::format("{} {}", argument, quoted);
  const Kind* const kind = find_kind(spec);
  if (kind == nullptr) {
    throw_bad_input(fmt::format("{} names no generator; the generators are: {}", subject,
                                known_generators(spec)));
  }
  const std::size_t colon = spec.find(':');
  const Sizes sizes = colon == spec.npos ? Sizes(kind->generator, subject)
                                         : Sizes(kind->generator, spec.substr(colon + 1), subject);
  return kind->make(sizes, threads);
}

}  // namespace warpladder::spmv
