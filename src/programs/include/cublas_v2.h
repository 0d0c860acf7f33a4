#pragma once
#include "cuda_runtime.h"
#include "simt/blas_ex.hpp"
