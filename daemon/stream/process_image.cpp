// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/process_image.h"

#include <algorithm>

#include "daemon/object/file_identity.h"
#include "daemon/object/made_code.h"
#include "daemon/process/perf_map.h"

namespace tracectl {

namespace {

Status still_executes(const Process& process, uint64_t program) {
  if (process.image() == program) return ok();
  return Error{Code::not_found,
               "process " + std::to_string(process.pid()) + " executes another program now"};
}

// Checks the program before and after, because the process may execute another one in between.
Result<std::vector<MappedFile>> files_of(const Process& process, uint64_t program) {
  if (auto executes = still_executes(process, program); !executes) return executes.error();
  auto mapped = executable_files(process);
  if (auto executes = still_executes(process, program); !executes) return executes.error();
  return mapped;
}

Result<Fd> open_at_path(PathLookup& paths, const MappedFile& file) {
  const Fd found = paths.find(file.path);
  if (!found || !is_mapped_as(found, file))
    return Error{Code::not_found, file.path + " is another file now"};
  const std::string name = "/proc/self/fd/" + std::to_string(found.get());
  Fd fd{::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!fd) return Error::from_errno("open " + file.path);
  return fd;
}

}  // namespace

std::shared_ptr<const OpenedFile> MappedFiles::share(Fd fd, const std::string& path) {
  OpenedFile opened{std::move(fd), path, {}};
  if (::fstat(opened.fd.get(), &opened.status) != 0) return nullptr;
  const auto identity = FileIdentity::of(opened.status);
  const Inode inode{opened.status.st_dev, opened.status.st_ino};
  const auto [first, last] = files_.equal_range(inode);
  for (auto at = first; at != last; ++at) {
    const auto known = at->second.lock();
    if (known && known->path == path && FileIdentity::of(known->status) == identity) return known;
  }
  auto file = std::make_shared<const OpenedFile>(std::move(opened));
  files_.emplace(inode, file);
  return file;
}

size_t MappedFiles::count() {
  std::erase_if(files_, [](const auto& entry) { return entry.second.expired(); });
  return files_.size();
}

Result<ProcessImage> ProcessImage::of(const Process& process, uint64_t program,
                                      MappedFiles& files) {
  auto mapped = files_of(process, program);
  if (!mapped) return mapped.error();
  ProcessImage image;
  FileAccesses accesses(process);
  const auto open = [&](const MappedFile& file) { return open_mapped(process, file); };
  image.add_all(*mapped, open, files, accesses);
  image.add_made_code(process, files, accesses);
  return image;
}

ProcessImage ProcessImage::of_ended(std::span<const MappedFile> mapped, PathLookup& paths,
                                    FileAccesses& accesses, MappedFiles& files) {
  ProcessImage image;
  image.add_all(
      mapped, [&](const MappedFile& file) { return open_at_path(paths, file); }, files, accesses);
  return image;
}

void ProcessImage::add_all(std::span<const MappedFile> mapped, const Open& open, MappedFiles& files,
                           FileAccesses& accesses) {
  for (auto rest = mapped.first(std::min(mapped.size(), kMostFiles)); !rest.empty();) {
    const size_t some = std::min(rest.size(), kMostOpenAtOnce);
    add(rest.first(some), open, files, accesses);
    rest = rest.subspan(some);
  }
  sort_places();
}

void ProcessImage::sort_places() {
  std::sort(places_.begin(), places_.end(),
            [](const Place& a, const Place& b) { return a.start < b.start; });
}

// A jitdump file is known by a page of it that the process maps, a perf map by its name.
LoadedFile* ProcessImage::find_made_code(const Process& process, MappedFiles& files) {
  const auto jitdump = std::ranges::find_if(
      files_, [](const LoadedFile& loaded) { return is_jitdump(loaded.file->path); });
  if (jitdump != files_.end()) return &*jitdump;
  auto map = open_perf_map(process);
  if (!map) return nullptr;
  auto file = files.share(std::move(map->fd), map->path);
  if (!file) return nullptr;
  return &files_.emplace_back(LoadedFile{std::move(file), {}});
}

void ProcessImage::add_made_code(const Process& process, MappedFiles& files,
                                 FileAccesses& accesses) {
  LoadedFile* made = find_made_code(process, files);
  if (!made) return;
  made_code_ = made->file;
  const auto memory = executable_memory(process);
  if (!memory) return;
  const auto access =
      std::make_shared<const FileAccess>(accesses.of(made_code_->path, made_code_->status));
  for (size_t i = 0; i < std::min(memory->size(), kMostMade); ++i) {
    const ExecutableRange& range = (*memory)[i];
    made->ranges.push_back({range.start, range.end, 0});
    places_.push_back({range.start, range.end, made_code_, access});
  }
  sort_places();
}

// First opens all files, and does nothing else: when a process ends, its files can no longer be
// reached.
void ProcessImage::add(std::span<const MappedFile> mapped, const Open& open, MappedFiles& files,
                       FileAccesses& accesses) {
  std::vector<Result<Fd>> fds;
  for (const MappedFile& file : mapped) fds.push_back(open(file));
  for (size_t i = 0; i < fds.size(); ++i) {
    if (!fds[i]) continue;
    auto file = files.share(std::move(*fds[i]), mapped[i].path);
    if (!file) continue;
    FileAccess access = accesses.of(file->path, file->status);
    add(mapped[i], std::move(file), std::make_shared<const FileAccess>(std::move(access)));
  }
}

void ProcessImage::add(const MappedFile& mapped, std::shared_ptr<const OpenedFile> file,
                       std::shared_ptr<const FileAccess> access) {
  LoadedFile& loaded = files_.emplace_back(LoadedFile{file, {}});
  for (const ExecutableRange& range : mapped.ranges) {
    loaded.ranges.push_back({range.start, range.end, range.file_offset});
    places_.push_back({range.start, range.end, file, access});
  }
}

const ProcessImage::Place* ProcessImage::place_at(uint64_t address) const {
  const auto after = std::upper_bound(places_.begin(), places_.end(), address,
                                      [](uint64_t a, const Place& p) { return a < p.start; });
  if (after == places_.begin()) return nullptr;
  const Place& place = *std::prev(after);
  return address < place.end ? &place : nullptr;
}

const std::string* ProcessImage::path_at(uint64_t address) const {
  const Place* place = place_at(address);
  return place ? &place->file->path : nullptr;
}

bool ProcessImage::is_made_code(uint64_t address) const {
  const Place* place = place_at(address);
  return place && made_code_ && place->file == made_code_;
}

bool ProcessImage::has_made_more() const {
  if (!made_code_) return false;
  const auto now = FileIdentity::of(made_code_->fd.get());
  return now && !(*now == FileIdentity::of(made_code_->status));
}

bool ProcessImage::may_be_read_by(const Owner& user, uint64_t address) const {
  const Place* place = place_at(address);
  return place && place->access->may_be_read_by(user);
}

}  // namespace tracectl
