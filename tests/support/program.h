// SPDX-License-Identifier: BSD-2-Clause
//
// A program of tests/targets that a test starts, drives as in stdin_protocol.h, and ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/fd.h"

namespace tracectl::on_kernel {

// .build, wherever the test binary is in it.
std::string build_folder();
// The folder with the programs to trace and with what tests write. Processes that run tests side by side have one
// each, named by TRACECTL_TEST_FOLDER: a probe in all processes of a file must not see those of another.
std::string test_folder();
std::string target_path(const std::string& name);
// A file of one of the packages in scripts/install-deps. The path may be a pattern of glob(3), because Debian's
// releases differ in the versions in names. Throws if there is none.
std::string installed_path(const std::string& pattern);

class Program {
 public:
  // Returns when the program has said `ready`. `name`: in tests/targets, or an absolute path.
  Program(const std::string& name, const std::vector<std::string>& arguments);
  ~Program();  // ends it
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& path() const { return path_; }
  void send(const std::string& line);
  // Returns the line of JSON after `done`.
  std::string finish();
  // `go` and finish().
  std::string run();
  // Sends `exit`, and returns the program's last line.
  std::string leave();
  // Closes the program's input.
  void end_input() { in_ = Fd{}; }
  // Its status from waitpid(2); nullopt while it runs.
  std::optional<int> end_status() const;
  // Waits for its end, and returns the same.
  int wait_for_end();

 private:
  std::string read_line();

  std::string path_;
  pid_t pid_ = -1;
  Fd in_, out_;
  std::string buffered_;
};

// Compares a file's code in a process's memory with the file. Returns the offset in the file of each byte
// that differs.
std::vector<uint64_t> changed_code(pid_t pid, const std::string& path);

}  // namespace tracectl::on_kernel
