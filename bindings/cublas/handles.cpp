#include "handles.hpp"

#include <atomic>
#include <mutex>

#include "device.hpp"
#include "report.hpp"

namespace warpladder::cublas {
namespace {

constexpr int kMostContexts = 64;

struct Slot {
  std::atomic<std::uint64_t> context{0};
  std::atomic<warpladder_handle> handle{nullptr};
};
Slot slots[2][kMostContexts];  // ordinary, pedantic
std::mutex making;

Slot* find(bool pedantic, std::uint64_t context) {
  for (Slot& slot : slots[pedantic]) {
    const std::uint64_t there = slot.context.load(std::memory_order_acquire);
    if (there == context) return &slot;
    if (there == 0) return nullptr;
  }
  return nullptr;
}

// Device memory for captured calls. A slot in use belongs to one stream of one capture, whose calls
// run one after the other; the graph's end frees it for another.
struct Buffer {
  std::atomic<bool> in_use{false};
  std::uint64_t context = 0;
  unsigned long long capture = 0;
  cudaStream_t stream = nullptr;
  void* data = nullptr;
  std::size_t bytes = 0;
};
constexpr int kMostBuffers = 256;
Buffer buffers[kMostBuffers];
std::mutex taking;

void end_use(void* buffer) {
  static_cast<Buffer*>(buffer)->in_use.store(false, std::memory_order_release);
}

// Large enough for the next captures, too: few sizes.
std::size_t rounded(std::size_t bytes) {
  std::size_t size = std::size_t{2} << 20;
  while (size < bytes) size += size / 4 / 256 * 256;
  return size;
}

Buffer* free_buffer(std::uint64_t context, std::size_t bytes) {
  Buffer *fits = nullptr, *unused = nullptr;
  for (Buffer& buffer : buffers) {
    if (buffer.in_use.load(std::memory_order_acquire)) continue;
    if (!buffer.data) {
      if (!unused) unused = &buffer;
    } else if (buffer.context == context && buffer.bytes >= bytes &&
               (!fits || buffer.bytes < fits->bytes)) {
      fits = &buffer;
    }
  }
  if (fits || !unused) return fits;
  const std::size_t size = rounded(bytes);
  unused->data = device::allocate(size);
  unused->bytes = size;
  unused->context = context;
  return unused->data ? unused : nullptr;
}

Buffer* take(std::uint64_t context, cudaStream_t stream, std::size_t bytes) {
  const device::CaptureInfo info = device::capture_info(stream);
  if (info.capture != device::Capture::active) return nullptr;
  const std::lock_guard lock(taking);
  for (Buffer& buffer : buffers) {
    if (buffer.in_use.load(std::memory_order_acquire) && buffer.context == context &&
        buffer.capture == info.id && buffer.stream == stream && buffer.bytes >= bytes) {
      return &buffer;
    }
  }
  Buffer* const buffer = free_buffer(context, bytes);
  if (!buffer) return nullptr;
  buffer->capture = info.id;
  buffer->stream = stream;
  buffer->in_use.store(true, std::memory_order_release);
  return device::tie_to_graph(info.graph, buffer, end_use) ? buffer : nullptr;
}

// Where captured calls take their workspaces: memory that the graph keeps.
void* allocate(void* slot, std::size_t bytes, cudaStream_t stream) {
  const Buffer* const buffer = take(static_cast<const Slot*>(slot)->context, stream, bytes);
  return buffer ? buffer->data : nullptr;
}
void release(void*, void*, std::size_t, cudaStream_t) {}

// A handle of the current context, which `slot` is for. Null, told once, where warpladder does not
// serve it.
warpladder_handle make(bool pedantic, Slot& slot) {
  const device::OutsideCaptures outside;
  warpladder_handle handle = nullptr;
  warpladder_status status = warpladder_create(&handle);
  if (status == WARPLADDER_SUCCESS && pedantic) {
    status = warpladder_set_arithmetic(handle, WARPLADDER_ARITHMETIC_CUDA_CORES);
  }
  const warpladder_allocator of_captures{allocate, release, &slot};
  if (status == WARPLADDER_SUCCESS) status = warpladder_set_capture_allocator(handle, &of_captures);
  // A call takes the handle of the context that is current.
  if (status == WARPLADDER_SUCCESS) status = warpladder_promise_current_device(handle, 1);
  if (status == WARPLADDER_SUCCESS && device::prepare()) return handle;
  if (status != WARPLADDER_SUCCESS) {
    report("all calls go to cuBLAS: %s: %s", warpladder_status_string(status),
           warpladder_last_error());
  } else {
    report("all calls go to cuBLAS: this build holds no code for the GPU");
  }
  return nullptr;
}

}  // namespace

warpladder_handle handle_for(bool pedantic, cudaStream_t stream) noexcept {
  const std::uint64_t context = device::context();
  if (context == 0) return nullptr;
  const Slot* slot = find(pedantic, context);
  if (!slot && device::capture_of(stream) == device::Capture::none) {
    const std::lock_guard lock(making);
    slot = find(pedantic, context);
    for (int i = 0; !slot && i < kMostContexts; ++i) {
      Slot& unused = slots[pedantic][i];
      if (unused.context.load(std::memory_order_relaxed) != 0) continue;
      unused.handle.store(make(pedantic, unused), std::memory_order_relaxed);
      unused.context.store(context, std::memory_order_release);
      slot = &unused;
    }
  }
  return slot ? slot->handle.load(std::memory_order_relaxed) : nullptr;
}

}  // namespace warpladder::cublas
