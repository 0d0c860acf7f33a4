// torch.ops.warpladder: schemas, and their implementations on CUDA devices. What runs on the CPU,
// gradients and shapes without data are Python's (warpladder/_operators.py).

#include "products.hpp"
#include "reductions.hpp"
#include "routes.hpp"

namespace warpladder::torch_binding {
namespace {

#define WARPLADDER_REDUCTION(name, function)                                             \
  Tensor name(const Tensor& x) { return reduce_all("warpladder::" #name, function, x); } \
  Tensor name##_dim(const Tensor& x, std::int64_t dim, bool keepdim) {                   \
    return reduce_dim("warpladder::" #name, function, x, dim, keepdim);                  \
  }
WARPLADDER_REDUCTION(sum, WARPLADDER_SUM)
WARPLADDER_REDUCTION(mean, WARPLADDER_MEAN)
WARPLADDER_REDUCTION(min, WARPLADDER_MIN)
WARPLADDER_REDUCTION(max, WARPLADDER_MAX)
WARPLADDER_REDUCTION(argmin, WARPLADDER_ARGMIN)
WARPLADDER_REDUCTION(argmax, WARPLADDER_ARGMAX)
#undef WARPLADDER_REDUCTION

}  // namespace
}  // namespace warpladder::torch_binding

STABLE_TORCH_LIBRARY(warpladder, m) {
  m.def("mm(Tensor a, Tensor b) -> Tensor");
  m.def("addmm(Tensor c, Tensor a, Tensor b, *, float beta=1.0, float alpha=1.0) -> Tensor");
  m.def("bmm(Tensor a, Tensor b) -> Tensor");
  m.def("baddbmm(Tensor c, Tensor a, Tensor b, *, float beta=1.0, float alpha=1.0) -> Tensor");
  m.def("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor");
  m.def("mv(Tensor a, Tensor x) -> Tensor");
  m.def(
      "spmm_csr_vector(Tensor crow_indices, Tensor col_indices, Tensor values, Tensor x) -> "
      "Tensor");
  m.def("transpose(Tensor x) -> Tensor");
  for (const char* const schema :
       {"sum(Tensor x) -> Tensor", "mean(Tensor x) -> Tensor", "min(Tensor x) -> Tensor",
        "max(Tensor x) -> Tensor", "argmin(Tensor x) -> Tensor", "argmax(Tensor x) -> Tensor",
        "sum.dim(Tensor x, int dim, bool keepdim=False) -> Tensor",
        "mean.dim(Tensor x, int dim, bool keepdim=False) -> Tensor",
        "min.dim(Tensor x, int dim, bool keepdim=False) -> Tensor",
        "max.dim(Tensor x, int dim, bool keepdim=False) -> Tensor",
        "argmin.dim(Tensor x, int dim, bool keepdim=False) -> Tensor",
        "argmax.dim(Tensor x, int dim, bool keepdim=False) -> Tensor"}) {
    m.def(schema);
  }
  // warpladder.PreparedLinear's.
  m.def("_prepare(Tensor weight) -> int");
  m.def("_linear_prepared(Tensor input, int prepared, int outputs, Tensor? bias=None) -> Tensor");
  // What accelerate() puts in the place of aten's operators; for no other use.
  m.def("_addmm_or_pass(Tensor c, Tensor a, Tensor b, float beta, float alpha) -> Tensor?");
  m.def("_baddbmm_or_pass(Tensor c, Tensor a, Tensor b, float beta, float alpha) -> Tensor?");
  for (const char* const name : {"_addmm_or_pass_out", "_baddbmm_or_pass_out"}) {
    const std::string arguments = "(Tensor c, Tensor a, Tensor b, float beta, float alpha, ";
    m.def((name + arguments + "Tensor(a!) out) -> bool?").c_str());
  }
}

STABLE_TORCH_LIBRARY_IMPL(warpladder, CUDA, m) {
  using namespace warpladder::torch_binding;
  m.impl("mm", TORCH_BOX(&mm));
  m.impl("addmm", TORCH_BOX(&addmm));
  m.impl("bmm", TORCH_BOX(&bmm));
  m.impl("baddbmm", TORCH_BOX(&baddbmm));
  m.impl("linear", TORCH_BOX(&linear));
  m.impl("mv", TORCH_BOX(&mv));
  m.impl("spmm_csr_vector", TORCH_BOX(&spmm_csr_vector));
  m.impl("transpose", TORCH_BOX(&transpose));
  m.impl("sum", TORCH_BOX(&sum));
  m.impl("mean", TORCH_BOX(&mean));
  m.impl("min", TORCH_BOX(&min));
  m.impl("max", TORCH_BOX(&max));
  m.impl("argmin", TORCH_BOX(&argmin));
  m.impl("argmax", TORCH_BOX(&argmax));
  m.impl("sum.dim", TORCH_BOX(&sum_dim));
  m.impl("mean.dim", TORCH_BOX(&mean_dim));
  m.impl("min.dim", TORCH_BOX(&min_dim));
  m.impl("max.dim", TORCH_BOX(&max_dim));
  m.impl("argmin.dim", TORCH_BOX(&argmin_dim));
  m.impl("argmax.dim", TORCH_BOX(&argmax_dim));
  m.impl("_prepare", TORCH_BOX(&prepare));
  m.impl("_linear_prepared", TORCH_BOX(&linear_prepared));
  m.impl("_addmm_or_pass", TORCH_BOX(&route_addmm));
  m.impl("_baddbmm_or_pass", TORCH_BOX(&route_baddbmm));
  m.impl("_addmm_or_pass_out", TORCH_BOX(&route_addmm_out));
  m.impl("_baddbmm_or_pass_out", TORCH_BOX(&route_baddbmm_out));
}
