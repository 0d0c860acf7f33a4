#pragma once
// What drawings of data share: the picture's frame, logarithmic axes, dots and their legend.
// Colours are classes of the page.

#include <cmath>
#include <string>
#include <vector>

namespace warpladder::lab {

// Begins an <svg> of this size; the caller ends it.
std::string opened(double width, double height, const std::string& title);
// Marks that tell `title` under the pointer.
std::string with_title(const std::string& title, const std::string& marks);

// In powers of ten, or of two.
struct LogAxis {
  double low = HUGE_VAL, high = 0, begin = 0, end = 0, base = 10;

  void include(double value);
  void close();  // to whole powers
  double at(double value) const;
  std::vector<double> ticks() const;
};

std::string grid(const LogAxis& x, const LogAxis& y, const std::string& x_title,
                 const std::string& y_title, double y_scale);
std::string dot(double x, double y, std::size_t colour, bool filled);
// Names beyond the number of colours have outlines.
std::string legend(const std::vector<std::string>& names, double y);

}  // namespace warpladder::lab
