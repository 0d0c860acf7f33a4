/* C = A · B of two small matrices, in C99. It needs nothing but warpladder:
 *
 *   cc sgemm.c $(pkg-config --cflags --libs warpladder) -o sgemm && ./sgemm
 */
#include <stdio.h>
#include <warpladder/warpladder.h>

/* Ends main() with exit code 1 and the library's sentence unless the call succeeds. */
#define TRY(call)                                                                       \
  do {                                                                                  \
    const warpladder_status status = (call);                                            \
    if (status != WARPLADDER_SUCCESS) {                                                 \
      fprintf(stderr, "%s: %s\n", warpladder_status_string(status), warpladder_last_error()); \
      return 1;                                                                         \
    }                                                                                   \
  } while (0)

int main(void) {
  const float a[2 * 3] = {1, 2, 3, 4, 5, 6}, b[3 * 2] = {1, 0, 0, 1, 1, 1};
  float c[2 * 2] = {0};
  void *a_there, *b_there, *c_there;
  warpladder_handle handle;
  if (warpladder_create(&handle) == WARPLADDER_NO_DEVICE) {
    printf("no GPU here: %s\n", warpladder_last_error());
    return 0;
  }
  TRY(warpladder_malloc(handle, sizeof a, &a_there));
  TRY(warpladder_malloc(handle, sizeof b, &b_there));
  TRY(warpladder_malloc(handle, sizeof c, &c_there));
  TRY(warpladder_upload(handle, a_there, a, sizeof a));
  TRY(warpladder_upload(handle, b_there, b, sizeof b));

  /* m, n, k = 2, 2, 3; rows of A have 3 elements, rows of B and C 2. */
  TRY(warpladder_sgemm(handle, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, WARPLADDER_OP_N, 2, 2, 3,
                       1.0f, a_there, 3, b_there, 2, 0.0f, c_there, 2, NULL));

  TRY(warpladder_download(handle, c, c_there, sizeof c));
  printf("%g %g\n%g %g\n", c[0], c[1], c[2], c[3]); /* 4 5, 10 11 */

  TRY(warpladder_free(handle, a_there));
  TRY(warpladder_free(handle, b_there));
  TRY(warpladder_free(handle, c_there));
  TRY(warpladder_destroy(handle));
  return !(c[0] == 4 && c[1] == 5 && c[2] == 10 && c[3] == 11);
}
