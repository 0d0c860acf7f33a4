#pragma once
// Stacks of their own for the threads of a block, and the switch between them (x86-64). A switch
// keeps three registers; the compiler saves the others, of which it knows that they are lost.

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace warpladder::executor {

// Where a suspended stack goes on.
struct Context {
  const void* stack_pointer = nullptr;
  const void* frame_pointer = nullptr;
  const void* instruction = nullptr;
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  const void* stack_bottom = nullptr;
  std::size_t stack_bytes = 0;
#endif
};

// What a stack does first when it continues: `self` is null where it starts.
inline void arrive([[maybe_unused]] Context* self, [[maybe_unused]] Context* from) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(self ? self->fake_stack : nullptr, &from->stack_bottom,
                                  &from->stack_bytes);
#endif
}

// Suspends the running stack into `from` and continues `to`.
inline __attribute__((always_inline)) void switch_to(Context& from, Context& to) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack_bottom, to.stack_bytes);
#endif
  Context* a = &from;
  Context* b = &to;
  // %rsi says to the stack that continues which one was left.
  asm volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "movq %%rsp, 0(%[a])\n\t"
      "movq %%rbp, 8(%[a])\n\t"
      "movq %%rax, 16(%[a])\n\t"
      "movq 0(%[b]), %%rsp\n\t"
      "movq 8(%[b]), %%rbp\n\t"
      "jmpq *16(%[b])\n"
      "1:\n\t"
      : [a] "+S"(a), [b] "+D"(b)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
  arrive(&from, a);
}

// What abandoned fibers leave on their stacks must not be held against who gets the memory next.
inline void forget_frames([[maybe_unused]] void* stacks, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stacks, bytes);
#endif
}

// A stack that starts in entry(nullptr, from) when first switched to. `entry` calls arrive(nullptr,
// from) and never returns.
inline void prepare(Context& context, char* stack, std::size_t bytes,
                    void (*entry)(void*, Context* from)) {
#if defined(__SANITIZE_ADDRESS__)
  forget_frames(stack, bytes);
  context.stack_bottom = stack;
  context.stack_bytes = bytes;
  context.fake_stack = nullptr;
#endif
  // Aligned as behind a call, with no frame and no return address above.
  const auto top = (reinterpret_cast<std::uintptr_t>(stack) + bytes) / 16 * 16 - 8;
  *reinterpret_cast<std::uintptr_t*>(top) = 0;
  context.stack_pointer = reinterpret_cast<const void*>(top);
  context.frame_pointer = nullptr;
  context.instruction = reinterpret_cast<const void*>(entry);
}

}  // namespace warpladder::executor
