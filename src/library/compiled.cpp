// Calls with code that the caller wrote: a product's epilogue, and a reduction's function.

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "library/operands.hpp"
#include "library/sgemm.hpp"
#include "ops/sgemm/compiled_text.hpp"
#include "ops/sgemm/gemm.hpp"
#include "runtime/compiled_kernel.hpp"
#include "runtime/expression.hpp"

using namespace warpladder;
using namespace warpladder::library;

struct warpladder_compiled_epilogue {
  Context* context;
  std::string source, product_source;  // of the pass over C, and of products
};
struct warpladder_compiled_op {
  Context* context;
  std::string source;
  float identity;
};

namespace warpladder::library {
namespace {

using runtime::refuse_argument;

constexpr unsigned kThreads = 256;  // of a block of parts/element_map.hpp and parts/fold.hpp
constexpr std::int64_t kInFlight = 4, kMostBlocks = 4096;

const char* map_kernel(int vector) {
  return vector == 4 ? "warpladder::parts::map_elements<Function, 4>"
                     : "warpladder::parts::map_elements<Function, 1>";
}
constexpr const char* kFoldKernel = "warpladder::parts::fold<Function>";

Status named(const char* name, const Status& status) {
  return status.ok() ? status : runtime::refuse(status.code, "%s: %s", name, status.sentence);
}

// Makes an object of a user's expression: checks it, and compiles a kernel of its `source`, so that
// the expression's errors come here.
template <class Object, class Make>
Status create(const char* name, warpladder_handle handle, const char* expression, Object** out,
              const Make& make, const char* kernel) try {
  Context* context = nullptr;
  if (const Status found = find(handle, &context); !found.ok()) return found;
  if (!out) return refuse_argument("%s: out is null", name);
  *out = nullptr;
  if (const Status s = runtime::check_expression(name, expression); !s.ok()) return s;
  const DeviceScope scope(*context);
  if (!scope.status.ok()) return scope.status;
  Object object = make(context);
  const void* ready = nullptr;
  if (const Status s = runtime::compiled_kernel(object.source, kernel, true, &ready); !s.ok()) {
    return named(name, s);
  }
  *out = new Object(std::move(object));
  return {};
} catch (const std::bad_alloc&) {
  return runtime::refuse(Code::out_of_memory, "%s: the host has no memory left", name);
}

template <class Object>
Status destroy(const char* name, warpladder_handle handle, Object* object) {
  Context* context = nullptr;
  if (!object) return {};
  if (const Status found = find(handle, &context); !found.ok()) return found;
  if (object->context != context) {
    return refuse_argument("%s: the object was created with another handle", name);
  }
  delete object;
  return {};
}

template <class Object>
Status check_object(const char* name, const char* argument, const Context& context,
                    const Object* object) {
  if (!object) return refuse_argument("%s: %s is null", name, argument);
  if (object->context == &context) return {};
  return refuse_argument("%s: %s was created with another handle", name, argument);
}

// A launch of a kernel that was compiled at run time.
Status launch_compiled(Session& session, const std::string& source, const char* kernel,
                       std::int64_t blocks, unsigned threads, void** arguments) {
  const void* ready = nullptr;
  if (const Status s = runtime::compiled_kernel(source, kernel, !session.capturing(), &ready);
      !s.ok()) {
    return s;
  }
  return with_memory(session, 0, 0, [&](runtime::StreamView& view, const Memory&) {
    runtime::LaunchConfig config;
    config.grid = {static_cast<unsigned>(blocks)};
    config.block = {threads};
    runtime::gpu_launch(view, ready, config, arguments);
  });
}

// The kernel of parts/element_map.hpp for a C in row-major storage.
const char* map_kernel_for(const sgemm::Call& call) {
  const bool vectors = reinterpret_cast<std::uintptr_t>(call.c) % 16 == 0 &&
                       (call.problem.n | call.problem.ldc) % 4 == 0;
  return map_kernel(vectors ? 4 : 1);
}
Status map_elements(Session& session, const warpladder_compiled_epilogue& epilogue,
                    const sgemm::Call& call) {
  const sgemm::Problem& p = call.problem;
  float* data = call.c;
  std::int64_t rows = p.m, columns = p.n, ld = p.ldc;
  const std::int64_t most = std::int64_t{16} * session.context.machine.multiprocessors,
                     blocks = std::clamp((rows * columns / 4 + kThreads - 1) / kThreads,
                                         std::int64_t{1}, most);
  void* arguments[] = {&data, &rows, &columns, &ld};
  return launch_compiled(session, epilogue.source, map_kernel_for(call), blocks, kThreads,
                         arguments);
}

Status multiply_fused(Session& session, const warpladder_compiled_epilogue& epilogue,
                      const sgemm::Call& call) {
  const sgemm::Problem& p = call.problem;
  const sgemm::CompiledTile& tile =
      sgemm::kCompiledTiles[sgemm::compiled_tile(p.m, p.n, session.context.machine)];
  const sgemm::KernelName kernel = finished_product(p, vector_of(call), tile);
  sgemm::Gemm gemm{p.m,     p.n,    p.alpha == 0.0f ? 0 : p.k,
                   p.alpha, p.beta, call.a,
                   p.lda,   call.b, p.ldb,
                   call.c,  p.ldc,  nullptr};
  void* arguments[] = {&gemm};  // all that a FinishedProduct (compiled_product.hpp) holds
  return launch_compiled(session, epilogue.product_source, kernel.text, tile.ctas(p.m, p.n),
                         static_cast<unsigned>(tile.threads()), arguments);
}

// Whether the product would be one launch of row_07's kernel, on CUDA cores: that kernel takes the
// epilogue into its stores. Behind other kernels, on tensor cores or of even shares, a pass over C
// costs less than they save.
bool is_fused(const Session& session, const sgemm::Call& call) {
  const sgemm::Problem& p = call.problem;
  const sgemm::Plan plan = plan_of(session.context, p, {}, false);
  const std::string_view id = plan.id;
  return p.m > 1 && p.n > 1 && plan.workspace_bytes == 0 &&
         (id == "row_07_register_parity" || id == "row_20_parity_split_k" ||
          id == "row_24_batched_parity");
}

Status multiply_with(Session& session, const warpladder_compiled_epilogue& epilogue,
                     const sgemm::Call& given) {
  const sgemm::Call call = in_layout(given, sgemm::Layout::row_major);
  if (call.problem.m == 0 || call.problem.n == 0) return {};
  if (is_fused(session, call)) return multiply_fused(session, epilogue, call);
  // The pass's kernel first: where it cannot be had, nothing is launched.
  const void* ready = nullptr;
  if (const Status s = runtime::compiled_kernel(epilogue.source, map_kernel_for(call),
                                                !session.capturing(), &ready);
      !s.ok()) {
    return s;
  }
  if (const Status s = multiply(session, given); !s.ok()) return s;
  return map_elements(session, epilogue, call);
}

Status fold(Session& session, const warpladder_compiled_op& op, std::int64_t n, const float* x,
            float* result) {
  const std::int64_t most =
      std::min(kMostBlocks, std::int64_t{4} * session.context.machine.multiprocessors);
  const std::int64_t of_block = kThreads * kInFlight,
                     blocks = std::clamp((n + of_block - 1) / of_block, std::int64_t{1}, most);
  const void* ready = nullptr;
  if (const Status s =
          runtime::compiled_kernel(op.source, kFoldKernel, !session.capturing(), &ready);
      !s.ok()) {
    return s;
  }
  const std::size_t bytes = blocks > 1 ? sizeof(float) * static_cast<std::size_t>(blocks) : 0;
  return with_memory(session, bytes, 0, [&](runtime::StreamView& view, const Memory& memory) {
    const auto launch = [&](const float* in, std::int64_t count, std::int64_t grid, float* out) {
      float identity = op.identity;
      void* arguments[] = {&in, &count, &identity, &out};
      runtime::LaunchConfig config;
      config.grid = {static_cast<unsigned>(grid)};
      config.block = {kThreads};
      runtime::gpu_launch(view, ready, config, arguments);
    };
    auto* const parts = static_cast<float*>(memory.scratch);
    launch(x, n, blocks, blocks > 1 ? parts : result);
    if (blocks > 1) launch(parts, blocks, 1, result);
  });
}

}  // namespace
}  // namespace warpladder::library

warpladder_status warpladder_epilogue_create(warpladder_handle handle, const char* expression,
                                             warpladder_epilogue* out) {
  const auto make = [&](Context* context) {
    const std::string function = runtime::function_object("const float x", expression);
    return warpladder_compiled_epilogue{context, "#include \"parts/element_map.hpp\"\n" + function,
                                        sgemm::kCompiledSource + function};
  };
  return answer(create("epilogue_create", handle, expression, out, make, map_kernel(4)));
}

warpladder_status warpladder_epilogue_destroy(warpladder_handle handle,
                                              warpladder_epilogue epilogue) {
  return answer(destroy("epilogue_destroy", handle, epilogue));
}

warpladder_status warpladder_sgemm_epilogue(warpladder_handle handle, warpladder_layout layout,
                                            warpladder_op op_a, warpladder_op op_b, int64_t m,
                                            int64_t n, int64_t k, float alpha, const float* a,
                                            int64_t lda, const float* b, int64_t ldb, float beta,
                                            float* c, int64_t ldc, warpladder_epilogue epilogue,
                                            warpladder_stream stream) {
  const char* const name = "sgemm_epilogue";
  const GivenProduct given{
      name,
      layout,
      op_a,
      op_b,
      {problem_of(layout, op_a, op_b, m, n, k, alpha, lda, ldb, beta, ldc), a, b, c}};
  const auto check_all = [&](const Context& context) -> Status {
    if (Status s = check_object(name, "epilogue", context, epilogue); !s.ok()) return s;
    return check(given);
  };
  return call(handle, stream, check_all, [&](Session& session) {
    return named(name, multiply_with(session, *epilogue, given.call));
  });
}

warpladder_status warpladder_binary_op_create(warpladder_handle handle, const char* expression,
                                              float identity, warpladder_binary_op* out) {
  const auto make = [&](Context* context) {
    return warpladder_compiled_op{
        context,
        "#include \"parts/fold.hpp\"\n" +
            runtime::function_object("const float a, const float b", expression),
        identity};
  };
  return answer(create("binary_op_create", handle, expression, out, make, kFoldKernel));
}

warpladder_status warpladder_binary_op_destroy(warpladder_handle handle, warpladder_binary_op op) {
  return answer(destroy("binary_op_destroy", handle, op));
}

warpladder_status warpladder_reduce_with(warpladder_handle handle, warpladder_binary_op op,
                                         int64_t n, const float* x, float* result,
                                         warpladder_stream stream) {
  const char* const name = "reduce_with";
  const auto check_all = [&](const Context& context) -> Status {
    if (Status s = check_object(name, "op", context, op); !s.ok()) return s;
    if (n < 0) {
      return refuse_argument("%s: n must not be negative, it is %lld", name, runtime::number(n));
    }
    std::int64_t elements = 0;
    if (!runtime::extent_of(1, n, n, &elements)) {
      return refuse_argument("%s: n = %lld is too large to address", name, runtime::number(n));
    }
    if (Status s = check_pointer(name, "x", x, n, sizeof(float)); !s.ok()) return s;
    if (Status s = check_pointer(name, "result", result, 1, sizeof(float)); !s.ok()) return s;
    return check_apart(name, "result", vector_of(result, 1), "x", vector_of(x, n));
  };
  return call(handle, stream, check_all,
              [&](Session& session) { return named(name, fold(session, *op, n, x, result)); });
}
