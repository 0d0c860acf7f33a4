// Times examples/compile_flow/tile.cu, with which it is linked, and checks one element of each
// tile: a line of JSON. measure.py compiles it as one program and as several.

#include <cmath>
#include <cstdio>
#include <vector>

#include "timing.cuh"

__global__ void multiply(int m, int n, int k, const float* __restrict__ a,
                         const float* __restrict__ b, float* __restrict__ c);

namespace {

constexpr int kSize = 1024;

// Small whole numbers, whose sums of products FP32 holds exactly.
float element(int i, int j) { return static_cast<float>((i * 7 + j * 13) % 9 - 4); }

bool is_right(const std::vector<float>& c) {
  for (int i = 3; i < kSize; i += 8) {
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
  std::printf("{");
  print_samples(
      [&] { multiply<<<kSize / 8 * (kSize / 8) / 128, 128>>>(kSize, kSize, kSize, a, a, out); });
  check(cudaMemcpy(c.data(), out, bytes, cudaMemcpyDeviceToHost));
  std::printf(", \"right\": %s}\n", is_right(c) ? "true" : "false");
  return is_right(c) ? 0 : 1;
}
