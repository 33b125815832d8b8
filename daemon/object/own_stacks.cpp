// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/own_stacks.h"

#include <utility>

namespace tracectl {
namespace {

class OwnReader : public StackReader {
 public:
  explicit OwnReader(LoadedProgram program) : program_(std::move(program)) {}

  Status ask(const StackQuestion& question) override {
    answer_ = program_.answer(question);
    return ok();
  }

  std::optional<Result<StackAnswer>> take() override {
    if (!answer_) return std::nullopt;
    return Result<StackAnswer>{*std::exchange(answer_, std::nullopt)};
  }

 private:
  LoadedProgram program_;
  std::optional<StackAnswer> answer_;
};

}  // namespace

std::unique_ptr<StackReader> OwnStacks::open(std::vector<LoadedFile> files) {
  LoadedProgram program;
  for (const LoadedFile& loaded : files)
    program.add(files_, loaded.file->fd.get(), loaded.file->path, loaded.ranges);
  return std::make_unique<OwnReader>(std::move(program));
}

}  // namespace tracectl
