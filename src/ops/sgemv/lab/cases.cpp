#include "ops/sgemv/lab/cases.hpp"

#include <fmt/format.h>

namespace warpladder::sgemv {
namespace {

std::string describe(const Problem& p) {
  std::string text = fmt::format("{}x{}", p.m, p.n);
  if (p.trans) text += " T";
  if (p.layout == Layout::column_major) text += " column-major";
  if (p.alpha != 1.0f || p.beta != 0.0f) {
    text += fmt::format(" alpha={:g} beta={:g}", p.alpha, p.beta);
  }
  if (p.lda != length(p) && length(p) > 0) text += fmt::format(" lda={}", p.lda);
  if (p.incx != 1 || p.incy != 1) text += fmt::format(" incx={} incy={}", p.incx, p.incy);
  return text;
}

class List {
 public:
  GemvCase& add(const Problem& problem) { return cases_.emplace_back(plain_gemv_case(problem)); }
  void add_exact(const Problem& problem) {
    GemvCase& c = add(problem);
    c.filling = Filling::integers;
    c.name += ", integers";
  }
  std::vector<GemvCase> take() { return std::move(cases_); }

 private:
  std::vector<GemvCase> cases_;
};

// A problem of so many outputs and terms, whichever of them are m and n.
Problem of_terms(const Variant& v, std::int64_t outputs, std::int64_t terms, float alpha = 1.0f,
                 float beta = 0.0f) {
  return v.trans ? compact(terms, outputs, v.layout, true, alpha, beta)
                 : compact(outputs, terms, v.layout, false, alpha, beta);
}

void add_shapes(List& list, const Variant& v) {
  // Tiny, whole blocks, one more and one less, thin either way.
  for (const std::int64_t size : {1, 2, 31, 32, 33, 64, 127, 128, 129}) {
    list.add(of_terms(v, size, size));
  }
  list.add(of_terms(v, 1, 300));
  list.add(of_terms(v, 300, 1));
  list.add(of_terms(v, 100, 260));
  list.add(of_terms(v, 131, 99));
  list.add(of_terms(v, 70, 520));
  list.add(of_terms(v, 520, 70));
  list.add(of_terms(v, 501, 17));
  list.add(of_terms(v, 500, 16));
  // Few sums of many terms, ragged and aligned: blocks share them.
  list.add_exact(of_terms(v, 3, 9001));
  list.add_exact(of_terms(v, 2, 20000));
  list.add_exact(of_terms(v, 40, 2500));
  list.add_exact(of_terms(v, 17, 1400));
  list.add_exact(of_terms(v, 132, 1100));
  // One column, or one line, of many elements; and pieces that fill waves.
  list.add_exact(of_terms(v, 1, 30000));
  list.add(of_terms(v, 5001, 1));
  list.add_exact(of_terms(v, 260, 700));
  // Nothing to compute.
  list.add(of_terms(v, 0, 5));
  list.add(of_terms(v, 5, 0));
}

void add_scalars(List& list, const Variant& v) {
  for (const auto& [alpha, beta] : {std::pair{2.5f, 0.0f},
                                    {1.0f, 1.0f},
                                    {-0.75f, 2.0f},
                                    {0.0f, 3.0f},
                                    {0.0f, 0.0f},
                                    {0.0f, 1.0f},
                                    {1.0f, -1.0f}}) {
    list.add(compact(50, 37, v.layout, v.trans, alpha, beta));
  }
  // Where blocks share sums, one of them scales.
  list.add(of_terms(v, 6, 9000, -2.0f, 0.5f));
  list.add(of_terms(v, 6, 9000, 0.0f, 0.5f));
}

// Leading dimensions larger than the line, increments of either sign, addresses off alignment.
void add_places(List& list, const Variant& v) {
  for (const Problem& compact_one :
       {of_terms(v, 67, 43, 1.5f, 0.5f), of_terms(v, 132, 36), of_terms(v, 4, 8500, 1.5f, 0.5f)}) {
    for (const std::int64_t more : {3, 4}) {
      Problem p = compact_one;
      p.lda += more;
      list.add(p);
      p.incx = 2;
      p.incy = 3;
      list.add(p);
      p.incx = -1;
      p.incy = -2;
      list.add(p);
    }
  }
  for (const std::size_t shift : {1, 2, 3}) {
    GemvCase& c = list.add(of_terms(v, 68, 300));
    c.misalign_a = shift;
    c.misalign_x = shift % 3 + 1;
    c.misalign_y = (shift + 1) % 3 + 1;
    c.name += fmt::format(", operands {}, {} and {} elements off alignment", c.misalign_a,
                          c.misalign_x, c.misalign_y);
  }
  GemvCase& x_alone = list.add(of_terms(v, 300, 68));
  x_alone.misalign_x = 1;
  x_alone.name += ", x off alignment";
}

// What BLAS forbids to read, and what IEEE 754 asks for.
void add_values(List& list, const Variant& v) {
  GemvCase& unread = list.add(compact(40, 40, v.layout, v.trans, 0.0f, 2.0f));
  unread.nan_in_unread = true;
  unread.name += ", NaN in A and x";
  GemvCase& specials = list.add(compact(60, 50, v.layout, v.trans, 1.0f, 1.0f));
  specials.filling = Filling::specials;
  specials.name += ", NaN and infinities among the values";
}

}  // namespace

GemvCase plain_gemv_case(const Problem& problem) { return {describe(problem), problem}; }

std::vector<GemvCase> gemv_cases() {
  List list;
  for (const Variant& v : kVariants) {
    add_shapes(list, v);
    add_scalars(list, v);
    add_places(list, v);
    add_values(list, v);
  }
  return list.take();
}

std::vector<GemvCase> large_gemv_cases() {
  List list;
  list.add(compact(46345, 46339));
  list.add(compact(46344, 46340, Layout::row_major, true));
  list.add(compact(65075264, 33, Layout::column_major));
  list.add(compact(33, 65075263, Layout::column_major, true));
  return list.take();
}

}  // namespace warpladder::sgemv
