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

// A handle of the current context. Null, told once, where warpladder does not serve it.
warpladder_handle make(bool pedantic) {
  const device::OutsideCaptures outside;
  warpladder_handle handle = nullptr;
  warpladder_status status = warpladder_create(&handle);
  if (status == WARPLADDER_SUCCESS && pedantic) {
    status = warpladder_set_arithmetic(handle, WARPLADDER_ARITHMETIC_CUDA_CORES);
  }
  if (status == WARPLADDER_SUCCESS && device::prepare()) return handle;
  if (status != WARPLADDER_SUCCESS) {
    report("all calls go to cuBLAS: %s: %s", warpladder_status_string(status),
           warpladder_last_error());
  } else {
    report("all calls go to cuBLAS: this build holds no code for the GPU");
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

void release(void* buffer) {
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
  return device::tie_to_graph(info.graph, buffer, release) ? buffer : nullptr;
}

}  // namespace

Served served(bool pedantic, bool may_make) noexcept {
  const std::uint64_t context = device::context();
  if (context == 0) return {};
  const Slot* slot = find(pedantic, context);
  if (!slot && may_make) {
    const std::lock_guard lock(making);
    slot = find(pedantic, context);
    for (int i = 0; !slot && i < kMostContexts; ++i) {
      Slot& unused = slots[pedantic][i];
      if (unused.context.load(std::memory_order_relaxed) != 0) continue;
      unused.handle.store(make(pedantic), std::memory_order_relaxed);
      unused.context.store(context, std::memory_order_release);
      slot = &unused;
    }
  }
  return {context, slot ? slot->handle.load(std::memory_order_relaxed) : nullptr};
}

GraphWorkspace::GraphWorkspace(const Served& served, cudaStream_t stream,
                               std::size_t bytes) noexcept
    : handle_(served.handle), stream_(stream), ok_(bytes == 0) {
  if (ok_) return;
  const Buffer* const buffer = take(served.context, stream, bytes);
  if (!buffer) return;
  is_set_ = ok_ =
      warpladder_set_workspace(handle_, stream_, buffer->data, buffer->bytes) == WARPLADDER_SUCCESS;
}

GraphWorkspace::~GraphWorkspace() {
  if (is_set_) warpladder_set_workspace(handle_, stream_, nullptr, 0);
}

}  // namespace warpladder::cublas
