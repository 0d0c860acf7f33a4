// The plans of products, as calls ask for them.

#include "library/sgemm.hpp"
#include "runtime/remembered.hpp"

namespace warpladder::library {

sgemm::Plan plan_of(const Context& context, const sgemm::Problem& p, const sgemm::Batch& batch,
                    bool prepared) {
  struct PlanOfProduct;
  const sgemm::Arithmetic arithmetic = arithmetic_of(context);
  const bool by_rows = p.layout == sgemm::Layout::row_major, scales = p.alpha == 0.0f;
  const int flags = p.trans_a + 2 * p.trans_b + 4 * by_rows + 8 * scales + 16 * batch.arrays +
                    32 * prepared + 64 * static_cast<int>(arithmetic);
  return runtime::remembered<runtime::About::plans, PlanOfProduct>(
      {p.m, p.n, p.k, batch.count, flags}, context.machine, [&] {
        return sgemm::WARPLADDER_LIBRARY_FLAVOUR::plan(p, context.machine, arithmetic, batch,
                                                       prepared);
      });
}

}  // namespace warpladder::library
