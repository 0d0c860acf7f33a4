// Times examples/compile_flow/row_03_thread_tile.cu, and checks some elements: a line of JSON.
// measure.py compiles it with outer_product.cu as one program and as two files.

#include <vector>

#include "../../examples/compile_flow/row_03_thread_tile.cu"
#include "timing.cuh"

namespace {

namespace sgemm = warpladder::sgemm;
constexpr int kSize = 4096;

// Small whole numbers, whose sums of products FP32 holds exactly.
float element(int i, int j) { return static_cast<float>((i * 7 + j * 13) % 9 - 4); }

bool is_right(const std::vector<float>& c) {
  for (int i = 3; i < kSize; i += 512) {
    for (int j = 5; j < kSize; j += 8) {
      long sum = 0;
      for (int l = 0; l < kSize; ++l) sum += static_cast<long>(element(i, l) * element(l, j));
      if (c[static_cast<std::size_t>(i) * kSize + j] != static_cast<float>(sum)) return false;
    }
  }
  return true;
}

}  // namespace

int main() {
  const std::size_t count = static_cast<std::size_t>(kSize) * kSize, bytes = count * sizeof(float);
  std::vector<float> values(count), c(count);
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) values[static_cast<std::size_t>(i) * kSize + j] = element(i, j);
  }
  float *a = nullptr, *out = nullptr;
  check(cudaMalloc(&a, bytes));
  check(cudaMalloc(&out, bytes));
  check(cudaMemcpy(a, values.data(), bytes, cudaMemcpyHostToDevice));
  const sgemm::Gemm g{.m = kSize,
                      .n = kSize,
                      .k = kSize,
                      .alpha = 1,
                      .beta = 0,
                      .a = a,
                      .lda = kSize,
                      .b = a,
                      .ldb = kSize,
                      .c = out,
                      .ldc = kSize,
                      .workspace = nullptr};
  constexpr sgemm::Config kTile;
  constexpr unsigned kBlocks = kSize / kTile.block_m * (kSize / kTile.block_n);
  std::printf("{");
  print_samples([&] { sgemm::multiply<true, true><<<kBlocks, kTile.threads()>>>(g); });
  check(cudaMemcpy(c.data(), out, bytes, cudaMemcpyDeviceToHost));
  std::printf(", \"right\": %s}\n", is_right(c) ? "true" : "false");
  return is_right(c) ? 0 : 1;
}
