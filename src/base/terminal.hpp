#pragma once
// What is known of the terminal that a text goes to.

#include <cstddef>

namespace warpladder {

// The columns of a line on this descriptor: what COLUMNS says, else the terminal's own, else 80 on
// a terminal that does not say, and 100 in a file or a pipe.
std::size_t columns_of(int file_descriptor);

// Whether TERM says that the terminal knows no escape sequences.
bool is_dumb_terminal(const char* term);

}  // namespace warpladder
