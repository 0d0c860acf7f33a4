// Ended from outside.
#include <unistd.h>

#include <cstdio>

int main() {
  std::puts("begun");
  std::fflush(stdout);
  for (;;) pause();
}
