// What kernels call: assertions, traps, the grid's barrier, the heap, the clock. A program is
// linked with --wrap for the C library's functions that mean something else in a kernel.

#include <fmt/format.h>

#include <cstdarg>
#include <cstdlib>
#include <ctime>

#include "executor/arena.hpp"
#include "executor/hooks.hpp"
#include "executor/memory_map.hpp"
#include "executor/worker.hpp"
#include "programs/runtime/api.hpp"
#include "programs/runtime/repeats.hpp"
#include "programs/runtime/session.hpp"

using namespace warpladder::executor;

namespace {

std::uintptr_t to_pc(const void* return_address) {
  return reinterpret_cast<std::uintptr_t>(return_address);
}

// In a kernel of the person's, not in the executor or a library that it calls.
bool from_kernel(const void* return_address) {
  const auto* const pc = static_cast<const char*>(return_address);
  return this_worker && pc >= warpladder_kernels_begin && pc < warpladder_kernels_end;
}

bool is_device_heap(const void* pointer) {
  const ArenaView arena = Arena::instance().view();
  return reinterpret_cast<std::uintptr_t>(pointer) - arena.begin < arena.size;
}

}  // namespace

extern "C" {

void program_assert_failed(const char* what, const char* file, int line) {
  if (!this_worker) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s:%d: Assertion `%s' failed.\n", file, line, what);
    std::abort();
  }
  this_worker->fail(FaultKind::assertion, to_pc(__builtin_return_address(0)),
                    [&] { return fmt::format("`{}` is false", what); });
}
void program_trap() {
  if (!this_worker) std::abort();
  this_worker->fail(FaultKind::trap, to_pc(__builtin_return_address(0)),
                    [] { return "__trap() was called"; });
}
void program_grid_sync() {
  const auto blocks = this_worker->launch->config.grid.count();
  if (blocks == 1) {
    this_worker->wait_at_barrier(0, 0, to_pc(__builtin_return_address(0)));
    return;
  }
  if (this_worker->launch->cooperative) {
    this_worker->wait_at_cluster_barrier(to_pc(__builtin_return_address(0)));
    return;
  }
  this_worker->fail(FaultKind::grid_barrier, to_pc(__builtin_return_address(0)), [&] {
    return fmt::format(
        "grid.sync() over {} blocks that need not be there at once; launch the kernel with "
        "cudaLaunchCooperativeKernel()",
        blocks);
  });
}
void program_keep_step(int is_store) {
  if (this_worker) this_worker->keep_step(is_store != 0);
}
void program_yield() { this_worker->yield(); }
void program_threads_have_met() {
  if (!this_worker->pass_barrier()) this_worker->abandon();
}
void program_enter_kernel(const char* kernel, const void* called_from) {
  if (this_worker) return;
  using namespace warpladder::programs;
  report_finding("plain call of a kernel", caller_of(called_from),
                 fmt::format("kernel {} is called like a function, through a pointer; launch it "
                             "with <<<grid, block>>>(…)",
                             kernel));
  stop(1);
}
unsigned program_thread_rank() { return this_worker->thread_rank(); }
int program_in_kernel() { return this_worker != nullptr; }
int program_is_shared(const void* pointer) {
  return this_worker && to_pc(pointer) - this_worker->shared_begin < this_worker->shared_bytes;
}
int program_is_global(const void* pointer) {
  return is_device_heap(pointer) || MemoryMap::instance().find(to_pc(pointer), 1);
}

void* __real_malloc(std::size_t bytes);
void __real_free(void* pointer);
void* __real__Znwm(std::size_t bytes);
void* __real__Znam(std::size_t bytes);
clock_t __real_clock();

void* __wrap_malloc(std::size_t bytes) {
  if (!from_kernel(__builtin_return_address(0))) return __real_malloc(bytes);
  return Arena::instance().allocate(bytes);
}
void __wrap_free(void* pointer) {
  if (!is_device_heap(pointer)) return __real_free(pointer);
  Arena::instance().release(pointer);
}
void* __wrap__Znwm(std::size_t bytes) {
  if (!from_kernel(__builtin_return_address(0))) return __real__Znwm(bytes);
  return Arena::instance().allocate(bytes);
}
void* __wrap__Znam(std::size_t bytes) {
  if (!from_kernel(__builtin_return_address(0))) return __real__Znam(bytes);
  return Arena::instance().allocate(bytes);
}
void __real__ZdlPv(void* pointer);
void __real__ZdlPvm(void* pointer, std::size_t bytes);
void __real__ZdaPv(void* pointer);
void __wrap__ZdlPv(void* pointer) {
  is_device_heap(pointer) ? Arena::instance().release(pointer) : __real__ZdlPv(pointer);
}
void __wrap__ZdlPvm(void* pointer, std::size_t bytes) {
  is_device_heap(pointer) ? Arena::instance().release(pointer) : __real__ZdlPvm(pointer, bytes);
}
void __wrap__ZdaPv(void* pointer) {
  is_device_heap(pointer) ? Arena::instance().release(pointer) : __real__ZdaPv(pointer);
}
// What a kernel prints makes it unlike a launch that changes nothing. Blocks print in ascending
// order, whatever the number of threads here.
static void begin_print() {
  if (!this_worker) return;
  warpladder::programs::note_effect();
  this_worker->wait_for_turn();
}
int __real_puts(const char* text);
int __real_putchar(int c);
int __wrap_printf(const char* format, ...) {
  begin_print();
  std::va_list arguments;
  va_start(arguments, format);
  const int written = std::vprintf(format, arguments);
  va_end(arguments);
  return written;
}
int __wrap_puts(const char* text) {
  begin_print();
  return __real_puts(text);
}
int __wrap_putchar(int c) {
  begin_print();
  return __real_putchar(c);
}
clock_t __wrap_clock() {
  if (!from_kernel(__builtin_return_address(0))) return __real_clock();
  return static_cast<clock_t>(__builtin_ia32_rdtsc());
}
}
