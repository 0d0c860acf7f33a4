#pragma once
#include "cuda_runtime.h"
#include "simt/blas.hpp"
