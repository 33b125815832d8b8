// SPDX-License-Identifier: BSD-2-Clause
//
// The code that the processes run. Init starts a logger and a port; in each round it starts some
// workers and a process that fails, has the port echo something, and waits for what they all send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

enum class Op : uint8_t {
  call_global,  // callee
  call_local,   // callee
  recurse,      // calls its own function until the stack is `number` deep
  leave,        // returns
  loop,   // back to `target`, until it was here `number` times; 0: as often as there are rounds
  cons,   // a new object of `number` words in `reg`, the first of which is what was in `reg`
  drop,   // nothing in `reg`
  bif,    // words: one that does nothing more
  nif,    // words: adds up the list in `reg`
  spawn,  // callee, whom `reg` knows then
  send,   // `number` words to whom `reg` knows
  send_named,    // `number` words to whom has the name `words`
  reply,         // `number` words to who sent the last message
  send_stop,     // to whom `reg` knows
  receive,       // waits for a message
  stop_if_told,  // ends, if the last message was to stop
  again,         // from the beginning of the function
  link,          // to whom `reg` knows
  unlink,        //
  trap_exit,     // exit signals become messages from now on
  do_register,   // words: whom `reg` knows
  unregister,    // words
  open_port,     // which `reg` knows then; linked
  command,       // `number` words to the port that `reg` knows
  close_port,    //
  label,  // messages bear a sequential trace token from now on: `number` and the turns of the caller
  fail,   // words: the reason, of an error in a function
  leave_process  // words: the reason
};

enum class Fun : uint8_t {
  init,
  round,
  start,
  worker,
  map,
  fold,
  buddy,
  crasher,
  divide,
  helper,
  logger
};

struct Instruction {
  Op op;
  uint8_t reg = 0;
  uint32_t number = 0;
  size_t target = 0;
  Fun callee = Fun::init;
  std::string_view words = {};
};

struct Function {
  std::string_view mfa;
  std::vector<Instruction> code;
};

// What a process knows under these numbers. Nobody but itself changes that.
enum : uint8_t { kSelf, kParent, kFirst, kSecond, kPort, kKnown };

constexpr uint32_t kWorkersPerRound = 3;
// To init in a round: of each worker an answer and its exit, the exit of the process that fails, and
// what the port echoes.
constexpr uint32_t kEchoesPerRound = 2;
constexpr uint32_t kMessagesPerRound = 2 * kWorkersPerRound + 1 + kEchoesPerRound;

inline const Function& function_of(Fun fun) {
  static const std::vector<Function> all = {
      {"init:boot/1",
       {{Op::trap_exit},
        {.op = Op::do_register, .reg = kSelf, .words = "init"},
        {.op = Op::spawn, .reg = kFirst, .callee = Fun::logger},
        {.op = Op::link, .reg = kFirst},
        {.op = Op::do_register, .reg = kFirst, .words = "logger"},
        {.op = Op::open_port, .reg = kPort},
        {.op = Op::do_register, .reg = kPort, .words = "echo"},
        {.op = Op::call_global, .callee = Fun::round},
        {.op = Op::loop, .number = 0, .target = 7},
        {.op = Op::unregister, .words = "echo"},
        {.op = Op::close_port, .reg = kPort},
        {.op = Op::unlink, .reg = kFirst},
        {.op = Op::send_stop, .reg = kFirst},
        {.op = Op::unregister, .words = "init"},
        {.op = Op::leave_process, .words = "shutdown"}}},
      {"test:round/1",
       {{.op = Op::label, .number = 7},
        {.op = Op::call_local, .callee = Fun::start},
        {.op = Op::loop, .number = kWorkersPerRound, .target = 1},
        {.op = Op::spawn, .reg = kSecond, .callee = Fun::crasher},
        {.op = Op::link, .reg = kSecond},
        {.op = Op::command, .reg = kPort, .number = 12},
        {.op = Op::call_local, .callee = Fun::fold},
        {.op = Op::drop, .reg = 0},
        {.op = Op::command, .reg = kPort, .number = 3},
        {.op = Op::send, .reg = kSecond, .number = 2},
        {Op::receive},
        {.op = Op::loop, .number = kMessagesPerRound, .target = 10},
        {Op::leave}}},
      {"test:start/1",
       {{.op = Op::spawn, .reg = kSecond, .callee = Fun::worker},
        {.op = Op::link, .reg = kSecond},
        {.op = Op::send, .reg = kSecond, .number = 20},
        {Op::leave}}},
      {"worker:run/1",
       {{Op::receive},
        {.op = Op::spawn, .reg = kFirst, .callee = Fun::buddy},
        {.op = Op::link, .reg = kFirst},
        {.op = Op::call_global, .callee = Fun::map},
        {.op = Op::send_named, .number = 5, .words = "logger"},
        {Op::receive},
        {.op = Op::unlink, .reg = kFirst},
        {.op = Op::send_stop, .reg = kFirst},
        {.op = Op::send, .reg = kParent, .number = 8},
        {.op = Op::leave_process, .words = "normal"}}},
      {"lists:map/2",
       {{.op = Op::call_local, .callee = Fun::fold},
        {.op = Op::nif, .reg = 0, .words = "test_nif:sum/1"},
        {.op = Op::drop, .reg = 0},
        {.op = Op::recurse, .number = 6},
        {Op::leave}}},
      {"lists:foldl/3",
       {{.op = Op::cons, .reg = 0, .number = 3},  // a list, kept
        {.op = Op::cons, .reg = 1, .number = 9},  // garbage soon
        {.op = Op::drop, .reg = 1},
        {.op = Op::bif, .words = "erlang:element/2"},
        {.op = Op::loop, .number = 12, .target = 0},
        {Op::leave}}},
      {"test:buddy/0", {{Op::receive}, {Op::stop_if_told}, {Op::again}}},
      {"test:crasher/0",
       {{Op::receive},
        {.op = Op::do_register, .reg = kSelf, .words = "crasher"},
        {.op = Op::spawn, .reg = kFirst, .callee = Fun::helper},
        {.op = Op::link, .reg = kFirst},
        {.op = Op::send, .reg = kFirst, .number = 1},
        {Op::receive},
        {.op = Op::call_global, .callee = Fun::divide}}},
      {"test:divide/2",
       {{.op = Op::nif, .reg = 0, .words = "test_nif:sum/1"},
        {.op = Op::fail, .words = "badarith"}}},
      {"test:helper/0", {{Op::receive}, {.op = Op::reply, .number = 2}, {Op::again}}},
      {"logger:loop/1",
       {{Op::receive}, {Op::stop_if_told}, {.op = Op::reply, .number = 1}, {Op::again}}},
  };
  return all[size_t(fun)];
}
