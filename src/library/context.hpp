#pragma once
// What a handle stands for: a device, its memory pool, and two things for each stream. These are
// the workspace that the caller has set, and the flags that operators keep between calls. A warm
// call takes no lock and no heap memory.

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "runtime/machine.hpp"
#include "runtime/status.hpp"
#include "warpladder/warpladder.h"

namespace warpladder::library {

using runtime::Code;
using runtime::Status;

// A CUDA error as a Status; `what` names the call.
Status cuda_failure(cudaError_t error, const char* what) noexcept;

// Flags of one stream: 64-bit words that are zero between calls. A grown block replaces an older
// one, which stays until the handle is destroyed. A call that has read the older one's address may
// not have launched yet.
struct FlagBlock {
  std::uint64_t* words = nullptr;
  std::size_t count = 0;
  FlagBlock* older = nullptr;
};

// What is kept for one stream. Flags are found by CUDA's id of the stream, which no later stream
// has. A workspace is found by the stream's address: a capture must not ask for the id.
struct StreamState {
  static constexpr std::uint64_t kFree = 0;
  std::atomic<std::uint64_t> key{kFree};
  std::atomic<FlagBlock*> flags{nullptr};
  // The caller's workspace. Readers retry while `version` is odd or changes.
  std::atomic<std::uint32_t> version{0};
  std::atomic<void*> workspace{nullptr};
  std::atomic<std::size_t> workspace_bytes{0};
};

struct CallerWorkspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

class Context {
 public:
  Context(int device, const runtime::Machine& machine, cudaMemPool_t pool) noexcept;
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const int device;
  const runtime::Machine machine;
  const cudaMemPool_t pool;
  std::atomic<warpladder_arithmetic> arithmetic{WARPLADDER_ARITHMETIC_ACCURATE};
  // Of workspaces; without functions it is the pool.
  warpladder_allocator allocator{};
  warpladder_allocator capture_allocator{};  // of captured calls; without functions: `allocator`
  bool is_current = false;                   // the caller promises that the device is

  // The flags of the stream with this id; null where kMostStreams states are taken. Such a stream
  // takes flags as a captured call does.
  StreamState* flags_of(std::uint64_t stream_id) noexcept { return state_of(stream_id + 1, true); }
  // At least `count` flags for the stream, all zero in its order.
  Status grow_flags(StreamState& state, std::size_t count, cudaStream_t stream) noexcept;
  // What the caller has set for the stream; nothing where no workspace has been set.
  CallerWorkspace workspace_of(cudaStream_t stream) noexcept;
  // False where kMostStreams states are taken.
  bool set_workspace(cudaStream_t stream, CallerWorkspace workspace) noexcept;

 private:
  static constexpr std::size_t kMostStreams = 1024;
  // Null where there is none and, if one is wanted, no room.
  StreamState* state_of(std::uint64_t key, bool wanted) noexcept;
  std::atomic<bool> has_workspaces_{false};
  std::mutex growing_;
  StreamState streams_[kMostStreams];
};

// Handles are numbers of slots with a generation, so that a stale handle is told from a live one
// without a look at freed memory.
warpladder_handle enlist(Context* context) noexcept;  // null where there is no slot left
Status find(warpladder_handle handle, Context** context) noexcept;
Context* strike(warpladder_handle handle) noexcept;  // null unless the handle was alive

}  // namespace warpladder::library
