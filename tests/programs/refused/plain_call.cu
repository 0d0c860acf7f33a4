__global__ void fill(int* data) { data[threadIdx.x] = 1; }
int main() {
  int* data;
  cudaMalloc(&data, 4);
  fill(data);
}
