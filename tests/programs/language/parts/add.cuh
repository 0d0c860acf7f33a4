#pragma once

#include "parts/sum.cuh"

__global__ void add(int* data, int n) { *data = sum(*data, n); }
