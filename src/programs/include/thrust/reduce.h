#pragma once
#include "simt/thrust.hpp"
