#pragma once
// What a thread has worked out lately: plans, and the tiles that models choose. A call asks for the
// same again and again. A thread takes heap memory once, and no lock.

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtime/machine.hpp"

namespace warpladder::runtime {

// All that an answer follows from, but for the machine: m, n, k, a count, and flags.
using Asked = std::array<std::int64_t, 5>;

// Plans lie apart: who makes one asks for the tiles of a dozen rungs, which take no plan's place.
enum class About { plans, tiles };

constexpr std::size_t kMostAnswerBytes = 48;
// The bytes of the answer that the thread remembers, or null.
const unsigned char* recall(About about, const void* question, const Asked& asked,
                            const Machine& machine) noexcept;
// May take the place of another answer.
void remember(About about, const void* question, const Asked& asked, const Machine& machine,
              const void* answer, std::size_t bytes) noexcept;

// Its address tells questions apart.
template <class Question>
inline char question_address = 0;

// What make() returns, or has returned. `Question` names make: it must follow from `asked` and
// `machine` alone.
template <About kAbout, class Question, class Make>
auto remembered(const Asked& asked, const Machine& machine, const Make& make) {
  using Answer = decltype(make());
  static_assert(std::is_trivially_copyable_v<Answer> && sizeof(Answer) <= kMostAnswerBytes);
  const void* const question = &question_address<Question>;
  Answer answer;
  if (const unsigned char* const known = recall(kAbout, question, asked, machine)) {
    std::memcpy(&answer, known, sizeof answer);
    return answer;
  }
  answer = make();  // which may remember other answers
  remember(kAbout, question, asked, machine, &answer, sizeof answer);
  return answer;
}

}  // namespace warpladder::runtime
