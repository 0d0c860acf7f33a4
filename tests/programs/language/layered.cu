// Three layers of 4 × 2 texels, copied from the host and read at their centres.
#include <cstdio>
__global__ void read(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] =
      tex2DLayered<float>(t, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 % 2 + 0.5f, threadIdx.x / 8);
}
int main() {
  float host[24], *out;
  for (int i = 0; i < 24; ++i) host[i] = i * i;
  cudaArray_t array;
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  cudaMalloc3DArray(&array, &d, make_cudaExtent(4, 2, 3), cudaArrayLayered);
  cudaMemcpy3DParms p = {0};
  p.srcPtr = make_cudaPitchedPtr(host, 16, 4, 2);
  p.dstArray = array;
  p.extent = make_cudaExtent(4, 2, 3);
  p.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&p);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  cudaTextureDesc td = {};
  td.readMode = cudaReadModeElementType;
  cudaTextureObject_t t;
  cudaCreateTextureObject(&t, &r, &td, nullptr);
  cudaMallocManaged(&out, sizeof host);
  read<<<1, 24>>>(t, out);
  cudaDeviceSynchronize();
  bool ok = true;
  for (int i = 0; i < 24; ++i) ok = ok && out[i] == host[i];
  puts(ok ? "layered texture ok" : "layered texture WRONG");
  cudaFreeArray(array);
  cudaFree(out);
  cudaDestroyTextureObject(t);
}
