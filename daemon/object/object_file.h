// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/object/elf_file.h"
#include "daemon/object/notes.h"
#include "daemon/object/unwind_ranges.h"

namespace tracectl {

// An ELF file, opened to find its probes. Read by one thread at a time.
class ObjectFile {
 public:
  // Keeps a duplicate of `fd`.
  static Result<std::shared_ptr<const ObjectFile>> open(
      int fd, const std::string& path, std::optional<NamedDebugFile> named = std::nullopt);

  const std::string& path() const { return elf_.path(); }
  const ElfFile& elf() const { return elf_; }

  // Read on first use.
  const Result<std::vector<UsdtSite>>& usdt_sites() const;
  const UnwindRanges& unwind_ranges() const;

 private:
  explicit ObjectFile(ElfFile elf);

  ElfFile elf_;
  mutable std::optional<Result<std::vector<UsdtSite>>> usdt_sites_;
  mutable std::optional<UnwindRanges> unwind_ranges_;
};

using ObjectFilePtr = std::shared_ptr<const ObjectFile>;

}  // namespace tracectl
