#pragma once
#include "cuda_runtime.h"
#include "simt/half_functions.hpp"
