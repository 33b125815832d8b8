// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace tracectl::bench {

// A new directory, removed with its contents at the end.
class Folder {
 public:
  Folder() {
    if (!::mkdtemp(path_.data())) throw std::runtime_error("mkdtemp");
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/tracectl-bench-XXXXXX";
};

}  // namespace tracectl::bench
