// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/maps.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>

namespace tracectl {
namespace {

constexpr std::string_view kDeleted = " (deleted)";
constexpr std::string_view kNewline = "\\012";  // the kernel's escape for a newline in a name

// Takes words and numbers from the front of a line of maps.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}

  template <class Number> bool number(Number& value, int base) {
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    if (error != std::errc{}) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }
  bool mark(char wanted) {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view take(size_t count) {
    auto taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view after_spaces() const {
    size_t start = rest_.find_first_not_of(' ');
    return start == std::string_view::npos ? std::string_view{} : rest_.substr(start);
  }

 private:
  std::string_view rest_;
};

std::string without_escapes(std::string_view path) {
  std::string plain;
  while (!path.empty()) {
    bool newline = path.starts_with(kNewline);
    plain += newline ? '\n' : path.front();
    path.remove_prefix(newline ? kNewline.size() : 1);
  }
  return plain;
}

void set_path(MappedFile& file, std::string_view path) {
  file.deleted = path.ends_with(kDeleted);
  if (file.deleted) path.remove_suffix(kDeleted.size());
  file.path = without_escapes(path);
}

// An executable mapping. Without a file its inode is 0, and its path may be a name that the kernel gives.
// 7f00-7f10 r-xp 00001000 fd:01 42          /usr/lib/libx.so
std::optional<MappedFile> parse_line(std::string_view text) {
  Line line{text};
  ExecutableRange range;
  if (!line.number(range.start, 16) || !line.mark('-') || !line.number(range.end, 16) ||
      !line.mark(' '))
    return std::nullopt;
  auto permissions = line.take(4);
  if (permissions.size() != 4 || permissions[2] != 'x' || range.end <= range.start)
    return std::nullopt;
  unsigned major_number = 0;
  unsigned minor_number = 0;
  MappedFile file;
  if (!line.mark(' ') || !line.number(range.file_offset, 16) || !line.mark(' '))
    return std::nullopt;
  if (!line.number(major_number, 16) || !line.mark(':') || !line.number(minor_number, 16))
    return std::nullopt;
  if (!line.mark(' ') || !line.number(file.inode, 10)) return std::nullopt;
  file.device = makedev(major_number, minor_number);
  file.ranges.push_back(range);
  set_path(file, line.after_spaces());
  return file;
}

bool has_file(const MappedFile& mapped) {
  return mapped.inode != 0 && mapped.path.starts_with('/');
}

// Programs may name their anonymous memory (PR_SET_VMA_ANON_NAME).
bool is_anonymous(const MappedFile& mapped) {
  return mapped.inode == 0 && (mapped.path.empty() || mapped.path.starts_with("[anon"));
}

template <class Take> void for_each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (auto mapped = parse_line(text.substr(0, end))) take(std::move(*mapped));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

Result<std::string> read_all(const std::string& path) {
  Fd fd{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd) return Error::from_errno("open " + path);
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno("read " + path);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

Result<std::string> maps_of(const Process& process) {
  auto text = read_all(process.proc_path("maps"));
  if (auto there = process.still_there(); !there) return there.error();
  return text;
}

std::string map_files_name(const ExecutableRange& range) {
  char name[64];
  std::snprintf(name, sizeof name, "map_files/%lx-%lx", range.start, range.end);
  return name;
}

Status check_is(const Fd& fd, const MappedFile& file) {
  struct stat found {};
  if (fstat(fd.get(), &found) != 0) return Error::from_errno("look at " + file.path);
  if (found.st_ino == file.inode && S_ISREG(found.st_mode)) return ok();
  return Error{
      Code::not_found,
      file.path + " is another file than the one the process has mapped; restart the process"};
}

// Opens the file by the process's name for it, seen from its root. O_NONBLOCK, because the process
// controls the name, and it may be a FIFO by now.
Result<Fd> open_by_name(const Process& process, const MappedFile& file) {
  std::string path = process.proc_path("root") + file.path;
  Fd fd{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)};
  if (!fd) return Error::from_errno("open " + path);
  if (auto same = check_is(fd, file); !same) return same.error();
  return fd;
}

Result<Fd> open_by_mapping(const Process& process, const MappedFile& file) {
  for (const ExecutableRange& range : file.ranges) {
    Fd fd{
        open(process.proc_path(map_files_name(range)).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (fd && check_is(fd, file)) return fd;
  }
  return Error{Code::not_found, "process " + std::to_string(process.pid()) + " has " + file.path +
                                    " mapped no longer"};
}

}  // namespace

std::vector<MappedFile> parse_maps(std::string_view text) {
  std::vector<MappedFile> files;
  std::map<std::pair<dev_t, ino_t>, size_t> index;
  for_each_line(text, [&](MappedFile file) {
    if (!has_file(file)) return;
    auto [known, fresh] = index.try_emplace({file.device, file.inode}, files.size());
    if (fresh)
      files.push_back(std::move(file));
    else
      files[known->second].ranges.push_back(file.ranges.front());
  });
  return files;
}

std::vector<ExecutableRange> parse_executable_memory(std::string_view text) {
  std::vector<ExecutableRange> ranges;
  for_each_line(text, [&](const MappedFile& mapped) {
    if (is_anonymous(mapped)) ranges.push_back(mapped.ranges.front());
  });
  return ranges;
}

Result<std::vector<MappedFile>> executable_files(const Process& process) {
  auto text = maps_of(process);
  if (!text) return text.error();
  return parse_maps(*text);
}

Result<std::vector<ExecutableRange>> executable_memory(const Process& process) {
  auto text = maps_of(process);
  if (!text) return text.error();
  return parse_executable_memory(*text);
}

Result<Fd> open_mapped(const Process& process, const MappedFile& file) {
  auto fd = open_by_mapping(process, file);
  if (!fd) fd = open_by_name(process, file);
  if (auto there = process.still_there(); !there) return there.error();
  return fd;
}

Result<Fd> open_executable(const Process& process) {
  std::string path = process.proc_path("exe");
  Fd fd{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  int err = errno;
  if (auto there = process.still_there(); !there) return there.error();
  if (!fd) return Error::from_errno("open " + path, err);
  return fd;
}

}  // namespace tracectl
