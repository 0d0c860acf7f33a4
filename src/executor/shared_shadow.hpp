#pragma once
// Remembers, for each 4-byte word of a block's shared memory, who wrote and read it last, and so
// finds races and reads of what nobody wrote.
//
// Time is counted in epochs: a block barrier starts a new one, so accesses of different epochs are
// ordered. Within an epoch the lanes of one warp are ordered by __syncwarp alone (the warp's own
// epoch); a shuffle exchanges registers and orders no memory.
//
// Of accesses narrower than a word only the bytes count: two threads may use different bytes of one
// word. It then remembers less than what happened: a race may go unseen, but none is reported that
// is not there.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "executor/fault.hpp"

namespace warpladder::executor {

class SharedShadow {
 public:
  void resize(std::size_t bytes) { words_.resize(bytes / 4 + 1); }
  bool enabled() const { return !words_.empty(); }

  void begin_block(unsigned warps) {
    first_epoch_ = next_epoch();
    warp_epoch_.assign(warps, 0);
  }
  void pass_barrier() { next_epoch(); }
  void pass_warp_barrier(unsigned warp) { ++warp_epoch_[warp]; }

  struct Problem {
    FaultKind kind;
    std::string sentence;
  };

  // One access of `bytes` at `offset` into shared memory; null if nothing is wrong with it. Atomics
  // do not race with atomics.
  const Problem* check(std::size_t offset, unsigned bytes, unsigned thread, AccessKind kind) {
    // Bit b of a mask stands for byte b of the word.
    const auto mask =
        bytes >= 4 ? kWholeWord : static_cast<std::uint8_t>(((1u << bytes) - 1) << offset % 4);
    const std::size_t last = (offset + bytes - 1) / 4;
    for (std::size_t w = offset / 4; w <= last; ++w) {
      if (__builtin_expect(!check_word(words_[w], thread, kind, mask), 0)) return &problem_;
    }
    return nullptr;
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
  enum Readers : std::uint8_t { one_thread, one_warp, several_warps };
  struct Word {
    std::uint32_t write_epoch = 0, read_epoch = 0;
    std::uint32_t write_warp_epoch = 0, read_warp_epoch = 0;
    std::uint16_t writer = 0, reader = 0;
    Readers readers = one_thread;
    bool atomic_write = false;
    std::uint8_t initialised = 0, written = 0,
                 read = 0;      // bytes: of the block, the writer, the readers
    std::uint16_t pending = 0;  // asynchronous copies on their way here
  };

  std::uint32_t next_epoch() {
    if (++epoch_ == 0) {  // after 2^32 barriers: forget everything rather than confuse epochs
      for (Word& w : words_) w = {.pending = w.pending};
      epoch_ = 1;
    }
    return epoch_;
  }

  __attribute__((noinline, cold)) bool fail(FaultKind kind, std::string sentence) {
    problem_ = {kind, std::move(sentence)};
    return false;
  }
  __attribute__((noinline, cold)) bool race(bool writes, unsigned other, const char* did) {
    return fail(FaultKind::shared_memory_race,
                std::string(writes ? "writes" : "reads") + " shared memory that thread " +
                    std::to_string(other) + " " + did + ", with no barrier in between");
  }

  bool check_word(Word& word, unsigned thread, AccessKind kind, std::uint8_t mask) {
    const unsigned warp = thread / 32;
    const std::uint32_t warp_epoch = warp_epoch_[warp];
    const bool writes = kind != AccessKind::load, atomic = kind == AccessKind::atomic;
    if (word.pending) {
      return fail(FaultKind::unwaited_async_copy,
                  "an asynchronous copy into this word has not been waited for");
    }
    if (word.write_epoch < first_epoch_) word.initialised = 0;
    if (kind != AccessKind::store && (word.initialised & mask) != mask) {
      return fail(FaultKind::uninitialised_shared_read,
                  "reads shared memory that no thread of the block has written");
    }
    if (word.write_epoch == epoch_ && word.writer != thread && (word.written & mask) &&
        !(atomic && word.atomic_write) &&
        (word.writer / 32 != warp || word.write_warp_epoch == warp_epoch)) {
      return race(writes, word.writer, "wrote");
    }
    if (!writes) {
      if (word.read_epoch != epoch_ || !(word.read & mask)) {
        word.readers = one_thread;
        word.reader = static_cast<std::uint16_t>(thread);
        word.read = mask;
      } else if (word.readers == one_thread && word.reader == thread) {
        word.read |= mask;
      } else if (word.readers == several_warps || word.reader / 32 != warp) {
        word.readers = several_warps;
        word.read &= mask;  // the bytes that all of them read
      } else if (word.read_warp_epoch != warp_epoch) {
        word.readers = one_thread;  // __syncwarp put the earlier readers in order
        word.reader = static_cast<std::uint16_t>(thread);
        word.read = mask;
      } else {
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
        return race(true, word.reader, "read");
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

  std::vector<Word> words_;
  std::vector<std::uint32_t> warp_epoch_;
  std::uint32_t epoch_ = 0, first_epoch_ = 0;
  std::uint64_t async_writes_ = 0;  // begun and not ended
  Problem problem_;
};

}  // namespace warpladder::executor
