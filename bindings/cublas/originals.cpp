#include "originals.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <mutex>

namespace warpladder::cublas {
namespace {

Original originals[kMostOriginals];
std::atomic<int> count{0};
std::atomic<int> count_of[2];
std::mutex publishing;

constexpr const char* kNames[] = {
#define WARPLADDER_NAME(name, ...) #name,
    WARPLADDER_CUBLAS_TAKEN(WARPLADDER_NAME)      //
    WARPLADDER_CUBLAS_WATCHED(WARPLADDER_NAME)    //
    WARPLADDER_CUBLAS_ASKED(WARPLADDER_NAME)      //
    WARPLADDER_CUBLASLT_TAKEN(WARPLADDER_NAME)    //
    WARPLADDER_CUBLASLT_WATCHED(WARPLADDER_NAME)  //
    WARPLADDER_CUBLASLT_ASKED(WARPLADDER_NAME)    //
#undef WARPLADDER_NAME
};
constexpr int kFirstOfLt = static_cast<int>(Symbol::cublasLtMatmul);

// libcublas.so.13, or libcublas-1a2b3c.so.12 as some wheels name it.
bool is_cublas(const char* path, Kind* kind) {
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash ? slash + 1 : path;
  constexpr char kPrefix[] = "libcublas";
  if (std::strncmp(name, kPrefix, sizeof kPrefix - 1) != 0) return false;
  const char* rest = name + sizeof kPrefix - 1;
  *kind = std::strncmp(rest, "Lt", 2) == 0 ? Kind::lt : Kind::blas;
  if (*kind == Kind::lt) rest += 2;
  return (*rest == '.' || *rest == '-') && std::strstr(rest, ".so");
}

struct Found {
  const char* paths[kMostOriginals];
  Original originals[kMostOriginals];
  int count;
};

int note(dl_phdr_info* info, std::size_t, void* data) {
  auto& found = *static_cast<Found*>(data);
  Kind kind{};
  if (!info->dlpi_name || !is_cublas(info->dlpi_name, &kind) || found.count == kMostOriginals) {
    return 0;
  }
  Original& original = found.originals[found.count];
  original.kind = kind;
  original.begin = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (begin < original.begin) original.begin = begin;
    if (begin + segment.p_memsz > original.end) original.end = begin + segment.p_memsz;
  }
  found.paths[found.count++] = info->dlpi_name;
  return 0;
}

// Keeps the library loaded and looks up its functions. A look-up by handle never finds this
// library's own.
bool open(const char* path, Original& original) {
  void* const handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (!handle) return false;
  const bool lt = original.kind == Kind::lt;
  for (int i = lt ? kFirstOfLt : 0; i < (lt ? kSymbols : kFirstOfLt); ++i) {
    original.symbols[i] = next_dlsym(handle, kNames[i]);
  }
  dlerror();  // what an older version lacks is no error of the program's
  return true;
}

bool is_known(const Original& original) {
  for (int i = 0; i < count.load(std::memory_order_acquire); ++i) {
    if (originals[i].begin == original.begin) return true;
  }
  return false;
}

// That of several which the calling library itself depends on.
const Original* by_caller(Kind kind, const void* caller) {
  Dl_info info{};
  void* map = nullptr;
  if (!dladdr1(caller, &info, &map, RTLD_DL_LINKMAP) || !map) return nullptr;
  const char* const path = static_cast<link_map*>(map)->l_name;
  void* const handle = dlopen(*path ? path : nullptr, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return nullptr;
  const char* const name = kNames[kind == Kind::lt ? kFirstOfLt : 1];
  // The main program's handle searches all that is global, this library first.
  void* const meant = *path ? next_dlsym(handle, name) : nullptr;
  dlclose(handle);
  dlerror();
  const auto address = reinterpret_cast<std::uintptr_t>(meant);
  for (int i = 0; i < count.load(std::memory_order_acquire); ++i) {
    const Original& original = originals[i];
    if (original.kind == kind && original.begin <= address && address < original.end) {
      return &original;
    }
  }
  return nullptr;
}

}  // namespace

void find_originals() noexcept {
  Found found{};
  dl_iterate_phdr(note, &found);
  for (int i = 0; i < found.count; ++i) {
    // Opened before the lock is taken: a thread may come here from inside dlopen().
    if (is_known(found.originals[i]) || !open(found.paths[i], found.originals[i])) continue;
    const std::lock_guard lock(publishing);
    const int at = count.load(std::memory_order_relaxed);
    if (at == kMostOriginals || is_known(found.originals[i])) continue;
    originals[at] = found.originals[i];
    count.store(at + 1, std::memory_order_release);
    count_of[static_cast<int>(originals[at].kind)].fetch_add(1, std::memory_order_release);
  }
}

const Original* original_for(Kind kind, const void* caller) noexcept {
  const auto& of_kind = count_of[static_cast<int>(kind)];
  if (of_kind.load(std::memory_order_acquire) == 0) find_originals();
  if (of_kind.load(std::memory_order_acquire) > 1) {
    if (const Original* const meant = by_caller(kind, caller)) return meant;
  }
  for (int i = 0; i < count.load(std::memory_order_acquire); ++i) {
    if (originals[i].kind == kind) return &originals[i];
  }
  return nullptr;
}

bool in_an_original(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (int i = 0; i < count.load(std::memory_order_acquire); ++i) {
    if (originals[i].begin <= at && at < originals[i].end) return true;
  }
  return false;
}

}  // namespace warpladder::cublas
