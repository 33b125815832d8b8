// SPDX-License-Identifier: BSD-2-Clause
//
// How a process executes its code, and manages its heap.
#pragma once

#include "erlang_vm_process_life.h"

inline Process::After Process::step() {
  Frame& frame = frames_.back();
  return carry_out(frame.function->code[frame.next++]);
}

inline Process::After Process::carry_out(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::call_global: call_global(function_of(instruction.callee)); break;
    case Op::call_local: call_local(function_of(instruction.callee)); break;
    case Op::recurse:
      if (depth() < int(instruction.number)) call_local(*frames_.back().function);
      break;
    case Op::leave: return leave();
    case Op::loop: loop(instruction); break;
    case Op::again: go_to(0); break;
    case Op::stop_if_told:
      if (last_message_.kind == Message::Kind::stop) return exit("normal");
      break;
    case Op::cons: make(instruction.reg, instruction.number); break;
    case Op::drop: registers_[instruction.reg] = kNothing; break;
    case Op::nif: nif(instruction.words, instruction.reg); break;
    case Op::receive: return receive();
    case Op::fail: return ends_for(instruction.words);
    case Op::leave_process: return exit(instruction.words);
    default: carry_out_bif(instruction); break;
  }
  return After::goes_on;
}

// A BIF that does not return.
inline Process::After Process::exit(std::string_view reason) {
  PASS_NAMES(BIF_ENTRY, name_, text_name("erlang:exit/1"));
  return ends_for(reason);
}

template <class Body> void Process::as_bif(std::string_view bif, Body body) {
  const Moment entered = PASS_NAMES(BIF_ENTRY, name_, text_name(bif));
  body();
  PASS_NAMES(BIF_RETURN, name_, text_name(bif)).since(entered);
}

inline void Process::carry_out_bif(const Instruction& instruction) {
  Name& known = known_[instruction.reg];
  const size_t words = instruction.number;
  switch (instruction.op) {
    case Op::bif: return as_bif(instruction.words, [] {});
    case Op::spawn:
      return as_bif("erlang:spawn/3", [&] { known = vm_.spawn(name_, instruction.callee); });
    case Op::send: return as_bif("erlang:send/2", [&] { send(known, message_of(words)); });
    case Op::send_named:
      return as_bif("erlang:send/2",
                    [&] { send(vm_.registered(instruction.words), message_of(words)); });
    case Op::reply:
      return as_bif("erlang:send/2", [&] { send(last_message_.from, message_of(words)); });
    case Op::send_stop:
      return as_bif("erlang:send/2", [&] { send(known, message_of(1, Message::Kind::stop)); });
    case Op::link: return as_bif("erlang:link/1", [&] { link(known); });
    case Op::unlink: return as_bif("erlang:unlink/1", [&] { unlink(known); });
    case Op::trap_exit: return as_bif("erlang:process_flag/2", [&] { trap_exits(); });
    case Op::do_register:
      return as_bif("erlang:register/2", [&] { vm_.enter(instruction.words, known); });
    case Op::unregister:
      return as_bif("erlang:unregister/1", [&] { vm_.unregister(instruction.words); });
    case Op::open_port: return as_bif("erlang:open_port/2", [&] { open_port(known); });
    case Op::command:
      return as_bif("erlang:port_command/2", [&] { vm_.port(known)->command(message_of(words)); });
    case Op::close_port: return as_bif("erlang:port_close/1", [&] { close_port(known); });
    case Op::label:
      return as_bif("seq_trace:set_token/2", [&] {
        token_.label = int(instruction.number + frames_[frames_.size() - 2].turns);
      });
    default: abort();
  }
}

// ---- functions ----

inline void Process::enter(const Function& function) { frames_.push_back({.function = &function}); }

inline void Process::call_global(const Function& function) {
  enter(function);
  frames_.back().entered = PASS(GLOBAL_FUNCTION_ENTRY, ({name_, mfa()}), ({depth()}),
                                text(name_).c_str(), text(mfa()).c_str(), depth());
}

inline void Process::call_local(const Function& function) {
  enter(function);
  frames_.back().entered = PASS(LOCAL_FUNCTION_ENTRY, ({name_, mfa()}), ({depth()}),
                                text(name_).c_str(), text(mfa()).c_str(), depth());
}

inline Process::After Process::leave() {
  if (depth() == 1) return ends_for("normal");
  PASS(FUNCTION_RETURN, ({name_, mfa()}), ({depth()}), text(name_).c_str(), text(mfa()).c_str(),
       depth())
      .since(frames_.back().entered);
  frames_.pop_back();
  return After::goes_on;
}

inline void Process::loop(const Instruction& instruction) {
  const uint32_t wanted = instruction.number ? instruction.number : vm_.rounds();
  Frame& frame = frames_.back();
  if (++frame.turns < wanted)
    go_to(instruction.target);
  else
    frame.turns = 0;
}

// Adds up a list, repeatedly, to take some time. The sum shows whether collections have preserved it.
inline void Process::nif(std::string_view nif, uint8_t reg) {
  const Moment entered = PASS_NAMES(NIF_ENTRY, name_, text_name(nif));
  uint64_t sum = 0;
  for (int turn = 0; turn < 100; ++turn) sum += sum_of_list(registers_[reg]);
  vm_.sum_of_lists += sum / 100;
  PASS_NAMES(NIF_RETURN, name_, text_name(nif)).since(entered);
}

// The sum of the small integers; the first word of each object leads to the next one.
inline uint64_t Process::sum_of_list(Word word) const {
  uint64_t sum = 0;
  for (Word next; !is_small(word); word = next) {
    next = heap_.object(word).front();
    for (const Word part : heap_.object(word))
      if (is_small(part)) sum += value_of(part);
  }
  return sum;
}

// ---- the heap ----

inline void Process::make(uint8_t reg, size_t words) {
  make_room(words + 1);
  std::vector<Word> object{registers_[reg]};
  for (size_t i = 1; i < words; ++i) object.push_back(small(i));
  registers_[reg] = heap_.make(object);
}

inline void Process::make_room(size_t need) {
  if (!heap_.has_room(need)) collect_young(need);
  if (!heap_.has_room(need)) collect_all(need);
  while (!heap_.has_room(need)) heap_.grow();
}

inline void Process::collect_young(size_t need) {
  const Moment began = PASS_NUMBER(GC_MINOR_START, name_, int(need));
  const int reclaimed = int(heap_.collect_young(registers_));
  PASS_NUMBER(GC_MINOR_END, name_, reclaimed).since(began);
}

inline void Process::collect_all(size_t need) {
  const Moment began = PASS_NUMBER(GC_MAJOR_START, name_, int(need));
  const int reclaimed = int(heap_.collect_all(registers_));
  PASS_NUMBER(GC_MAJOR_END, name_, reclaimed).since(began);
}
