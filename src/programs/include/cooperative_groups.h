#pragma once
// Cooperative groups of one block: the block, tiles of a warp, coalesced lanes. A grid knows who it
// is; its sync() works for one block and is refused for several.
#include "cuda_runtime.h"
#include "simt/cooperative_groups.hpp"
