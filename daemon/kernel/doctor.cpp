// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/doctor.h"

#include <fmt/format.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "daemon/base/clock.h"
#include "daemon/kernel/breakpoints.h"
#include "daemon/kernel/trial.h"
#include "daemon/kernel/uprobe_multi.h"

namespace tracectl {
namespace {

using Verdict = Finding::Verdict;

constexpr uint64_t kCalls = 1000;

Verdict verdict_of(bool yes) { return yes ? Verdict::yes : Verdict::no; }

Finding untried(std::string name, const std::string& why, std::string means) {
  return {std::move(name), Verdict::unknown, "it could not be tried: " + why, std::move(means)};
}

std::string last_error() { return Error::from_errno("", errno).message.substr(2); }

// The number of hits counted when `caller` makes kCalls calls and the function is armed in `armed`.
struct Trial {
  bool armed = false;
  std::string why;
  std::optional<TrialChild::Outcome> outcome;
  uint64_t hits = 0;
};

Trial try_out(unsigned attach_type, TrialFunction function, pid_t filter, TrialChild& caller) {
  Trial trial;
  auto program = CountingProgram::load(attach_type);
  if (!program) {
    trial.why = program.error().message;
    return trial;
  }
  const Fd link = program->arm(function, filter);
  if (!link) {
    trial.why = errno == kNotSupported ? "the kernel refused the instruction" : last_error();
    return trial;
  }
  trial.armed = true;
  trial.outcome = caller.call(function, kCalls);
  trial.hits = program->count();
  return trial;
}

Finding uprobe_multi(TrialChild& child) {
  const char* means =
      "all probes of a file are armed at once, 10,000 in milliseconds (Linux 6.6); if not, each is "
      "a perf event with a descriptor, and disarming takes up to 0.25 s a probe";
  if (!has_uprobe_multi())
    return {"uprobe_multi", Verdict::no, "the kernel has no such link", means};
  const Trial trial = try_out(kAttachUprobeMulti, TrialFunction::nop, child.pid(), child);
  if (!trial.armed)
    return {"uprobe_multi", Verdict::no, "a probe could not be armed: " + trial.why, means};
  return {"uprobe_multi", verdict_of(trial.hits == kCalls),
          fmt::format("{} calls of an armed function gave {} hits", kCalls, trial.hits), means};
}

Finding pid_filter(TrialChild& child, TrialChild& bystander) {
  const char* means = "a probe in one process costs other processes that run the same file nothing";
  const Trial trial = try_out(attach_type_at_uprobes(), TrialFunction::nop, child.pid(), bystander);
  if (!trial.armed) return untried("pid_filter", trial.why, means);
  return {
      "pid_filter", verdict_of(trial.hits == 0),
      fmt::format("{} calls in a process beside the armed one gave {} hits", kCalls, trial.hits),
      means};
}

Finding uprobe_session(TrialChild& child) {
  const char* means = "entries and returns can be paired by the kernel itself (Linux 6.13)";
  if (!has_uprobe_session())
    return {"uprobe_session", Verdict::no, "the kernel has no such link", means};
  const Trial trial = try_out(kAttachUprobeSession, TrialFunction::nop, child.pid(), child);
  if (!trial.armed)
    return {"uprobe_session", Verdict::no, "it could not be armed: " + trial.why, means};
  return {"uprobe_session", verdict_of(trial.hits == 2 * kCalls),
          fmt::format("{} calls gave {} hits at entry and return", kCalls, trial.hits), means};
}

// The median time of a call of each function; the two are measured in turn.
std::optional<double> nop5_ratio(TrialChild& child) {
  auto program = CountingProgram::load(attach_type_at_uprobes());
  if (!program) return std::nullopt;
  const Fd nop = program->arm(TrialFunction::nop, child.pid());
  const Fd nop5 = program->arm(TrialFunction::nop5, child.pid());
  if (!nop || !nop5) return std::nullopt;
  std::array<double, 7> ratios;
  child.call(TrialFunction::nop5, kCalls);  // the kernel optimises at the first hit
  for (double& ratio : ratios) {
    const auto five = child.call(TrialFunction::nop5, kCalls);
    const auto one = child.call(TrialFunction::nop, kCalls);
    if (!five || !one || one->took_ns == 0) return std::nullopt;
    ratio = static_cast<double>(five->took_ns) / static_cast<double>(one->took_ns);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios[ratios.size() / 2];
}

Finding nop5_optimised(TrialChild& child) {
  constexpr double kClearlyCheaper = 0.9;  // an emulated nop5 costs as much as a nop
  const char* means =
      "a probe on a 5-byte nop can be reached by a call instead of a trap (class \"fast\")";
  const auto ratio = nop5_ratio(child);
  if (!ratio) return untried("nop5_optimised", "the probes could not be armed", means);
  return {"nop5_optimised", verdict_of(*ratio < kClearlyCheaper),
          fmt::format("a hit at a 5-byte nop costs {:.2f} of one at a 1-byte nop", *ratio), means};
}

Finding nop5_survives_fork() {
  const bool survives = nop5_call_survives_fork();
  return {"nop5_survives_fork", verdict_of(survives),
          survives ? "a child forked with such a call lived"
                   : "a child forked with such a call died, or it could not be tried",
          "if not, probes on 5-byte nops are kept breakpoints (class \"normal\"), unless "
          "--fast-nops is given for programs that do not fork"};
}

Finding red_zone_safe() {
  const char* means =
      "if not, a probe on a 5-byte nop inside a leaf function damages the program's data; such "
      "sites are refused whatever this says";
  auto child = TrialChild::start();  // a separate one, because it may crash
  if (!child) return untried("red_zone_safe", child.error().message, means);
  const Trial trial =
      try_out(attach_type_at_uprobes(), TrialFunction::red_zone, child->pid(), *child);
  if (!trial.armed) return untried("red_zone_safe", trial.why, means);
  if (!trial.outcome)
    return {"red_zone_safe", Verdict::no, "the trial process died under the probe", means};
  return {"red_zone_safe", verdict_of(trial.outcome->wrong == 0),
          fmt::format("{} of {} calls found their data below the stack pointer changed",
                      trial.outcome->wrong, kCalls),
          means};
}

Finding refused_instruction(TrialChild& child) {
  const char* means =
      "if not, a probe on such an instruction would be armed and never fire; "
      "instructions are decoded and refused before the kernel is asked";
  auto program = CountingProgram::load(attach_type_at_uprobes());
  if (!program) return untried("refused_instruction", program.error().message, means);
  const Fd link = program->arm(TrialFunction::refused, child.pid());
  const int err = errno;
  return {"refused_instruction", verdict_of(!link && err == kNotSupported),
          link ? "arming a nop with a segment prefix succeeded"
               : fmt::format("arming a nop with a segment prefix failed at once, errno {}", err),
          means};
}

Finding membarrier() {
  const char* means = "if not, a switch waits for thread progress by taking a probe of its own off";
  const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (commands < 0 || !(commands & MEMBARRIER_CMD_GLOBAL))
    return {"membarrier", Verdict::no, "the kernel does not offer MEMBARRIER_CMD_GLOBAL", means};
  const uint64_t start = clock_ns(CLOCK_MONOTONIC);
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
  const double took_ms = static_cast<double>(clock_ns(CLOCK_MONOTONIC) - start) / 1e6;
  return {"membarrier", verdict_of(cpus > 1),
          fmt::format("MEMBARRIER_CMD_GLOBAL took {:.1f} ms with {} CPUs online", took_ms, cpus),
          means};
}

Finding kernel_types() {
  const bool there = ::access("/sys/kernel/btf/vmlinux", R_OK) == 0;
  return {"btf", verdict_of(there),
          there ? "/sys/kernel/btf/vmlinux can be read"
                : "/sys/kernel/btf/vmlinux cannot be read: " + last_error(),
          "needed: the programs find the kernel's structures by it"};
}

}  // namespace

std::string kernel_release() {
  utsname name{};
  ::uname(&name);
  return name.release;
}

std::vector<Finding> examine_kernel() {
  std::vector<Finding> findings{kernel_types(), membarrier()};
  auto child = TrialChild::start();
  auto bystander = TrialChild::start();
  if (!child || !bystander) {
    findings.push_back(untried("uprobe_multi", "no process can be started", "needed"));
    return findings;
  }
  findings.push_back(uprobe_multi(*child));
  findings.push_back(pid_filter(*child, *bystander));
  findings.push_back(uprobe_session(*child));
  findings.push_back(nop5_optimised(*child));
  findings.push_back(nop5_survives_fork());
  findings.push_back(red_zone_safe());
  findings.push_back(refused_instruction(*child));
  return findings;
}

}  // namespace tracectl
