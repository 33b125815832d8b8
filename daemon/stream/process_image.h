// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/object/stack_reader.h"
#include "daemon/process/file_access.h"
#include "daemon/process/maps.h"
#include "daemon/process/path_lookup.h"
#include "daemon/process/process.h"

namespace tracectl {

// The files that processes have mapped. Each is opened once for all images that have it, and closed
// with the last of these.
class MappedFiles {
 public:
  // Null if fstat() fails on the descriptor.
  std::shared_ptr<const OpenedFile> share(Fd fd, const std::string& path);
  // The number of open files.
  size_t count();

 private:
  using Inode = std::pair<dev_t, ino_t>;
  std::multimap<Inode, std::weak_ptr<const OpenedFile>> files_;
};

// The addresses and files of a process's mappings at one moment, while it executed one program.
// Stays valid after both.
class ProcessImage {
 public:
  // Fails if Process::image() is not `program`.
  static Result<ProcessImage> of(const Process& process, uint64_t program, MappedFiles& files);
  // Of a process that has ended. Files that are not found at their paths are left out.
  static ProcessImage of_ended(std::span<const MappedFile> mapped, PathLookup& paths,
                               FileAccesses& accesses, MappedFiles& files);

  bool is_empty() const { return places_.empty(); }
  // Null if no file is there.
  const std::string* path_at(uint64_t address) const;
  // Whether the user could open the file there. False if no file is there.
  bool may_be_read_by(const Owner& user, uint64_t address) const;
  const std::vector<LoadedFile>& files() const { return files_; }
  // Whether a file names code that the process makes at run time.
  bool makes_code() const { return made_code_ != nullptr; }
  // Whether code is there that the process has made at run time, and that a file names.
  bool is_made_code(uint64_t address) const;
  // Whether the file that names such code has been written to since it was opened.
  bool has_made_more() const;

 private:
  struct Place {
    uint64_t start = 0, end = 0;
    std::shared_ptr<const OpenedFile> file;
    std::shared_ptr<const FileAccess> access;
  };

  static constexpr size_t kMostOpenAtOnce = 128;
  static constexpr size_t kMostFiles = 1024;  // code of further files stays addresses
  static constexpr size_t kMostMade = 4096;   // ranges of code made at run time

  using Open = std::function<Result<Fd>(const MappedFile&)>;

  void add_all(std::span<const MappedFile> mapped, const Open& open, MappedFiles& files,
               FileAccesses& accesses);
  void add(std::span<const MappedFile> mapped, const Open& open, MappedFiles& files,
           FileAccesses& accesses);
  void add(const MappedFile& mapped, std::shared_ptr<const OpenedFile> file,
           std::shared_ptr<const FileAccess> access);
  void sort_places();
  LoadedFile* find_made_code(const Process& process, MappedFiles& files);
  void add_made_code(const Process& process, MappedFiles& files, FileAccesses& accesses);
  const Place* place_at(uint64_t address) const;

  std::vector<LoadedFile> files_;
  std::vector<Place> places_;  // by start
  std::shared_ptr<const OpenedFile>
      made_code_;  // a perf map or a jitdump file; null: there is none
};

}  // namespace tracectl
