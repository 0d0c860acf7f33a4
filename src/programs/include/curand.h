#pragma once
// Random numbers from the host, written to device memory.
#include "curand_kernel.h"
#include "simt/random_host.hpp"
