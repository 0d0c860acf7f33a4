#pragma once
// The CUDA runtime's side of device.hpp. Without CUDA the same functions stand in cuda_absent.cpp.
// Every call checks what CUDA returns and throws Error with CUDA's own sentence.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/gpu_code.hpp"
#include "device/timing.hpp"

namespace warpladder::device::cuda {

Availability availability();
// Null where no GPU answers.
std::optional<GpuCode> gpu_code();
std::vector<Fact> facts();

void* create_stream();
void destroy_stream(void* stream) noexcept;
void synchronize(void* stream);

void* allocate(std::size_t bytes);
void release(void* pointer) noexcept;
void fill(void* pointer, unsigned char byte, std::size_t bytes);
void copy_to_device(void* to, const void* from, std::size_t bytes);
void copy_to_host(void* to, const void* from, std::size_t bytes);
void copy_on_device(void* stream, void* to, const void* from, std::size_t bytes);

void read(void* stream, const void* from, std::size_t bytes);
void fill_uniform(void* stream, float* to, std::size_t count, std::uint64_t seed, float low,
                  float high);

// A graph of what `work`, called so many times, puts on the stream; null where something that it
// calls cannot be captured.
void* capture_graph(void* stream, const std::function<void()>& work, int times);
void launch_graph(void* graph, void* stream);
void destroy_graph(void* graph) noexcept;

void* create_event();
void destroy_event(void* event) noexcept;
void record_event(void* event, void* stream);
bool has_passed(void* event);
double seconds_between(void* begin, void* end);

Ceilings ceilings();
std::size_t l2_bytes();
void spin(void* stream, double seconds);
void sweep(void* stream, const void* zeros, std::size_t bytes);

const runtime::Machine& machine();
runtime::TensorMap encode(runtime::StreamView& stream, const runtime::TiledMatrix& matrix);
// Of a launch that left this cudaError_t in its stream.
[[noreturn]] void throw_refused_launch(int error);

}  // namespace warpladder::device::cuda
