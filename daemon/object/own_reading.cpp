// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/own_reading.h"

#include "daemon/object/own_stacks.h"
#include "daemon/object/symbols.h"

namespace tracectl {

Result<std::shared_ptr<OpenFile>> OpenFile::open(int fd, const std::string& path,
                                                 std::optional<NamedDebugFile> named) {
  auto file = ObjectFile::open(fd, path, std::move(named));
  if (!file) return file.error();
  return std::shared_ptr<OpenFile>{new OpenFile(std::move(*file))};
}

Result<FileFacts> OpenFile::facts() {
  const ElfFile& elf = file_->elf();
  return FileFacts{elf.build_id(), elf.section(".eh_frame").has_value()};
}

Result<ProbeMatch> OpenFile::find(const Question& question) {
  auto match = find_probes(file_, question.pattern, question.returns,
                           question.below ? &*question.below : nullptr, question.costs,
                           {question.field_paths, question.field_levels});
  if (match) add_symbols(file_->elf(), question.pattern, question.symbols, *match);
  return match;
}

Result<std::optional<std::string>> OpenFile::function_at(uint64_t offset) {
  if (!code_) code_.emplace(*file_);
  const auto address = file_->elf().address_of(offset);
  const auto routine = address ? code_->starting_at(*address) : std::nullopt;
  if (!routine || !routine->function) return std::optional<std::string>{};
  return std::optional(routine->function->name);
}

Result<std::shared_ptr<FileReader>> OwnReading::open(Fd fd, const std::string& path,
                                                     std::optional<NamedDebugFile> named) {
  auto file = OpenFile::open(fd.get(), path, std::move(named));
  if (!file) return file.error();
  return std::shared_ptr<FileReader>{std::move(*file)};
}

Result<std::unique_ptr<StackReading>> OwnReading::for_stacks() const {
  return std::unique_ptr<StackReading>{std::make_unique<OwnStacks>()};
}

}  // namespace tracectl
