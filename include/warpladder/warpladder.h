/* warpladder: FP32 operators for NVIDIA GPUs, as a C interface.
 *
 * Conventions of every call
 *   - Pointers to operands are device pointers. Sizes, leading dimensions and strides count elements
 *     and are 64-bit. Floats are IEEE binary32.
 *   - A call validates its arguments, launches kernels on the caller's stream and returns. It never
 *     waits for the GPU, prints, exits or throws. Functions that wait say so.
 *   - A call that returns anything but WARPLADDER_SUCCESS launched nothing and wrote nothing, except
 *     with WARPLADDER_CUDA_ERROR, where outputs are undefined. warpladder_last_error() then holds one
 *     sentence that names the argument and its value.
 *   - Operands belong to the caller and must stay valid until the stream has passed the call.
 *   - beta == 0 never reads the output. alpha == 0 never reads the inputs. A size of 0 follows BLAS.
 *   - The same call on the same model of GPU gives the same bits, whatever the stream, the workspace
 *     or the neighbours in a batch.
 *   - A handle may be used by any number of threads and streams at the same time. A handle belongs to
 *     one device; a call works whichever device is current, and leaves the current device as it was.
 *   - Every call can be captured into a CUDA graph, unless it says that it waits for the GPU.
 */
#ifndef WARPLADDER_WARPLADDER_H
#define WARPLADDER_WARPLADDER_H

#include <stddef.h>
#include <stdint.h>

#define WARPLADDER_VERSION_MAJOR 0
#define WARPLADDER_VERSION_MINOR 1
#define WARPLADDER_VERSION_PATCH 0
#define WARPLADDER_VERSION 100 /* 10000 * major + 100 * minor + patch */

#if defined(__GNUC__) || defined(__clang__)
#define WARPLADDER_API __attribute__((visibility("default")))
#else
#define WARPLADDER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* status */

typedef enum {
  WARPLADDER_SUCCESS = 0,
  WARPLADDER_INVALID_ARGUMENT = 1,    /* null, negative, too small, misaligned, overlapping … */
  WARPLADDER_INVALID_HANDLE = 2,      /* null, never created, or destroyed */
  WARPLADDER_WORKSPACE_TOO_SMALL = 3, /* smaller than the call's _workspace_bytes() */
  WARPLADDER_OUT_OF_MEMORY = 4,       /* of the device or of the host */
  WARPLADDER_NO_DEVICE = 5,           /* no driver, or no GPU that it shows to this process */
  WARPLADDER_UNSUPPORTED_DEVICE = 6,  /* this build holds no code for the GPU */
  WARPLADDER_WRONG_DEVICE = 7,        /* the stream belongs to another device than the handle */
  WARPLADDER_FORKED = 8,              /* the handle was created before fork() */
  WARPLADDER_CUDA_ERROR = 9,          /* CUDA refused a launch, or an earlier kernel failed */
  WARPLADDER_CAPTURING = 10,          /* the call waits for the GPU, and its stream is capturing */
  WARPLADDER_NO_COMPILER = 11         /* NVRTC, which compiles at run time, is not found */
} warpladder_status;

/* The name of a status, such as "WARPLADDER_SUCCESS". Never null; static storage. */
WARPLADDER_API const char *warpladder_status_string(warpladder_status status);

/* The sentence of the last failed call of this thread; "" if none has failed. Valid until the
 * thread's next failing call. */
WARPLADDER_API const char *warpladder_last_error(void);

/* WARPLADDER_VERSION of the library that is loaded. */
WARPLADDER_API int warpladder_version(void);

/* handles */

typedef struct warpladder_context *warpladder_handle;

/* A cudaStream_t; null is the legacy default stream, cudaStreamPerThread the calling thread's. */
struct CUstream_st;
typedef struct CUstream_st *warpladder_stream;

/* Makes a handle for the current device and stores it in *out. Takes no device memory. Waits for
 * CUDA to initialise the device where the process has not used it yet.
 * WARPLADDER_NO_DEVICE, WARPLADDER_UNSUPPORTED_DEVICE. */
WARPLADDER_API warpladder_status warpladder_create(warpladder_handle *out);

/* Waits for the device, then frees the handle and all device memory that it holds. The handle must
 * not be in use by another thread. A null handle is ignored. */
WARPLADDER_API warpladder_status warpladder_destroy(warpladder_handle handle);

/* Gives calls of this handle on `stream` a workspace of `bytes` bytes of device memory at a multiple
 * of 256. The library writes there and expects nothing of its content. It belongs to the caller, who
 * keeps it until the last of these calls has ended. null and 0 take it away again; do so before the
 * stream is destroyed. `stream` is not cudaStreamPerThread, which is another one in each thread.
 *
 * Without a workspace each call takes what it needs from a memory pool of the handle, and returns
 * it. Both happen in the order of the stream (cudaMallocFromPoolAsync). warpladder_set_allocator()
 * puts other functions in the pool's place. The pool keeps returned memory
 * until warpladder_destroy().
 *
 * The handle also keeps flags by which thread blocks meet. They take 64 KiB or more of device
 * memory for each stream on which an operator other than sgemm, transpose and vector_add was
 * called. A captured call has its flags in its workspace instead. */
WARPLADDER_API warpladder_status warpladder_set_workspace(warpladder_handle handle,
                                                          warpladder_stream stream, void *workspace,
                                                          size_t bytes);

/* Functions that take the pool's place for workspaces, such as those of a framework's own allocator.
 * allocate() returns `bytes` bytes of device memory at a multiple of 256, for use in the order of
 * `stream`, or null where there are none. release() gets the memory back when the call has launched
 * its kernels. These may not have run yet: the next use comes behind them on the same stream. Both
 * are called with the handle's device current, by every thread that uses the handle. They do not
 * throw. Each launch of a graph uses the memory of its captured calls: allocate() answers for
 * it. */
typedef struct {
  void *(*allocate)(void *state, size_t bytes, warpladder_stream stream);
  void (*release)(void *state, void *memory, size_t bytes, warpladder_stream stream);
  void *state; /* handed to both */
} warpladder_allocator;

/* For all later calls of the handle; null: the pool again. Copies *allocator. No other thread uses
 * the handle meanwhile. A stream's workspace of warpladder_set_workspace() comes first. Memory that
 * outlives a call (flags, prepared matrices, plans) still comes from the pool. */
WARPLADDER_API warpladder_status warpladder_set_allocator(warpladder_handle handle,
                                                          const warpladder_allocator *allocator);

/* The same for calls that are captured; null: they take workspaces as other calls do. Memory that a
 * graph allocates itself forbids it to be a part of another graph. */
WARPLADDER_API warpladder_status
warpladder_set_capture_allocator(warpladder_handle handle, const warpladder_allocator *allocator);

/* With `promised` 1 the caller promises that the handle's device is current in all later calls, and that
 * their streams belong to it. No call makes sure of that, which saves time of the host; CUDA refuses the
 * launch where it is not so. 0, as in a new handle: each call does. No other thread uses the handle
 * meanwhile. */
WARPLADDER_API warpladder_status warpladder_promise_current_device(warpladder_handle handle,
                                                                   int promised);

/* Which arithmetic sgemm and its variants use. TF32, which drops bits of the operands, never.
 *   ACCURATE        whatever is fastest among methods whose error is no larger than that of an FP32
 *                   dot product: pairs of halves on tensor cores, float64 on tensor cores, or FP32.
 *   CUDA_CORES      FP32 fused multiply-adds alone.
 *   DOUBLE_ROUNDED  products and sums in float64, each element rounded once. */
typedef enum {
  WARPLADDER_ARITHMETIC_ACCURATE = 0,
  WARPLADDER_ARITHMETIC_CUDA_CORES = 1,
  WARPLADDER_ARITHMETIC_DOUBLE_ROUNDED = 2
} warpladder_arithmetic;

/* For all later calls of the handle. ACCURATE is the default. */
WARPLADDER_API warpladder_status warpladder_set_arithmetic(warpladder_handle handle,
                                                           warpladder_arithmetic arithmetic);

/* sgemm: C[m×n] = alpha · op(A)[m×k] · op(B)[k×n] + beta · C */

typedef enum { WARPLADDER_ROW_MAJOR = 101, WARPLADDER_COLUMN_MAJOR = 102 } warpladder_layout;
typedef enum { WARPLADDER_OP_N = 111, WARPLADDER_OP_T = 112 } warpladder_op;

/* A is stored m×k (k×m under OP_T), B k×n (n×k under OP_T), C m×n. In row-major storage a leading
 * dimension is at least the stored columns, in column-major storage the stored rows, and never 0.
 * C overlaps neither A nor B. Repeatable bit by bit. */
WARPLADDER_API warpladder_status warpladder_sgemm(warpladder_handle handle,
                                                  warpladder_layout layout, warpladder_op op_a,
                                                  warpladder_op op_b, int64_t m, int64_t n,
                                                  int64_t k, float alpha, const float *a,
                                                  int64_t lda, const float *b, int64_t ldb,
                                                  float beta, float *c, int64_t ldc,
                                                  warpladder_stream stream);

/* sgemm_add: C = alpha · op(A) · op(B) + beta · S, and S stays as it is. S is an m×n matrix in C's
 * layout. With lds = 0 it is one line that is added to every line of C, such as a layer's bias. The
 * line is a row of n elements in row-major storage, a column of m in column-major storage. It is C
 * itself, or does not overlap C. beta == 0 never reads S. */
WARPLADDER_API warpladder_status warpladder_sgemm_add(warpladder_handle handle,
                                                      warpladder_layout layout,
                                                      warpladder_op op_a, warpladder_op op_b,
                                                      int64_t m, int64_t n, int64_t k, float alpha,
                                                      const float *a, int64_t lda, const float *b,
                                                      int64_t ldb, float beta, const float *s,
                                                      int64_t lds, float *c, int64_t ldc,
                                                      warpladder_stream stream);

/* Matrix i of `batch` lies stride elements behind matrix i - 1. stride_a and stride_b may be 0 (all
 * products share the operand); matrices of C do not overlap. The products are independent. */
WARPLADDER_API warpladder_status warpladder_sgemm_strided_batched(
    warpladder_handle handle, warpladder_layout layout, warpladder_op op_a, warpladder_op op_b,
    int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, int64_t stride_a,
    const float *b, int64_t ldb, int64_t stride_b, float beta, float *c, int64_t ldc,
    int64_t stride_c, int64_t batch, warpladder_stream stream);

/* a, b and c are device arrays of `batch` device pointers, as cublasSgemmBatched takes them. The
 * library does not read them on the host: the caller answers for the pointers in them. */
WARPLADDER_API warpladder_status warpladder_sgemm_batched(
    warpladder_handle handle, warpladder_layout layout, warpladder_op op_a, warpladder_op op_b,
    int64_t m, int64_t n, int64_t k, float alpha, const float *const *a, int64_t lda,
    const float *const *b, int64_t ldb, float beta, float *const *c, int64_t ldc, int64_t batch,
    warpladder_stream stream);

/* B, prepared once for many products with the same B, such as a layer's weights. It holds
 *   - a copy of op(B), 4 bytes an element;
 *   - on GPUs of compute capability 9.0, under WARPLADDER_ARITHMETIC_ACCURATE, and if k is at least
 *     256: B as pairs of halves and as pairs of TF32. The tensor cores multiply these pairs. They
 *     take another 12 bytes an element (k rounded up to a multiple of 64) and 32 a column. Products
 *     then split A alone, and their workspace is that of A. Small B, which gain nothing by it, are
 *     only copied.
 * The library decides when it prepares B; a change of the handle's arithmetic does not change what a
 * prepared B holds. Products only read it: any number of threads and streams may use it at the same
 * time. It takes FP32's whole range, as warpladder_sgemm() does. */
typedef struct warpladder_prepared_matrix *warpladder_prepared;

/* Prepares op(B)[k×n]. Takes the device memory from the handle's pool, in the order of the stream.
 * Later changes of B do not matter. Cannot be captured: WARPLADDER_CAPTURING. */
WARPLADDER_API warpladder_status warpladder_sgemm_prepare(warpladder_handle handle,
                                                          warpladder_layout layout,
                                                          warpladder_op op_b, int64_t n, int64_t k,
                                                          const float *b, int64_t ldb,
                                                          warpladder_prepared *out,
                                                          warpladder_stream stream);

/* warpladder_sgemm() in the prepared layout with the prepared B, n and k. The stream comes behind
 * the one that prepared (the same stream, or an event that the caller placed). Can be captured. The
 * result is that of warpladder_sgemm() to within the same error bound, not always to the bit, for
 * another method may be the fastest. Repeatable bit by bit. */
WARPLADDER_API warpladder_status warpladder_sgemm_prepared(warpladder_handle handle,
                                                           warpladder_op op_a, int64_t m,
                                                           float alpha, const float *a, int64_t lda,
                                                           warpladder_prepared b, float beta,
                                                           float *c, int64_t ldc,
                                                           warpladder_stream stream);

/* The same with S in C's place behind beta, as warpladder_sgemm_add() has it. */
WARPLADDER_API warpladder_status
warpladder_sgemm_prepared_add(warpladder_handle handle, warpladder_op op_a, int64_t m, float alpha,
                              const float *a, int64_t lda, warpladder_prepared b, float beta,
                              const float *s, int64_t lds, float *c, int64_t ldc,
                              warpladder_stream stream);

/* Frees a prepared matrix in the order of the stream. The caller sees to it that this comes behind
 * all products that use it, those on other streams and in graphs included. */
WARPLADDER_API warpladder_status warpladder_prepared_destroy(warpladder_handle handle,
                                                             warpladder_prepared b,
                                                             warpladder_stream stream);

/* An element-wise epilogue of products, compiled from an expression in CUDA C++ of `x`, the element
 * as warpladder_sgemm() would store it: "x > 0 ? x : 0.1f * x", "fmaxf(x, 0)", "tanhf(x)". Any
 * number of threads and streams may use one. */
typedef struct warpladder_compiled_epilogue *warpladder_epilogue;

/* Compiles the expression with NVRTC, or takes the code from the cache on disk, and stores the
 * epilogue in *out. Takes seconds at most; does not wait for the GPU. NVRTC is loaded from
 * WARPLADDER_NVRTC, or where the system or the toolkit has it. WARPLADDER_CACHE names the cache's
 * folder, or is "off". WARPLADDER_INVALID_ARGUMENT: the expression is empty, has more than 4000
 * characters, holds a semicolon, brace, quote, comment or backslash, or has unbalanced parentheses.
 * The same where the compiler refuses it: the sentence then holds the compiler's first error.
 * WARPLADDER_NO_COMPILER. */
WARPLADDER_API warpladder_status warpladder_epilogue_create(warpladder_handle handle,
                                                            const char *expression,
                                                            warpladder_epilogue *out);

/* Frees an epilogue that no call uses any more; null is ignored. What the GPU still runs is not
 * touched. */
WARPLADDER_API warpladder_status warpladder_epilogue_destroy(warpladder_handle handle,
                                                             warpladder_epilogue epilogue);

/* C = epilogue(alpha · op(A) · op(B) + beta · C), element by element; all else as
 * warpladder_sgemm() has it, its workspace included. On CUDA cores the product's own kernel applies
 * the epilogue where it is one launch; otherwise a pass over C follows. A kernel that this process
 * has not used yet is compiled first. The call then takes up to a second, and cannot be captured
 * (WARPLADDER_CAPTURING, and nothing was launched). */
WARPLADDER_API warpladder_status warpladder_sgemm_epilogue(
    warpladder_handle handle, warpladder_layout layout, warpladder_op op_a, warpladder_op op_b,
    int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, const float *b,
    int64_t ldb, float beta, float *c, int64_t ldc, warpladder_epilogue epilogue,
    warpladder_stream stream);

/* sgemv: y = alpha · op(A) · x + beta · y */

/* A is stored m×n. op(A)·x has m elements, n under OP_T. Element i of x lies at i·incx; under a
 * negative increment the vector is walked from its far end, as in BLAS. Increments are not 0. y
 * overlaps neither A nor x. Repeatable bit by bit. */
WARPLADDER_API warpladder_status warpladder_sgemv(warpladder_handle handle,
                                                  warpladder_layout layout, warpladder_op op_a,
                                                  int64_t m, int64_t n, float alpha, const float *a,
                                                  int64_t lda, const float *x, int64_t incx,
                                                  float beta, float *y, int64_t incy,
                                                  warpladder_stream stream);

/* spmv: y = alpha · A · x + beta · y, A sparse in compressed rows (CSR) */

typedef enum { WARPLADDER_INDEX_32 = 32, WARPLADDER_INDEX_64 = 64 } warpladder_index;

/* What the caller knows of the columns, for speed alone; results do not depend on it.
 *   SCATTERED  32 neighbouring entries need more than 24 sectors of x, of 8 floats each.
 *   RANDOM     They need more than 31: no column is much more frequent than others. */
typedef enum {
  WARPLADDER_PATTERN_UNKNOWN = 0,
  WARPLADDER_PATTERN_SCATTERED = 1,
  WARPLADDER_PATTERN_RANDOM = 2
} warpladder_pattern;

/* A is rows×columns with nnz stored entries. Row i has the entries row_offsets[i] to
 * row_offsets[i + 1] - 1. row_offsets has rows + 1 elements of the given index type, begins with 0,
 * does not decrease and ends with nnz. Entry e has the column column_indices[e], of 32 bits, and
 * the value values[e]. Indices begin at 0, entries of a row may stand in any order. The library
 * does not read these arrays on the host: the caller answers for their contents. y overlaps nothing
 * else. x has `columns` elements, y `rows`. Repeatable bit by bit.
 *
 * pattern and longest_row are hints for warpladder_spmv(); 0 where the caller does not know. A
 * longest_row that is too small costs speed alone. */
typedef struct {
  int64_t rows, columns, nnz;
  warpladder_index offset_type;
  const void *row_offsets;
  const int32_t *column_indices;
  const float *values;
  warpladder_pattern pattern;
  int64_t longest_row; /* the most entries of any row */
} warpladder_csr;

WARPLADDER_API warpladder_status warpladder_spmv(warpladder_handle handle, const warpladder_csr *a,
                                                 float alpha, const float *x, float beta, float *y,
                                                 warpladder_stream stream);

/* What is known of a matrix's pattern, to multiply it faster. Worth its cost from some tens of
 * products on. */
typedef struct warpladder_spmv_pattern *warpladder_spmv_plan;

/* Looks at the pattern of A (not at its values) and takes device memory for what it finds, 2 to 8
 * bytes a stored entry. Waits for the stream. WARPLADDER_CAPTURING. */
WARPLADDER_API warpladder_status warpladder_spmv_plan_create(warpladder_handle handle,
                                                             const warpladder_csr *a,
                                                             warpladder_spmv_plan *out,
                                                             warpladder_stream stream);

/* As warpladder_spmv(), of a matrix with the planned pattern: the same sizes, row_offsets and
 * column_indices, any values. The stream comes behind the one that planned. */
WARPLADDER_API warpladder_status warpladder_spmv_planned(warpladder_handle handle,
                                                         warpladder_spmv_plan plan,
                                                         const warpladder_csr *a, float alpha,
                                                         const float *x, float beta, float *y,
                                                         warpladder_stream stream);

/* Frees a plan in the order of the stream, behind the products that use it. */
WARPLADDER_API warpladder_status warpladder_spmv_plan_destroy(warpladder_handle handle,
                                                              warpladder_spmv_plan plan,
                                                              warpladder_stream stream);

/* transpose: out[j][i] = in[i][j] */

/* For each of `batch` row-major matrices, stride_in and stride_out apart. `in` is rows×columns with
 * leading dimension ld_in ≥ columns, `out` columns×rows with ld_out ≥ rows. They do not overlap, or
 * out == in: then rows == columns, ld_in == ld_out and stride_in == stride_out. Bit by bit, NaNs too.
 * (A column-major matrix is the row-major storage of its transpose.) */
WARPLADDER_API warpladder_status warpladder_transpose(warpladder_handle handle, int64_t rows,
                                                      int64_t columns, const float *in,
                                                      int64_t ld_in, int64_t stride_in, float *out,
                                                      int64_t ld_out, int64_t stride_out,
                                                      int64_t batch, warpladder_stream stream);

/* reduce */

/*   function       of nothing   a NaN among the values      ties
 *   SUM            0            NaN                         -
 *   MEAN           NaN          NaN                         -
 *   MIN, MAX       +inf, -inf   NaN                         -0 is less than +0
 *   ARGMIN, ARGMAX -1           the index of the first NaN  the lowest index; -0 equals +0 */
typedef enum {
  WARPLADDER_SUM = 0,
  WARPLADDER_MEAN = 1,
  WARPLADDER_MIN = 2,
  WARPLADDER_MAX = 3,
  WARPLADDER_ARGMIN = 4,
  WARPLADDER_ARGMAX = 5
} warpladder_reduction;

/* One value of the n elements of x. *result is a float in device memory, or an int64_t for ARGMIN and
 * ARGMAX. It overlaps x nowhere. Repeatable bit by bit. */
WARPLADDER_API warpladder_status warpladder_reduce(warpladder_handle handle,
                                                   warpladder_reduction function, int64_t n,
                                                   const float *x, void *result,
                                                   warpladder_stream stream);

/* One value of each row (axis 1) or of each column (axis 0) of a row-major rows×columns matrix with
 * leading dimension ld ≥ columns. `results` holds rows (axis 1) or columns (axis 0) floats, or
 * int64_t for ARGMIN and ARGMAX, which count along the axis. Repeatable bit by bit. */
WARPLADDER_API warpladder_status warpladder_reduce_axis(warpladder_handle handle,
                                                        warpladder_reduction function, int axis,
                                                        int64_t rows, int64_t columns,
                                                        const float *x, int64_t ld, void *results,
                                                        warpladder_stream stream);

/* A function of two floats, compiled from an expression in CUDA C++ of `a` and `b`: "a > b ? a :
 * b", "a + b". It is associative and commutative, and `identity` joins with any value and changes
 * nothing. */
typedef struct warpladder_compiled_op *warpladder_binary_op;

/* As warpladder_epilogue_create(). */
WARPLADDER_API warpladder_status warpladder_binary_op_create(warpladder_handle handle,
                                                             const char *expression, float identity,
                                                             warpladder_binary_op *out);
WARPLADDER_API warpladder_status warpladder_binary_op_destroy(warpladder_handle handle,
                                                              warpladder_binary_op op);

/* *result, a float in device memory, is all n elements of x joined by the function, and the
 * identity where n is 0. result overlaps x nowhere. Takes a workspace of up to 16 KiB. Repeatable
 * bit by bit. */
WARPLADDER_API warpladder_status warpladder_reduce_with(warpladder_handle handle,
                                                        warpladder_binary_op op, int64_t n,
                                                        const float *x, float *result,
                                                        warpladder_stream stream);

/* vector_add: c[i] = a[i] + b[i] */

/* Of n elements. c may be a or b, and overlaps them in no other way. */
WARPLADDER_API warpladder_status warpladder_vector_add(warpladder_handle handle, int64_t n,
                                                       const float *a, const float *b, float *c,
                                                       warpladder_stream stream);

/* memory, for programs that have no CUDA runtime of their own */

/* Device memory of the handle's device, at a multiple of 256 bytes. *out is null for 0 bytes. The
 * caller frees it. These four functions wait for the device, and cannot be captured. */
WARPLADDER_API warpladder_status warpladder_malloc(warpladder_handle handle, size_t bytes,
                                                   void **out);
WARPLADDER_API warpladder_status warpladder_free(warpladder_handle handle, void *memory);
WARPLADDER_API warpladder_status warpladder_upload(warpladder_handle handle, void *to_device,
                                                   const void *from_host, size_t bytes);
WARPLADDER_API warpladder_status warpladder_download(warpladder_handle handle, void *to_host,
                                                     const void *from_device, size_t bytes);

/* workspaces */

/* How many bytes of workspace a call with these sizes takes from the pool, or needs from
 * warpladder_set_workspace(). It is the most over all operands of these sizes, with the handle's
 * current arithmetic, captured or not. transpose and vector_add need none. */
WARPLADDER_API warpladder_status warpladder_sgemm_workspace_bytes(warpladder_handle handle,
                                                                  int64_t m, int64_t n, int64_t k,
                                                                  size_t *bytes);
WARPLADDER_API warpladder_status warpladder_sgemm_batched_workspace_bytes(warpladder_handle handle,
                                                                          int64_t m, int64_t n,
                                                                          int64_t k, int64_t batch,
                                                                          size_t *bytes);
WARPLADDER_API warpladder_status warpladder_sgemm_prepared_workspace_bytes(
    warpladder_handle handle, int64_t m, warpladder_prepared b, size_t *bytes);
WARPLADDER_API warpladder_status warpladder_sgemv_workspace_bytes(warpladder_handle handle,
                                                                  int64_t m, int64_t n,
                                                                  size_t *bytes);
WARPLADDER_API warpladder_status warpladder_spmv_workspace_bytes(warpladder_handle handle,
                                                                 int64_t rows, int64_t columns,
                                                                 int64_t nnz, size_t *bytes);
WARPLADDER_API warpladder_status warpladder_reduce_workspace_bytes(warpladder_handle handle,
                                                                   int64_t n, size_t *bytes);
WARPLADDER_API warpladder_status warpladder_reduce_axis_workspace_bytes(warpladder_handle handle,
                                                                        int64_t rows,
                                                                        int64_t columns,
                                                                        size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif /* WARPLADDER_WARPLADDER_H */
