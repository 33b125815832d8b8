// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/graph.h"

#include <algorithm>
#include <utility>

#include "client/render/text.h"

namespace tracectl {
namespace {

using Brace = GraphLine::Brace;

constexpr uint64_t kFarLines = 20;  // a line this many lines back is out of sight

std::string process_text(const std::string& comm, pid_t pid) {
  return printable(comm) + "-" + std::to_string(pid);
}

}  // namespace

void GraphText::add(std::string& out, const Event& event) {
  Thread& thread = thread_of(event);
  last_ns_ = std::max(last_ns_, event.ts_ns);
  for (const CallStep& step : calls_.take(event)) make(out, thread, step, event);
  for (const pid_t forgotten : calls_.forgotten()) forget(out, forgotten);
}

void GraphText::add_lost(std::string& out, const Lost& lost) {
  print_header(out);
  out += lost.cause == LossCause::unknown_end
             ? columns_.remark(kUnknownEnd, {})
             : columns_.remark(plural(lost.count, "event") + " lost", lost.cpu);
}

void GraphText::show_held(std::string& out, uint64_t now_ns) {
  for (auto& [tid, thread] : threads_) {
    thread.graph.show_open_for(std::max(options_.min_duration_ns, kLongestHeldNs), now_ns);
    const auto& held = thread.graph.held();
    if (!held.empty() && held.front().ts_ns + kLongestHeldNs <= now_ns) print_held(out, thread);
  }
}

void GraphText::finish(std::string& out) {
  for (auto& [tid, thread] : threads_) {
    thread.graph.finish(last_ns_);
    print_held(out, thread);
  }
}

GraphText::Thread& GraphText::thread_of(const Event& event) {
  const auto known = threads_.find(event.tid);
  if (known != threads_.end()) return known->second;
  if (threads_.size() >= kMostThreads) forget_idle_threads();
  const Thread thread{ThreadGraph{options_, names_}, event.pid, event.tid, event.comm};
  return threads_.emplace(event.tid, thread).first->second;
}

void GraphText::forget_idle_threads() {
  std::erase_if(threads_, [](const auto& one) { return !one.second.graph.has_open_calls(); });
}

// Forgets a thread with open calls, because there are very many.
void GraphText::forget(std::string& out, pid_t tid) {
  const auto known = threads_.find(tid);
  known->second.graph.give_up(last_ns_);
  print_held(out, known->second);
  threads_.erase(known);
}

void GraphText::make(std::string& out, Thread& thread, const CallStep& step, const Event& event) {
  // A lost call may be of an earlier process whose thread had the same number.
  if (step.kind != CallStep::Kind::lost) {
    thread.pid = event.pid;
    thread.comm = event.comm;
  }
  thread.graph.make(step, event);
  const bool is_full = thread.graph.held_bytes() > kMostHeldBytes;
  if (is_full || !thread.graph.has_open_calls()) print_held(out, thread);
}

void GraphText::print_held(std::string& out, Thread& thread) {
  auto lines = thread.graph.take_held();
  if (lines.empty()) return;
  print_header(out);
  turn_to(out, thread, lines.front().number);
  for (GraphLine& line : lines) print_line(out, thread, line);
  printed_ = {thread.pid, thread.tid, thread.comm, thread.open_braces > 0};
}

void GraphText::print_header(std::string& out) {
  if (!std::exchange(has_header_, true)) out += columns_.header();
}

void GraphText::turn_to(std::string& out, Thread& thread, uint64_t first_line) {
  if (printed_ && printed_->tid == thread.tid && printed_->pid == thread.pid) return;
  thread.run_start = first_line;
  if (!printed_) return;
  if (printed_->pid != thread.pid)
    out += columns_.separator(process_text(printed_->comm, printed_->pid),
                              process_text(thread.comm, thread.pid));
  else if (printed_->is_open || thread.open_braces)
    out += columns_.separator(std::to_string(printed_->tid), std::to_string(thread.tid));
}

void GraphText::print_line(std::string& out, Thread& thread, GraphLine& line) {
  if (line.brace == Brace::opens) ++thread.open_braces;
  if (line.brace == Brace::closes) --thread.open_braces;
  const bool is_near = line.opened_at && *line.opened_at >= thread.run_start &&
                       line.number - *line.opened_at < kFarLines;
  if (is_near) line.comment.clear();
  out += columns_.line(line, thread.tid, thread.cpu.value_or(line.cpu) != line.cpu);
  thread.cpu = line.cpu;
}

}  // namespace tracectl
