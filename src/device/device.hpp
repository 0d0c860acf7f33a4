#pragma once
// The one door to the machine, for host code: what there is, memory, copies and time. It is the
// same for the CPU side (the SIMT executor) and a GPU.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/gpu_code.hpp"
#include "executor/launch.hpp"
#include "runtime/stream.hpp"

namespace warpladder::device {

using runtime::Flavour;
using runtime::Target;

const char* name(Target target);

// Whether kernels can run there, and if not, why, in one sentence.
struct Availability {
  bool available = false;
  std::string why_not;
};
Availability availability(Target target);

// The target that `--device` asks for; without a wish the GPU if one answers, else the CPU. Throws
// Error(bad_input) for another word and Error(resource) for a GPU that is not there.
Target choose_target(const std::string& wish);

// A fact of the machine, for `doctor`: what it is, its value with unit.
struct Fact {
  std::string name, value;
};
std::vector<Fact> facts(Target target);

// What runs on the GPU; null where none answers.
std::optional<GpuCode> gpu_code();

// The GPU that kernels run on. For the CPU side, and where no GPU answers, the one that the
// executor stands for: an H200.
const runtime::Machine& machine(Target target);

// Lets the executor stand for another machine, as long as it lives; for tests of plans.
class StandIn {
 public:
  explicit StandIn(const runtime::Machine& machine);
  ~StandIn();
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

 private:
  runtime::Machine before_;
};

// A stream of its own, on either side. Kernels and copies on one stream run in order; on the CPU
// side every call has finished when it returns. Not thread-safe; movable.
class Stream : public runtime::StreamView, public executor::Settings {
 public:
  explicit Stream(Target target);
  ~Stream();
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&&) = delete;

  // Throws Error(resource) with CUDA's sentence if a launch on the stream was refused.
  void require_launched();
  // require_launched(), and waits for everything on the stream. Throws if any of it failed.
  void synchronize();
};

// A map of the matrix for kernels on that side. Throws Error(resource) where the driver refuses it.
runtime::TensorMap encode(Target target, const runtime::TiledMatrix& matrix);

// Device memory with a guard band on either side. `front` bytes of slack may be asked for so that
// the payload starts at an odd address. On the CPU side the executor refuses any access outside
// [begin - front, end); everywhere guards_intact() tells whether something wrote over the bands.
class Memory {
 public:
  Memory() = default;
  // A fault report calls it `name` ("A").
  Memory(Target target, std::size_t bytes, std::size_t front = 0, const char* name = "");
  ~Memory();
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Target target() const { return target_; }

  void upload(const void* from, std::size_t bytes);
  void download(void* to, std::size_t bytes) const;
  // Sets every byte of the payload.
  void fill(unsigned char byte);
  bool guards_intact() const;

 private:
  Target target_ = Target::cpu;
  std::size_t bytes_ = 0, front_ = 0;
  void* block_ = nullptr;  // the guard bands included
  void* data_ = nullptr;
};

template <class T>
class Buffer {
 public:
  Buffer() = default;
  // `misalign` elements of slack in front: data() is then off a 256-byte boundary by as much.
  Buffer(Target target, std::size_t count, std::size_t misalign = 0, const char* name = "")
      : memory_(target, count * sizeof(T), misalign * sizeof(T), name), count_(count) {}
  Buffer(Target target, const std::vector<T>& values, std::size_t misalign = 0,
         const char* name = "")
      : Buffer(target, values.size(), misalign, name) {
    upload(values);
  }

  T* data() const { return static_cast<T*>(memory_.data()); }
  std::size_t size() const { return count_; }
  void upload(const std::vector<T>& values) {
    memory_.upload(values.data(), values.size() * sizeof(T));
  }
  std::vector<T> download() const {
    std::vector<T> values(count_);
    memory_.download(values.data(), count_ * sizeof(T));
    return values;
  }
  void fill_bytes(unsigned char byte) { memory_.fill(byte); }
  bool guards_intact() const { return memory_.guards_intact(); }

 private:
  Memory memory_;
  std::size_t count_ = 0;
};

// Copies within the stream's device, in order with its kernels. The ranges do not overlap.
void copy(runtime::StreamView& stream, void* to, const void* from, std::size_t bytes);

// Reads every byte and keeps none: what reading alone costs. For a GPU.
void read(runtime::StreamView& stream, const void* from, std::size_t bytes);

// to[i] = uniform_element(seed, i, low, high) of base/random_fill.hpp, made where the memory is, so
// that host and device hold the same data and none of it travels. Waits until it is done.
void fill_uniform(Stream& stream, float* to, std::size_t count, std::uint64_t seed, float low,
                  float high);

// The time between two points of a stream, in seconds: CUDA events on a GPU, a steady clock here.
class Timer {
 public:
  explicit Timer(Stream& stream);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  void start();
  void stop();
  double seconds();  // waits for stop() to have passed
  // Whether the stream has passed start() already.
  bool has_begun() const;

 private:
  Stream& stream_;
  void *begin_ = nullptr, *end_ = nullptr;
  std::int64_t begin_ns_ = 0, end_ns_ = 0;
};

}  // namespace warpladder::device
