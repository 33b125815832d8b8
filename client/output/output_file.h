// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// A file that appears only when it is complete: until then its bytes are in another file in the same
// directory, and the old file stays. A link is followed. A pipe, device or other special file gets the bytes
// as they come.
class OutputFile {
 public:
  // "-": standard output.
  static Result<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  // Without commit() nothing remains.
  ~OutputFile();

  // Bytes are buffered. An error is returned by all later calls, too, and by commit().
  const Status& write(std::string_view bytes);
  // Writes the buffer to the page cache.
  const Status& flush();
  Status commit();
  uint64_t bytes() const { return bytes_; }  // so far

 private:
  static Result<OutputFile> as_it_is(const std::string& path, Fd file);
  static Result<OutputFile> make(const std::string& path);
  OutputFile(std::string path, std::string part, Fd file)
      : path_(std::move(path)), part_(std::move(part)), file_(std::move(file)) {}

  std::string path_;
  std::string part_;  // where the bytes are; empty: in `path_` itself
  Fd file_;
  std::string held_;
  uint64_t bytes_ = 0;
  bool is_nameless_ = false;  // the file has no name yet
  Status status_ = ok();
};

}  // namespace tracectl
