#pragma once
// A subset of thrust. Algorithms run as one thread, in the order of the elements.

#include "simt/thrust/random.hpp"
#include "simt/thrust/vectors.hpp"

#define THRUST_VERSION 200400
#define THRUST_MAJOR_VERSION 2
#define THRUST_MINOR_VERSION 4
