// SPDX-License-Identifier: BSD-2-Clause
//
// The interaction of a process with others: running and waiting, messages, links, its end.
#pragma once

#include "erlang_vm_port.h"

// ---- running and waiting ----

inline void Process::begin(Name parent) {
  spawned_at_ = PASS(PROCESS_SPAWN, ({name_, parent, mfa()}), ({}), text(name_).c_str(),
                     text(parent).c_str(), text(mfa()).c_str());
  const std::lock_guard guard(mutex_);
  wake();
}

inline void Process::run() {
  scheduled_at_ = PASS_NAMES(PROCESS_SCHEDULED, name_, mfa()).since(unscheduled_at_);
  if (is_killed()) return end();
  for (int left = kReductions; left > 0; --left) {
    const After after = step();
    if (after == After::waits) return;  // another scheduler may already run it
    if (after == After::ends) return end();
  }
  yield();
}

inline bool Process::is_killed() {
  const std::lock_guard guard(mutex_);
  if (killed_by_) reason_ = *killed_by_;
  return killed_by_.has_value();
}

// Stays active: it is in the queue again.
inline void Process::yield() {
  unscheduled_at_ = PASS_NAMES(PROCESS_UNSCHEDULED, name_, mfa()).since(scheduled_at_);
  vm_.queue().push(shared_from_this());
}

// Called with the lock held. After it is released, another scheduler may run the process.
inline void Process::rest() {
  state_ = State::waiting;
  inactive_at_ = PASS_NAMES(PROCESS_INACTIVE, name_, mfa()).since(active_at_);
  unscheduled_at_ = PASS_NAMES(PROCESS_UNSCHEDULED, name_, mfa()).since(scheduled_at_);
}

// Called with the lock held.
inline void Process::wake() {
  if (state_ != State::waiting) return;
  state_ = State::busy;
  active_at_ = PASS_NAMES(PROCESS_ACTIVE, name_, mfa()).since(inactive_at_);
  vm_.queue().push(shared_from_this());
}

inline Process::After Process::ends_for(std::string_view reason) {
  reason_ = reason;
  return After::ends;
}

inline void Process::end() {
  PASS_NAMES(PROCESS_EXIT, name_, text_name(reason_)).since(spawned_at_);
  vm_.unregister_all(name_);
  std::set<Name> linked;
  {
    const std::lock_guard guard(mutex_);
    state_ = State::ended;
    linked.swap(links_);
  }
  for (const Name& other : linked)
    if (const auto process = vm_.process(other)) process->get_exit_signal(name_, reason_);
  PASS_NAMES(PROCESS_INACTIVE, name_, mfa()).since(active_at_);
  PASS_NAMES(PROCESS_UNSCHEDULED, name_, mfa()).since(scheduled_at_);
  vm_.process_ended(name_);
}

// ---- messages ----

inline void Process::deliver(Message message) {
  const std::lock_guard guard(mutex_);
  if (state_ == State::ended) return;
  mailbox_.push_back(std::move(message));
  const Message& last = mailbox_.back();
  const auto size = uint32_t(last.words.size()), length = uint32_t(mailbox_.size());
  PASS(MESSAGE_QUEUED, ({name_, number_name(uint64_t(last.token.label))}),
       ({size, length, last.token.label, last.token.previous, last.token.current}),
       text(name_).c_str(), size, length, last.token.label, last.token.previous,
       last.token.current);
  wake();
}

inline void Process::send(Name receiver, Message message) {
  message.token = next_token();
  const auto size = uint32_t(message.words.size());
  const Token& token = message.token;
  PASS(MESSAGE_SEND, ({name_, receiver, number_name(uint64_t(token.label))}),
       ({size, 0, token.label, token.previous, token.current}), text(name_).c_str(),
       text(receiver).c_str(), size, token.label, token.previous, token.current);
  if (const auto process = vm_.process(receiver)) process->deliver(std::move(message));
}

inline Message Process::message_of(size_t words, Message::Kind kind) {
  Message message{.kind = kind, .from = name_};
  for (size_t i = 0; i < words; ++i) message.words.push_back(small(i + words));
  return message;
}

// Each message of a sequence refers to the one before it.
inline Token Process::next_token() {
  if (!token_.label) return {};
  const Token next{token_.label, token_.current, token_.current + 1};
  token_ = next;
  return next;
}

inline Process::After Process::receive() {
  std::unique_lock lock(mutex_);
  if (killed_by_) return ends_for(*killed_by_);
  if (mailbox_.empty()) {
    go_to(frames_.back().next - 1);  // repeat it when there is one
    return rest(), After::waits;
  }
  last_message_ = std::move(mailbox_.front());
  mailbox_.pop_front();
  lock.unlock();
  take(last_message_);
  return After::goes_on;
}

inline void Process::take(const Message& message) {
  if (message.token.label)
    token_ = {message.token.label, message.token.previous,
              std::max(token_.current, message.token.current)};
  if (message.words.empty()) return;
  make_room(message.words.size() + 1);
  registers_[0] = heap_.make(message.words);
  vm_.words_received += message.words.size();
  for (const Word word : message.words) vm_.sum_received += value_of(word);
}

// ---- links ----

inline void Process::link(Name other) {
  {
    const std::lock_guard guard(mutex_);
    links_.insert(other);
  }
  if (other.kind == Name::Kind::port) {
    PASS_NAMES(PORT_LINK, name_, other);
    vm_.port(other)->get_linked(name_);
  } else {
    PASS_NAMES(PROCESS_LINK, name_, other);
    if (const auto process = vm_.process(other)) process->get_linked(name_);
  }
}

inline void Process::unlink(Name other) {
  {
    const std::lock_guard guard(mutex_);
    links_.erase(other);
  }
  if (other.kind == Name::Kind::port) {
    PASS_NAMES(PORT_UNLINK, name_, other);
    vm_.port(other)->get_unlinked(name_);
  } else {
    PASS_NAMES(PROCESS_UNLINK, name_, other);
    if (const auto process = vm_.process(other)) process->get_unlinked(name_);
  }
}

inline void Process::get_linked(Name other) {
  const std::lock_guard guard(mutex_);
  links_.insert(other);
  PASS_NAMES(PROCESS_GETTING_LINKED, name_, other);
}

inline void Process::get_unlinked(Name other) {
  const std::lock_guard guard(mutex_);
  if (!links_.erase(other)) return;
  PASS_NAMES(PROCESS_GETTING_UNLINKED, name_, other);
}

// From a linked process that has ended. A process that does not trap it ends too, unless the reason was
// normal.
inline void Process::get_exit_signal(Name from, std::string_view reason) {
  get_unlinked(from);
  Message message{
      .kind = Message::Kind::exit, .from = from, .words = {small(1), small(2), small(3)}};
  {
    const std::lock_guard guard(mutex_);
    if (!traps_exits_) {
      if (state_ == State::ended || reason == "normal") return;
      killed_by_ = reason;
      return wake();
    }
  }
  deliver(std::move(message));
}

inline void Process::trap_exits() {
  const std::lock_guard guard(mutex_);
  traps_exits_ = true;
}

inline void Process::open_port(Name& port) {
  port = vm_.open_port();
  link(port);
}

inline void Process::close_port(Name port) {
  unlink(port);
  vm_.port_closed(port);
}
