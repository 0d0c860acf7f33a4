#pragma once
// Remembers who wrote and read each 4-byte word of a block's shared memory last. So it finds races,
// and reads of what nobody wrote.
//
// Time is counted in epochs: a block barrier starts a new one, so accesses of different epochs are
// ordered. Within an epoch the lanes of one warp are ordered by __syncwarp alone (the warp's own
// epoch); a shuffle exchanges registers and orders no memory.
//
// Of accesses narrower than a word only the bytes count: two threads may use different bytes of one
// word. It then remembers less than what happened: a race may go unseen, but none is reported that
// is not there.
//
// Two questions are answered later than they arise. A store over another thread's store is a race
// only if it changes the value, which is known once the store has happened: a doubt. A read of what
// nobody has written is a missing barrier if another thread writes it before the next barrier. The
// word is awaited until then.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "executor/fault.hpp"
#include "executor/own_elf.hpp"
#include "executor/zeroed_array.hpp"

namespace warpladder::executor {

class SharedShadow {
 public:
  // Of `bytes` of shared memory from `begin` on. Legal to touch are the variables, whose list stays
  // where it is and is sorted.
  void prepare(const unsigned char* begin, std::size_t bytes,
               std::span<const ElfVariable> variables) {
    begin_ = begin;
    words_ = ZeroedArray<Word>(bytes / 4 + kPage / 4);
    variables_ = variables;
    knows_variables_.assign(bytes / kPage + 2, false);  // an access may cross the end
  }
  // These bytes, of no variable, become legal, or no longer are.
  void set_legal(std::size_t offset, std::size_t bytes, bool legal) {
    for (std::size_t at = offset; at < offset + bytes; ++at) {
      const auto bit = static_cast<std::uint8_t>(1u << at % 4);
      std::uint8_t& mask = words_[at / 4].legal;
      mask = static_cast<std::uint8_t>(legal ? mask | bit : mask & ~bit);
    }
  }

  void begin_block(unsigned warps) {
    first_epoch_ = next_epoch();
    warp_epoch_.assign(warps, 0);
    doubts_.clear();
    forget_awaited();
  }
  void pass_barrier() { next_epoch(); }
  void pass_warp_barrier(unsigned warp) { ++warp_epoch_[warp]; }

  struct Problem {
    FaultKind kind;
    std::string sentence;
    bool of_awaited = false;  // of the thread that read the awaited word, not of the running one
  };

  // One access of `bytes` at `offset` into shared memory; null if nothing is wrong with it. Atomics
  // do not race with atomics.
  const Problem* check(std::size_t offset, unsigned bytes, unsigned thread, AccessKind kind) {
    for (std::size_t page = offset / kPage; page <= (offset + bytes - 1) / kPage; ++page) {
      if (__builtin_expect(!knows_variables_[page], 0)) learn_variables(page);
    }
    // Bit b of a mask stands for byte b of the word.
    const auto mask =
        bytes >= 4 ? kWholeWord : static_cast<std::uint8_t>(((1u << bytes) - 1) << offset % 4);
    const std::size_t last = (offset + bytes - 1) / 4;
    for (std::size_t w = offset / 4; w <= last; ++w) {
      if (__builtin_expect(!check_word(words_[w], thread, kind, mask), 0)) return &problem_;
    }
    return nullptr;
  }

  // Whether a load does what others did before it, so that check() would only note its thread. Then
  // that is done: most loads are decided at a glance.
  bool repeats(std::size_t offset, unsigned bytes, unsigned thread) {
    if (bytes < 4 || in_doubt()) return false;
    for (std::size_t w = offset / 4; w < (offset + bytes) / 4; ++w) {
      if (!repeats(words_[w], thread)) return false;
    }
    return true;
  }

  bool in_doubt() const { return !doubts_.empty(); }
  // Once the store of `thread` that raised the doubts has happened.
  const Problem* settle_doubts() {
    const Problem* found = nullptr;
    for (const Doubt& doubt : doubts_) {
      const std::uint32_t changed = memory_of(words_[doubt.word]) ^ doubt.value;
      if (changed & bits_of(doubt.bytes)) {
        race(true, words_[doubt.word].writer, doubt.other, "wrote");
        found = &problem_;
        break;
      }
    }
    doubts_.clear();
    return found;
  }

  // From now on a write of another thread to the word that check() last refused is a missing
  // barrier.
  void await_writer(unsigned reader) {
    awaited_ = refused_;
    awaited_legal_ = std::exchange(awaited_->legal, 0);
    awaited_by_ = reader;
  }
  bool awaits_writer() const { return awaited_ != nullptr; }
  void forget_awaited() {
    if (!awaited_) return;
    awaited_->legal = awaited_legal_;
    awaited_ = nullptr;
  }

  // By the copy engine, which no race is looked for with: its bytes are there for all to read.
  void write_from_outside(std::size_t offset, unsigned bytes) {
    for (std::size_t w = offset / 4; w <= (offset + bytes - 1) / 4; ++w) {
      words_[w].write_epoch = first_epoch_;
      words_[w].written = 0;
      words_[w].initialised = kWholeWord;
    }
  }
  void begin_async_write(std::size_t offset, unsigned bytes) {
    for (std::size_t w = offset / 4; w <= (offset + bytes - 1) / 4; ++w) ++words_[w].pending;
    ++async_writes_;
  }
  void end_async_write(std::size_t offset, unsigned bytes) {
    for (std::size_t w = offset / 4; w <= (offset + bytes - 1) / 4; ++w) --words_[w].pending;
    --async_writes_;
  }
  void forget_async_writes() {
    if (async_writes_ == 0) return;  // as nearly always: the words of a block take 1.6 MB here
    for (Word& w : words_) w.pending = 0;
    async_writes_ = 0;
  }

 private:
  static constexpr std::uint8_t kWholeWord = 0xf;
  static constexpr std::size_t kPage = 512;  // bytes of shared memory
  enum Readers : std::uint8_t { one_thread, one_warp, several_warps };
  struct Word {
    std::uint32_t write_epoch = 0, read_epoch = 0;
    std::uint32_t write_warp_epoch = 0, read_warp_epoch = 0;
    // other_reader: of another warp if there are several, else another lane if there are any.
    std::uint16_t writer = 0, reader = 0, other_reader = 0;
    Readers readers = one_thread;
    bool atomic_write = false;
    std::uint8_t initialised = 0, written = 0,
                 read = 0;      // bytes: of the block, the writer, the readers
    std::uint16_t pending = 0;  // asynchronous copies on their way here
    std::uint8_t legal = 0;     // bytes that belong to a variable; none of an awaited word
  };
  // A store over what another thread stored, with the word's value before it.
  struct Doubt {
    std::size_t word;
    std::uint32_t value;
    std::uint8_t bytes;
    unsigned other;
  };

  // A program has megabytes of __shared__ variables, and a kernel uses few of them. So the legal
  // bytes of a page are marked before its first access.
  __attribute__((noinline, cold)) void learn_variables(std::size_t page) {
    knows_variables_[page] = true;
    const std::size_t begin = page * kPage, end = begin + kPage;
    auto v = std::ranges::upper_bound(variables_, begin, {}, &ElfVariable::begin);
    if (v != variables_.begin()) --v;
    for (; v != variables_.end() && v->begin < end; ++v) {
      const std::size_t first = std::max<std::size_t>(v->begin, begin),
                        last = std::min<std::size_t>(v->begin + v->bytes, end);
      if (first < last) set_legal(first, last - first, true);
    }
  }

  std::uint32_t memory_of(const Word& word) const {
    std::uint32_t value;
    std::memcpy(&value, begin_ + 4 * (&word - words_.data()), sizeof value);
    return value;
  }
  static std::uint32_t bits_of(std::uint8_t bytes) {
    std::uint32_t bits = 0;
    for (unsigned b = 0; b < 4; ++b) bits |= bytes >> b & 1 ? 0xffu << 8 * b : 0;
    return bits;
  }

  std::uint32_t next_epoch() {
    if (++epoch_ == 0) {  // after 2^32 barriers: forget everything rather than confuse epochs
      for (Word& w : words_) w = {.pending = w.pending, .legal = w.legal};
      epoch_ = 1;
    }
    return epoch_;
  }

  __attribute__((noinline, cold)) bool fail(FaultKind kind, std::string sentence) {
    problem_ = {kind, std::move(sentence), false};
    return false;
  }
  __attribute__((noinline, cold)) bool race(bool writes, unsigned thread, unsigned other,
                                            const char* did) {
    return fail(FaultKind::shared_memory_race,
                std::string(writes ? "writes" : "reads") + " shared memory that thread " +
                    std::to_string(other) + " " + did + ", with no barrier in between" +
                    (thread / 32 == other / 32 ? ": is a __syncwarp() missing?" : ""));
  }

  // A byte that belongs to no variable, or a word that someone has read too early.
  __attribute__((noinline, cold)) bool refuse_word(const Word& word, unsigned thread,
                                                   AccessKind kind) {
    if (&word != awaited_) return fail(FaultKind::out_of_bounds, {});
    if (kind != AccessKind::store || thread == awaited_by_) return true;
    fail(FaultKind::shared_memory_race,
         "reads shared memory before thread " + std::to_string(thread) +
             " writes it, with no barrier in between: is a " +
             (thread / 32 == awaited_by_ / 32 ? "__syncwarp()" : "__syncthreads()") + " missing?");
    problem_.of_awaited = true;
    return false;
  }
  __attribute__((noinline, cold)) void doubt(const Word& word, std::uint8_t mask) {
    const auto index = static_cast<std::size_t>(&word - words_.data());
    doubts_.push_back({index, memory_of(word), mask, word.writer});
  }

  bool repeats(Word& word, unsigned thread) const {
    if (word.read_epoch != epoch_ || word.write_epoch == epoch_ || word.read != kWholeWord ||
        word.legal != kWholeWord || word.pending) {
      return false;
    }
    if (word.readers == several_warps) return true;
    if (word.read_warp_epoch != warp_epoch_[thread / 32]) return false;
    if (word.reader == thread) return true;
    if (word.readers == one_thread || word.reader / 32 != thread / 32) return false;
    word.other_reader = static_cast<std::uint16_t>(thread);
    return true;
  }

  bool check_word(Word& word, unsigned thread, AccessKind kind, std::uint8_t mask) {
    if (__builtin_expect((word.legal & mask) != mask, 0)) return refuse_word(word, thread, kind);
    const unsigned warp = thread / 32;
    const std::uint32_t warp_epoch = warp_epoch_[warp];
    const bool writes = kind != AccessKind::load, atomic = kind == AccessKind::atomic;
    if (word.pending) {
      return fail(FaultKind::unwaited_async_copy,
                  "an asynchronous copy into this word has not been waited for");
    }
    if (word.write_epoch < first_epoch_) word.initialised = 0;
    if (kind != AccessKind::store && (word.initialised & mask) != mask) {
      refused_ = &word;
      return fail(FaultKind::uninitialised_shared_read,
                  "reads shared memory that no thread of the block has written");
    }
    if (word.write_epoch == epoch_ && word.writer != thread && (word.written & mask) &&
        !(atomic && word.atomic_write) &&
        (word.writer / 32 != warp || word.write_warp_epoch == warp_epoch)) {
      if (kind != AccessKind::store || word.atomic_write) {
        return race(writes, thread, word.writer, "wrote");
      }
      doubt(word, mask);
    }
    if (!writes) {
      const auto me = static_cast<std::uint16_t>(thread);
      if (word.read_epoch != epoch_ || !(word.read & mask)) {
        word.readers = one_thread;
        word.reader = word.other_reader = me;
        word.read = mask;
      } else if (word.readers == one_thread && word.reader == thread) {
        word.read |= mask;
      } else if (word.readers == several_warps || word.reader / 32 != warp) {
        if (word.other_reader / 32 == word.reader / 32) word.other_reader = me;
        word.readers = several_warps;
        word.read &= mask;  // the bytes that all of them read
      } else if (word.read_warp_epoch != warp_epoch) {
        word.readers = one_thread;  // __syncwarp put the earlier readers in order
        word.reader = word.other_reader = me;
        word.read = mask;
      } else {
        if (word.reader != me) word.other_reader = me;
        word.readers = one_warp;
        word.read &= mask;
      }
      word.read_epoch = epoch_;
      word.read_warp_epoch = warp_epoch;
      return true;
    }
    if (word.read_epoch == epoch_ && (word.read & mask) &&
        !(word.readers == one_thread && word.reader == thread)) {
      const bool other_warp = word.readers == several_warps || word.reader / 32 != warp;
      if (other_warp || word.read_warp_epoch == warp_epoch) {
        const bool first = other_warp ? word.reader / 32 != warp : word.reader != thread;
        return race(true, thread, first ? word.reader : word.other_reader, "read");
      }
    }
    word.write_epoch = epoch_;
    word.write_warp_epoch = warp_epoch;
    word.writer = static_cast<std::uint16_t>(thread);
    word.atomic_write = atomic;
    word.initialised |= mask;
    word.written = mask;
    return true;
  }

  ZeroedArray<Word> words_;
  std::span<const ElfVariable> variables_;
  std::vector<unsigned char> knows_variables_;  // [page]
  std::vector<std::uint32_t> warp_epoch_;
  std::uint32_t epoch_ = 0, first_epoch_ = 0;
  std::uint64_t async_writes_ = 0;  // begun and not ended
  Problem problem_;
  const unsigned char* begin_ = nullptr;
  std::vector<Doubt> doubts_;  // all of one store
  Word* refused_ = nullptr;
  Word* awaited_ = nullptr;
  std::uint8_t awaited_legal_ = 0;
  unsigned awaited_by_ = 0;
};

}  // namespace warpladder::executor
