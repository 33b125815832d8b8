// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/object/file_identity.h"
#include "daemon/object/made_code.h"
#include "daemon/object/object_symbols.h"
#include "daemon/object/stack_reader.h"
#include "daemon/object/unwinder.h"

namespace tracectl {

// Symbols of files, each file kept once for all programs that have loaded it.
class SymbolFiles {
 public:
  // Null if it is not an ELF file that can be read.
  std::shared_ptr<ObjectSymbols> open(int fd, const std::string& path);

 private:
  static constexpr size_t kMostKept = 256;

  struct Known {
    FileIdentity identity;
    std::string path;
    std::shared_ptr<ObjectSymbols> symbols;
  };

  std::list<Known> recent_;  // last used first
};

// Reads the files of one program in this process.
class LoadedProgram {
 public:
  // A file that is neither an ELF file nor names code made at run time is left out.
  void add(SymbolFiles& files, int fd, const std::string& path,
           const std::vector<LoadedFile::Range>& ranges);

  StackAnswer answer(const StackQuestion& question);

 private:
  struct Loaded {
    uint64_t start = 0, end = 0;
    uint64_t bias = 0;
    std::shared_ptr<ObjectSymbols> symbols;
  };

  void add(const std::vector<LoadedFile::Range>& ranges,
           const std::shared_ptr<ObjectSymbols>& symbols);
  Unwound unwind(const RawStack& copy);
  Frames frames_at(const CodeAddress& code) const;
  Frames made_frames_at(const CodeAddress& code) const;
  const Loaded* find(uint64_t address) const;

  std::vector<Loaded> loaded_;  // by start
  std::vector<LoadedImage> images_;
  std::shared_ptr<const MadeCode> made_code_;
  std::optional<Unwinder> unwinder_;  // set up for the first copied stack
};

}  // namespace tracectl
