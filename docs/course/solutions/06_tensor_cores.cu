// Solution 6: each lane loads the words that the instruction expects it to hold.
//
// A lane holds some words of each matrix. With g = lane / 4 and t = lane % 4 it holds
//   A (16×8): a[0] row g, column t;  a[1] row g + 8, column t;  a[2] row g, column t + 4;
//             a[3] row g + 8, column t + 4
//   B (8×8):  b[0] row t, column g;  b[1] row t + 4, column g
//   C (16×8): c[0] row g, column 2·t;  c[1] row g, column 2·t + 1;  c[2] and c[3] the same 8 rows
//             further down
#include <cstdio>

// On a GPU this is one instruction: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32. Here lanes
// ask each other for the words.
__device__ void multiply_warp(float (&c)[4], const float (&a)[4], const float (&b)[2]) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  for (int k = 0; k < 8; ++k) {
    for (int i = 0; i < 4; ++i) {
      const int of_a = g * 4 + k % 4, of_b = (2 * t + i % 2) * 4 + k % 4;
      const float x = __shfl_sync(0xffffffff, a[i / 2 + k / 4 * 2], of_a);
      const float y = __shfl_sync(0xffffffff, b[k / 4], of_b);
      c[i] += x * y;
    }
  }
}

__global__ void multiply(const float* a_of_16x8, const float* b_of_8x8, float* c_of_16x8) {
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  float a[4], b[2], c[4] = {};
  for (int i = 0; i < 4; ++i) a[i] = a_of_16x8[(g + i % 2 * 8) * 8 + t + i / 2 * 4];
  for (int i = 0; i < 2; ++i) b[i] = b_of_8x8[(t + i * 4) * 8 + g];
  multiply_warp(c, a, b);
  for (int i = 0; i < 4; ++i) c_of_16x8[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = c[i];
}

int main() {
  float *a, *b, *c;
  cudaMallocManaged(&a, 16 * 8 * sizeof(float));
  cudaMallocManaged(&b, 8 * 8 * sizeof(float));
  cudaMallocManaged(&c, 16 * 8 * sizeof(float));
  for (int i = 0; i < 16 * 8; ++i) a[i] = i % 13;
  for (int i = 0; i < 8 * 8; ++i) b[i] = i % 7;

  multiply<<<1, 32>>>(a, b, c);
  cudaDeviceSynchronize();

  for (int i = 0; i < 16 * 8; ++i) {
    float expected = 0;
    for (int k = 0; k < 8; ++k) expected += a[i / 8 * 8 + k] * b[k * 8 + i % 8];
    if (c[i] != expected) {
      printf("wrong: row %d, column %d is %g, and should be %g\n", i / 8, i % 8, c[i], expected);
      return 1;
    }
  }
  printf("all 128 elements are right\n");
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
