#pragma once
// Rewritten copies of a person's files in a folder of their own. Each names its original in a
// #line, so that messages and debug lines do, too.

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "programs/rewrite.hpp"

namespace warpladder::programs {

class Overlay {
 public:
  // `provided` holds the headers that are never the person's.
  Overlay(std::filesystem::path root, std::vector<std::filesystem::path> folders,
          std::filesystem::path provided);

  // Where the copy of a file will be; the files that it includes from its own folder or from
  // `folders` come along. Throws Error(bad_input) if the file cannot be read.
  std::filesystem::path add(const std::filesystem::path& original);

  // All copies, once every file is known.
  void write() const;

  // What g++ needs to find the copies.
  std::vector<std::string> include_flags() const;
  bool uses_openmp() const { return uses_openmp_; }
  // Refuses, with a sentence that names the place, a kernel that is called like a function.
  void refuse_plain_calls() const;

 private:
  std::filesystem::path place_of(const std::filesystem::path& original) const;

  std::filesystem::path root_;
  std::vector<std::filesystem::path> folders_;
  std::filesystem::path provided_;
  std::map<std::string, std::string> sources_;  // original path → its text
  std::set<std::string> kernels_;
  bool uses_openmp_ = false;
};

}  // namespace warpladder::programs
