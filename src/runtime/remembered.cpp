#include "runtime/remembered.hpp"

namespace warpladder::runtime {
namespace {

// Bytes, so that a thread's table is zero at first and costs nothing before it is used.
struct Place {
  const void* question;
  Asked asked;
  unsigned char machine[sizeof(Machine)];
  alignas(8) unsigned char answer[kMostAnswerBytes];
};
// Programs have dozens of products, each with a plan and a tile.
constexpr int kBits = 9;
constinit thread_local Place places[1 << kBits] = {};

Place& place_of(const void* question, const Asked& asked) {
  std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(question);
  for (const std::int64_t word : asked) {  // the upper bits depend on all of each word's
    mixed = (mixed ^ static_cast<std::uint64_t>(word)) * 0x9E3779B97F4A7C15u;
    mixed ^= mixed >> 32;
  }
  return places[mixed * 0x9E3779B97F4A7C15u >> (64 - kBits)];
}

bool is_machine(const Place& place, const Machine& machine) {
  Machine there;
  std::memcpy(&there, place.machine, sizeof there);
  return there == machine;
}

}  // namespace

const unsigned char* recall(const void* question, const Asked& asked,
                            const Machine& machine) noexcept {
  const Place& place = place_of(question, asked);
  const bool known =
      place.question == question && place.asked == asked && is_machine(place, machine);
  return known ? place.answer : nullptr;
}

void remember(const void* question, const Asked& asked, const Machine& machine, const void* answer,
              std::size_t bytes) noexcept {
  Place& place = place_of(question, asked);
  place.question = question;
  place.asked = asked;
  std::memcpy(place.machine, &machine, sizeof machine);
  std::memcpy(place.answer, answer, bytes);
}

}  // namespace warpladder::runtime
