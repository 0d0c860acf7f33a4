#include "routes.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "gpu.hpp"
#include "products.hpp"

namespace warpladder::torch_binding {
namespace {

enum Op { kMm, kAddmm, kBmm, kBaddbmm, kOps };
constexpr const char* kOpNames[kOps] = {"mm", "addmm", "bmm", "baddbmm"};

enum Verdict {
  kTaken,
  kType,
  kPrecision,
  kUnknown,
  kDevice,
  kArguments,
  kEmpty,
  kComplex,
  kRefused,
  kVerdicts
};
constexpr const char* kVerdictNames[kVerdicts] = {
    "taken",
    "not float32",
    "TF32 is allowed (torch.backends.cuda.matmul.fp32_precision)",
    "cuBLAS does not say whether TF32 is allowed",
    "the library does not run on this GPU",
    "shapes, devices or layouts that are PyTorch's to judge",
    "nothing to compute",
    "beta or alpha is complex",
    "the library refused the call"};

std::array<std::array<std::atomic<std::int64_t>, kVerdicts>, kOps> calls{};
std::array<std::string, kOps> refusals;  // the library's last sentence for each operator
std::mutex refusing;
std::atomic<bool> logging{false};

void count(std::size_t op, std::size_t verdict, const std::string& refusal) {
  calls.at(op).at(verdict).fetch_add(1, std::memory_order_relaxed);
  if (verdict != kRefused) return;
  const std::lock_guard lock(refusing);
  refusals[op] = refusal;
}

// kTaken if PyTorch would multiply FP32 in FP32 now. Its cuBLAS handle says so: torch.backends and
// C++ guards set the handle's math mode.
Verdict judge_precision() {
  using GetHandle = AOTITorchError(void** handle);
  using GetMode = int(void* handle, int* mode);
  static GetHandle* const handle_of =
      cuda_function<GetHandle>("torch_get_current_cuda_blas_handle");
  static GetMode* const mode_of = []() -> GetMode* {
    for (const char* const name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.14"}) {
      if (void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) {
        return reinterpret_cast<GetMode*>(dlsym(library, "cublasGetMathMode"));
      }
    }
    return nullptr;
  }();
  constexpr int kKindOfMath = 0xf, kDefaultMath = 0;
  void* handle = nullptr;
  int mode = 0;
  if (!handle_of || !mode_of || handle_of(&handle) != TORCH_SUCCESS || mode_of(handle, &mode)) {
    return kUnknown;
  }
  return (mode & kKindOfMath) == kDefaultMath ? kTaken : kPrecision;
}

bool fits(const View& a, const View& b, std::int64_t dims) {
  return a.dims == dims && b.dims == dims && (dims == 2 || a.size(0) == b.size(0)) &&
         a.size(dims - 1) == b.size(dims - 2);
}

bool is_here(const View& view, const View& first) {
  return view.strided && view.device_type == first.device_type && view.device == first.device &&
         view.dtype == first.dtype;
}

Verdict judge(const View& a, const View& b, std::int64_t dims) {
  if (!is_float32(a)) return kType;
  if (!is_on_cuda(a) || !a.strided || !is_here(b, a) || !fits(a, b, dims)) return kArguments;
  const std::int64_t last = dims - 1;
  if (a.size(last - 1) == 0 || b.size(last) == 0 || (dims == 3 && a.size(0) == 0)) return kEmpty;
  if (why_unsupported(a.device)) return kDevice;
  return judge_precision();
}

// Whether `out` has the product's shape, with rows that lie beside each other.
bool is_writable(const View& out, const View& a, const View& b) {
  const std::vector<std::int64_t> shape = product_shape(a, b);
  if (!is_here(out, a) || out.dims != a.dims ||
      !std::equal(shape.begin(), shape.end(), out.sizes)) {
    return false;
  }
  const std::int64_t d = out.dims - 2, columns = out.size(d + 1);
  return (columns <= 1 || out.stride(d + 1) == 1) &&
         (out.size(d) <= 1 || out.stride(d) >= std::max<std::int64_t>(columns, 1)) &&
         (d == 0 || out.size(0) <= 1 || out.stride(0) > 0);
}

bool broadcasts(const View& c, const std::vector<std::int64_t>& shape) {
  const auto dims = static_cast<std::int64_t>(shape.size());
  if (c.dims > dims) return false;
  for (std::int64_t d = 1; d <= c.dims; ++d) {
    const std::int64_t size = c.size(c.dims - d);
    if (size != 1 && size != shape[static_cast<std::size_t>(dims - d)]) return false;
  }
  return true;
}

// Whether both name the same elements in the same order.
bool is_same(const Tensor& x, const Tensor& y) {
  const View one(x), other(y);
  if (x.const_data_ptr() != y.const_data_ptr() || one.dims != other.dims) return false;
  for (std::int64_t d = 0; d < one.dims; ++d) {
    if (one.size(d) != other.size(d)) return false;
    if (one.size(d) > 1 && one.stride(d) != other.stride(d)) return false;
  }
  return true;
}

// Whether memory from the first to the last element of one holds any of the other's. Neither is
// empty.
bool meet(const Tensor& x, const Tensor& y) {
  const auto range = [](const Tensor& tensor) {
    const View view(tensor);
    auto end = static_cast<const float*>(tensor.const_data_ptr()) + 1;
    for (std::int64_t d = 0; d < view.dims; ++d) end += (view.size(d) - 1) * view.stride(d);
    return std::pair{static_cast<const float*>(tensor.const_data_ptr()), end};
  };
  const auto [x_begin, x_end] = range(x);
  const auto [y_begin, y_end] = range(y);
  return x_begin < y_end && y_begin < x_end;
}

// PyTorch's own product, below the dispatcher: at::cuda::mm_out() or bmm_out(). The stable
// interface's would turn its exceptions, torch.OutOfMemoryError too, into a code. A symbol spells
// its parameters, and a handle of the stable interface is the tensor's address.
using OwnProduct = void*(AtenTensorHandle out, AtenTensorHandle a, AtenTensorHandle b);
OwnProduct* own_product(Op op) {
  static OwnProduct* const mm =
      cuda_function<OwnProduct>("_ZN2at4cuda6mm_outERNS_6TensorERKS1_S4_");
  static OwnProduct* const bmm =
      cuda_function<OwnProduct>("_ZN2at4cuda7bmm_outERNS_6TensorERKS1_S4_");
  return op == kMm ? mm : bmm;
}

Tensor pass(Op op, const Tensor& out, const Tensor& a, const Tensor& b) {
  OwnProduct* const product = own_product(op);
  if (!product) refuse(kOpNames[op], "this PyTorch has no CUDA");
  product(out.get(), a.get(), b.get());
  return out;
}

// Calls `product`, which returns the library's status, unless the verdict is another than kTaken
// already. Counts and logs the last verdict.
template <class Product>
Verdict attempt(Op op, Verdict verdict, const View& a, const View& b, const Product& product) {
  std::string refusal;
  if (verdict == kTaken) {
    warpladder_status status = WARPLADDER_SUCCESS;
    try {
      status = product();
      if (status != WARPLADDER_SUCCESS) refusal = warpladder_last_error();
    } catch (const std::exception& error) {  // no memory for the result, or for a copy
      status = WARPLADDER_OUT_OF_MEMORY;
      refusal = error.what();
    }
    if (status == WARPLADDER_CUDA_ERROR) refuse(kOpNames[op], refusal);
    if (status != WARPLADDER_SUCCESS) verdict = kRefused;
  }
  count(op, verdict, refusal);
  if (logging.load(std::memory_order_relaxed)) {
    std::fprintf(stderr, "warpladder: %s %s x %s: %s%s%s%s\n", kOpNames[op], shape_of(a).c_str(),
                 shape_of(b).c_str(), verdict == kTaken ? "" : "passed on, ",
                 kVerdictNames[verdict], refusal.empty() ? "" : ": ", refusal.c_str());
  }
  return verdict;
}

Tensor route(Op op, const Tensor& a, const Tensor& b, std::int64_t dims) {
  const View view_a(a), view_b(b);
  std::optional<Tensor> out;
  const auto product = [&] {
    out = new_tensor(view_a, product_shape(view_a, view_b));
    return try_to_multiply(kOpNames[op], *out, a, b, 0, 1, {});
  };
  if (attempt(op, judge(view_a, view_b, dims), view_a, view_b, product) == kTaken) return *out;
  out.reset();
  return pass(op, new_tensor(view_a, {0}), a, b);  // PyTorch resizes it
}

Tensor route_out(Op op, const Tensor& a, const Tensor& b, const Tensor& out, std::int64_t dims) {
  const View view_a(a), view_b(b);
  Verdict verdict = judge(view_a, view_b, dims);
  if (verdict == kTaken && !is_writable(View(out), view_a, view_b)) verdict = kArguments;
  const auto product = [&] { return try_to_multiply(kOpNames[op], out, a, b, 0, 1, {}); };
  return attempt(op, verdict, view_a, view_b, product) == kTaken ? out : pass(op, out, a, b);
}

Verdict judge_sum(const View& c, const View& a, const View& b, std::int64_t dims) {
  const Verdict verdict = judge(a, b, dims);
  const bool fits = verdict != kTaken || (is_here(c, a) && broadcasts(c, product_shape(a, b)));
  return fits ? verdict : kArguments;
}

std::optional<bool> route_sum_out(Op op, const Tensor& out, const Tensor& c, const Tensor& a,
                                  const Tensor& b, double beta, double alpha, std::int64_t dims) {
  const View view_a(a), view_b(b);
  Verdict verdict = judge_sum(View(c), view_a, view_b, dims);
  if (verdict == kTaken && !is_writable(View(out), view_a, view_b)) verdict = kArguments;
  const bool in_place = is_same(out, c);
  if (verdict == kTaken && !in_place && meet(out, c)) verdict = kArguments;
  const Addend added = verdict == kTaken && !in_place ? addend_of(c, out) : Addend{};
  const bool adds = in_place || added.data;
  const auto product = [&] {
    return try_to_multiply(kOpNames[op], out, a, b, static_cast<float>(adds ? beta : 0),
                           static_cast<float>(alpha), added);
  };
  if (attempt(op, verdict, view_a, view_b, product) != kTaken) return std::nullopt;
  return !adds && beta != 0;
}

std::optional<Tensor> route_sum(Op op, const Tensor& c, const Tensor& a, const Tensor& b,
                                double beta, double alpha, std::int64_t dims) {
  const View view_a(a), view_b(b);
  std::optional<Tensor> out;
  const auto product = [&] {
    out = new_tensor(view_a, product_shape(view_a, view_b));
    const Addend added = addend_of(c, *out);
    const warpladder_status status =
        try_to_multiply(kOpNames[op], *out, a, b, static_cast<float>(added.data ? beta : 0),
                        static_cast<float>(alpha), added);
    if (status == WARPLADDER_SUCCESS && !added.data) out = plus(*out, c, beta);
    return status;
  };
  const Verdict verdict = judge_sum(View(c), view_a, view_b, dims);
  if (attempt(op, verdict, view_a, view_b, product) != kTaken) return std::nullopt;
  return out;
}

using torch::stable::detail::StableLibrary;
std::unique_ptr<StableLibrary> routes;  // null: aten's own products are in place

}  // namespace

Tensor route_mm(const Tensor& a, const Tensor& b) { return route(kMm, a, b, 2); }
Tensor route_bmm(const Tensor& a, const Tensor& b) { return route(kBmm, a, b, 3); }
Tensor route_mm_out(const Tensor& a, const Tensor& b, const Tensor& out) {
  return route_out(kMm, a, b, out, 2);
}
Tensor route_bmm_out(const Tensor& a, const Tensor& b, const Tensor& out) {
  return route_out(kBmm, a, b, out, 3);
}
std::optional<Tensor> route_addmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta,
                                  double alpha) {
  return route_sum(kAddmm, c, a, b, beta, alpha, 2);
}
std::optional<Tensor> route_baddbmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta,
                                    double alpha) {
  return route_sum(kBaddbmm, c, a, b, beta, alpha, 3);
}
std::optional<bool> route_addmm_out(const Tensor& c, const Tensor& a, const Tensor& b, double beta,
                                    double alpha, const Tensor& out) {
  return route_sum_out(kAddmm, out, c, a, b, beta, alpha, 2);
}
std::optional<bool> route_baddbmm_out(const Tensor& c, const Tensor& a, const Tensor& b,
                                      double beta, double alpha, const Tensor& out) {
  return route_sum_out(kBaddbmm, out, c, a, b, beta, alpha, 3);
}

}  // namespace warpladder::torch_binding

using namespace warpladder::torch_binding;

int warpladder_torch_route(int wanted) try {
  if (!wanted) {
    routes.reset();
  } else if (!routes) {
    if (find_cuda_function("aoti_torch_cuda_mm_out") && !(own_product(kMm) && own_product(kBmm))) {
      return 1;
    }
    auto made = std::make_unique<StableLibrary>(StableLibrary::Kind::IMPL, "aten", "CUDA", __FILE__,
                                                __LINE__);
    made->impl("mm", TORCH_BOX(&route_mm));
    made->impl("bmm", TORCH_BOX(&route_bmm));
    made->impl("mm.out", TORCH_BOX(&route_mm_out));
    made->impl("bmm.out", TORCH_BOX(&route_bmm_out));
    routes = std::move(made);
  }
  return 0;
} catch (...) {
  return 1;
}

void warpladder_torch_log(int wanted) { logging.store(wanted != 0); }

void warpladder_torch_counts(int64_t* counts, int reset) {
  for (int op = 0; op < kOps; ++op) {
    for (int verdict = 0; verdict < kVerdicts; ++verdict) {
      auto& cell = calls[static_cast<std::size_t>(op)][static_cast<std::size_t>(verdict)];
      *counts++ = reset ? cell.exchange(0) : cell.load();
    }
  }
}

const char* warpladder_torch_refusal(int op) {
  static thread_local std::string copy;
  const std::lock_guard lock(refusing);
  copy = refusals.at(static_cast<std::size_t>(op));
  return copy.c_str();
}

void warpladder_torch_release(int64_t prepared) { release_prepared(prepared); }

int64_t warpladder_torch_copies(void) { return copies_made(); }

void warpladder_torch_count(int op, int verdict, const char* refusal) {
  count(static_cast<std::size_t>(op), static_cast<std::size_t>(verdict), refusal);
}

const char* warpladder_torch_operator(int op) {
  return op >= 0 && op < kOps ? kOpNames[op] : nullptr;
}
const char* warpladder_torch_verdict(int verdict) {
  return verdict >= 0 && verdict < kVerdicts ? kVerdictNames[verdict] : nullptr;
}
const char* warpladder_torch_unsupported(int device) { return why_unsupported(device); }
