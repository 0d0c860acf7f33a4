#pragma once
#include "simt/cub.hpp"
