// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/stat.h>

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "usdt/elf_file.h"
#include "usdt/notes.h"
#include "usdt/unwind_ranges.h"

namespace tracectl {

// A file is the one that was read as long as none of these has changed.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  timespec modified{};
  timespec changed{};

  static Result<FileIdentity> of(int fd);
  bool operator==(const FileIdentity& other) const;
};

// An opened ELF file with what it says about its probes. Shared; read by one thread at a time.
class Object {
 public:
  static Result<std::shared_ptr<const Object>> open(Fd fd, const std::string& path);

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }
  const FileIdentity& identity() const { return identity_; }
  const ElfFile& elf() const { return elf_; }

  // Read when first asked for.
  const Result<std::vector<UsdtSite>>& usdt_sites() const;
  const UnwindRanges& unwind_ranges() const;

 private:
  Object(std::string path, Fd fd, FileIdentity identity, ElfFile elf);

  std::string path_;
  Fd fd_;
  FileIdentity identity_;
  ElfFile elf_;
  mutable std::optional<Result<std::vector<UsdtSite>>> usdt_sites_;
  mutable std::optional<UnwindRanges> unwind_ranges_;
};

using ObjectPtr = std::shared_ptr<const Object>;

// Keeps the objects last used, so that staging and committing read a file once.
class Objects {
 public:
  // The same file under another path is another object: its probes bear the path in their names.
  Result<ObjectPtr> open(Fd fd, const std::string& path);
  void forget_all() { recent_.clear(); }

 private:
  static constexpr size_t kMostKept = 8;
  std::list<ObjectPtr> recent_;  // last used first
};

}  // namespace tracectl
