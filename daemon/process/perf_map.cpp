// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/perf_map.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "daemon/base/clock.h"
#include "daemon/process/credentials.h"
#include "daemon/process/path_lookup.h"

namespace tracectl {
namespace {

constexpr size_t kMostStatusBytes = 16 << 10;

std::string status_of(const Process& process) {
  const Fd fd{::open(process.proc_path("status").c_str(), O_RDONLY | O_CLOEXEC)};
  std::string text(kMostStatusBytes, '\0');
  const ssize_t got = fd ? ::read(fd.get(), text.data(), text.size()) : 0;
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

// Those of an earlier process with the same number stay where they are. Clocks may differ a little.
bool is_older(const struct stat& file, const Process& process) {
  constexpr uint64_t kSecondNs = 1'000'000'000, kMarginNs = 2 * kSecondNs;
  const uint64_t written_ns = static_cast<uint64_t>(file.st_mtim.tv_sec) * kSecondNs;
  const uint64_t age_of_process_ns = boot_ns() - process.started_ns();
  return written_ns + age_of_process_ns + kMarginNs < clock_ns(CLOCK_REALTIME);
}

}  // namespace

std::optional<pid_t> parse_innermost_pid(std::string_view status) {
  constexpr std::string_view kName = "\nNSpid:";
  const size_t at = status.find(kName);
  if (at == status.npos) return std::nullopt;
  std::string_view line = status.substr(at + kName.size());
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(line.rfind('\t') + 1);
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), pid);
  if (error != std::errc{} || end != line.data() + line.size() || pid <= 0) return std::nullopt;
  return pid;
}

std::optional<PerfMap> open_perf_map(const Process& process) {
  const auto pid = parse_innermost_pid(status_of(process));
  if (!pid) return std::nullopt;
  PerfMap map{{}, "/tmp/perf-" + std::to_string(*pid) + ".map"};
  const Fd found = PathLookup(process, nullptr).find(map.path);
  const auto runs_as = credentials_of(process);
  struct stat status {};
  if (!found || !runs_as || ::fstat(found.get(), &status) != 0) return std::nullopt;
  constexpr size_t kEffective = 1;
  if (!S_ISREG(status.st_mode) || status.st_uid != runs_as->uids[kEffective]) return std::nullopt;
  if (is_older(status, process)) return std::nullopt;
  const std::string name = "/proc/self/fd/" + std::to_string(found.get());
  map.fd = Fd{::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!map.fd) return std::nullopt;
  return map;
}

}  // namespace tracectl
