// SPDX-License-Identifier: BSD-2-Clause
//
// Names of code that a program makes at run time, from the files that its run-time system writes for profilers: perf
// maps (/tmp/perf-PID.map, linux/tools/perf/Documentation/jit-interface.txt) and jitdump files (jit-PID.dump,
// linux/tools/perf/Documentation/jitdump-specification.txt).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace tracectl {

// What is kept of one file. Each function beyond that takes the place of the one at the lowest address.
inline constexpr size_t kMostMadeFunctions = 1 << 20;
inline constexpr size_t kMostMadeBytes = 64 << 20;  // of a perf map: its end
inline constexpr size_t kMostMadeName = 512;        // bytes; longer names are cut

// Functions by the addresses of their code in the process. Code that is made where older code was takes its place.
class MadeCode {
 public:
  struct Function {
    uint64_t start = 0, end = 0;  // `end` is past the last byte
    std::string name;
  };
  // Reads up to `size` bytes at `offset`; fewer at the end.
  using ReadAt = std::function<std::string(uint64_t offset, size_t size)>;

  // Both leave out what is not in the format.
  static MadeCode of_perf_map(std::string_view text);
  static MadeCode of_jitdump(const ReadAt& read_at);
  // By the file's name, which must be one of either. The file may grow meanwhile.
  static Result<std::shared_ptr<const MadeCode>> open(int fd, const std::string& path);

  // Null if no function is known there.
  const Function* at(uint64_t address) const;
  size_t size() const { return functions_.size(); }

 private:
  void add(uint64_t start, uint64_t size, std::string_view name);
  void move(uint64_t from, uint64_t to, uint64_t size);
  void forget_within(uint64_t start, uint64_t end);

  std::map<uint64_t, Function> functions_;  // by start; none overlaps another
};

// Whether a file of this name is one of these, whoever's.
bool is_perf_map(std::string_view path);
bool is_jitdump(std::string_view path);

}  // namespace tracectl
