// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/object/code_map.h"
#include "daemon/object/file_reader.h"

namespace tracectl {

// Reads a file in this process.
class OpenFile : public FileReader {
 public:
  static Result<std::shared_ptr<OpenFile>> open(int fd, const std::string& path,
                                                std::optional<NamedDebugFile> named);

  Result<FileFacts> facts() override;
  Result<ProbeMatch> find(const Question& question) override;
  Result<std::optional<std::string>> function_at(uint64_t offset) override;

 private:
  explicit OpenFile(ObjectFilePtr file) : file_(std::move(file)) {}

  ObjectFilePtr file_;
  std::optional<CodeMap> code_;  // made on first use
};

class OwnReading : public Reading {
 public:
  Result<std::shared_ptr<FileReader>> open(Fd fd, const std::string& path,
                                           std::optional<NamedDebugFile> named) override;
  Result<std::unique_ptr<StackReading>> for_stacks() const override;
};

}  // namespace tracectl
