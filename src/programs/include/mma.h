#pragma once
#include "cuda_runtime.h"
#include "simt/wmma.hpp"
