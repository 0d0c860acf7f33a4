#pragma once
// A simulated GPU: streams that are captured or not, contexts, memory, and the results that
// libwarpladder would compute. It lives in the library that replaces libwarpladder.so, which
// the shim under test and the tests share.

#include <cstddef>
#include <cstdint>

#define MADE_UP [[gnu::visibility("default")]]

namespace made_up {

// The element of each result that is wrong.
enum class Fault { none, first, last };

struct Gpu {
  std::uint64_t context = 1;         // of every thread
  std::uint64_t stream_context = 0;  // of all streams but the default one; 0: of the thread's
  bool knows_streams = true;         // false: CUDA fails when it is asked of a stream
  void* captured = nullptr;          // the stream that is being captured
  unsigned long long capture = 0;    // and which capture it is
  bool has_memory = true;
  int next_status = 0;    // of the next call of libwarpladder
  int create_status = 0;  // of warpladder_create()
  Fault fault = Fault::none;
  float fault_size = 1;
  std::size_t workspace_needed = 0;  // by every call

  // What was seen.
  int handles = 0, products = 0, launches = 0;
  const char* last = "";    // the last call of libwarpladder
  int last_arithmetic = 0;  // of its handle
  void* last_stream = nullptr;
  void* last_workspace = nullptr;  // of a captured call
  std::size_t live_allocations = 0;
  int graphs_tied = 0;
};
MADE_UP Gpu& gpu();
// The graphs of all captures are gone.
MADE_UP void end_graphs();
MADE_UP void tie(void* data, void (*release)(void*));

}  // namespace made_up
