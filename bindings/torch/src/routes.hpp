#pragma once
// aten's products on CUDA devices: the library's where they are FP32 and TF32 is not allowed,
// PyTorch's own otherwise.

#include <optional>

#include "tensors.hpp"

namespace warpladder::torch_binding {

Tensor route_mm(const Tensor& a, const Tensor& b);
Tensor route_bmm(const Tensor& a, const Tensor& b);
Tensor route_mm_out(const Tensor& a, const Tensor& b, const Tensor& out);
Tensor route_bmm_out(const Tensor& a, const Tensor& b, const Tensor& out);
// Nothing comes back from these where the call is PyTorch's. Their out= forms return whether
// beta · c is still to be added to `out`: the stable interface cannot.
std::optional<Tensor> route_addmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta,
                                  double alpha);
std::optional<Tensor> route_baddbmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta,
                                    double alpha);
std::optional<bool> route_addmm_out(const Tensor& c, const Tensor& a, const Tensor& b, double beta,
                                    double alpha, const Tensor& out);
std::optional<bool> route_baddbmm_out(const Tensor& c, const Tensor& a, const Tensor& b,
                                      double beta, double alpha, const Tensor& out);

}  // namespace warpladder::torch_binding

// What Python calls through ctypes. None of these throws.
extern "C" {
// Puts mm and bmm, and their out= forms, in the place of aten's on CUDA devices, or takes them
// away. 0: done.
WARPLADDER_API int warpladder_torch_route(int wanted);
// Whether each decision is printed.
WARPLADDER_API void warpladder_torch_log(int wanted);
// counts[operator * verdicts + verdict] since the last reset; both sizes are the caller's to know.
WARPLADDER_API void warpladder_torch_counts(int64_t* counts, int reset);
WARPLADDER_API int64_t warpladder_torch_copies(void);
// Why the library refused the last call of an operator that it refused. Valid until the thread asks
// again.
WARPLADDER_API const char* warpladder_torch_refusal(int op);
// Adds one call of an operator that Python has passed on, and the library's sentence if it refused.
WARPLADDER_API void warpladder_torch_count(int op, int verdict, const char* refusal);
// Names, null behind the last.
WARPLADDER_API const char* warpladder_torch_operator(int op);
WARPLADDER_API const char* warpladder_torch_verdict(int verdict);
// Frees what _prepare() has made.
WARPLADDER_API void warpladder_torch_release(int64_t prepared);
// Why the library does not run on the CUDA device; null where it does.
WARPLADDER_API const char* warpladder_torch_unsupported(int device);
}
