// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// A file that is there once it is whole: until commit() it has another name beside its own, and
// what was there before stays. Without a commit() nothing is left of it.
class NewFile {
 public:
  // Refuses to put a file in place of what is none.
  static Result<NewFile> create(const std::string& path);
  NewFile(NewFile&&) = default;
  ~NewFile();

  // What fails is told by commit().
  void write(std::string_view bytes);
  Status commit();
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kHeldBytes = 1 << 20;

  NewFile(Fd file, std::string path, std::string name)
      : file_(std::move(file)), path_(std::move(path)), name_(std::move(name)) {}
  void flush();

  Fd file_;
  std::string path_, name_;
  std::string held_;
  uint64_t bytes_ = 0;
  int error_ = 0;
};

}  // namespace tracectl
