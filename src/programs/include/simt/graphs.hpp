#pragma once
// CUDA graphs: lists of work in the order in which it was added, by capture or node by node. What a
// node depends on was added before it, so the order will do.

#include <functional>

#include "simt/textures.hpp"

namespace simt {
// A kernel whose type a node's parameters must keep: rewriting takes the cast to void* away.
class AnyKernel {
 public:
  AnyKernel() = default;
  AnyKernel(std::nullptr_t) {}
  template <class... P>
  AnyKernel(void (*kernel)(P...)) : function_(reinterpret_cast<void (*)()>(kernel)) {
    bind_ = [](void (*function)(), const Shape& shape, void** arguments) {
      const auto kernel = reinterpret_cast<void (*)(P...)>(function);
      return bound(kernel, shape, arguments, std::index_sequence_for<P...>());
    };
  }
  // The launch with the arguments as they are now.
  std::function<void()> with(const Shape& shape, void** arguments) const {
    return bind_(function_, shape, arguments);
  }
  explicit operator bool() const { return function_; }

 private:
  template <class... P, std::size_t... index>
  static std::function<void()> bound(void (*kernel)(P...), const Shape& shape, void** arguments,
                                     std::index_sequence<index...>) {
    const auto values = std::make_tuple(*static_cast<std::decay_t<P>*>(arguments[index])...);
    return [=] { std::apply([&](auto... v) { launch_pointer(shape, kernel, v...); }, values); };
  }
  void (*function_)() = nullptr;
  std::function<void()> (*bind_)(void (*)(), const Shape&, void**) = nullptr;
};
}  // namespace simt

struct cudaKernelNodeParams {
  simt::AnyKernel func;
  dim3 simt_gridDim, simt_blockDim;  // as rewriting calls members of CUDA's names
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};
struct cudaMemsetParams {
  void* dst;
  std::size_t pitch;
  unsigned value, elementSize;
  std::size_t width, height;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void* userData;
};
enum cudaGraphExecUpdateResult { cudaGraphExecUpdateSuccess, cudaGraphExecUpdateError };

extern "C" {
cudaError_t program_graph_create(cudaGraph_t* graph);
cudaError_t program_graph_clone(cudaGraph_t* copy, cudaGraph_t graph);
cudaError_t program_graph_assign(cudaGraph_t graph, cudaGraph_t from);
// `node` becomes what `run` does with `data`; a null one is added to the graph.
cudaError_t program_graph_set(cudaGraph_t graph, cudaGraphNode_t* node, void (*run)(void*),
                              void* data);
cudaError_t program_graph_size(cudaGraph_t graph, std::size_t* count);
cudaError_t program_graph_launch(void* graph);
}

namespace simt {
inline cudaError_t set_node(cudaGraph_t graph, cudaGraphNode_t* node, std::function<void()> work) {
  const auto run = [](void* data) { (*static_cast<std::function<void()>*>(data))(); };
  return program_graph_set(graph, node, run, new std::function<void()>(std::move(work)));
}
inline std::function<void()> work_of(const cudaKernelNodeParams& p) {
  return p.func.with(shape(p.simt_gridDim, p.simt_blockDim, p.sharedMemBytes), p.kernelParams);
}
inline std::function<void()> work_of(const cudaMemcpy3DParms& p) {
  return [p] { cudaMemcpy3D(&p); };
}
inline std::function<void()> work_of(const cudaMemsetParams& p) {
  return [p] {
    for (std::size_t row = 0; row < p.height; ++row) {
      char* const at = static_cast<char*>(p.dst) + row * p.pitch;
      if (p.elementSize == 1 || p.value == 0) {
        cudaMemset(at, static_cast<int>(p.value), p.width * p.elementSize);
        continue;
      }
      for (std::size_t i = 0; i < p.width; ++i) {
        cudaMemcpy(at + i * p.elementSize, &p.value, p.elementSize, cudaMemcpyHostToDevice);
      }
    }
  };
}
inline std::function<void()> work_of(const cudaHostNodeParams& p) {
  return [p] { p.fn(p.userData); };
}
}  // namespace simt

#define SIMT_NODE(Kind, Params)                                                                  \
  inline cudaError_t cudaGraphAdd##Kind##Node(cudaGraphNode_t* node, cudaGraph_t graph,          \
                                              const cudaGraphNode_t*, std::size_t,               \
                                              const Params* p) {                                 \
    *node = nullptr;                                                                             \
    return simt::set_node(graph, node, simt::work_of(*p));                                       \
  }                                                                                              \
  inline cudaError_t cudaGraphExec##Kind##NodeSetParams(cudaGraphExec_t graph,                   \
                                                        cudaGraphNode_t node, const Params* p) { \
    return simt::set_node((cudaGraph_t)graph, &node, simt::work_of(*p));                         \
  }                                                                                              \
  inline cudaError_t cudaGraph##Kind##NodeSetParams(cudaGraphNode_t node, const Params* p) {     \
    return simt::set_node(nullptr, &node, simt::work_of(*p));                                    \
  }
SIMT_NODE(Kernel, cudaKernelNodeParams)
SIMT_NODE(Memcpy, cudaMemcpy3DParms)
SIMT_NODE(Memset, cudaMemsetParams)
SIMT_NODE(Host, cudaHostNodeParams)
#undef SIMT_NODE
inline cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                         const cudaGraphNode_t*, std::size_t) {
  *node = nullptr;
  return simt::set_node(graph, node, [] {});
}
inline cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                            const cudaGraphNode_t*, std::size_t, void* to,
                                            const void* from, std::size_t bytes,
                                            cudaMemcpyKind kind) {
  *node = nullptr;
  return simt::set_node(graph, node, [=] { cudaMemcpy(to, from, bytes, kind); });
}
inline cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                              const cudaGraphNode_t*, std::size_t,
                                              cudaGraph_t child) {
  *node = nullptr;
  return simt::set_node(graph, node, [=] { program_graph_launch(child); });
}
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t*,
                                            const cudaGraphNode_t*, std::size_t) {
  return cudaSuccess;
}
inline cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  return program_graph_create(graph);
}
inline cudaError_t cudaGraphClone(cudaGraph_t* copy, cudaGraph_t graph) {
  return program_graph_clone(copy, graph);
}
inline cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, std::size_t* count) {
  return program_graph_size(graph, count);
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* runnable, cudaGraph_t graph,
                                        cudaGraphNode_t*, char*, std::size_t) {
  return program_graph_clone((cudaGraph_t*)runnable, graph);
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* runnable, cudaGraph_t graph,
                                        unsigned long long = 0) {
  return program_graph_clone((cudaGraph_t*)runnable, graph);
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t runnable, cudaGraph_t graph,
                                       cudaGraphNode_t*, cudaGraphExecUpdateResult* result) {
  *result = cudaGraphExecUpdateSuccess;
  return program_graph_assign((cudaGraph_t)runnable, graph);
}
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t) {
  return program_graph_launch(graph);
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return cudaSuccess; }
