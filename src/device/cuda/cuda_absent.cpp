// A build without the CUDA toolkit: there is no GPU side, and everything says so.

#include "base/error.hpp"
#include "device/cuda/cuda_side.hpp"

namespace warpladder::device::cuda {
namespace {

constexpr const char* kWhyNot = "this program was built without the CUDA toolkit";

[[noreturn]] void absent() { throw_resource(kWhyNot); }

}  // namespace

Availability availability() { return {false, kWhyNot}; }
std::optional<GpuCode> gpu_code() { return std::nullopt; }
std::vector<Fact> facts() { return {}; }
void* create_stream() { absent(); }
void destroy_stream(void*) noexcept {}
void synchronize(void*) { absent(); }
void* allocate(std::size_t) { absent(); }
void release(void*) noexcept {}
void fill(void*, unsigned char, std::size_t) { absent(); }
void copy_to_device(void*, const void*, std::size_t) { absent(); }
void copy_to_host(void*, const void*, std::size_t) { absent(); }
void copy_on_device(void*, void*, const void*, std::size_t) { absent(); }
void read(void*, const void*, std::size_t) { absent(); }
void fill_uniform(void*, float*, std::size_t, std::uint64_t, float, float) { absent(); }
void* capture_graph(void*, const std::function<void()>&, int) { absent(); }
void launch_graph(void*, void*) { absent(); }
void destroy_graph(void*) noexcept {}
void* create_event() { absent(); }
void destroy_event(void*) noexcept {}
void record_event(void*, void*) { absent(); }
bool has_passed(void*) { absent(); }
double seconds_between(void*, void*) { absent(); }
Ceilings ceilings() { return {}; }
std::size_t l2_bytes() { absent(); }
void spin(void*, double) { absent(); }
void sweep(void*, const void*, std::size_t) { absent(); }
const runtime::Machine& machine() { absent(); }
runtime::TensorMap encode(runtime::StreamView&, const runtime::TiledMatrix&) { absent(); }
void throw_refused_launch(int) { absent(); }

}  // namespace warpladder::device::cuda
