// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/event_printer.h"

#include <utility>

#include "client/output/output.h"
#include "daemon/base/clock.h"

namespace tracectl {

EventPrinter::EventPrinter(const CommonOptions& common, std::string session, Shown shown,
                           const GraphOptions& graph)
    : common_(common),
      session_(std::move(session)),
      shown_(shown),
      folded_(common.stack_format),
      graph_(graph),
      notified_(names_),
      hits_(
          [this](const std::string& probe) -> std::string_view { return names_.demangled(probe); }),
      debug_files_(common) {}

Result<bool> EventPrinter::print_from(Backend& backend) {
  wall_.sample();
  const auto taken = backend.take_arrived([&](const Backend::Arrival& arrival) -> Status {
    if (const auto* lines = std::get_if<std::string_view>(&arrival))
      return add_notifications(out_, *lines);
    add(out_, *std::get<const Arrived*>(arrival));
    return ok();
  });
  if (!taken) return taken.error();
  if (shown_ == Shown::graph && !common_.json) graph_.show_held(out_, clock_ns(CLOCK_BOOTTIME));
  return show(out_);
}

// False: the reader of our output is gone.
bool EventPrinter::show(std::string& out) {
  print(out);
  out.clear();
  return std::fflush(stdout) == 0;
}

void EventPrinter::add(std::string& out, const Arrived& arrived) {
  constexpr size_t kMostBytes = 256 << 10;  // that wait, so that they are in the processor's cache
  arrived.each([&](const auto& one) {
    add(out, one);
    if (out.size() > kMostBytes) show(out);
  });
}

Status EventPrinter::add_notifications(std::string& out, std::string_view lines) {
  while (!lines.empty()) {
    const size_t size = lines.find('\n');
    if (auto added = add_notification(out, lines.substr(0, size)); !added) return added;
    lines.remove_prefix(size + 1);
  }
  return ok();
}

Status EventPrinter::add_notification(std::string& out, std::string_view line) {
  if (common_.json && !shows_at_end() && notified_.append(out, line)) return ++events_, ok();
  auto item = notified_.read(line);
  if (!item) return item.error();
  if (*item) add(out, **item);
  return ok();
}

bool EventPrinter::print_item(const StreamItem& item) {
  constexpr size_t kMostHeldBytes = 64 << 10;
  add(held_, item);
  return held_.size() < kMostHeldBytes || show(held_);
}

void EventPrinter::add(std::string& out, const PlainHit& hit) {
  if (!common_.json || shows_at_end()) return add(out, StreamItem(event_of(hit)));
  ++events_;
  hits_.append(out, hit, wall_);
  out += '\n';
}

void EventPrinter::add(std::string& out, const StreamItem& item) {
  const uint64_t ts = std::visit([](const auto& part) { return part.ts_ns; }, item);
  if (start_ns_ == 0) start_ns_ = ts;
  if (const auto* event = std::get_if<Event>(&item)) {
    ++events_;
    if (!event->stack) return add_event(out, *event);
    Event completed = *event;
    completed.stack = std::make_shared<const Stack>(debug_files_.completed(*event->stack));
    return add_event(out, completed);
  }
  const Lost& lost = std::get<Lost>(item);
  lost_ += lost.count;
  is_end_known_ &= lost.cause != LossCause::unknown_end;
  if (shows_at_end()) return;
  if (common_.json) {
    out += "{\"lost\":";
    protocol::append_lost(out, lost, session_);
    out += "}\n";
  } else if (shown_ == Shown::graph) {
    graph_.add_lost(out, lost);
  } else {
    out += lost_text(lost, start_ns_);
  }
}

bool EventPrinter::shows_at_end() const {
  return shown_ == Shown::folded_stacks || shown_ == Shown::deepest_stacks;
}

void EventPrinter::add_event(std::string& out, const Event& event) {
  if (shown_ == Shown::folded_stacks) {
    if (event.stack) folded_.add(*event.stack);
  } else if (shown_ == Shown::deepest_stacks) {
    deepest_.add(event);
  } else if (common_.json) {
    protocol::append_event(out, event, wall_, names_.demangled(event.source->probe));
    out += '\n';
  } else if (shown_ == Shown::graph) {
    graph_.add(out, event);
  } else {
    out += event_text(event, names_.of(event.source->probe), start_ns_);
  }
}

void EventPrinter::finish() {
  std::string out = std::exchange(held_, {});
  if (shown_ == Shown::graph && !common_.json) graph_.finish(out);
  print(out);
}

std::string EventPrinter::summary() const {
  return plural(events_, "event") + ", " + lost_sum_text(lost_, is_end_known_) + "\n";
}

}  // namespace tracectl
