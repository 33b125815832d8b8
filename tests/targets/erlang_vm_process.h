// SPDX-License-Identifier: BSD-2-Clause
//
// A process: frames, a heap, a mailbox, links. One scheduler at a time runs it, and continues where another
// has stopped.
//
// Its lock protects what others may access: the mailbox, the links, and whether it waits. The probes about
// these are passed under the lock, so they fire in the order of events. No thread locks two processes at
// once.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <set>

#include "erlang_vm_code.h"
#include "erlang_vm_heap.h"
#include "erlang_vm_scheduler.h"

class Process;
class Port;

// A sequential trace token: links a message to the one that caused it.
struct Token {
  int label = 0, previous = 0, current = 0;
};

struct Message {
  enum class Kind : uint8_t { data, stop, exit } kind = Kind::data;
  Name from = {};
  std::vector<Word> words = {};  // small integers
  Token token = {};
};

// Shared by all processes and ports.
class Vm {
 public:
  explicit Vm(uint32_t rounds) : rounds_(rounds) {}

  uint32_t rounds() const { return rounds_; }
  RunQueue& queue() { return queue_; }

  Name spawn(Name parent, Fun entry);
  Name open_port();
  void process_ended(Name process);
  void port_closed(Name port);

  // Null if it does not exist any more.
  std::shared_ptr<Process> process(Name name) { return found(processes_, name); }
  std::shared_ptr<Port> port(Name name) { return found(ports_, name); }

  void enter(std::string_view word, Name who);
  Name registered(std::string_view word);
  void unregister(std::string_view word);
  // The names that a process still has when it ends.
  void unregister_all(Name who);

  // The sums of all received messages, and of all lists that were added up.
  std::atomic<uint64_t> words_received{0}, sum_received{0}, sum_of_lists{0};

 private:
  template <class Things> typename Things::mapped_type found(const Things& things, Name name) {
    const std::lock_guard guard(mutex_);
    const auto at = things.find(name);
    return at == things.end() ? nullptr : at->second;
  }

  const uint32_t rounds_;
  RunQueue queue_;
  std::mutex mutex_;
  uint64_t last_number_ = 0;
  std::map<Name, std::shared_ptr<Process>> processes_;
  std::map<Name, std::shared_ptr<Port>> ports_;
  std::map<std::string_view, Name> registered_;
};

class Process : public Runnable, public std::enable_shared_from_this<Process> {
 public:
  Process(Vm& vm, Name name, Name parent, Fun entry) : vm_(vm), name_(name) {
    frames_.push_back({.function = &function_of(entry)});
    registers_.fill(kNothing);
    known_[kSelf] = name, known_[kParent] = parent;
  }

  void run() override;

  // For others. A message to a process that has ended is discarded.
  void begin(Name parent);
  void deliver(Message message);
  void get_linked(Name other);
  void get_unlinked(Name other);
  void get_exit_signal(Name from, std::string_view reason);

 private:
  enum class State : uint8_t { waiting, busy, ended };
  enum class After : uint8_t { goes_on, waits, ends };

  struct Frame {
    const Function* function;
    size_t next = 0;
    uint32_t turns = 0;  // of its loop
    Moment entered = {};
  };

  static constexpr Word kNothing = small(0);
  static constexpr int kReductions = 60;  // at most, before it yields

  Name mfa() const { return text_name(frames_.back().function->mfa); }
  int depth() const { return int(frames_.size()); }

  // Code: erlang_vm_code_runner.h.
  After step();
  After carry_out(const Instruction& instruction);
  void carry_out_bif(const Instruction& instruction);
  void go_to(size_t target) { frames_.back().next = target; }
  void loop(const Instruction& instruction);
  void enter(const Function& function);
  void call_global(const Function& function);
  void call_local(const Function& function);
  After leave();
  After exit(std::string_view reason);
  template <class Body> void as_bif(std::string_view bif, Body body);
  void nif(std::string_view nif, uint8_t reg);
  uint64_t sum_of_list(Word word) const;
  void make(uint8_t reg, size_t words);
  void make_room(size_t need);
  void collect_young(size_t need);
  void collect_all(size_t need);

  // Interaction with others: erlang_vm_process_life.h.
  bool is_killed();
  After ends_for(std::string_view reason);
  After receive();
  void rest();
  void wake();
  void yield();
  void end();
  void take(const Message& message);
  void trap_exits();
  Token next_token();
  Message message_of(size_t words, Message::Kind kind = Message::Kind::data);
  void send(Name receiver, Message message);
  void link(Name other);
  void unlink(Name other);
  void open_port(Name& port);
  void close_port(Name port);

  Vm& vm_;
  const Name name_;

  // For the scheduler that runs it.
  std::vector<Frame> frames_;
  Heap heap_{64};
  std::array<Word, 4> registers_;
  std::array<Name, kKnown> known_;
  Message last_message_;
  Token token_;
  std::string_view reason_ = "normal";
  Moment spawned_at_, scheduled_at_, unscheduled_at_;

  // Locked.
  std::mutex mutex_;
  std::deque<Message> mailbox_;
  std::set<Name> links_;
  State state_ = State::waiting;
  bool traps_exits_ = false;
  std::optional<std::string_view> killed_by_;
  Moment active_at_, inactive_at_;
};
