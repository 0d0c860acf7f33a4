#pragma once
// Properties of the terminal that shows a text.

#include <cstddef>

namespace warpladder {

// The columns of a line on this descriptor: COLUMNS, else the terminal's width, else 80. In a file
// or a pipe it is 100.
std::size_t columns_of(int file_descriptor);

// Whether TERM says that the terminal knows no escape sequences.
bool is_dumb_terminal(const char* term);

}  // namespace warpladder
