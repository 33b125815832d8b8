// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/named_debug_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "daemon/object/elf_image.h"

namespace tracectl {
namespace {

// A pattern that all files fit which the target has mapped.
constexpr const char* kAllMapped = "uprobe:*:*";

Fd copy_of(const Fd& fd) { return Fd{::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)}; }

// Empty if it has none, or is no ELF file.
std::string build_id_of(const Fd& fd, const std::string& path) {
  const auto image = ElfImage::open(fd.get(), path);
  return image ? image->build_id() : "";
}

std::string whole_path_of(const std::string& path) {
  std::error_code failed;
  const auto whole = std::filesystem::absolute(path, failed);
  return failed ? path : whole.lexically_normal().string();
}

}  // namespace

Result<NamedDebugFiles> NamedDebugFiles::open(const std::vector<std::string>& paths) {
  NamedDebugFiles named;
  for (const std::string& given : paths) {
    const std::string path = whole_path_of(given);
    Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (!fd) return Error::from_errno("cannot open the debug information in " + path);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return Error::from_errno("look at " + path);
    if (S_ISDIR(status.st_mode)) {
      named.directories_.push_back(path);
      continue;
    }
    if (!S_ISREG(status.st_mode))
      return Error{Code::invalid, path + " is neither a file nor a directory of debug information"};
    auto image = ElfImage::open(fd.get(), path);
    if (!image) return image.error();
    const std::string id = image->build_id();
    if (id.empty())
      return Error{Code::invalid,
                   path +
                       " has no build id, by which debug information is known to belong to a "
                       "program: link the program with --build-id"};
    named.files_.push_back({path, id, std::move(fd)});
  }
  return named;
}

std::optional<NamedDebugFiles::File> NamedDebugFiles::file_of(const std::string& build_id) const {
  if (build_id.size() < 4) return std::nullopt;
  for (const File& file : files_)
    if (file.build_id == build_id) return File{file.path, build_id, copy_of(file.fd)};
  for (const std::string& directory : directories_) {
    const std::string path =
        directory + "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
    Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (fd && build_id_of(fd, path) == build_id) return File{path, build_id, std::move(fd)};
  }
  return std::nullopt;
}

void NamedDebugFiles::note(const OpenedFiles& opened) {
  for (size_t i = 0; i < opened.files.size(); ++i)
    if (!seen_.contains(opened.paths[i]))
      seen_.emplace(opened.paths[i], build_id_of(opened.files[i], opened.paths[i]));
}

// A descriptor for each, within what one message can have.
std::vector<NamedDebugFiles::File> NamedDebugFiles::belonging_to(const OpenedFiles& opened) {
  std::vector<File> found;
  if (is_empty()) return found;
  note(opened);
  std::set<std::string> wanted;
  for (const std::string& path : opened.paths) wanted.insert(seen_[path]);
  if (opened.paths.empty())
    for (const File& file : files_) wanted.insert(file.build_id);
  for (const std::string& build_id : wanted) {
    if (opened.files.size() + found.size() == OpenedFiles::kMost) break;
    if (auto file = file_of(build_id)) found.push_back(std::move(*file));
  }
  return found;
}

namespace {

// Whether other processes, or files that are loaded later, can belong to the target.
bool may_map_more(const protocol::TargetPart& target) {
  return target.all || !target.executables.empty() || !target.units.empty() ||
         !target.cgroups.empty() || !target.will_map.empty();
}

}  // namespace

Status NamedDebugFiles::check_used(const protocol::TargetPart& target) {
  const auto is_seen = [&](const File& file) {
    return std::ranges::any_of(seen_,
                               [&](const auto& seen) { return seen.second == file.build_id; });
  };
  if (seen_.empty() || std::ranges::all_of(files_, is_seen) || may_map_more(target)) return ok();
  const auto looked_into = seen_;
  const auto mapped = open_files({kAllMapped}, target);
  if (mapped.files.size() == OpenedFiles::kMost) return ok();  // there may be more
  note(mapped);
  const auto unused = std::ranges::find_if_not(files_, is_seen);
  if (unused == files_.end()) return ok();
  const auto& [path, build_id] = *looked_into.begin();
  return Error{Code::invalid,
               unused->path + " has the build id " + unused->build_id + ", and " + path + " has " +
                   (build_id.empty() ? "none" : build_id) +
                   ": it is not the debug information of what is traced",
               "debug_files"};
}

std::shared_ptr<ObjectSymbols> NamedDebugFiles::symbols_of(const std::string& build_id,
                                                           const std::string& module) const {
  const auto file = file_of(build_id);
  if (!file) return nullptr;
  const auto symbols = ObjectSymbols::open(file->fd.get(), module);
  return symbols ? *symbols : nullptr;
}

}  // namespace tracectl
