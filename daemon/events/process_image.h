// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/stack.h"
#include "daemon/process/maps.h"
#include "daemon/process/process.h"
#include "usdt/object_symbols.h"
#include "usdt/unwinder.h"

namespace tracectl {

// Symbols of files, each kept once for all processes that map it.
class SymbolFiles {
 public:
  explicit SymbolFiles(std::string debug_root) : debug_root_(std::move(debug_root)) {}

  // None for what is no ELF file that can be read.
  std::shared_ptr<ObjectSymbols> open(int fd, const std::string& path);

 private:
  static constexpr size_t kMostKept = 256;

  struct Known {
    struct Identity {
      dev_t device;
      ino_t inode;
      off_t size;
      time_t changed_s;
      long changed_ns;
      bool operator==(const Identity&) const = default;
    } identity;
    std::string path;
    std::shared_ptr<ObjectSymbols> symbols;
  };

  std::string debug_root_;
  std::list<Known> recent_;
};

// Where a process had which files mapped at one moment, when it executed one program. Outlives both.
class ProcessImage {
 public:
  // Fails where Process::image() is not `program`.
  static Result<ProcessImage> of(const Process& process, uint64_t program, SymbolFiles& files);

  bool is_empty() const { return mapped_.empty(); }
  bool knows(uint64_t address) const { return find(address) != nullptr; }
  Stack stack_of(const RawStack& raw);

 private:
  struct Mapped {
    uint64_t start = 0, end = 0;
    uint64_t bias = 0;
    std::shared_ptr<ObjectSymbols> symbols;
  };

  static constexpr size_t kMostOpenAtOnce = 128;

  void add(const Process& process, std::span<const MappedFile> mapped, SymbolFiles& files);
  void add(const MappedFile& file, const std::shared_ptr<ObjectSymbols>& symbols);
  const Mapped* find(uint64_t address) const;
  void append(uint64_t address, bool is_first, std::vector<Frame>& frames) const;

  std::vector<Mapped> mapped_;  // by start
  std::vector<LoadedImage> loaded_;
  std::optional<Unwinder> unwinder_;  // once a copied stack has come
};

}  // namespace tracectl
