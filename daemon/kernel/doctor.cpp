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
#include "daemon/kernel/calibration.h"
#include "daemon/kernel/emulator.h"
#include "daemon/kernel/kernel_types.h"
#include "daemon/kernel/nop_trial.h"
#include "daemon/kernel/progress.h"
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

Finding pid_filter_of_sharers(TrialChild& child) {
  constexpr const char* kName = "pid_filter_of_sharers";
  const char* means =
      "if not, a process that shares the memory of the traced one, as a child of vfork() does, "
      "reaches its probes (before Linux 6.12); the programs compare the process and end there, "
      "whatever this says";
  const auto program = CountingProgram::load(attach_type_at_uprobes());
  if (!program) return untried(kName, program.error().message, means);
  const Fd link = program->arm(TrialFunction::nop, child.pid());
  if (!link) return untried(kName, last_error(), means);
  if (!child.call_by_sharer(TrialFunction::nop, kCalls))
    return untried(kName, "no process could be made that shares memory", means);
  const uint64_t hits = program->count();
  if (!child.call(TrialFunction::nop, kCalls) || program->count() != hits + kCalls)
    return untried(kName, "the armed process's own calls gave no hits", means);
  return {kName, verdict_of(hits == 0),
          fmt::format("{} calls in a process that shares the memory of the armed one gave {} hits",
                      kCalls, hits),
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

Finding session_passes_seccomp() {
  const char* means =
      "if not, the return trampoline is refused, because the kernel kills a process with a filter "
      "of system calls "
      "(seccomp) at its first return (Linux 6.11 to 6.13)";
  if (!has_uprobe_session())
    return untried("session_passes_seccomp", "the kernel has no such link", means);
  const bool passes = trampoline_passes_seccomp();
  return {"session_passes_seccomp", verdict_of(passes),
          passes ? "a process whose filter allows three system calls lived"
                 : "a process whose filter allows three system calls died, or could not be tried",
          means};
}

Finding unsupported_refused(TrialChild& child) {
  const char* means =
      "if not, a probe on an instruction that the kernel does not support is armed and never hit; "
      "tracectl refuses such "
      "instructions itself, whatever this says";
  const Trial trial =
      try_out(attach_type_at_uprobes(), TrialFunction::unsupported, child.pid(), child);
  return {"unsupported_refused", verdict_of(!trial.armed),
          trial.armed
              ? fmt::format("a probe on such an instruction was armed, and {} calls gave {} hits",
                            kCalls, trial.hits)
              : "a probe on such an instruction cannot be armed: " + trial.why,
          means};
}

Finding context_write(TrialChild& child) {
  constexpr int kResult = 7;
  const char* means =
      "a probe's program can set a thread's registers, and with them where it goes on (most "
      "kernels "
      "since Linux 6.18)";
  const auto program = load_returning_program(kResult);
  if (!program)
    return {"context_write", Verdict::no, "a program that writes registers is refused", means};
  const Fd link =
      arm_trial(program->get(), attach_type_at_uprobes(), TrialFunction::nop, child.pid());
  const auto outcome = link ? child.call(TrialFunction::nop, kCalls) : std::nullopt;
  if (!outcome) return untried("context_write", "the probe could not be armed", means);
  return {"context_write", verdict_of(outcome->wrong == kResult * kCalls),
          outcome->wrong == 0 ? "registers that a program writes are not those of the thread"
                              : "a program set the result of a function, and where it goes on",
          means};
}

// The median time of a hit there, of that of a hit at a 1-byte nop; the two are measured in turn.
std::optional<double> ratio_to_nop(TrialFunction function) {
  auto child = TrialChild::start();
  auto program = CountingProgram::load(attach_type_at_uprobes());
  if (!child || !program) return std::nullopt;
  const Fd nop = program->arm(TrialFunction::nop, child->pid());
  const Fd other = program->arm(function, child->pid());
  if (!nop || !other) return std::nullopt;
  std::array<double, 7> ratios;
  child->call(function, kCalls);  // the kernel writes a call at the first hits
  for (double& ratio : ratios) {
    const auto its = child->call(function, kCalls);
    const auto one = child->call(TrialFunction::nop, kCalls);
    if (!its || !one || one->took_ns == 0) return std::nullopt;
    ratio = static_cast<double>(its->took_ns) / static_cast<double>(one->took_ns);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios[ratios.size() / 2];
}

// What is found of one kind of nop.
struct NopFindings {
  std::string name;  // nop5 or nop10
  const char* bytes;
  TrialFunction function;
  NopTrial trial;

  Finding optimised() const {
    const std::string means = std::string("a probe on a ") + bytes +
                              " nop can be reached by a call instead of a trap (class \"fast\")";
    if (!trial.is_tried) return untried(name + "_optimised", "the probe could not be armed", means);
    return {name + "_optimised", verdict_of(trial.becomes_call), how(), means};
  }

  Finding survives_fork(const char* means) const {
    return of_call("_survives_fork", trial.survives_fork, "a child forked with such a probe lived",
                   "a child forked with such a probe died", means);
  }

  Finding passes_seccomp(const char* means) const {
    return of_call("_passes_seccomp", trial.passes_seccomp,
                   "a process whose filter allows three system calls lived",
                   "a process whose filter allows three system calls died", means);
  }

  Finding keeps_red_zone(const char* means) const {
    return of_call("_keeps_red_zone", trial.keeps_red_zone,
                   "a hit leaves data below the stack pointer as they are",
                   "a hit changes data below the stack pointer", means);
  }

 private:
  std::string how() const {
    if (trial.is_refused) return "the kernel refuses a probe on such a nop";
    const char* kind = trial.becomes_call ? "a call"
                       : trial.is_stepped ? "a single step"
                                          : "a breakpoint, emulated";
    std::string text = std::string("a hit is ") + kind;
    if (const auto ratio = ratio_to_nop(function))
      text += fmt::format(", and takes {:.2f} of the time of one at a 1-byte nop", *ratio);
    return text;
  }

  Finding of_call(const char* what, bool holds, const char* yes, const char* no,
                  const char* means) const {
    if (!trial.is_tried || trial.is_refused)
      return untried(name + what, "the probe could not be armed", means);
    return {name + what, verdict_of(holds), holds ? yes : no, means};
  }
};

void examine_nops(std::vector<Finding>& findings) {
  if (!address_of(TrialFunction::nop5)) return;
  const NopFindings five{"nop5", "5-byte", TrialFunction::nop5,
                         try_nop(TrialFunction::nop5, TrialFunction::red_zone)};
  findings.push_back(five.optimised());
  findings.push_back(five.survives_fork(
      "if not, probes on 5-byte nops are kept breakpoints (class \"normal\"), unless --fast-nops "
      "is given for programs that do not fork"));
  findings.push_back(
      five.passes_seccomp("if not, probes on 5-byte nops are kept breakpoints (class \"normal\")"));
  findings.push_back(five.keeps_red_zone(
      "if not, a probe on a 5-byte nop inside a leaf function damages the program's data; such "
      "sites are refused whatever this says"));
  const NopFindings ten{"nop10", "10-byte", TrialFunction::nop10,
                        try_nop(TrialFunction::nop10, TrialFunction::nop10_red_zone)};
  const char* means = "if not, no probe is placed on a 10-byte nop";
  findings.push_back(ten.optimised());
  if (!ten.trial.is_refused) {
    findings.push_back(ten.survives_fork(means));
    findings.push_back(ten.passes_seccomp(means));
    findings.push_back(ten.keeps_red_zone(means));
  }
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

Finding removal_waits() {
  const bool waits = removal_waits_for_all_hits();
  return {"removal_waits", verdict_of(waits),
          waits ? "taking a probe off waits for the hits of all probes"
                : "taking a probe off waits for its own hits (before Linux 6.12)",
          "if not, and membarrier is no, nothing can be committed"};
}

// A lock that one thread holds against the others of its CPU came with bpf_task_storage_busy, and went with it in Linux 7.0.
// Since Linux 6.2 programs look a thread's state up without it (bpf_task_storage_get_recur), but make it under it.
void examine_thread_storage(std::vector<Finding>& findings) {
  const char* found_means =
      "if not, and the kernel preempts tasks in the kernel (preempt=full), a thread that is "
      "preempted in a probe makes "
      "others on its CPU miss their state: hits with conditions count as filtered, and one hit may "
      "count twice during a "
      "commit";
  const char* made_means =
      "if not, and the kernel preempts tasks in the kernel (preempt=full), the first hit of a "
      "thread with a condition "
      "counts as filtered if another thread of its CPU was preempted in its own first hit";
  const KernelTypes types;
  if (!types.are_known()) {
    findings.push_back(untried("thread_storage", "the kernel's types cannot be read", found_means));
    return;
  }
  const bool has_lock = types.has_variable("bpf_task_storage_busy");
  const bool waits = has_lock && !types.has_function("bpf_task_storage_get_recur");
  findings.push_back({"thread_storage", verdict_of(!waits),
                      waits ? "the kernel has a lock for it that others hold (before Linux 6.2)"
                            : "a thread's state can be looked up whatever others do",
                      found_means});
  findings.push_back(
      {"thread_storage_made", verdict_of(!has_lock),
       has_lock ? "the kernel has a lock for making it that others hold (before Linux 7.0)"
                : "a thread's state can be made whatever others do",
       made_means});
}

double microseconds(uint32_t ns) { return ns / 1000.0; }

Finding emulation() {
  const char* means =
      "with --emulate a program carries out most instructions that the kernel would single-step, "
      "among them returns (class \"emulated\")";
  const auto emulator = Emulator::open();
  if (!emulator) return {"emulation", Verdict::no, emulator.error().message, means};
  const tc_hit_costs costs = hit_costs(emulator->get());
  return {"emulation", Verdict::yes,
          fmt::format("a child computed the same; besides its program a hit takes {:.1f} us "
                      "instead of {:.1f}, and a return {:.1f} us at an exit",
                      microseconds(costs.entry[TC_COST_EMULATED]),
                      microseconds(costs.entry[TC_COST_SLOW]), microseconds(costs.by_return)) +
              ((*emulator)->emulates() == Emulates::all
                   ? ""
                   : "; loads of more than a byte are left to the kernel: they were not seen to be "
                     "whole while another thread writes"),
          means};
}

Finding cost_of_hits() {
  const char* means = "the times of calls leave out what the session's own probes took";
  const tc_hit_costs costs = hit_costs(nullptr);
  if (!costs.by_return) return untried("hit_cost", "the probes could not be armed", means);
  std::string found = fmt::format(
      "besides its program a hit takes {:.1f} us, or {:.1f} us where the kernel single-steps the "
      "instruction; a return takes {:.1f} us at an exit",
      microseconds(costs.entry[TC_COST_NORMAL]), microseconds(costs.entry[TC_COST_SLOW]),
      microseconds(costs.by_return));
  if (costs.by_trampoline)
    found += fmt::format(", {:.1f} us by the trampoline", microseconds(costs.by_trampoline));
  return {"hit_cost", Verdict::yes, found, means};
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
  std::vector<Finding> findings{kernel_types()};
  examine_thread_storage(findings);
  findings.push_back(membarrier());
  findings.push_back(removal_waits());
  auto child = TrialChild::start();
  auto bystander = TrialChild::start();
  if (!child || !bystander) {
    findings.push_back(untried("uprobe_multi", "no process can be started", "needed"));
    return findings;
  }
  findings.push_back(uprobe_multi(*child));
  findings.push_back(pid_filter(*child, *bystander));
  findings.push_back(pid_filter_of_sharers(*child));
  findings.push_back(unsupported_refused(*child));
  findings.push_back(uprobe_session(*child));
  findings.push_back(session_passes_seccomp());
  findings.push_back(context_write(*child));
  examine_nops(findings);
  findings.push_back(cost_of_hits());
  findings.push_back(emulation());
  return findings;
}

}  // namespace tracectl
