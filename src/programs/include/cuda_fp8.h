#pragma once
#include "cuda_runtime.h"
#include "simt/fp8.hpp"
