#pragma once
// What tests can ask the made-up cuBLAS.

extern "C" {
// How often a function was called, by any caller.
int made_up_cublas_calls(const char* function);
// From now on cublasSgemm_v2() and cublasDgemm_v2() call cublasLtMatmul() for an FP32 product.
void made_up_cublas_use_lt(int wanted);
int made_up_cublaslt_calls(void);
int made_up_cublaslt_questions(void);  // about attributes
// From now on the first element of each result of cuBLAS's and cublasLt's is wrong by 1.
void made_up_cublas_fault(int wanted);
void made_up_cublaslt_fault(int wanted);
// The next product calls this function, which lies outside cuBLAS, before it computes.
void made_up_cublas_call_back(void (*function)());
}
