// SPDX-License-Identifier: BSD-2-Clause
//
// The code of the processes. Init starts a logger and a port; in each round it starts some workers and a
// process that fails, lets the port echo something, and waits for all their messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

enum class Op : uint8_t {
  call_global,   // callee
  call_local,    // callee
  recurse,       // calls its own function until the stack is `number` deep
  leave,         // returns
  loop,          // jumps to `target`, `number` times in all; 0: as many times as there are rounds
  cons,          // puts a new object of `number` words into `reg`, the first is the old value
  drop,          // clears `reg`
  bif,           // words: the name of one that does nothing else
  nif,           // words: adds up the list in `reg`
  spawn,         // callee; into `reg`
  send,          // `number` words to the one in `reg`
  send_named,    // `number` words to the one with the name `words`
  reply,         // `number` words to the sender of the last message
  send_stop,     // to the one in `reg`
  receive,       // waits for a message
  stop_if_told,  // ends if the last message was to stop
  again,         // repeats the function from its beginning
  link,          // to the one in `reg`
  unlink,        //
  trap_exit,     // exit signals become messages from now on
  do_register,   // words: for the one in `reg`
  unregister,    // words
  open_port,     // into `reg`; linked
  command,       // `number` words to the port in `reg`
  close_port,    //
  label,  // from now on messages carry a sequential trace token: `number` and the caller's turns
  fail,   // words: the reason of an error in a function
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

// What a process knows under these numbers. Only the process itself changes it.
enum : uint8_t { kSelf, kParent, kFirst, kSecond, kPort, kKnown };

constexpr uint32_t kWorkersPerRound = 3;
// To init in a round: an answer and an exit of each worker, the exit of the process that fails, and the
// port's echoes.
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
