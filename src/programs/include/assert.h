// An assertion in a kernel ends the launch and names the thread. As the standard asks, this header
// may be included again after NDEBUG has changed.
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
  ((condition) ? (void)0 : ::program_assert_failed(#condition, __FILE__, __LINE__))
#endif
#ifndef SIMT_ASSERT_DECLARED
#define SIMT_ASSERT_DECLARED
#ifdef __cplusplus
extern "C"
#endif
    void
    program_assert_failed(const char* what, const char* file, int line);
#ifndef __cplusplus
#define static_assert _Static_assert
#endif
#endif
