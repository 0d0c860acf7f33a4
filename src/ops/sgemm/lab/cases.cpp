#include "ops/sgemm/lab/cases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/random_fill.hpp"

namespace warpladder::sgemm {
namespace {

const char* transposes(const Problem& p) {
  return p.trans_a ? (p.trans_b ? "TT" : "TN") : (p.trans_b ? "NT" : "NN");
}

std::string describe(const Problem& p) {
  std::string text = fmt::format("{}x{}x{}", p.m, p.n, p.k);
  if (p.trans_a || p.trans_b) text += fmt::format(" {}", transposes(p));
  if (p.layout == Layout::column_major) text += " column-major";
  if (p.alpha != 1.0f || p.beta != 0.0f)
    text += fmt::format(" alpha={:g} beta={:g}", p.alpha, p.beta);
  return text;
}

GemmCase plain(const Problem& p) { return {describe(p), p}; }

}  // namespace

GemmCase gemm_case_of_shape(std::int64_t m, std::int64_t n, std::int64_t k,
                            std::string_view variant) {
  const Variant& v = *std::ranges::find(kVariants, variant, &Variant::name);
  GemmCase c = plain(compact(m, n, k, v.layout, v.trans_a, v.trans_b));
  c.filling = v.filling;
  return c;
}

std::vector<GemmCase> gemm_cases() {
  std::vector<GemmCase> cases;
  const auto add = [&](GemmCase c, const char* remark = "") {
    if (*remark) c.name += fmt::format(", {}", remark);
    cases.push_back(std::move(c));
  };
  const auto add_compact = [&](std::int64_t m, std::int64_t n, std::int64_t k, float alpha = 1.0f,
                               float beta = 0.0f) {
    add(plain(compact(m, n, k, Layout::row_major, false, false, alpha, beta)));
  };

  // Tiny, whole tiles, one more and one less than a tile, thin in every direction.
  for (const std::int64_t size : {1, 2, 15, 16, 17, 31, 32, 33, 64, 128})
    add_compact(size, size, size);
  add_compact(3, 3, 431);
  add_compact(33, 65, 129);
  add_compact(129, 127, 131);
  add_compact(1, 257, 33);
  add_compact(257, 1, 33);
  add_compact(1, 1, 1000);
  add_compact(70, 3, 1);
  add_compact(128, 128, 8);
  add_compact(256, 128, 40);

  // Nothing to add up, nothing to compute.
  add_compact(17, 19, 0);
  add_compact(17, 19, 0, 1.0f, -0.5f);
  add_compact(0, 5, 7);
  add_compact(5, 0, 7);
  add_compact(0, 0, 0);

  // Scalars.
  for (const auto& [alpha, beta] : {std::pair{2.5f, 0.0f},
                                    {1.0f, 1.0f},
                                    {-0.75f, 2.0f},
                                    {0.0f, 3.0f},
                                    {0.0f, 0.0f},
                                    {1.0f, -1.0f}}) {
    add_compact(50, 37, 29, alpha, beta);
  }

  // All layouts and transposes, compact, and with ld larger than the line it holds.
  for (const Layout layout : {Layout::row_major, Layout::column_major}) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        add(plain(compact(45, 34, 23, layout, trans_a, trans_b, 1.5f, 0.5f)));
        add(plain(
            compact(132, 36, 44, layout, trans_a, trans_b, 0.5f, -2.0f)));  // float4 may be used
        GemmCase strided = plain(compact(67, 43, 21, layout, trans_a, trans_b, -1.0f, 0.25f));
        strided.problem.lda += 3;
        strided.problem.ldb += 5;
        strided.problem.ldc += 7;
        add(strided, "ld larger than the line");
      }
    }
  }

  // Addresses that no vector access may assume anything of.
  for (const std::size_t shift : {1, 2, 3}) {
    GemmCase c = plain(compact(65, 68, 36));
    c.misalign_a = shift;
    c.misalign_b = shift % 3 + 1;
    c.misalign_c = (shift + 1) % 3 + 1;
    add(c, fmt::format("operands {}, {} and {} elements off alignment", c.misalign_a, c.misalign_b,
                       c.misalign_c)
               .c_str());
  }
  GemmCase aligned_ld = plain(compact(60, 40, 20));
  aligned_ld.problem.lda += 4;
  aligned_ld.problem.ldb += 8;
  aligned_ld.problem.ldc += 12;
  add(aligned_ld, "ld larger than the line");

  // What BLAS forbids to read, and what IEEE 754 asks for.
  GemmCase unread = plain(compact(40, 40, 40));
  unread.nan_in_unread = true;
  add(unread, "NaN in C with beta = 0");
  GemmCase no_product = plain(compact(40, 40, 40, Layout::row_major, false, false, 0.0f, 2.0f));
  no_product.nan_in_unread = true;
  add(no_product, "NaN in A and B with alpha = 0");
  GemmCase specials = plain(compact(40, 50, 60, Layout::row_major, false, false, 1.0f, 1.0f));
  specials.filling = Filling::specials;
  add(specials, "NaN and infinities among the values");
  GemmCase positive = plain(compact(48, 48, 2000));
  positive.filling = Filling::positive;
  add(positive, "positive values");
  GemmCase wide = plain(compact(150, 140, 300));
  wide.filling = Filling::wide;
  add(wide, "magnitudes from 2^-20 to 2^20");
  return cases;
}

std::vector<std::int64_t> judged_rows(const Problem& p) {
  constexpr double kWhole = 5e9;  // multiply-adds: about the square of 1700
  constexpr std::int64_t kBands = 128;
  std::vector<std::int64_t> rows;
  if (flops(p) / 2 <= kWhole || p.m <= kBands + 2) {
    for (std::int64_t i = 0; i < p.m; ++i) rows.push_back(i);
    return rows;
  }
  rows.push_back(0);
  for (std::int64_t band = 0; band < kBands; ++band) {
    const std::int64_t first = p.m * band / kBands, end = p.m * (band + 1) / kBands;
    const std::uint32_t draw = random_block(4, static_cast<std::uint64_t>(band)).word[0];
    rows.push_back(first + static_cast<std::int64_t>(draw) % (end - first));
  }
  rows.push_back(p.m - 1);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace warpladder::sgemm
