#pragma once
// Counts what a program takes of the heap and which mutexes it locks. It defines operator new and
// pthread_mutex_lock(), so one source file of a program includes it.

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <new>

#include "library/taken_counts.hpp"

// Every std::mutex of the program is locked through here.
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t*);
  static const auto next = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  taken::locks.fetch_add(1, std::memory_order_relaxed);
  return next(mutex);
}

// noinline, so that the compiler does not pair free() with another operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  taken::heap_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
