#pragma once
// What an explanation says in sentences: for terminals and pages alike.

#include <string>
#include <vector>

#include "lab/explain.hpp"
#include "lab/occupancy.hpp"

namespace warpladder::lab {

const char* name(executor::MemorySpace space);
const char* name(executor::AccessKind kind);

// "8 shared load 4 B": what a line does.
std::string access_text(const executor::AccessCounts& access);
// "a.cu:12", without folders.
std::string place_of(const LineCounts& line);
// "5.2 %" of all its L1 cycles; empty for none.
std::string share_text(std::uint64_t cycles, const Explanation& e);

// "Line to blame: …"; empty where nothing costs anything.
std::string blame_sentence(const Explanation& e);
// What the line and the kernel would take if every access cost its ideal; empty as above.
std::string ideal_sentence(const Explanation& e);
std::string intensity_sentence(const Explanation& e);

// The launches whose occupancy can differ.
std::vector<const executor::KernelCounts*> distinct_launches(const Explanation& e);
constexpr const char* kRefusedBlock = "this GPU refuses such a block";  // whose occupancy is 0
Occupancy occupancy_of(const executor::KernelCounts& launch, const Explanation& e, const Gpu& gpu);
std::string occupancy_sentence(const executor::KernelCounts& launch, const Explanation& e);

// What a roof's speed is called, and a sentence that says what the lowest one means.
constexpr const char* kRoofSpeed = "TFLOP/s by counts";
std::string roof_sentence(const Explanation& e, const std::vector<Roof>& roofs);

// From the first version to the second, in numbers: one sentence.
std::string what_changed(const Explanation& before, const Explanation& after);

}  // namespace warpladder::lab
