#pragma once
// What all calls of the C interface share: the handle, the device, the stream, a plan's memory, and
// the sentence of a failure.

#include <utility>

#include "library/context.hpp"
#include "runtime/stream.hpp"

// The flavour whose plans and rungs are called. Tests build the library for the executor.
#if !defined(WARPLADDER_LIBRARY_FLAVOUR)
#define WARPLADDER_LIBRARY_FLAVOUR gpu
#endif

namespace warpladder::library {

constexpr bool kOnGpu = runtime::Flavour::WARPLADDER_LIBRARY_FLAVOUR == runtime::Flavour::gpu;

// Remembers the sentence of a failure for the thread, and returns the C status.
warpladder_status answer(const Status& status) noexcept;
const char* sentence_of_last_error() noexcept;

// Makes the handle's device current for as long as it lives.
class DeviceScope {
 public:
  explicit DeviceScope(const Context& context) noexcept;
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  Status status;

 private:
  int previous_ = -1;  // -1: nothing to restore
};

// A stream of the handle's device, about to receive one call's kernels.
class Session {
 public:
  Session(Context& context, warpladder_stream stream) noexcept;

  Context& context;
  const cudaStream_t stream;
  Status status;  // of finding the stream; nothing else may be called unless it is ok

  bool capturing() const { return capturing_; }
  // The stream's kept flags; null where the handle keeps none for it. Not for a capture.
  StreamState* kept_flags() noexcept;

 private:
  bool capturing_ = false;
};

// Device memory of one call: `scratch` of any content and `flags` that are zero.
struct Memory {
  void* scratch = nullptr;
  std::uint64_t* flags = nullptr;
};

// How much a call with this plan may take from its workspace: scratch, and flags if it is captured.
constexpr std::size_t round_up_to_256(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
constexpr std::size_t workspace_bytes(std::size_t scratch_bytes, std::size_t flag_words) {
  return round_up_to_256(scratch_bytes) + round_up_to_256(flag_words * sizeof(std::uint64_t));
}

// The parts of with_memory() that do not depend on the launch.
struct Taken {
  Memory memory;
  void* borrowed = nullptr;  // from the pool or from the caller's allocator
  std::size_t bytes = 0;
};
Status take(Session& session, std::size_t scratch_bytes, std::size_t flag_words,
            Taken* taken) noexcept;
Status give_back(Session& session, const Taken& taken, int launch_error) noexcept;

// Takes the memory, calls launch(StreamView&, Memory), and gives the memory back in stream order.
template <class Launch>
Status with_memory(Session& session, std::size_t scratch_bytes, std::size_t flag_words,
                   const Launch& launch) {
  Taken taken;
  if (Status status = take(session, scratch_bytes, flag_words, &taken); !status.ok()) {
    return status;
  }
  runtime::StreamView view{
      .target = kOnGpu ? runtime::Target::gpu : runtime::Target::cpu,
      .native = session.stream,
      .machine = &session.context.machine,
      .is_context_current = session.context.is_current && !session.capturing()};
  launch(view, taken.memory);
  return give_back(session, taken, view.error);
}

// One call of the interface: finds the handle, makes its device current, opens the stream and runs
// body(Session&) → Status. `check` → Status runs first, before anything is asked of CUDA.
template <class Check, class Body>
warpladder_status call(warpladder_handle handle, warpladder_stream stream, const Check& check,
                       const Body& body) {
  Context* context = nullptr;
  if (const Status found = find(handle, &context); !found.ok()) return answer(found);
  if (const Status checked = check(*context); !checked.ok()) return answer(checked);
  const DeviceScope scope(*context);
  if (!scope.status.ok()) return answer(scope.status);
  Session session(*context, stream);
  if (!session.status.ok()) return answer(session.status);
  return answer(body(session));
}

}  // namespace warpladder::library
