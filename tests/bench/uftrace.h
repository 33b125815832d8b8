// SPDX-License-Identifier: BSD-2-Clause
//
// uftrace, which records the calls of programs that are compiled for it.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/bench/folder.h"
#include "tests/bench/site.h"
#include "tests/support/program.h"

namespace tracectl::bench {

inline uint64_t bytes_in(const std::string& folder) {
  uint64_t sum = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) sum += entry.file_size();
  return sum;
}

// The program `hot`, compiled for uftrace, while it is recorded.
class Uftraced {
 public:
  explicit Uftraced(const std::string& uftrace)
      : program_(uftrace, {"record", "--no-pager", "--no-libcall", "-d", data(),
                           on_kernel::target_path("hot_instrumented")}) {}

  ~Uftraced() { end(); }

  double ns(const Site& site, uint64_t calls) { return ns_of_a_call(program_, site, calls); }
  // The size of the complete recording; ends the program.
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
