// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/trial.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/clock.h"
#include "daemon/kernel/confine.h"
#include "daemon/kernel/own_code.h"
#include "daemon/kernel/uprobe_multi.h"

namespace tracectl {
namespace {

constexpr int kVerdictLimitMs = 10'000;

uint64_t call_repeatedly(TrialCode code, uint64_t times) {
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < times; ++i) wrong += code.function();
  return wrong;
}

TrialChild::Outcome time_calls(TrialCode code, uint64_t times) {
  const uint64_t start = clock_ns(CLOCK_MONOTONIC);
  const uint64_t wrong = call_repeatedly(code, times);
  return {.took_ns = clock_ns(CLOCK_MONOTONIC) - start, .wrong = wrong};
}

TrialChild::Outcome call_under_a_filter(TrialCode code, uint64_t times) {
  if (filter_system_calls() != 0) ::_exit(1);
  return {.took_ns = 0, .wrong = call_repeatedly(code, times)};
}

TrialChild::Outcome fork_and_call(TrialCode code) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::signal(SIGSEGV, [](int) { ::_exit(1); });  // no core dump, and no line in the kernel's log
    ::_exit(code.function() == 0 ? 0 : 1);
  }
  int status = -1;
  const bool well = pid > 0 && ::waitpid(pid, &status, 0) == pid && status == 0;
  return {.took_ns = 0, .wrong = well ? uint64_t{0} : uint64_t{1}};
}

struct SharedCalls {
  TrialCode code;
  uint64_t times;
  uint64_t wrong;
};

int make_shared_calls(void* given) {
  auto& calls = *static_cast<SharedCalls*>(given);
  calls.wrong = call_repeatedly(calls.code, calls.times);
  return 0;
}

TrialChild::Outcome call_in_a_sharer(TrialCode code, uint64_t times) {
  alignas(16) static std::array<char, 64 * 1024> stack;
  SharedCalls calls{code, times, 0};
  const pid_t pid = ::clone(make_shared_calls, stack.data() + stack.size(),
                            CLONE_VM | CLONE_VFORK | SIGCHLD, &calls);
  int status = -1;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid || status != 0) ::_exit(1);
  return {.took_ns = 0, .wrong = calls.wrong};
}

struct Pipe {
  Fd read_end, write_end;
};

Result<Pipe> open_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno("pipe");
  return Pipe{Fd{ends[0]}, Fd{ends[1]}};
}

}  // namespace

const void* address_of(TrialFunction function) { return code_of(function).site; }

TrialChild::Outcome TrialChild::carry_out(const Order& order) {
  const TrialCode code = code_of(order.function);
  switch (order.how) {
    case How::timed: return time_calls(code, order.times);
    case How::in_fork: return fork_and_call(code);
    case How::by_sharer: return call_in_a_sharer(code, order.times);
    case How::under_filter: return call_under_a_filter(code, order.times);
  }
  ::_exit(1);
}

// All that the child does. Only calls that are safe after a fork in a program with threads.
void TrialChild::obey(int orders, int results) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Order order{};
  while (::read(orders, &order, sizeof(order)) == sizeof(order)) {
    const Outcome outcome = carry_out(order);
    if (::write(results, &outcome, sizeof(outcome)) != sizeof(outcome)) break;
  }
  ::_exit(0);
}

Result<TrialChild> TrialChild::start() {
  auto orders = open_pipe();
  if (!orders) return orders.error();
  auto results = open_pipe();
  if (!results) return results.error();
  const pid_t pid = ::fork();
  if (pid < 0) return Error::from_errno("fork");
  if (pid == 0) {
    orders->write_end.reset();
    obey(orders->read_end.get(), results->write_end.get());
  }
  return TrialChild{pid, std::move(orders->write_end), std::move(results->read_end)};
}

std::optional<TrialChild::Outcome> TrialChild::call(TrialFunction function, uint64_t times) {
  return give({function, How::timed, times});
}

std::optional<TrialChild::Outcome> TrialChild::call_in_fork(TrialFunction function) {
  return give({function, How::in_fork, 1});
}

std::optional<TrialChild::Outcome> TrialChild::call_by_sharer(TrialFunction function,
                                                              uint64_t times) {
  return give({function, How::by_sharer, times});
}

std::optional<TrialChild::Outcome> TrialChild::call_under_filter(TrialFunction function,
                                                                 uint64_t times) {
  return give({function, How::under_filter, times});
}

std::optional<TrialChild::Outcome> TrialChild::give(const Order& order) {
  if (::write(orders_.get(), &order, sizeof(order)) != sizeof(order)) return std::nullopt;
  pollfd answer{results_.get(), POLLIN, 0};
  if (::poll(&answer, 1, kVerdictLimitMs) <= 0) return std::nullopt;
  Outcome outcome;
  if (::read(results_.get(), &outcome, sizeof(outcome)) != sizeof(outcome)) return std::nullopt;
  return outcome;
}

bool has_page_for_steps(pid_t pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.ends_with("[uprobes]")) return true;
  return false;
}

// ---- the programs ----

namespace {

bpf_insn instruction(int code, int destination, int source, int offset, int immediate) {
  bpf_insn one{};
  one.code = static_cast<__u8>(code);
  one.dst_reg = static_cast<__u8>(destination & 15);
  one.src_reg = static_cast<__u8>(source & 15);
  one.off = static_cast<__s16>(offset);
  one.imm = immediate;
  return one;
}

bpf_insn set(int destination, int immediate) {
  return instruction(BPF_ALU64 | BPF_MOV | BPF_K, destination, 0, 0, immediate);
}

Result<Fd> load_program(std::span<const bpf_insn> code, unsigned attach_type) {
  LIBBPF_OPTS(bpf_prog_load_opts, options);
  options.expected_attach_type = static_cast<bpf_attach_type>(attach_type);
  Fd program{bpf_prog_load(BPF_PROG_TYPE_KPROBE, "tracectl_trial", "GPL", code.data(), code.size(),
                           &options)};
  if (!program) return Error::from_errno("load a program");
  return program;
}

}  // namespace

std::vector<Fd> arm_places(int program_fd, unsigned attach_type,
                           std::span<const void* const> places, pid_t filter) {
  Fd file;
  std::vector<uint64_t> offsets;
  for (const void* place : places) {
    auto own = own_code(place);
    if (!own) {
      errno = ENOENT;
      return {};
    }
    offsets.push_back(own->offset);
    file = std::move(own->file);
  }
  return arm_uprobes({.program_fd = program_fd,
                      .attach_type = attach_type,
                      .object_fd = file.get(),
                      .filter = filter,
                      .offsets = offsets});
}

Fd arm_trial(int program_fd, unsigned attach_type, TrialFunction function, pid_t filter) {
  const std::array<const void*, 1> place{address_of(function)};
  auto armed = arm_places(program_fd, attach_type, place, filter);
  return armed.empty() ? Fd{} : std::move(armed.front());
}

Result<Fd> load_returning_program(int32_t result) {
  const TrialRegisters registers = trial_registers();
  constexpr int kLoad = BPF_LDX | BPF_DW | BPF_MEM, kStore = BPF_STX | BPF_DW | BPF_MEM;
  const int pointer = registers.instruction_pointer;
  const std::array<bpf_insn, 7> code{
      set(BPF_REG_2, result),
      instruction(kStore, BPF_REG_1, BPF_REG_2, registers.result, 0),
      instruction(kLoad, BPF_REG_2, BPF_REG_1, pointer, 0),
      instruction(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, registers.nop_to_return),
      instruction(kStore, BPF_REG_1, BPF_REG_2, pointer, 0),
      set(BPF_REG_0, 0),
      instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)};
  return load_program(code, attach_type_at_uprobes());
}

Result<CountingProgram> CountingProgram::load(unsigned attach_type) {
  LIBBPF_OPTS(bpf_map_create_opts, map_options);
  map_options.map_flags = BPF_F_MMAPABLE;
  Fd map{bpf_map_create(BPF_MAP_TYPE_ARRAY, "tracectl_trial", 4, 8, 1, &map_options)};
  if (!map) return Error::from_errno("make a map");
  auto counter = Mapping::map(map.get(), 0, static_cast<size_t>(::sysconf(_SC_PAGESIZE)), PROT_READ,
                              MAP_SHARED);
  if (!counter) return counter.error();
  const std::array<bpf_insn, 6> code{
      instruction(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_VALUE, 0, map.get()),
      instruction(0, 0, 0, 0, 0),
      set(BPF_REG_2, 1),
      instruction(BPF_STX | BPF_DW | BPF_ATOMIC, BPF_REG_1, BPF_REG_2, 0, BPF_ADD),
      set(BPF_REG_0, 0),
      instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)};
  auto program = load_program(code, attach_type);
  if (!program) return program.error();
  return CountingProgram{std::move(*program), std::move(map), std::move(*counter), attach_type};
}

uint64_t CountingProgram::count() const {
  return __atomic_load_n(static_cast<const uint64_t*>(counter_.data()), __ATOMIC_RELAXED);
}

// ---- the stopwatch ----

namespace {

constexpr int kLoadWord = BPF_LDX | BPF_DW | BPF_MEM, kStoreWord = BPF_STX | BPF_DW | BPF_MEM;
constexpr int kAdd = BPF_ALU64 | BPF_ADD | BPF_X, kSubtract = BPF_ALU64 | BPF_SUB | BPF_X;
constexpr int kCall = BPF_JMP | BPF_CALL;

using ProgramCode = std::vector<bpf_insn>;

void append(ProgramCode& code, std::initializer_list<bpf_insn> more) {
  code.insert(code.end(), more);
}

// r0: the time; r1: the table's value.
void look_at_clock(ProgramCode& code, int map) {
  append(code, {instruction(kCall, 0, 0, 0, BPF_FUNC_ktime_get_boot_ns),
                instruction(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_VALUE, 0, map),
                instruction(0, 0, 0, 0, 0)});
}

void end_program(ProgramCode& code) {
  append(code, {set(BPF_REG_0, 0), instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)});
}

void start_watch(ProgramCode& code, int map) {
  look_at_clock(code, map);
  code.push_back(
      instruction(kStoreWord, BPF_REG_1, BPF_REG_0, offsetof(CallWatch::Reading, started_ns), 0));
  end_program(code);
}

// Not atomic: one thread hits the probes.
void stop_watch(ProgramCode& code, int map) {
  constexpr int kStarted = offsetof(CallWatch::Reading, started_ns);
  constexpr int kTotal = offsetof(CallWatch::Reading, total_ns);
  constexpr int kCount = offsetof(CallWatch::Reading, count);
  look_at_clock(code, map);
  append(code, {instruction(kLoadWord, BPF_REG_2, BPF_REG_1, kStarted, 0),
                instruction(kSubtract, BPF_REG_0, BPF_REG_2, 0, 0),
                instruction(kLoadWord, BPF_REG_2, BPF_REG_1, kTotal, 0),
                instruction(kAdd, BPF_REG_2, BPF_REG_0, 0, 0),
                instruction(kStoreWord, BPF_REG_1, BPF_REG_2, kTotal, 0),
                instruction(kLoadWord, BPF_REG_2, BPF_REG_1, kCount, 0),
                instruction(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, 1),
                instruction(kStoreWord, BPF_REG_1, BPF_REG_2, kCount, 0)});
  end_program(code);
}

// As is_return_of_session() in bpf/returns.bpf.h: at the entry the instruction pointer is at the probe.
ProgramCode session_watch(int map) {
  ProgramCode start;
  start_watch(start, map);
  ProgramCode code{
      instruction(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0),
      instruction(kCall, 0, 0, 0, BPF_FUNC_get_func_ip),
      instruction(kLoadWord, BPF_REG_2, BPF_REG_6, trial_registers().instruction_pointer, 0),
      instruction(BPF_JMP | BPF_JNE | BPF_X, BPF_REG_0, BPF_REG_2, static_cast<int>(start.size()),
                  0)};
  code.insert(code.end(), start.begin(), start.end());
  stop_watch(code, map);
  return code;
}

}  // namespace

Result<CallWatch::Table> CallWatch::make_table() {
  LIBBPF_OPTS(bpf_map_create_opts, options);
  options.map_flags = BPF_F_MMAPABLE;
  Fd map{bpf_map_create(BPF_MAP_TYPE_ARRAY, "tracectl_watch", 4, sizeof(Reading), 1, &options)};
  if (!map) return Error::from_errno("make a map");
  auto memory = Mapping::map(map.get(), 0, static_cast<size_t>(::sysconf(_SC_PAGESIZE)), PROT_READ,
                             MAP_SHARED);
  if (!memory) return memory.error();
  return Table{std::move(map), std::move(*memory)};
}

Result<CallWatch> CallWatch::for_trampolines() {
  auto table = make_table();
  if (!table) return table.error();
  auto program = load_program(session_watch(table->map.get()), kAttachUprobeSession);
  if (!program) return program.error();
  return CallWatch{std::move(*table), std::move(*program), Fd{}};
}

Result<CallWatch> CallWatch::for_exits() {
  auto table = make_table();
  if (!table) return table.error();
  ProgramCode start, stop;
  start_watch(start, table->map.get());
  stop_watch(stop, table->map.get());
  auto at_entry = load_program(start, attach_type_at_uprobes());
  if (!at_entry) return at_entry.error();
  auto at_exit = load_program(stop, attach_type_at_uprobes());
  if (!at_exit) return at_exit.error();
  return CallWatch{std::move(*table), std::move(*at_entry), std::move(*at_exit)};
}

CallWatch::Reading CallWatch::read() const {
  const auto* from = static_cast<const volatile Reading*>(table_.memory.data());
  return {.started_ns = from->started_ns, .total_ns = from->total_ns, .count = from->count};
}

// ---- the return trampoline ----

namespace {

bool try_trampoline_under_filter() {
  auto child = TrialChild::start();
  const auto program = CountingProgram::load(kAttachUprobeSession);
  if (!child || !program) return false;
  const Fd link = program->arm(TrialFunction::nop, child->pid());
  return link && child->call_under_filter(TrialFunction::nop, 1) && program->count() == 2;
}

}  // namespace

bool trampoline_passes_seccomp() {
  static bool passes = false;
  if (!passes) passes = try_trampoline_under_filter();
  return passes;
}

}  // namespace tracectl
