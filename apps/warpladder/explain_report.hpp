#pragma once
// Prints the counts of a rung or of a user's kernel.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/explain.hpp"

namespace warpladder::app {

std::string place_of(const lab::LineCounts& line);           // "row_01_naive.cu:25"
std::string accesses_text(const executor::AccessCounts& a);  // "global loads of 4 B"
std::string ratio_text(std::uint64_t a, std::uint64_t b);
std::string mean_text(double mean);
std::string dims(const runtime::Dim3& d);  // "16x16x1"

void print_blame(const lab::Explanation& e);
// The totals, if asked for, and the lines. `e` has at least one.
void print_counted(const lab::Explanation& e, bool with_totals);
std::string intensity_sentence(const lab::Explanation& e);
std::string occupancy_sentence(const executor::KernelCounts& kernel, const lab::Gpu& gpu);
nlohmann::json explanation_json(const lab::Explanation& e);

}  // namespace warpladder::app
