// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/stack.h"
#include "daemon/object/debug_info.h"
#include "daemon/object/elf_file.h"

namespace tracectl {

// Resolves a file's addresses to frames. Stays usable when the file is deleted. Not safe for use by
// two threads at once.
class ObjectSymbols {
 public:
  // Keeps a duplicate of `fd`. Frames name the file by `path`.
  static Result<std::shared_ptr<ObjectSymbols>> open(int fd, const std::string& path,
                                                     const std::string& debug_root = kDebugRoot);

  // The frames at one address in the file's own address space: several if functions were inlined
  // there. A return address may be the first of the next function; it belongs to the call before
  // it.
  enum class Of { instruction, return_address };
  const std::vector<Frame>& frames_at(uint64_t address, Of of);

  const ElfFile& elf() const { return elf_; }
  // For unwinding.
  const std::shared_ptr<const ElfImage>& image() const { return image_; }

 private:
  static constexpr size_t kMostKept = 1 << 16;  // addresses

  ObjectSymbols(ElfFile elf, ElfImage image);
  std::vector<Frame> look_up(uint64_t address, uint64_t instruction);
  DebugInfo* debug_info();

  ElfFile elf_;
  std::shared_ptr<const ElfImage> image_;
  std::optional<DebugInfo> debug_info_;
  bool looked_for_debug_info_ = false;
  std::unordered_map<uint64_t, std::vector<Frame>> known_;  // by address and kind
};

}  // namespace tracectl
