// Two libraries of one source: each has a number, and the first asks dlsym() for the next one's.

#include <dlfcn.h>

#define SHOWN extern "C" [[gnu::visibility("default")]]

SHOWN int number() { return NUMBER; }
#if NUMBER == 1
SHOWN int number_of_next() { return reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "number"))(); }
SHOWN void cublasSgemmBatched() {}
#endif
