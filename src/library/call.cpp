#include "library/call.hpp"

#include <cuda.h>

#include <cstring>

#include "runtime/driver.hpp"

namespace warpladder::library {
namespace {

thread_local char last_error[Status::kSentenceBytes] = "";

}  // namespace

warpladder_status answer(const Status& status) noexcept {
  if (!status.ok()) std::memcpy(last_error, status.sentence, sizeof last_error);
  return static_cast<warpladder_status>(status.code);
}

const char* sentence_of_last_error() noexcept { return last_error; }

DeviceScope::DeviceScope(const Context& context) noexcept {
  if (context.is_current) return;
  const int device = context.device;
  int current = 0;
  if (const auto error = cudaGetDevice(&current)) {
    status = cuda_failure(error, "cudaGetDevice");
  } else if (current != device) {
    if (const auto refused = cudaSetDevice(device)) {
      status = cuda_failure(refused, "cudaSetDevice");
    } else {
      previous_ = current;
    }
  }
}
DeviceScope::~DeviceScope() {
  if (previous_ >= 0) cudaSetDevice(previous_);
}

namespace {

// Streams that stand for one on the current device, whichever that is.
bool is_default(cudaStream_t stream) {
  return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

// Where the device is promised to be current the driver answers sooner: CUDA's runtime sees to that
// first.
bool ask_driver(cudaStream_t stream, cudaStreamCaptureStatus* capture) noexcept {
  static const auto is_capturing = [] {
    int error = 0;
    return runtime::driver_function<decltype(&cuStreamIsCapturing)>("cuStreamIsCapturing", error);
  }();
  CUstreamCaptureStatus said{};
  if (!is_capturing || is_capturing(stream, &said) != CUDA_SUCCESS) return false;
  static_assert(static_cast<int>(CU_STREAM_CAPTURE_STATUS_ACTIVE) == cudaStreamCaptureStatusActive);
  *capture = static_cast<cudaStreamCaptureStatus>(said);
  return true;
}

}  // namespace

Session::Session(Context& of, warpladder_stream on) noexcept : context(of), stream(on) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (!context.is_current || !ask_driver(stream, &capture)) {
    if (const auto error = cudaStreamIsCapturing(stream, &capture)) {
      status = cuda_failure(error, "cudaStreamIsCapturing of the stream");
      return;
    }
  }
  if (capture == cudaStreamCaptureStatusInvalidated) {
    status = runtime::refuse(Code::cuda_error, "the stream's capture has been invalidated");
    return;
  }
  capturing_ = capture == cudaStreamCaptureStatusActive;
  // A question about its device would invalidate a capture; CUDA then judges the launch, as it does
  // where the device is promised.
  if (is_default(stream) || capturing_ || context.is_current) return;
  int device = 0;
  if (const auto error = cudaStreamGetDevice(stream, &device)) {
    status = cuda_failure(error, "cudaStreamGetDevice of the stream");
  } else if (device != context.device) {
    status = runtime::refuse(Code::wrong_device,
                             "the stream belongs to device %d, the handle to device %d", device,
                             context.device);
  }
}

StreamState* Session::kept_flags() noexcept {
  unsigned long long id = 0;
  if (cudaStreamGetId(stream, &id) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return context.flags_of(id);
}

namespace {

const warpladder_allocator& allocator_of(const Session& session) {
  const Context& context = session.context;
  const bool own = session.capturing() && context.capture_allocator.allocate;
  return own ? context.capture_allocator : context.allocator;
}

// Takes a workspace that lasts for one call, in the order of the stream.
Status borrow(Session& session, std::size_t bytes, Taken* taken) noexcept {
  const warpladder_allocator& allocator = allocator_of(session);
  if (!allocator.allocate) {
    const auto error =
        cudaMallocFromPoolAsync(&taken->borrowed, bytes, session.context.pool, session.stream);
    return error ? cuda_failure(error, "cudaMallocFromPoolAsync for a workspace") : Status{};
  }
  void* const memory = allocator.allocate(allocator.state, bytes, session.stream);
  if (!memory) {
    return runtime::refuse(Code::out_of_memory,
                           "the handle's allocator has no %zu bytes for a workspace", bytes);
  }
  if (reinterpret_cast<std::uintptr_t>(memory) % 256 != 0) {
    allocator.release(allocator.state, memory, bytes, session.stream);
    return runtime::refuse_argument(
        "the handle's allocator returned %p, which is no multiple of 256 bytes", memory);
  }
  taken->borrowed = memory;
  taken->bytes = bytes;
  return {};
}

cudaError_t hand_back(Session& session, const Taken& taken) noexcept {
  const warpladder_allocator& allocator = allocator_of(session);
  if (!taken.borrowed) return cudaSuccess;
  if (!allocator.allocate) return cudaFreeAsync(taken.borrowed, session.stream);
  allocator.release(allocator.state, taken.borrowed, taken.bytes, session.stream);
  return cudaSuccess;
}

}  // namespace

Status take(Session& session, std::size_t scratch_bytes, std::size_t flag_words,
            Taken* taken) noexcept {
  if (scratch_bytes == 0 && flag_words == 0) return {};
  // Kept flags serve calls that run in the order of one stream. A graph may be launched on any.
  const bool keeps_flags = flag_words > 0 && !session.capturing();
  if (StreamState* const state = keeps_flags ? session.kept_flags() : nullptr) {
    const FlagBlock* block = state->flags.load(std::memory_order_acquire);
    if (!block || block->count < flag_words) {
      if (Status grown = session.context.grow_flags(*state, flag_words, session.stream);
          !grown.ok()) {
        return grown;
      }
      block = state->flags.load(std::memory_order_acquire);
    }
    taken->memory.flags = block->words;
    flag_words = 0;
  }
  const std::size_t bytes = workspace_bytes(scratch_bytes, flag_words);
  if (bytes == 0) return {};
  const CallerWorkspace own = session.context.workspace_of(session.stream);
  void* data = own.data;
  if (own.data && own.bytes < bytes) {
    return runtime::refuse(Code::workspace_too_small,
                           "the workspace of the stream has %zu bytes, but this call needs %zu",
                           own.bytes, bytes);
  }
  if (!own.data) {
    if (Status borrowed = borrow(session, bytes, taken); !borrowed.ok()) return borrowed;
    data = taken->borrowed;
  }
  auto* const at = static_cast<unsigned char*>(data);
  taken->memory.scratch = at;
  if (flag_words > 0) {
    void* const flags = at + round_up_to_256(scratch_bytes);
    if (const auto error =
            cudaMemsetAsync(flags, 0, flag_words * sizeof(std::uint64_t), session.stream)) {
      hand_back(session, *taken);
      return cuda_failure(error, "cudaMemsetAsync of flags");
    }
    taken->memory.flags = static_cast<std::uint64_t*>(flags);
  }
  return {};
}

Status give_back(Session& session, const Taken& taken, int launch_error) noexcept {
  const cudaError_t error = hand_back(session, taken);
  if (!launch_error && error) return cuda_failure(error, "cudaFreeAsync of a workspace");
  if (launch_error) {
    return cuda_failure(static_cast<cudaError_t>(launch_error), "the launch of a kernel");
  }
  return {};
}

}  // namespace warpladder::library
