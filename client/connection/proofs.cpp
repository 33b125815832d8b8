// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/proofs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "daemon/base/sent_fds.h"
#include "daemon/process/cgroup_tree.h"
#include "daemon/process/running.h"

namespace tracectl {
namespace {

constexpr size_t kMostProcesses = 4096;

std::string proc_path(pid_t pid) { return "/proc/" + std::to_string(pid); }

bool is_own(pid_t pid) {
  struct stat status {};
  return ::stat(proc_path(pid).c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

// Collects processes, at most as many as a client can check in a moment.
class Gathering {
 public:
  void add_named_by(const protocol::TargetPart& target) {
    for (const int64_t pid : target.pids) add(static_cast<pid_t>(pid));
    for (const std::string& path : target.executables) add_running(path);
    if (!target.cgroups.empty() || !target.units.empty()) add_cgroups(target);
  }
  void add_own(const std::vector<pid_t>& processes) {
    for (const pid_t pid : processes)
      if (found_.size() < kMostProcesses && is_own(pid)) add(pid);
  }
  std::vector<pid_t> take() { return std::move(found_); }

 private:
  void add(pid_t pid) {
    if (seen_.insert(pid).second) found_.push_back(pid);
  }
  void add_running(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0)
      add_own(processes_running(status.st_dev, status.st_ino));
  }
  void add_cgroups(const protocol::TargetPart& target) {
    const auto tree = CgroupTree::open();
    if (!tree) return;
    for (const std::string& path : target.cgroups) add_own(tree->processes_in(path));
    for (const std::string& unit : target.units)
      if (const auto path = tree->of_unit(unit)) add_own(tree->processes_in(*path));
  }

  std::set<pid_t> seen_;
  std::vector<pid_t> found_;
};

}  // namespace

std::vector<Fd> open_memories(const std::vector<pid_t>& processes, size_t most) {
  std::vector<Fd> opened;
  for (const pid_t pid : processes) {
    if (opened.size() == most) break;
    Fd memory{::open((proc_path(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC)};
    if (memory) opened.push_back(std::move(memory));
  }
  return opened;
}

std::vector<pid_t> named_processes_of(const protocol::TargetPart& target) {
  Gathering gathering;
  gathering.add_named_by(target);
  return gathering.take();
}

std::vector<pid_t> processes_of(const protocol::TargetPart& target) {
  Gathering gathering;
  gathering.add_named_by(target);
  const bool names_none = target.pids.empty() && target.executables.empty() &&
                          target.cgroups.empty() && target.units.empty();
  if (target.all || names_none) gathering.add_own(all_processes());
  return gathering.take();
}

Result<protocol::ProveReply> Proofs::ask(const std::vector<Fd>& memories) {
  auto reply = backend_.call_with(
      protocol::SessionProve{.session = session_, .proofs = memories.size()}, numbers_of(memories));
  if (!reply) return reply;
  needed_ = reply->needed;
  unproven_ = reply->unproven;
  return reply;
}

// The reply combines those of all requests.
Result<protocol::ProveReply> Proofs::prove_some(const std::vector<pid_t>& processes) {
  protocol::ProveReply all;
  for (auto from = processes.begin(); needed_ && from != processes.end();) {
    const auto many = std::min<ptrdiff_t>(protocol::kMostProofsOfRequest, processes.end() - from);
    const auto memories = open_memories({from, from + many});
    from += many;
    if (memories.empty()) continue;
    auto asked = ask(memories);
    if (!asked) return asked;
    asked->proven.insert(asked->proven.begin(), all.proven.begin(), all.proven.end());
    all = std::move(*asked);
  }
  all.needed = needed_;
  all.unproven = unproven_;
  return all;
}

Status Proofs::prove(const std::vector<pid_t>& processes) {
  if (const auto asked = ask({}); !asked) return asked.error();
  if (const auto proven = prove_some(processes); !proven) return proven.error();
  return ok();
}

Result<protocol::ProveReply> Proofs::prove_all(std::vector<pid_t> processes) {
  const auto asked = ask({});
  if (!asked) return asked;
  for (const int64_t pid : asked->wanted) processes.push_back(static_cast<pid_t>(pid));
  return prove_some(processes);
}

Status Proofs::go_on() {
  if (!needed_ || Clock::now() < next_) return ok();
  next_ = Clock::now() + std::chrono::milliseconds(kEveryMs);
  if (const auto proven = prove_all({}); !proven) return proven.error();
  return ok();
}

// If the daemon has ended, there is nothing to report.
Status Proofs::end() {
  if (!needed_ || backend_.is_closed()) return ok();
  const auto asked = ask({});
  return asked || backend_.is_closed() ? ok() : Status(asked.error());
}

}  // namespace tracectl
