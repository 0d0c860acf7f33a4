#include <cblas.h>
#include <fmt/format.h>

#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "ops/rival.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {
namespace {

blasint to_blasint(const char* name, std::int64_t value) {
  if (value > std::numeric_limits<blasint>::max()) {
    throw_bad_input(fmt::format("openblas: {} is {}, but it takes at most {}", name, value,
                                std::numeric_limits<blasint>::max()));
  }
  return static_cast<blasint>(value);
}

CBLAS_TRANSPOSE transpose(bool is_transposed) { return is_transposed ? CblasTrans : CblasNoTrans; }

void launch(const void* erased, device::Stream& stream) {
  const Call& call = *static_cast<const Call*>(erased);
  const Problem& p = call.problem;
  const auto threads = static_cast<int>(stream.executor_threads);
  openblas_set_num_threads(threads ? threads : openblas_get_num_procs());
  cblas_sgemm(p.layout == Layout::row_major ? CblasRowMajor : CblasColMajor, transpose(p.trans_a),
              transpose(p.trans_b), to_blasint("m", p.m), to_blasint("n", p.n),
              to_blasint("k", p.k), p.alpha, call.a, to_blasint("lda", p.lda), call.b,
              to_blasint("ldb", p.ldb), p.beta, call.c, to_blasint("ldc", p.ldc));
}

// "OpenBLAS 0.3.21 DYNAMIC_ARCH ..." → 0.3.21
std::string version() {
  std::istringstream config(openblas_get_config());
  std::string name, number;
  config >> name >> number;
  return number;
}

const bool declared = ops::declare_rival({"sgemm", "openblas", "cblas_sgemm", "OpenBLAS",
                                          device::Target::cpu, launch, version, nullptr});

}  // namespace
}  // namespace warpladder::sgemm
