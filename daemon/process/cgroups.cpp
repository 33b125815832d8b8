// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/cgroups.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

namespace tracectl {
namespace {

// linux/exportfs.h, FILEID_KERNFS: a handle of eight bytes, which is the id.
constexpr int kKernfsHandle = 0xfe;
constexpr size_t kShownDigits = 12;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(at), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

bool is_octal(char c) { return c >= '0' && c <= '7'; }

int hex_value(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

// Decodes \040 and the like, with which the kernel writes blanks.
std::string without_octal(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) &&
                        is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (!escape) {
      plain += text[i];
      continue;
    }
    plain +=
        static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] - '0');
    i += 3;
  }
  return plain;
}

// Decodes \x2d and the like, with which systemd writes characters that are not allowed in a unit's
// name.
std::string without_hex(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text.substr(i, 2) == "\\x" && i + 3 < text.size() && is_hex(text[i + 2]) &&
                        is_hex(text[i + 3]);
    plain +=
        escape ? static_cast<char>(hex_value(text[i + 2]) * 16 + hex_value(text[i + 3])) : text[i];
    if (escape) i += 3;
  }
  return plain;
}

// systemd prefixes _ to names that the kernel might use itself.
std::string_view unescaped(std::string_view component) {
  if (component.starts_with('_')) component.remove_prefix(1);
  return component;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// lxc.payload.NAME, machine-NAME.scope, systemd-nspawn@NAME.service.
std::optional<std::string> name_in(std::string_view component) {
  constexpr std::string_view kLxc = "lxc.payload.", kMachine = "machine-",
                             kNspawn = "systemd-nspawn@";
  if (component.starts_with(kLxc)) return std::string{component.substr(kLxc.size())};
  if (component.starts_with(kMachine) && take_suffix(component, ".scope"))
    return without_hex(component.substr(kMachine.size()));
  if (component.starts_with(kNspawn) && take_suffix(component, ".service"))
    return without_hex(component.substr(kNspawn.size()));
  return std::nullopt;
}

// 0 for /, 2 for /../.., and nothing for a path to anywhere else.
std::optional<size_t> levels_up(std::string_view path) {
  const auto components = split(path, '/');
  const auto is_up = [](std::string_view component) { return component == ".."; };
  if (!path.starts_with('/') || !std::ranges::all_of(components, is_up)) return std::nullopt;
  return components.size();
}

std::string content_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string text_of_gone(uint64_t id) { return "cgroup " + std::to_string(id); }

// All at and below `mount`, with their ids and their paths from there. Cgroups come and go: one that cannot be read no
// longer exists.
template <class Visit> void visit_cgroups(const std::string& mount, const Visit& visit) {
  std::vector<std::string> waiting{""};
  while (!waiting.empty()) {
    const std::string path = std::move(waiting.back());
    waiting.pop_back();
    struct stat status {};
    if (::stat((mount + path).c_str(), &status) != 0) continue;
    visit(uint64_t{status.st_ino}, path.empty() ? "/" : path);
    std::error_code error;
    for (std::filesystem::directory_iterator entry(mount + path, error), end;
         !error && entry != end; entry.increment(error))
      if (std::error_code gone; entry->is_directory(gone) && !entry->is_symlink(gone))
        waiting.push_back(path + "/" + entry->path().filename().string());
  }
}

}  // namespace

// 36 35 0:30 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw
//
// The root of a mount is shown from the root of the reader's cgroup namespace. A container has a namespace of its own,
// with its own cgroup as the root: where the hierarchy of the host is mounted in it, that root is /../..
std::optional<std::string> cgroup2_mount(std::string_view mountinfo) {
  std::optional<std::string> mount;
  size_t highest = 0;  // levels above the namespace's root
  for (const std::string_view line : split(mountinfo, '\n')) {
    const auto fields = split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 5 || fields.end() - dash < 2 || *(dash + 1) != "cgroup2") continue;
    const auto levels = levels_up(fields[3]);
    if (!levels || (mount && *levels <= highest)) continue;
    mount = without_octal(fields[4]);
    highest = *levels;
  }
  return mount;
}

std::string unit_of(const std::string& path) {
  const auto components = split(path, '/');
  for (auto it = components.rbegin(); it != components.rend(); ++it)
    if (it->ends_with(".service") || it->ends_with(".scope")) return std::string{unescaped(*it)};
  return path;
}

bool is_container_id(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), is_hex);
}

// docker-ID.scope, libpod-ID.scope, cri-containerd-ID.scope, crio-ID.scope; ID or libpod-ID with
// the runtimes' own driver.
std::optional<std::string> container_id_of(std::string_view component) {
  take_suffix(component, ".scope");
  const size_t dash = component.rfind('-');
  if (dash != component.npos) component.remove_prefix(dash + 1);
  return is_container_id(component) ? std::optional<std::string>{component} : std::nullopt;
}

// The outermost one, because containers within a container belong to it.
std::string container_of(const std::string& path) {
  for (const std::string_view component : split(path, '/')) {
    if (auto id = container_id_of(component)) return id->substr(0, kShownDigits);
    if (auto name = name_in(component)) return *name;
  }
  return path;
}

std::string CgroupNames::path_of(uint64_t id) {
  auto path = look_up(id);
  if (!path) {
    const auto known = paths_.find(id);
    return known != paths_.end() ? known->second : text_of_gone(id);
  }
  if (paths_.size() >= kMostKept) paths_.clear();
  paths_[id] = *path;
  return *path;
}

std::optional<std::string> CgroupNames::look_up(uint64_t id) {
  if (!std::exchange(looked_for_mount_, true)) {
    mount_ = cgroup2_mount(content_of("/proc/self/mountinfo")).value_or("");
    if (!mount_.empty()) root_ = Fd{::open(mount_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  }
  if (!root_) return std::nullopt;
  alignas(file_handle) std::array<std::byte, sizeof(file_handle) + sizeof(id)> bytes{};
  auto* handle = reinterpret_cast<file_handle*>(bytes.data());
  handle->handle_bytes = sizeof(id);
  handle->handle_type = kKernfsHandle;
  std::memcpy(bytes.data() + sizeof(file_handle), &id, sizeof(id));
  const Fd directory{::open_by_handle_at(root_.get(), handle, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!directory) return errno == EPERM ? look_up_by_walking(id) : std::nullopt;
  std::array<char, PATH_MAX> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(directory.get());
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  if (length < 0) return std::nullopt;
  std::string path(target.data(), static_cast<size_t>(length));
  if (!path.starts_with(mount_) || path.ends_with(" (deleted)")) return std::nullopt;
  path.erase(0, mount_.size());
  return path.empty() ? "/" : path;
}

// Without CAP_DAC_READ_SEARCH. A cgroup keeps its path, and no other gets its id, so each is looked for once. All are
// looked at together, at most once a second: many ids of one reply may be those of cgroups that are gone.
std::optional<std::string> CgroupNames::look_up_by_walking(uint64_t id) {
  const auto now = Clock::now();
  if (paths_.contains(id) || now - walked_ < kBetweenWalks) return std::nullopt;
  walked_ = now;
  if (paths_.size() >= kMostKept / 2) paths_.clear();
  visit_cgroups(mount_, [this](uint64_t found, std::string path) {
    if (paths_.size() < kMostKept) paths_.try_emplace(found, std::move(path));
  });
  return std::nullopt;
}

}  // namespace tracectl
