// SPDX-License-Identifier: BSD-2-Clause
//
// uftrace, which records the calls of programs that are compiled for it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/site.h"
#include "tests/support/program.h"

namespace tracectl::bench {

// A folder of its own, removed with all that is in it.
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

inline uint64_t bytes_in(const std::string& folder) {
  uint64_t sum = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) sum += entry.file_size();
  return sum;
}

// The program `hot`, as compiled for it, while it is recorded.
class Uftraced {
 public:
  explicit Uftraced(const std::string& uftrace)
      : program_(uftrace, {"record", "--no-pager", "--no-libcall", "-d", data(),
                           on_kernel::target_path("hot_instrumented")}) {}

  ~Uftraced() { end(); }

  double ns(const Site& site, uint64_t calls) { return ns_of_a_call(program_, site, calls); }
  // Of all it has recorded; it has ended then.
  uint64_t bytes() {
    end();
    return bytes_in(data());
  }

 private:
  void end() {
    program_.end_input();
    program_.wait_for_end();
  }
  std::string data() const { return folder_.path() + "/uftrace.data"; }

  Folder folder_;
  on_kernel::Program program_;
};

}  // namespace tracectl::bench
