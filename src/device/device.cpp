#include "device/device.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <span>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/random_fill.hpp"
#include "device/cuda/cuda_side.hpp"
#include "executor/arena.hpp"

namespace warpladder::device {
namespace {

constexpr std::size_t kGuardBytes = 256;
constexpr unsigned char kGuardByte = 0xa5;

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

// The executor's kernels are compiled with fused multiply-adds, as a GPU has them.
bool cpu_has_fma() {
  return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("f16c");
}

}  // namespace

const char* name(Target target) { return target == Target::cpu ? "cpu" : "gpu"; }

Availability availability(Target target) {
  if (target == Target::gpu) return cuda::availability();
  if (!cpu_has_fma()) return {false, "this processor lacks the FMA, AVX2 or F16C instructions"};
  return {true, ""};
}

Target choose_target(const std::string& wish) {
  if (wish.empty()) return availability(Target::gpu).available ? Target::gpu : Target::cpu;
  if (wish != "cpu" && wish != "gpu") {
    throw_bad_input(fmt::format("--device must be cpu or gpu, not '{}'", wish));
  }
  const Target target = wish == "gpu" ? Target::gpu : Target::cpu;
  const Availability there = availability(target);
  if (!there.available) {
    throw_resource(fmt::format("--device {}: no kernel can run there: {}", wish, there.why_not));
  }
  return target;
}

std::optional<GpuCode> gpu_code() { return cuda::gpu_code(); }

std::vector<Fact> facts(Target target) {
  if (target == Target::gpu) return cuda::facts();
  return {{"processor", cpu_model()},
          {"cores", std::to_string(std::thread::hardware_concurrency())},
          {"FMA, AVX2 and F16C", cpu_has_fma() ? "yes" : "no"}};
}

namespace {

runtime::Machine stood_for;

}  // namespace

const runtime::Machine& machine(Target target) {
  return target == Target::gpu && availability(target).available ? cuda::machine() : stood_for;
}
StandIn::StandIn(const runtime::Machine& machine) : before_(std::exchange(stood_for, machine)) {}
StandIn::~StandIn() { stood_for = before_; }

// ---- streams

Stream::Stream(Target on) {
  target = on;
  machine = &device::machine(on);
  settings = this;
  if (on == Target::gpu) native = cuda::create_stream();
}
Stream::~Stream() {
  if (native) cuda::destroy_stream(native);
}
Stream::Stream(Stream&& other) noexcept : runtime::StreamView(other), executor::Settings(other) {
  settings = this;
  other.native = nullptr;
}

void Stream::require_launched() {
  if (const int refused = std::exchange(error, 0)) cuda::throw_refused_launch(refused);
}
void Stream::synchronize() {
  require_launched();
  if (target == Target::gpu) cuda::synchronize(native);
}

runtime::TensorMap encode(Target target, const runtime::TiledMatrix& matrix) {
  Stream stream(target);
  const runtime::TensorMap map =
      target == Target::gpu ? cuda::encode(stream, matrix) : executor::encode(stream, matrix);
  stream.require_launched();
  return map;
}

// ---- memory

Memory::Memory(Target target, std::size_t bytes, std::size_t front, const char* name)
    : target_(target), bytes_(bytes), front_(front) {
  if (target == Target::cpu) {
    // The arena keeps illegal bytes around every allocation, and the bands lie in them. The plain
    // flavour checks no access; the bands' pattern shows what it writes there.
    const std::size_t legal = front + bytes;
    block_ = executor::Arena::instance().allocate(
        legal, *name ? fmt::format("{}, {} bytes", name, bytes) : std::string());
    std::memset(static_cast<char*>(block_) - kGuardBytes, kGuardByte, kGuardBytes);
    std::memset(static_cast<char*>(block_) + legal, kGuardByte, kGuardBytes);
    std::memset(block_, kGuardByte, front);
    data_ = static_cast<char*>(block_) + front;
  } else {
    const std::size_t all = kGuardBytes + round_up(front + bytes, 256) + kGuardBytes;
    block_ = cuda::allocate(all);
    cuda::fill(block_, kGuardByte, all);
    data_ = static_cast<char*>(block_) + kGuardBytes + front;
  }
}

Memory::~Memory() {
  if (!block_) return;
  if (target_ == Target::cpu) {
    executor::Arena::instance().release(block_);
  } else {
    cuda::release(block_);
  }
}

Memory::Memory(Memory&& other) noexcept
    : target_(other.target_),
      bytes_(other.bytes_),
      front_(other.front_),
      block_(std::exchange(other.block_, nullptr)),
      data_(std::exchange(other.data_, nullptr)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(target_, other.target_);
  std::swap(bytes_, other.bytes_);
  std::swap(front_, other.front_);
  std::swap(block_, other.block_);
  std::swap(data_, other.data_);
  return *this;
}

void Memory::upload(const void* from, std::size_t bytes) {
  if (bytes > bytes_) throw std::logic_error("upload of more bytes than the buffer holds");
  if (bytes == 0) return;
  if (target_ == Target::cpu) {
    std::memcpy(data_, from, bytes);
  } else {
    cuda::copy_to_device(data_, from, bytes);
  }
}

void Memory::download(void* to, std::size_t bytes) const {
  if (bytes > bytes_) throw std::logic_error("download of more bytes than the buffer holds");
  if (bytes == 0) return;
  if (target_ == Target::cpu) {
    std::memcpy(to, data_, bytes);
  } else {
    cuda::copy_to_host(to, data_, bytes);
  }
}

void Memory::fill(unsigned char byte) {
  if (bytes_ == 0) return;
  if (target_ == Target::cpu) {
    std::memset(data_, byte, bytes_);
  } else {
    cuda::fill(data_, byte, bytes_);
  }
}

bool Memory::guards_intact() const {
  if (!block_) return true;
  const auto intact = [&](const char* begin, std::size_t bytes) {
    std::vector<unsigned char> band(bytes);
    if (target_ == Target::cpu) {
      std::memcpy(band.data(), begin, bytes);
    } else {
      cuda::copy_to_host(band.data(), begin, bytes);
    }
    for (const unsigned char byte : band) {
      if (byte != kGuardByte) return false;
    }
    return true;
  };
  const char* data = static_cast<const char*>(data_);
  return intact(data - front_ - kGuardBytes, kGuardBytes + front_) &&
         intact(data + bytes_, kGuardBytes);
}

void copy(runtime::StreamView& stream, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (stream.target == Target::cpu) {
    std::memcpy(to, from, bytes);
  } else {
    cuda::copy_on_device(stream.native, to, from, bytes);
  }
}

void read(runtime::StreamView& stream, const void* from, std::size_t bytes) {
  if (stream.target == Target::gpu && bytes) cuda::read(stream.native, from, bytes);
}

void fill_uniform(Stream& stream, float* to, std::size_t count, std::uint64_t seed, float low,
                  float high) {
  if (stream.target == Target::cpu) {
    warpladder::fill_uniform(std::span(to, count), seed, low, high);
  } else if (count) {
    cuda::fill_uniform(stream.native, to, count, seed, low, high);
    stream.synchronize();
  }
}

// ---- time

Timer::Timer(Stream& stream) : stream_(stream) {
  if (stream.target == Target::gpu) {
    begin_ = cuda::create_event();
    end_ = cuda::create_event();
  }
}
Timer::~Timer() {
  if (begin_) cuda::destroy_event(begin_);
  if (end_) cuda::destroy_event(end_);
}
void Timer::start() {
  if (begin_) {
    cuda::record_event(begin_, stream_.native);
  } else {
    begin_ns_ = now_ns();
  }
}
void Timer::stop() {
  if (end_) {
    cuda::record_event(end_, stream_.native);
  } else {
    end_ns_ = now_ns();
  }
}
bool Timer::has_begun() const { return !begin_ || cuda::has_passed(begin_); }
double Timer::seconds() {
  return begin_ ? cuda::seconds_between(begin_, end_)
                : static_cast<double>(end_ns_ - begin_ns_) * 1e-9;
}

}  // namespace warpladder::device
