__global__ void prefetch(const int* data) { asm volatile("prefetch.global.L2 [%0];" ::"l"(data)); }
int main() { prefetch<<<1, 1>>>(nullptr); }
