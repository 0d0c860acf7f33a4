#pragma once
// Random numbers from the host, written to device memory. The numbers are not cuRAND's.
#include "curand_kernel.h"
#include "simt/random_host.hpp"
