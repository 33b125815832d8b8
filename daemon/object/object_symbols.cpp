// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/object_symbols.h"

#include "daemon/object/demangle.h"
#include "daemon/object/source_places.h"

namespace tracectl {

Result<std::shared_ptr<ObjectSymbols>> ObjectSymbols::open(int fd, const std::string& path,
                                                           const std::string& debug_root) {
  auto elf = ElfFile::open(fd, path, debug_root);
  if (!elf) return elf.error();
  auto image = elf->open_again();
  if (!image) return image.error();
  return std::shared_ptr<ObjectSymbols>{new ObjectSymbols(std::move(*elf), std::move(*image))};
}

namespace {

// By debug information alone, for files without the symbol. The part of a function that a compiler has moved away can
// be before its entry, and has no offset: it is not named.
void set_offset(Frame& frame, std::optional<uint64_t> entry) {
  if (entry && *entry <= frame.offset)
    frame.function_offset = frame.offset - *entry;
  else
    frame.function.clear();
}

}  // namespace

ObjectSymbols::ObjectSymbols(ElfFile elf, ElfImage image)
    : elf_(std::move(elf)), image_(std::make_shared<const ElfImage>(std::move(image))) {}

DebugInfo* ObjectSymbols::debug_info() {
  if (!looked_for_debug_info_) {
    looked_for_debug_info_ = true;
    if (auto image = elf_.open_debug_info())
      debug_info_ = DebugInfo::open(std::move(*image), elf_.path(), elf_.debug_root());
  }
  return debug_info_ ? &*debug_info_ : nullptr;
}

const std::vector<Frame>& ObjectSymbols::frames_at(uint64_t address, Of of) {
  const bool returns = of == Of::return_address;
  const uint64_t key = address << 1 | (returns ? 1 : 0);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  if (known_.size() >= kMostKept) known_.clear();
  return known_[key] = look_up(address, returns ? address - 1 : address);
}

std::vector<Frame> ObjectSymbols::look_up(uint64_t address, uint64_t instruction) {
  Frame own;
  own.module = elf_.path();
  own.build_id = elf_.build_id();
  own.offset = address;
  if (const auto symbol = elf_.function_at(instruction)) {
    own.function = demangle(symbol->name).value_or(symbol->name);
    own.function_offset = address - symbol->address;
  }
  std::vector<Frame> frames;
  DebugInfo* const info = debug_info();
  for (const SourcePlace& place :
       info ? source_places(*info, instruction) : std::vector<SourcePlace>{}) {
    Frame frame = own;
    frame.file = place.file;
    frame.line = place.line;
    frame.inlined = place.inlined;
    if (place.inlined || frame.function.empty()) {
      frame.function = place.function;
      frame.function_offset = 0;
      if (!place.inlined) set_offset(frame, place.entry);
    }
    frames.push_back(std::move(frame));
  }
  if (frames.empty()) frames.push_back(std::move(own));
  return frames;
}

}  // namespace tracectl
