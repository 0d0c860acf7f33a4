#include "library/context.hpp"

#include <pthread.h>

#include <new>

namespace warpladder::library {

Status cuda_failure(cudaError_t error, const char* what) noexcept {
  cudaGetLastError();  // a sticky error would be blamed on the next call
  const Code code = error == cudaErrorMemoryAllocation ? Code::out_of_memory
                    : error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver
                        ? Code::no_device
                    : error == cudaErrorNoKernelImageForDevice ? Code::unsupported_device
                                                               : Code::cuda_error;
  return runtime::refuse(code, "%s failed: %s", what, cudaGetErrorString(error));
}

Context::Context(int device_number, const runtime::Machine& of_device,
                 cudaMemPool_t own_pool) noexcept
    : device(device_number), machine(of_device), pool(own_pool) {}

Context::~Context() {
  for (StreamState& state : streams_) {
    for (FlagBlock* block = state.flags.load(); block;) {
      FlagBlock* const older = block->older;
      cudaFree(block->words);
      delete block;
      block = older;
    }
  }
  cudaMemPoolDestroy(pool);
}

StreamState* Context::state_of(std::uint64_t key, bool wanted) noexcept {
  for (std::size_t probe = 0; probe < kMostStreams; ++probe) {
    StreamState& state =
        streams_[(key * 0x9e3779b97f4a7c15u / 0x40000000000000u + probe) % kMostStreams];
    std::uint64_t owner = state.key.load(std::memory_order_acquire);
    if (owner == StreamState::kFree) {
      if (!wanted) return nullptr;
      if (state.key.compare_exchange_strong(owner, key, std::memory_order_acq_rel)) return &state;
    }
    if (owner == key) return &state;
  }
  return nullptr;
}

Status Context::grow_flags(StreamState& state, std::size_t count, cudaStream_t stream) noexcept {
  const std::lock_guard lock(growing_);
  FlagBlock* const older = state.flags.load(std::memory_order_acquire);
  if (older && older->count >= count) return {};  // another thread was faster
  constexpr std::size_t kLeast = 8192;
  std::size_t grown = older ? 2 * older->count : kLeast;
  while (grown < count) grown *= 2;
  void* words = nullptr;
  const std::size_t bytes = grown * sizeof(std::uint64_t);
  if (const auto error = cudaMallocFromPoolAsync(&words, bytes, pool, stream)) {
    return cuda_failure(error, "cudaMallocFromPoolAsync for flags");
  }
  if (const auto error = cudaMemsetAsync(words, 0, bytes, stream)) {
    cudaFreeAsync(words, stream);
    return cuda_failure(error, "cudaMemsetAsync of flags");
  }
  auto* const block =
      new (std::nothrow) FlagBlock{static_cast<std::uint64_t*>(words), grown, older};
  if (!block) {
    cudaFreeAsync(words, stream);
    return runtime::refuse(Code::out_of_memory, "the host has no memory for a stream's flags");
  }
  state.flags.store(block, std::memory_order_release);
  return {};
}

namespace {

// Addresses of streams beside ids of streams: no id is so large.
std::uint64_t key_of(cudaStream_t stream) {
  return (std::uint64_t{1} << 63) | reinterpret_cast<std::uintptr_t>(stream);
}

}  // namespace

CallerWorkspace Context::workspace_of(cudaStream_t stream) noexcept {
  if (!has_workspaces_.load(std::memory_order_acquire)) return {};
  const StreamState* const state = state_of(key_of(stream), false);
  if (!state) return {};
  for (;;) {
    const std::uint32_t before = state->version.load(std::memory_order_acquire);
    const CallerWorkspace read{state->workspace.load(std::memory_order_relaxed),
                               state->workspace_bytes.load(std::memory_order_relaxed)};
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && state->version.load(std::memory_order_relaxed) == before) return read;
  }
}

bool Context::set_workspace(cudaStream_t stream, CallerWorkspace workspace) noexcept {
  const std::lock_guard lock(growing_);  // one writer at a time
  StreamState* const state = state_of(key_of(stream), true);
  if (!state) return false;
  state->version.fetch_add(1, std::memory_order_acq_rel);
  state->workspace.store(workspace.data, std::memory_order_relaxed);
  state->workspace_bytes.store(workspace.bytes, std::memory_order_relaxed);
  state->version.fetch_add(1, std::memory_order_release);
  has_workspaces_.store(true, std::memory_order_release);
  return true;
}

namespace {

// Handles of the parent are of no use in a forked child: CUDA's state is not inherited.
std::atomic<unsigned> forks{0};
void count_fork() { forks.fetch_add(1, std::memory_order_relaxed); }
void watch_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, count_fork);
  static_cast<void>(registered);
}

struct Slot {
  std::atomic<std::uint32_t> generation{0};  // odd: alive
  std::atomic<Context*> context{nullptr};
  unsigned forks_at_birth = 0;
};
constexpr std::uintptr_t kSlots = 4096;
Slot slots[kSlots];
std::mutex births;

// The handle's bits: generation above, slot + 1 below, so that no handle is null.
constexpr int kSlotBits = 16;
warpladder_handle handle_of(std::uintptr_t slot, std::uint32_t generation) {
  return reinterpret_cast<warpladder_handle>((std::uintptr_t{generation} << kSlotBits) |
                                             (slot + 1));
}
Slot* slot_of(warpladder_handle handle, std::uint32_t* generation) noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  const std::uintptr_t slot = (bits & ((std::uintptr_t{1} << kSlotBits) - 1)) - 1;
  *generation = static_cast<std::uint32_t>(bits >> kSlotBits);
  return slot < kSlots && *generation % 2 == 1 ? &slots[slot] : nullptr;
}

}  // namespace

warpladder_handle enlist(Context* context) noexcept {
  const std::lock_guard lock(births);
  watch_forks();
  for (std::uintptr_t i = 0; i < kSlots; ++i) {
    Slot& slot = slots[i];
    const std::uint32_t generation = slot.generation.load(std::memory_order_relaxed);
    if (generation % 2 == 1) continue;
    slot.context.store(context, std::memory_order_relaxed);
    slot.forks_at_birth = forks.load(std::memory_order_relaxed);
    slot.generation.store(generation + 1, std::memory_order_release);
    return handle_of(i, generation + 1);
  }
  return nullptr;
}

Status find(warpladder_handle handle, Context** context) noexcept {
  std::uint32_t generation = 0;
  if (!handle) return runtime::refuse(Code::invalid_handle, "the handle is null");
  const Slot* const slot = slot_of(handle, &generation);
  if (!slot || slot->generation.load(std::memory_order_acquire) != generation) {
    return runtime::refuse(Code::invalid_handle,
                           "the handle %p was never created, or has been destroyed",
                           static_cast<void*>(handle));
  }
  if (slot->forks_at_birth != forks.load(std::memory_order_relaxed)) {
    return runtime::refuse(Code::forked,
                           "the handle was created before fork(); create one in the child");
  }
  *context = slot->context.load(std::memory_order_relaxed);
  return {};
}

Context* strike(warpladder_handle handle) noexcept {
  std::uint32_t generation = 0;
  Slot* const slot = slot_of(handle, &generation);
  if (!slot) return nullptr;
  Context* const context = slot->context.load(std::memory_order_relaxed);
  return slot->generation.compare_exchange_strong(generation, generation + 1) ? context : nullptr;
}

}  // namespace warpladder::library
