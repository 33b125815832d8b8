// SPDX-License-Identifier: BSD-2-Clause
//
// A port: a driver that gets data, and sends it back in reverse order. It is active from its first command
// until it has executed all.
#pragma once

#include "erlang_vm_process.h"

class Port : public Runnable, public std::enable_shared_from_this<Port> {
 public:
  Port(Vm& vm, Name name) : vm_(vm), name_(name) {}

  void command(Message message) {
    const std::lock_guard guard(mutex_);
    commands_.push_back(std::move(message));
    if (is_active_) return;
    is_active_ = true;
    active_at_ = PASS_NAMES(PORT_ACTIVE, name_, kDriver).since(inactive_at_);
    vm_.queue().push(shared_from_this());
  }

  // One command.
  void run() override {
    const Message message = next();
    Message answer{.from = name_, .words = {message.words.rbegin(), message.words.rend()}};
    if (const auto owner = vm_.process(message.from)) owner->deliver(std::move(answer));
    const std::lock_guard guard(mutex_);
    if (!commands_.empty()) return vm_.queue().push(shared_from_this());
    is_active_ = false;
    inactive_at_ = PASS_NAMES(PORT_INACTIVE, name_, kDriver).since(active_at_);
  }

  void get_linked(Name process) { PASS_NAMES(PORT_GETTING_LINKED, process, name_); }
  void get_unlinked(Name process) { PASS_NAMES(PORT_GETTING_UNLINKED, process, name_); }

 private:
  static constexpr Name kDriver{Name::Kind::text, 0, "echo_drv:output/2"};

  Message next() {
    const std::lock_guard guard(mutex_);
    Message message = std::move(commands_.front());
    commands_.pop_front();
    return message;
  }

  Vm& vm_;
  const Name name_;
  std::mutex mutex_;
  std::deque<Message> commands_;
  bool is_active_ = false;
  Moment active_at_, inactive_at_;
};
