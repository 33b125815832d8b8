// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/object_file.h"

namespace tracectl {

ObjectFile::ObjectFile(ElfFile elf) : elf_(std::move(elf)) {}

Result<ObjectFilePtr> ObjectFile::open(int fd, const std::string& path,
                                       std::optional<NamedDebugFile> named) {
  auto elf = ElfFile::open(fd, path, kDebugRoot, std::move(named));
  if (!elf) return elf.error();
  return ObjectFilePtr{new ObjectFile(std::move(*elf))};
}

const Result<std::vector<UsdtSite>>& ObjectFile::usdt_sites() const {
  if (!usdt_sites_) usdt_sites_ = read_usdt_sites(elf_);
  return *usdt_sites_;
}

const UnwindRanges& ObjectFile::unwind_ranges() const {
  if (!unwind_ranges_) unwind_ranges_.emplace(elf_);
  return *unwind_ranges_;
}

}  // namespace tracectl
