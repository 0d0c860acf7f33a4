// `run sgemm --epilogue` on a GPU: the call that people link.

#include "ops/lab/c_interface.hpp"
#include "ops/lab/run.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {

double multiply_with_epilogue(const Call& call, const std::string& expression,
                              const ops::RunOptions& options) {
  const Problem& p = call.problem;
  const warpladder_handle handle = ops::library_handle();
  warpladder_epilogue epilogue = nullptr;
  ops::require_success(warpladder_epilogue_create(handle, expression.c_str(), &epilogue));
  const auto op = [](bool transposed) { return transposed ? WARPLADDER_OP_T : WARPLADDER_OP_N; };
  device::Stream stream(options.target);
  device::Timer timer(stream);
  timer.start();
  ops::require_success(warpladder_sgemm_epilogue(
      handle, p.layout == Layout::row_major ? WARPLADDER_ROW_MAJOR : WARPLADDER_COLUMN_MAJOR,
      op(p.trans_a), op(p.trans_b), p.m, p.n, p.k, p.alpha, call.a, p.lda, call.b, p.ldb, p.beta,
      call.c, p.ldc, epilogue, ops::library_stream(stream)));
  timer.stop();
  stream.synchronize();
  ops::require_success(warpladder_epilogue_destroy(handle, epilogue));
  return timer.seconds();
}

}  // namespace warpladder::sgemm
