// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/open_calls.h"

#include <algorithm>

namespace tracectl {
namespace {

std::ptrdiff_t offset(size_t index) { return static_cast<std::ptrdiff_t>(index); }

// Numbers increase during a thread's life; then its tid may be reused.
bool begins_anew(const Event& event, uint32_t newest) {
  const bool is_begin = event.call && event.kind == EventKind::hit;
  return is_begin && event.call->number && event.call->number <= newest;
}

}  // namespace

const std::vector<CallStep>& OpenCalls::take(const Event& event) {
  steps_.clear();
  forgotten_.clear();
  Thread& thread = thread_of(event.tid);
  if (thread.pid != event.pid || begins_anew(event, thread.newest)) {
    close_down_to(thread, 0);
    thread = {.place = thread.place, .pid = event.pid};
  }
  if (!event.call)
    step(CallStep::Kind::noted, thread.numbers.size());
  else if (event.kind == EventKind::hit)
    begin(thread, *event.call);
  else
    end(thread, *event.call);
  if (thread.numbers.empty()) forget(event.tid);
  forget_quietest();
  return steps_;
}

// The event's own thread is forgotten last, and a single thread cannot exceed the bounds.
void OpenCalls::forget_quietest() {
  while (threads_.size() > kMostThreads || calls_ > kMostCalls)
    forget(forgotten_.emplace_back(order_.front()));
}

OpenCalls::Thread& OpenCalls::thread_of(pid_t tid) {
  auto known = threads_.find(tid);
  if (known == threads_.end())
    known = threads_.emplace(tid, Thread{.place = order_.insert(order_.end(), tid)}).first;
  order_.splice(order_.end(), order_, known->second.place);
  return known->second;
}

void OpenCalls::forget(pid_t tid) {
  const auto thread = threads_.find(tid);
  calls_ -= thread->second.numbers.size();
  order_.erase(thread->second.place);
  threads_.erase(thread);
}

void OpenCalls::begin(Thread& thread, const CallMark& call) {
  fit(thread, call.depth);
  if (!call.number) return step(CallStep::Kind::cut, thread.numbers.size());
  thread.newest = call.number;
  open(thread, CallStep::Kind::begun, call.number);
}

void OpenCalls::end(Thread& thread, const CallMark& call) {
  if (std::erase(thread.lost, call.number))
    end_late(thread, call);
  else
    end_open(thread, call);
}

void OpenCalls::end_open(Thread& thread, const CallMark& call) {
  size_t index = place_of(thread, call);
  // Too many others are open: those within it have ended, then those around it.
  while (thread.numbers.size() - 1 > std::min<size_t>(call.depth, kMostOpen)) {
    const bool is_innermost = index + 1 == thread.numbers.size();
    lose(thread, thread.numbers.size() - (is_innermost ? 2 : 1));
    if (is_innermost) --index;
  }
  close(thread, CallStep::Kind::ended, index);
  fit(thread, call.depth);
}

// Another call was wrongly open in its place: the call that ended unseen was one that was open when this one
// began.
void OpenCalls::end_late(Thread& thread, const CallMark& call) {
  auto& numbers = thread.numbers;
  step(CallStep::Kind::late, numbers.size());
  while (numbers.size() > call.depth) {
    const auto older = std::find_if(numbers.rbegin(), numbers.rend(),
                                    [&](uint32_t number) { return number < call.number; });
    if (older == numbers.rend()) break;
    lose(thread, static_cast<size_t>(numbers.rend() - older) - 1);
  }
  fit(thread, call.depth);
}

// The index of the call that ends. A call whose number is not open began unseen: either it is one of the
// unnamed calls that explain the depth of others, or nothing was known of it.
size_t OpenCalls::place_of(Thread& thread, const CallMark& call) {
  auto& numbers = thread.numbers;
  const auto known = std::find(numbers.begin(), numbers.end(), call.number);
  if (call.number && known != numbers.end()) return static_cast<size_t>(known - numbers.begin());
  const auto unseen = std::find(numbers.rbegin(), numbers.rend(), kUnseen);
  const bool is_one_too_many = numbers.size() > call.depth;
  if (is_one_too_many && unseen != numbers.rend())
    return static_cast<size_t>(numbers.rend() - unseen) - 1;
  fit(thread, call.depth);
  open(thread, CallStep::Kind::appeared, kUnseen);
  return numbers.size() - 1;
}

// Opens or closes calls until `depth` are open. The depth alone does not show which ones have ended: the
// innermost are assumed, which is right on a single stack.
void OpenCalls::fit(Thread& thread, size_t depth) {
  depth = std::min(depth, kMostOpen);
  close_down_to(thread, depth);
  while (thread.numbers.size() < depth) open(thread, CallStep::Kind::appeared, kUnseen);
}

void OpenCalls::close_down_to(Thread& thread, size_t depth) {
  while (thread.numbers.size() > depth) lose(thread, thread.numbers.size() - 1);
}

void OpenCalls::lose(Thread& thread, size_t index) {
  if (thread.lost.size() == kMostLost) thread.lost.erase(thread.lost.begin());
  if (thread.numbers[index] != kUnseen) thread.lost.push_back(thread.numbers[index]);
  close(thread, CallStep::Kind::lost, index);
}

void OpenCalls::open(Thread& thread, CallStep::Kind kind, uint32_t number) {
  step(kind, thread.numbers.size());
  thread.numbers.push_back(number);
  ++calls_;
}

void OpenCalls::close(Thread& thread, CallStep::Kind kind, size_t index) {
  step(kind, index);
  thread.numbers.erase(thread.numbers.begin() + offset(index));
  --calls_;
}

}  // namespace tracectl
