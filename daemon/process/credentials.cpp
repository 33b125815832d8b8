// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/credentials.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace tracectl {
namespace {

constexpr size_t kMostStatusBytes = 16 << 10;  // usual are some 1,500

// The text after the name on its line.
std::optional<std::string_view> value_of(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(name)) return line.substr(name.size());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

template <class Number> std::optional<Number> next_number(std::string_view& text, int base) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// The real, effective and saved id.
std::optional<std::array<uint32_t, 3>> three_ids(std::string_view text, std::string_view name) {
  auto value = value_of(text, name);
  if (!value) return std::nullopt;
  std::array<uint32_t, 3> ids{};
  for (uint32_t& id : ids) {
    const auto number = next_number<uint32_t>(*value, 10);
    if (!number) return std::nullopt;
    id = *number;
  }
  return ids;
}

Result<std::string> read_start(const Fd& fd, const std::string& path) {
  std::string text(kMostStatusBytes, '\0');
  const ssize_t got = ::read(fd.get(), text.data(), text.size());
  if (got < 0) return Error::from_errno("read " + path);
  text.resize(static_cast<size_t>(got));
  return text;
}

bool all_are(const std::array<uint32_t, 3>& ids, uint32_t id) {
  return std::all_of(ids.begin(), ids.end(), [id](uint32_t one) { return one == id; });
}

Result<Credentials> read_credentials(const Process& process) {
  const std::string path = process.proc_path("status");
  const Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd) return Error::from_errno("open " + path);
  auto text = read_start(fd, path);
  if (!text) return text.error();
  auto credentials = parse_status(*text);
  if (!credentials) return Error{Code::kernel, path + " does not tell as whom the process runs"};
  struct stat file {
  }, name_space{};
  // If a process is not dumpable, the kernel makes root the owner of its files in /proc: proc(5).
  if (::fstat(fd.get(), &file) != 0) return Error::from_errno("look at " + path);
  credentials->dumpable = file.st_uid == credentials->uids[1];
  const std::string in = process.proc_path("ns/user");
  if (::stat(in.c_str(), &name_space) != 0) return Error::from_errno("look at " + in);
  credentials->user_namespace = static_cast<uint32_t>(name_space.st_ino);
  return *credentials;
}

}  // namespace

std::optional<Credentials> parse_status(std::string_view text) {
  const auto uids = three_ids(text, "Uid:"), gids = three_ids(text, "Gid:");
  auto permitted = value_of(text, "CapPrm:");
  if (!uids || !gids || !permitted) return std::nullopt;
  const auto capabilities = next_number<uint64_t>(*permitted, 16);
  if (!capabilities) return std::nullopt;
  return Credentials{.uids = *uids, .gids = *gids, .capabilities = *capabilities};
}

Result<Credentials> credentials_of(const Process& process) {
  auto credentials = read_credentials(process);
  if (auto there = process.still_there(); !there) return there.error();
  return credentials;
}

bool runs_as(const Credentials& process, uid_t uid, gid_t gid) {
  return all_are(process.uids, uid) && all_are(process.gids, gid);
}

bool is_hidden_from(const Owner& user, const Credentials& process) {
  return !runs_as(process, user.uid, user.gid) || process.user_namespace != user.user_namespace ||
         process.capabilities & ~user.capabilities || !process.dumpable;
}

Status may_trace(const Owner& user, const Process& process) {
  const auto credentials = credentials_of(process);
  // What is hidden from the daemon is nobody's.
  if (!credentials && credentials.error().code != Code::denied) return credentials.error();
  if (credentials && !is_hidden_from(user, *credentials)) return ok();
  return Error{
      Code::denied,
      "process " + std::to_string(process.pid()) +
          " is not yours to trace: a user traces what it could ptrace(2), which are processes "
          "that run with its user and group alone, with no more capabilities, in its user "
          "namespace, and are dumpable; root with CAP_SYS_PTRACE and members of the group "
          "tracectl may trace every process (usermod -aG tracectl NAME, and a new login)",
      "target"};
}

}  // namespace tracectl
