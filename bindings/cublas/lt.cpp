// cublasLtMatmul(): what its descriptors say. They are opaque: attributes are asked for one by one,
// or read where cublasLt is known to store them.

#include <cublasLt.h>

#include "lt_fields.hpp"
#include "serve.hpp"

namespace warpladder::cublas {
namespace {

// Attributes that older headers do not know.
constexpr auto kBatchMode = static_cast<cublasLtMatrixLayoutAttribute_t>(8);
constexpr auto kEmulation = static_cast<cublasLtMatmulDescAttributes_t>(38);
constexpr auto kOutScale = static_cast<cublasLtMatmulDescAttributes_t>(36);

struct Lt {
  const Original& original;
  const LtFields* fields;  // by kind
};

// The answers of one descriptor. What a version does not know it does not have: the value stays.
class Answers {
 public:
  Answers(const Lt& lt, LtDescriptor kind, const void* of)
      : lt_(lt.original), fields_(lt.fields[static_cast<int>(kind)]), kind_(kind), of_(of) {}

  template <class Value, class Attribute>
  bool get(Attribute attribute, Value* value) const {
    if (fields_.read(of_, attribute, value, sizeof *value)) return true;
    const Symbol getter = kind_ == LtDescriptor::operation
                              ? Symbol::cublasLtMatmulDescGetAttribute
                              : Symbol::cublasLtMatrixLayoutGetAttribute;
    std::size_t written = 0;
    Value there{};
    const auto status = lt_.call<cublasStatus_t>(getter, of_, attribute, static_cast<void*>(&there),
                                                 sizeof there, &written);
    if (status == CUBLAS_STATUS_SUCCESS) *value = there;
    return status == CUBLAS_STATUS_SUCCESS;
  }

 private:
  const Original& lt_;
  const LtFields& fields_;
  const LtDescriptor kind_;
  const void* of_;
};

struct Layout {
  std::uint32_t type = 0;
  std::int32_t order = 0, batch = 1;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t ld = 0, stride = 0;
};
struct Layouts {
  Layout a, b, c, d;
};

Outcome read_shape(const Lt& lt, const void* descriptor, Layout* layout) {
  if (!descriptor) return Outcome::arguments;
  const Answers answers(lt, LtDescriptor::layout, descriptor);
  if (!answers.get(CUBLASLT_MATRIX_LAYOUT_TYPE, &layout->type)) return Outcome::arguments;
  if (layout->type != CUDA_R_32F) return Outcome::types;
  const bool known = answers.get(CUBLASLT_MATRIX_LAYOUT_ROWS, &layout->rows) &&
                     answers.get(CUBLASLT_MATRIX_LAYOUT_COLS, &layout->columns) &&
                     answers.get(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &layout->batch);
  if (!known) return Outcome::arguments;
  const bool fit = layout->rows <= INT64_MAX && layout->columns <= INT64_MAX;
  return fit ? Outcome::taken : Outcome::layouts;
}

// Where the elements of such a shape lie.
Outcome read_places(const Lt& lt, const void* descriptor, Layout* layout) {
  const Answers answers(lt, LtDescriptor::layout, descriptor);
  const bool known = answers.get(CUBLASLT_MATRIX_LAYOUT_ORDER, &layout->order) &&
                     answers.get(CUBLASLT_MATRIX_LAYOUT_LD, &layout->ld);
  if (!known) return Outcome::arguments;
  const bool is_plain = layout->order == CUBLASLT_ORDER_COL || layout->order == CUBLASLT_ORDER_ROW;
  if (!is_plain) return Outcome::layouts;
  std::uint32_t pointer_arrays = 0;
  if (layout->batch > 1) {
    if (!answers.get(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &layout->stride)) {
      return Outcome::arguments;
    }
  }
  answers.get(kBatchMode, &pointer_arrays);
  return pointer_arrays ? Outcome::layouts : Outcome::taken;
}

// Scales, maxima and the like, which FP32 products of PyTorch's do not have.
bool has_more(const Answers& answers) {
  for (const auto attribute :
       {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, kOutScale, kEmulation}) {
    const void* pointer = nullptr;
    answers.get(attribute, &pointer);
    if (pointer) return true;
  }
  std::int32_t op_c = CUBLAS_OP_N, fill = CUBLAS_FILL_MODE_FULL;
  answers.get(CUBLASLT_MATMUL_DESC_TRANSC, &op_c);
  answers.get(CUBLASLT_MATMUL_DESC_FILL_MODE, &fill);
  return op_c != CUBLAS_OP_N || fill != CUBLAS_FILL_MODE_FULL;
}

Outcome read_epilogue(const Answers& answers, Product& p, bool* has_bias) {
  std::int32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  answers.get(CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue);
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
      return Outcome::taken;
    case CUBLASLT_EPILOGUE_BIAS:
      *has_bias = true;
      return Outcome::taken;
    case CUBLASLT_EPILOGUE_RELU_BIAS:
      *has_bias = true;
      [[fallthrough]];
    case CUBLASLT_EPILOGUE_RELU:
      p.activation = Activation::relu;
      return Outcome::taken;
    case CUBLASLT_EPILOGUE_GELU_BIAS:
      *has_bias = true;
      [[fallthrough]];
    case CUBLASLT_EPILOGUE_GELU:
      p.activation = Activation::gelu;
      return Outcome::taken;
    default:
      return Outcome::epilogue;
  }
}

Outcome read_bias(const Answers& answers, Product& p) {
  std::int32_t type = -1;  // that of D
  answers.get(CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p.bias);
  answers.get(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, &p.bias_stride);
  answers.get(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type);
  if (type != -1 && type != CUDA_R_32F) return Outcome::types;
  return p.bias ? Outcome::taken : Outcome::arguments;
}

struct Matrices {
  const void *a, *a_layout, *b, *b_layout, *c, *c_layout, *d, *d_layout;
};

cublasOperation_t turned(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
}

Operand operand_of(const void* data, const Layout& layout) {
  return {static_cast<const float*>(data), layout.ld, layout.stride, nullptr};
}

// The operand's stored rows and columns become those of op(): false where they are not
// rows×columns.
bool fits(const Layout& layout, cublasOperation_t op, std::int64_t rows, std::int64_t columns) {
  const auto stored_rows = static_cast<std::int64_t>(layout.rows),
             stored_columns = static_cast<std::int64_t>(layout.columns);
  return op == CUBLAS_OP_N ? stored_rows == rows && stored_columns == columns
                           : stored_rows == columns && stored_columns == rows;
}

// The types of the arithmetic, and where the scalars lie.
Outcome read_types(const Answers& answers, Product& p) {
  std::int32_t compute = 0, scale = 0, pointers = 0;
  if (!answers.get(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &compute)) return Outcome::arguments;
  if (compute == CUBLAS_COMPUTE_32F_FAST_TF32 && knobs().precision != Precision::never_tf32) {
    return Outcome::tf32;
  }
  p.pedantic = compute == CUBLAS_COMPUTE_32F_PEDANTIC;
  if (compute != CUBLAS_COMPUTE_32F && compute != CUBLAS_COMPUTE_32F_FAST_TF32 && !p.pedantic) {
    return Outcome::compute_type;
  }
  const bool known = answers.get(CUBLASLT_MATMUL_DESC_SCALE_TYPE, &scale) &&
                     answers.get(CUBLASLT_MATMUL_DESC_POINTER_MODE, &pointers);
  if (!known) return Outcome::arguments;
  if (scale != CUDA_R_32F) return Outcome::types;
  return pointers == CUBLASLT_POINTER_MODE_HOST ? Outcome::taken : Outcome::device_scalars;
}

// The sizes of the product: those of D and A say them.
Outcome read_sizes(const Lt& lt, const Answers& answers, const Matrices& given, Layouts* layouts,
                   Product& p) {
  std::int32_t op_a = 0, op_b = 0;
  const bool known = answers.get(CUBLASLT_MATMUL_DESC_TRANSA, &op_a) &&
                     answers.get(CUBLASLT_MATMUL_DESC_TRANSB, &op_b);
  if (!known) return Outcome::arguments;
  p.op_a = static_cast<cublasOperation_t>(op_a);
  p.op_b = static_cast<cublasOperation_t>(op_b);
  Outcome outcome = read_shape(lt, given.d_layout, &layouts->d);
  if (outcome == Outcome::taken) outcome = read_shape(lt, given.a_layout, &layouts->a);
  if (outcome != Outcome::taken) return outcome;
  const Layout &a = layouts->a, &d = layouts->d;
  p.m = static_cast<std::int64_t>(d.rows);
  p.n = static_cast<std::int64_t>(d.columns);
  p.k = static_cast<std::int64_t>(p.op_a == CUBLAS_OP_N ? a.columns : a.rows);
  p.batch = d.batch;
  p.has_sizes = true;
  return Outcome::taken;
}

Outcome read_layouts(const Lt& lt, const Matrices& given, Layouts* layouts) {
  const bool shares = given.c_layout == given.d_layout;
  Outcome outcome = read_shape(lt, given.b_layout, &layouts->b);
  if (outcome == Outcome::taken && !shares) outcome = read_shape(lt, given.c_layout, &layouts->c);
  for (const auto& [descriptor, layout] : {std::pair{given.a_layout, &layouts->a},
                                           {given.b_layout, &layouts->b},
                                           {given.d_layout, &layouts->d}}) {
    if (outcome == Outcome::taken) outcome = read_places(lt, descriptor, layout);
  }
  if (outcome != Outcome::taken) return outcome;
  if (!shares) return read_places(lt, given.c_layout, &layouts->c);
  layouts->c = layouts->d;
  return Outcome::taken;
}

Outcome read_matrices(const Lt& lt, const Matrices& given, Layouts* layouts, Product& p) {
  if (const Outcome read = read_layouts(lt, given, layouts); read != Outcome::taken) return read;
  const auto& [a, b, c, d] = *layouts;
  const bool agree = fits(a, p.op_a, p.m, p.k) && fits(b, p.op_b, p.k, p.n) &&
                     fits(c, CUBLAS_OP_N, p.m, p.n) && a.batch == d.batch && b.batch == d.batch &&
                     c.batch == d.batch;
  if (!agree) return Outcome::arguments;
  if (c.order != d.order) return Outcome::layouts;
  p.layout = d.order == CUBLASLT_ORDER_ROW ? WARPLADDER_ROW_MAJOR : WARPLADDER_COLUMN_MAJOR;
  // A matrix by rows is its transpose by columns.
  if (a.order != d.order) p.op_a = turned(p.op_a);
  if (b.order != d.order) p.op_b = turned(p.op_b);
  p.a = operand_of(given.a, a);
  p.b = operand_of(given.b, b);
  p.c = operand_of(given.c, c);
  p.d = operand_of(given.d, d);
  // In place C is D: cublasLt wants the same layout then.
  if (given.c == given.d && (c.ld != d.ld || c.stride != d.stride)) return Outcome::arguments;
  return Outcome::taken;
}

// Those attributes come first for which most calls are passed on: types and sizes.
Outcome read(const Lt& lt, const void* descriptor, const Matrices& given, Product& p) {
  if (!descriptor) return Outcome::arguments;
  const Answers answers(lt, LtDescriptor::operation, descriptor);
  Layouts layouts;
  bool has_bias = false;
  Outcome outcome = read_types(answers, p);
  if (outcome == Outcome::taken) outcome = read_sizes(lt, answers, given, &layouts, p);
  if (outcome == Outcome::taken) outcome = read_epilogue(answers, p, &has_bias);
  if (outcome == Outcome::taken) outcome = judge(p);
  if (outcome == Outcome::taken) outcome = read_matrices(lt, given, &layouts, p);
  if (outcome != Outcome::taken) return outcome;
  std::int32_t multiprocessors = 0;
  answers.get(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, &multiprocessors);
  if (multiprocessors != 0) return Outcome::sm_target;
  if (has_more(answers)) return Outcome::scaling;
  const bool is_finished = has_bias || p.activation != Activation::none;
  if (is_finished && p.layout != WARPLADDER_COLUMN_MAJOR) return Outcome::layouts;
  return has_bias ? read_bias(answers, p) : Outcome::taken;
}

}  // namespace
}  // namespace warpladder::cublas

using namespace warpladder::cublas;

extern "C" [[gnu::visibility("default")]] cublasStatus_t cublasLtMatmul(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void* alpha, const void* a,
    cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
    const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
    cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
    std::size_t workspace_bytes, cudaStream_t stream) {
  const void* const caller = WARPLADDER_CALLER;
  const Original* const lt = original_for(Kind::lt, caller);
  if (!lt) return not_loaded(Function::lt_matmul);
  const auto pass = [&] {
    return lt->call<cublasStatus_t>(Symbol::cublasLtMatmul, handle, operation, alpha, a, a_layout,
                                    b, b_layout, beta, c, c_layout, d, d_layout, algorithm,
                                    workspace, workspace_bytes, stream);
  };
  if (!is_to_be_looked_at(caller)) return pass();
  const Inside inside;
  Product p;
  p.function = Function::lt_matmul;
  p.has_sizes = false;
  p.alpha_at = static_cast<const float*>(alpha);
  p.beta_at = static_cast<const float*>(beta);
  p.stream = stream;
  Outcome outcome = handle ? Outcome::taken : Outcome::arguments;
  if (outcome == Outcome::taken) {
    outcome = read({*lt, lt_fields(*lt)}, operation,
                   {a, a_layout, b, b_layout, c, c_layout, d, d_layout}, p);
  }
  if (outcome != Outcome::taken) {
    note(p, outcome);
    return pass();
  }
  p.alpha = *p.alpha_at;
  p.beta = *p.beta_at;
  return compute(p, pass);
}

extern "C" [[gnu::visibility("default")]] cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  find_originals();
  const Original* const lt = original_for(Kind::lt, WARPLADDER_CALLER);
  if (!lt) return not_loaded(Function::lt_matmul);
  return lt->call<cublasStatus_t>(Symbol::cublasLtCreate, handle);
}
