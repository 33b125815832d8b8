// SPDX-License-Identifier: BSD-2-Clause
#include "client/export/slices.h"

#include <algorithm>
#include <utility>

#include "client/render/args.h"

namespace tracectl {
namespace {

Slice::End end_of(EventKind kind) {
  return kind == EventKind::unwound ? Slice::End::unwound : Slice::End::returned;
}

bool is_end_of_call(const Event& event) {
  return event.kind == EventKind::returned || event.kind == EventKind::unwound;
}

}  // namespace

Result<bool> Slices::add(const Event& event) {
  if (!event.call) {
    if (!is_end_of_call(event) || !event.duration_ns) return false;
    if (auto taken = take_ended(event, false); !taken) return taken.error();
    return true;
  }
  Calls& calls = threads_[event.tid];
  for (const CallStep& step : open_.take(event))
    if (auto made = make(calls, step, event); !made) return made.error();
  if (calls.empty()) threads_.erase(event.tid);
  for (const pid_t forgotten : open_.forgotten())
    if (auto reported = forget(forgotten, event.ts_ns); !reported) return reported.error();
  return true;
}

// The event at a call's end has everything about the call.
Status Slices::take_ended(const Event& event, bool is_crossing) {
  return take_({.pid = event.pid,
                .tid = event.tid,
                .name = names_.of(event.source->probe),
                .arguments = arguments_text(event),
                .result = result_text(event).value_or(""),
                .begin_ns = event.ts_ns - std::min(event.ts_ns, *event.duration_ns),
                .end_ns = event.ts_ns,
                .end = end_of(event.kind),
                .is_crossing = is_crossing});
}

Status Slices::make(Calls& calls, const CallStep& step, const Event& event) {
  switch (step.kind) {
    case CallStep::Kind::begun: begin(calls, event); break;
    case CallStep::Kind::appeared: calls.emplace_back(); break;
    case CallStep::Kind::ended: return end(calls, step.index, event);
    case CallStep::Kind::lost: return lose(calls, step.index, event.ts_ns);
    // Its slice has already ended with that of another call; that it took longer cannot be reported any more.
    case CallStep::Kind::late:
    case CallStep::Kind::cut:
    case CallStep::Kind::noted: break;
  }
  return ok();
}

void Slices::begin(Calls& calls, const Event& event) {
  calls.push_back(
      {.is_seen = true,
       .slice = {.pid = event.pid,
                 .tid = event.tid,
                 .name = names_.of(event.source->probe),
                 .arguments = held_bytes_ < kMostHeldBytes ? arguments_text(event) : kNoRoom,
                 .begin_ns = event.ts_ns}});
  held_bytes_ += calls.back().slice.arguments.size();
}

Slices::Open Slices::taken_off(Calls& calls, size_t index) {
  Open call = std::move(calls[index]);
  calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(index));
  held_bytes_ -= call.slice.arguments.size();
  return call;
}

Status Slices::end(Calls& calls, size_t index, const Event& event) {
  Open call = taken_off(calls, index);
  const bool is_crossing = index < calls.size();
  if (!call.is_seen) return event.duration_ns ? take_ended(event, is_crossing) : ok();
  call.slice.end = end_of(event.kind);
  call.slice.result = result_text(event).value_or("");
  return take_until(call.slice, event.ts_ns, is_crossing);
}

Status Slices::lose(Calls& calls, size_t index, uint64_t ts_ns) {
  Open call = taken_off(calls, index);
  if (!call.is_seen) return ok();
  return take_until(call.slice, ts_ns, index < calls.size());
}

// Time may go backwards in files from elsewhere.
Status Slices::take_until(Slice& slice, uint64_t ts_ns, bool is_crossing) {
  slice.end_ns = std::max(slice.begin_ns, ts_ns);
  slice.is_crossing = is_crossing;
  return take_(slice);
}

// A quiet thread, of which there are very many: the ends of its calls count as unseen.
Status Slices::forget(pid_t tid, uint64_t ts_ns) {
  const auto thread = threads_.find(tid);
  if (thread == threads_.end()) return ok();
  if (auto ended = lose_all(thread->second, ts_ns); !ended) return ended;
  threads_.erase(thread);
  return ok();
}

Status Slices::lose_all(Calls& calls, uint64_t ts_ns) {
  while (!calls.empty())
    if (auto lost = lose(calls, calls.size() - 1, ts_ns); !lost) return lost;
  return ok();
}

Status Slices::finish(uint64_t now_ns) {
  for (auto& [tid, calls] : threads_)
    if (auto lost = lose_all(calls, now_ns); !lost) return lost;
  return ok();
}

}  // namespace tracectl
