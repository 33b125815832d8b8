// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// A file that is there once it is whole: until then its bytes are in one beside it, and what was
// there before stays. Of a link it is the file that it points to. What is no regular file (a pipe, a device) gets them as they come.
class OutputFile {
 public:
  // "-": standard output.
  static Result<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  // Without commit() nothing stays.
  ~OutputFile();

  // Kept until there is much of it. What has failed is told by each later one, too, and by commit().
  const Status& write(std::string_view bytes);
  // What there is, to the disk's cache.
  const Status& flush();
  Status commit();
  uint64_t bytes() const { return bytes_; }  // so far

 private:
  static Result<OutputFile> as_it_is(const std::string& path, Fd file);
  static Result<OutputFile> make(const std::string& path);
  OutputFile(std::string path, std::string part, Fd file)
      : path_(std::move(path)), part_(std::move(part)), file_(std::move(file)) {}

  std::string path_;
  std::string part_;  // where the bytes are; empty: at `path_` itself
  Fd file_;
  std::string held_;
  uint64_t bytes_ = 0;
  bool is_nameless_ = false;  // the file has no name yet
  Status status_ = ok();
};

}  // namespace tracectl
