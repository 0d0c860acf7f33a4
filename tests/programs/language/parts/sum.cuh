#pragma once
// Included by two files of different folders, by a name below a folder of -I.

__device__ int sum(int a, int b) { return a + b; }
