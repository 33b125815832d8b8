// build: -O2 -g -pthread
// SPDX-License-Identifier: BSD-2-Clause
//
// erlang_vm SCHEDULERS ROUNDS
//
// A small virtual machine with the probes of Erlang's (erlang_vm.d), each of which is passed when its event
// happens. Light-weight processes run code (erlang_vm_code.h) in their own frames (erlang_vm_code_runner.h),
// on their own garbage-collected heaps (erlang_vm_heap.h); they send messages, link and end
// (erlang_vm_process_life.h), own ports (erlang_vm_port.h), and move between the threads that are the
// schedulers (erlang_vm_scheduler.h).
//
// The processes' work, and so everything that does not concern time, depends only on ROUNDS. When a process
// waits, which thread runs it and how long varies.
//
// Expect: {"rounds", "received": [words, sum], "lists": sum, "wall": ns, "ledger": [[PROBE, [NAME...],
// {...}]...]}, as in erlang_vm_ledger.h.
#include "erlang_vm_code_runner.h"
#include "stdin_protocol.h"

// ---- processes and ports ----

Name Vm::spawn(Name parent, Fun entry) {
  std::shared_ptr<Process> process;
  Name name;
  {
    const std::lock_guard guard(mutex_);
    name = process_name(++last_number_);
    process = std::make_shared<Process>(*this, name, parent, entry);
    processes_[name] = process;
  }
  process->begin(parent);
  return name;
}

void Vm::process_ended(Name process) {
  const std::lock_guard guard(mutex_);
  processes_.erase(process);
  if (processes_.empty()) queue_.stop();
}

Name Vm::open_port() {
  const std::lock_guard guard(mutex_);
  const Name name = port_name(++last_number_);
  ports_[name] = std::make_shared<Port>(*this, name);
  return name;
}

void Vm::port_closed(Name port) {
  const std::lock_guard guard(mutex_);
  ports_.erase(port);
}

// ---- registered names ----

static void pass_registered(Name who, std::string_view word) {
  if (who.kind == Name::Kind::port)
    PASS_NAMES(PORT_REGISTERED, who, text_name(word));
  else
    PASS_NAMES(PROCESS_REGISTERED, who, text_name(word));
}

static void pass_unregistered(Name who, std::string_view word) {
  if (who.kind == Name::Kind::port)
    PASS_NAMES(PORT_UNREGISTERED, who, text_name(word));
  else
    PASS_NAMES(PROCESS_UNREGISTERED, who, text_name(word));
}

void Vm::enter(std::string_view word, Name who) {
  const std::lock_guard guard(mutex_);
  registered_[word] = who;
  pass_registered(who, word);
}

Name Vm::registered(std::string_view word) {
  const std::lock_guard guard(mutex_);
  return registered_.at(word);
}

void Vm::unregister(std::string_view word) {
  const std::lock_guard guard(mutex_);
  const auto at = registered_.find(word);
  pass_unregistered(at->second, word);
  registered_.erase(at);
}

void Vm::unregister_all(Name who) {
  const std::lock_guard guard(mutex_);
  for (auto at = registered_.begin(); at != registered_.end();) {
    const auto next = std::next(at);
    if (at->second == who) {
      pass_unregistered(who, at->first);
      registered_.erase(at);
    }
    at = next;
  }
}

int main(int argc, char** argv) {
  const int schedulers = argc == 3 ? atoi(argv[1]) : 0, rounds = argc == 3 ? atoi(argv[2]) : 0;
  if (schedulers < 1 || rounds < 1) return 2;
  Vm vm{uint32_t(rounds)};
  ready_and_wait_for_go();
  const uint64_t began = now_ns();
  vm.spawn(process_name(0), Fun::init);
  run_schedulers(vm.queue(), uint64_t(schedulers));
  printf("done\n{\"rounds\":%d,\"received\":[%" PRIu64 ",%" PRIu64 "],\"lists\":%" PRIu64
         ",\"wall\":%" PRIu64 ",\"ledger\":[",
         rounds, vm.words_received.load(), vm.sum_received.load(), vm.sum_of_lists.load(),
         now_ns() - began);
  print_ledger();
  printf("]}\n");
  wait_for_exit();
}
