// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/loaded_program.h"

#include <algorithm>

namespace tracectl {

// ---- files ----

std::shared_ptr<ObjectSymbols> SymbolFiles::open(int fd, const std::string& path) {
  const auto identity = FileIdentity::of(fd);
  if (!identity) return nullptr;
  const auto kept = std::find_if(recent_.begin(), recent_.end(), [&](const Known& known) {
    return known.identity == *identity && known.path == path;
  });
  if (kept != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, kept);
    return recent_.front().symbols;
  }
  auto symbols = ObjectSymbols::open(fd, path);
  if (!symbols) return nullptr;
  recent_.push_front({*identity, path, *symbols});
  if (recent_.size() > kMostKept) recent_.pop_back();
  return *symbols;
}

// ---- programs ----

void LoadedProgram::add(SymbolFiles& files, int fd, const std::string& path,
                        const std::vector<LoadedFile::Range>& ranges) {
  const bool names_made_code = is_perf_map(path) || is_jitdump(path);
  if (!names_made_code) {
    if (const auto symbols = files.open(fd, path)) add(ranges, symbols);
  } else if (!made_code_) {  // the first one, as for ProcessImage
    if (auto made = MadeCode::open(fd, path)) made_code_ = std::move(*made);
  }
}

// A file can be loaded twice, at two addresses.
void LoadedProgram::add(const std::vector<LoadedFile::Range>& ranges,
                        const std::shared_ptr<ObjectSymbols>& symbols) {
  std::vector<uint64_t> biases;
  for (const LoadedFile::Range& range : ranges) {
    const auto address = symbols->elf().address_of(range.file_offset);
    if (!address) continue;
    const uint64_t bias = range.start - *address;
    const auto after = std::upper_bound(loaded_.begin(), loaded_.end(), range.start,
                                        [](uint64_t a, const Loaded& l) { return a < l.start; });
    loaded_.insert(after, {range.start, range.end, bias, symbols});
    if (std::find(biases.begin(), biases.end(), bias) != biases.end()) continue;
    biases.push_back(bias);
    images_.push_back({symbols->image(), bias});
  }
}

StackAnswer LoadedProgram::answer(const StackQuestion& question) {
  if (const auto* copies = std::get_if<Copies>(&question)) {
    std::vector<Unwound> unwound;
    for (const auto& copy : *copies) unwound.push_back(unwind(*copy));
    return unwound;
  }
  std::vector<Frames> frames;
  for (const CodeAddress& code : std::get<std::vector<CodeAddress>>(question))
    frames.push_back(frames_at(code));
  return frames;
}

Unwound LoadedProgram::unwind(const RawStack& copy) {
  if (!unwinder_) unwinder_.emplace(images_);
  auto found = unwinder_->unwind(copy, copy.most_frames);
  return {found.end, std::move(found.addresses), std::move(found.stack_pointers)};
}

const LoadedProgram::Loaded* LoadedProgram::find(uint64_t address) const {
  const auto after = std::upper_bound(loaded_.begin(), loaded_.end(), address,
                                      [](uint64_t a, const Loaded& l) { return a < l.start; });
  if (after == loaded_.begin()) return nullptr;
  const Loaded& loaded = *std::prev(after);
  return address < loaded.end ? &loaded : nullptr;
}

Frames LoadedProgram::frames_at(const CodeAddress& code) const {
  using Of = ObjectSymbols::Of;
  // A call at the very end of a mapping returns to the address after it.
  const Loaded* loaded = find(code.is_where_returns ? code.address - 1 : code.address);
  if (!loaded) return made_frames_at(code);
  Frames frames = loaded->symbols->frames_at(
      code.address - loaded->bias, code.is_where_returns ? Of::return_address : Of::instruction);
  for (Frame& frame : frames) frame.address = code.address;
  return frames;
}

// The offset is the address itself: such code is in no file.
Frames LoadedProgram::made_frames_at(const CodeAddress& code) const {
  if (!made_code_) return {};
  const auto* function = made_code_->at(code.is_where_returns ? code.address - 1 : code.address);
  if (!function) return {};
  Frame frame;
  frame.address = frame.offset = code.address;
  frame.function = function->name;
  frame.function_offset = code.address - function->start;
  return {frame};
}

}  // namespace tracectl
