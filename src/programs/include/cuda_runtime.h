#pragma once
// What nvcc includes in front of every .cu file, and what programs include by this name.

#include <limits.h>
#include <math.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "simt/graphs.hpp"
#include "simt/language.hpp"
#include "simt/runtime_api.hpp"
#include "simt/textures.hpp"
#include "simt/vectors.hpp"
#ifndef SIMT_HOST_ONLY
#include "simt/math.hpp"
#include "simt/ptx.hpp"
#include "simt/warp.hpp"
#endif
