// SPDX-License-Identifier: BSD-2-Clause
//
// A program of tests/targets, started and ended by a test, driven as stdin_protocol.h says.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/fd.h"

namespace tracectl::on_kernel {

// .build, wherever the test binary lies in it.
std::string build_folder();
std::string target_path(const std::string& name);

class Program {
 public:
  // Returns when the program has said `ready`. `name`: of tests/targets, or an absolute path.
  Program(const std::string& name, const std::vector<std::string>& arguments);
  ~Program();  // ends it
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& path() const { return path_; }
  void send(const std::string& line);
  // The line of JSON behind `done`.
  std::string finish();
  // `go` and finish().
  std::string run();
  // `exit`, and the line the program says then.
  std::string leave();
  // It reads the end of its input.
  void end_input() { in_ = Fd{}; }
  // What waitpid(2) says of its end; nullopt while it runs.
  std::optional<int> end_status() const;
  // The same, when it has ended.
  int wait_for_end();

 private:
  std::string read_line();

  std::string path_;
  pid_t pid_ = -1;
  Fd in_, out_;
  std::string buffered_;
};

// What a process has in memory of the code of a file, against the file. One for each byte that
// differs: its offset in the file.
std::vector<uint64_t> changed_code(pid_t pid, const std::string& path);

}  // namespace tracectl::on_kernel
