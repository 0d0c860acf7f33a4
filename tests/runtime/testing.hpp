#pragma once
// What the tests of run-time compilation share.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/testing.hpp"

namespace warpladder::runtime {

using warpladder::testing::slurp;
using warpladder::testing::spill;

// A new folder, removed with the test.
class InFolder : public ::testing::Test {
 protected:
  std::string folder() const { return folder_.path(); }
  std::string path(const std::string& name) const { return folder_.file(name); }
  std::vector<std::string> names(const std::string& of = "") const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file(of))) {
      all.push_back(entry.path().filename().string());
    }
    return all;
  }

 private:
  warpladder::testing::TempDir folder_;
};

}  // namespace warpladder::runtime
