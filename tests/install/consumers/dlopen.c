/* A program that loads the library when it runs, and builds without it. */
#include <dlfcn.h>
#include <stdio.h>
#include <warpladder/warpladder.h>

int main(int count, char **words) {
  void *library = dlopen(count > 1 ? words[1] : "libwarpladder.so.0", RTLD_NOW);
  int (*version)(void);
  warpladder_status (*create)(warpladder_handle *);
  warpladder_status (*destroy)(warpladder_handle);
  const char *(*last_error)(void);
  warpladder_handle handle;
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  *(void **)&version = dlsym(library, "warpladder_version");
  *(void **)&create = dlsym(library, "warpladder_create");
  *(void **)&destroy = dlsym(library, "warpladder_destroy");
  *(void **)&last_error = dlsym(library, "warpladder_last_error");
  if (!version || !create || !destroy || !last_error || version() != WARPLADDER_VERSION) return 1;
  switch (create(&handle)) {
    case WARPLADDER_SUCCESS:
      return destroy(handle) == WARPLADDER_SUCCESS ? 0 : 1;
    case WARPLADDER_NO_DEVICE:
      printf("no GPU here: %s\n", last_error());
      return 0;
    default:
      fprintf(stderr, "%s\n", last_error());
      return 1;
  }
}
