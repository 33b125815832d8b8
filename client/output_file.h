// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// A file that is there once it is whole: until then its bytes are in one beside it, and what was
// there before stays. What is no regular file (a pipe, a device) gets them as they come.
class OutputFile {
 public:
  // "-": standard output.
  static Result<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  // Without commit() nothing stays.
  ~OutputFile();

  // Kept until there is much of it.
  Status write(std::string_view bytes);
  Status commit();

 private:
  OutputFile(std::string path, std::string part, Fd file)
      : path_(std::move(path)), part_(std::move(part)), file_(std::move(file)) {}
  Status flush();

  std::string path_;
  std::string part_;  // where the bytes are; empty: at `path_` itself
  Fd file_;
  std::string held_;
};

}  // namespace tracectl
