// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/thread_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "client/render/args.h"
#include "daemon/model/expr.h"

namespace tracectl {
namespace {

using Brace = GraphLine::Brace;

constexpr const char* kBeginLost = "its beginning was lost";
constexpr const char* kCut = "cut: deeper than is followed";
constexpr const char* kGivenUp = "given up: too many threads have open calls";
constexpr const char* kUnknownTag = "?";

GraphLine line_of(const Event& event) {
  return {.ts_ns = event.ts_ns, .cpu = event.cpu, .tag = event.tag};
}

uint64_t elapsed_ns(const GraphLine& since, uint64_t now_ns) {
  return now_ns > since.ts_ns ? now_ns - since.ts_ns : 0;
}

size_t size_of(const GraphLine& line) {
  return sizeof(line) + line.code.size() + line.comment.size();
}

// The kernel returns errors as small negative numbers.
std::string system_result(const Event& event) {
  constexpr int64_t kMostErrno = 4095;
  if (!event.retval) return {};
  const auto result = static_cast<int64_t>(*event.retval);
  const char* error =
      result < 0 && result >= -kMostErrno ? ::strerrorname_np(static_cast<int>(-result)) : nullptr;
  return error ? fmt::format(" = -{}", error) : fmt::format(" = {}", result);
}

}  // namespace

void ThreadGraph::make(const CallStep& step, const Event& event) {
  GraphLine line = line_of(event);
  switch (step.kind) {
    case CallStep::Kind::begun: return begin(event);
    case CallStep::Kind::appeared: return appear(event);
    case CallStep::Kind::ended: return close(step.index, ending_of(event));
    case CallStep::Kind::lost:
      line.tag.clear();  // it may have got one since
      return close(step.index, {How::lost, std::move(line), frames_[step.index].name});
    case CallStep::Kind::late:
      if (event.duration_ns.value_or(0) < options_.min_duration_ns) return;
      line.duration_ns = event.duration_ns;
      line.off_cpu = event.off_cpu;
      line.comment = "end of " + names_.of(event.source->probe);
      return note(std::move(line));
    case CallStep::Kind::cut:
      line.code = call_text(event) + ";";
      line.comment = kCut;
      return note(std::move(line));
    case CallStep::Kind::noted:
      if (event.kind == EventKind::returned) return note_ended(event);
      line.comment = printable(names_.of(event.source->probe) + "(" + arguments_text(event) + ")");
      return note(std::move(line));
  }
}

// A system call.
void ThreadGraph::note_ended(const Event& event) {
  if (event.duration_ns.value_or(0) < options_.min_duration_ns) return;
  GraphLine line = line_of(event);
  line.duration_ns = event.duration_ns;
  line.code = printable(names_.of(event.source->probe)) + "()" + system_result(event) + ";";
  note(std::move(line));
}

void ThreadGraph::finish(uint64_t now_ns) { close_all(How::still_open, now_ns); }
void ThreadGraph::give_up(uint64_t now_ns) { close_all(How::given_up, now_ns); }

void ThreadGraph::close_all(How how, uint64_t now_ns) {
  while (!frames_.empty()) {
    const Frame& innermost = frames_.back();
    GraphLine line{.ts_ns = now_ns, .cpu = innermost.begin.cpu};
    close(frames_.size() - 1, {how, std::move(line), innermost.name});
  }
}

std::vector<GraphLine> ThreadGraph::take_held() {
  held_bytes_ = 0;
  return std::exchange(held_, {});
}

// ---- what events say ----

std::string ThreadGraph::call_text(const Event& event) const {
  const std::string arguments = options_.arguments ? printable(arguments_text(event)) : "";
  return names_.of(event.source->probe) + "(" + arguments + ")";
}

ThreadGraph::Ending ThreadGraph::ending_of(const Event& event) const {
  Ending ending{event.kind == EventKind::unwound ? How::unwound : How::returned, line_of(event),
                names_.of(event.source->probe)};
  ending.line.duration_ns = event.duration_ns;
  ending.line.off_cpu = event.off_cpu;
  if (options_.results) ending.result = printable(ending_text(event));
  return ending;
}

std::string ThreadGraph::leaf_comment(const Frame& frame, const Ending& ending) {
  const char* begin_lost = frame.name.empty() ? kBeginLost : "";
  switch (ending.how) {
    case How::returned: return begin_lost;
    case How::unwound:
      return frame.name.empty() ? "unwound: " + std::string{begin_lost} : "unwound";
    case How::lost: return "its end was lost";
    case How::still_open: return "still open";
    case How::given_up: return kGivenUp;
  }
  return {};
}

std::string ThreadGraph::brace_comment(const Frame& frame, const Ending& ending) {
  const std::string name = ending.name.empty() ? "?" : ending.name;
  const std::string begin_lost = frame.name.empty() ? std::string{": "} + kBeginLost : "";
  switch (ending.how) {
    case How::returned: return name + begin_lost;
    case How::unwound: return name + " unwound" + begin_lost;
    case How::lost: return name + ": its end was lost";
    case How::still_open: return name + " is still open";
    case How::given_up: return name + ": " + kGivenUp;
  }
  return {};
}

// ---- calls ----

void ThreadGraph::begin(const Event& event) {
  if (!options_.min_duration_ns) show_openings(frames_.size());
  frames_.push_back(
      {.begin = line_of(event), .name = names_.of(event.source->probe), .call = call_text(event)});
}

void ThreadGraph::appear(const Event& event) {
  if (!options_.min_duration_ns) show_openings(frames_.size());
  frames_.push_back({.begin = line_of(event)});
}

// A line that is not a call of known length is placed within the innermost call, if that is shown.
void ThreadGraph::note(GraphLine line) {
  show_open_for(options_.min_duration_ns, line.ts_ns);
  line.depth = frames_.size();
  if (frames_.empty() || frames_.back().opened_at)
    hold(std::move(line));
  else
    frames_.back().notes.push_back(std::move(line));
}

void ThreadGraph::close(size_t index, Ending ending) {
  if (is_shown(frames_[index], ending)) show_end(index, ending);
  auto next = frames_.erase(frames_.begin() + static_cast<std::ptrdiff_t>(index));
  std::for_each(next, frames_.end(), [](Frame& frame) { frame.is_moved = true; });
}

bool ThreadGraph::is_shown(const Frame& frame, const Ending& ending) const {
  if (frame.opened_at) return true;
  if (ending.name.empty()) return false;
  const uint64_t at_most_ns = elapsed_ns(frame.begin, ending.line.ts_ns);
  return ending.line.duration_ns.value_or(at_most_ns) >= options_.min_duration_ns;
}

void ThreadGraph::show_end(size_t index, const Ending& ending) {
  const Frame& frame = frames_[index];
  const bool has_other_tag = !ending.line.tag.empty() && ending.line.tag != frame.begin.tag;
  show_openings(index);
  if (index + 1 < frames_.size()) show_open_for(options_.min_duration_ns, ending.line.ts_ns);
  if (!frame.notes.empty() || has_other_tag) show_opening(index);
  frame.opened_at ? show_brace(index, ending) : show_leaf(index, ending);
}

void ThreadGraph::show_leaf(size_t index, const Ending& ending) {
  const Frame& frame = frames_[index];
  GraphLine line = ending.line;
  line.tag = frame.begin.tag;
  line.depth = index;
  line.code = (frame.name.empty() ? ending.name + "()" : frame.call) + ending.result + ";";
  line.comment = leaf_comment(frame, ending);
  hold(std::move(line));
}

void ThreadGraph::show_brace(size_t index, const Ending& ending) {
  const Frame& frame = frames_[index];
  GraphLine line = ending.line;
  line.depth = index;
  line.brace = Brace::closes;
  line.code = "}" + ending.result;
  line.comment = brace_comment(frame, ending);
  const bool is_in_place = !frame.is_moved && index + 1 == frames_.size();
  const bool is_plain = ending.how == How::returned && !frame.name.empty();
  if (is_in_place && is_plain) line.opened_at = frame.opened_at;
  hold(std::move(line));
}

// ---- lines ----

void ThreadGraph::show_open_for(uint64_t least_ns, uint64_t now_ns) {
  const auto inner = std::find_if(frames_.rbegin(), frames_.rend(), [&](const Frame& frame) {
    return elapsed_ns(frame.begin, now_ns) >= least_ns;
  });
  show_openings(static_cast<size_t>(frames_.rend() - inner));
}

void ThreadGraph::show_openings(size_t count) {
  for (size_t i = 0; i < count; ++i) show_opening(i);
}

void ThreadGraph::show_opening(size_t index) {
  Frame& frame = frames_[index];
  if (frame.opened_at) return;
  GraphLine line = frame.begin;
  line.depth = index;
  line.brace = Brace::opens;
  line.code = (frame.name.empty() ? "?" : frame.call) + " {";
  if (frame.name.empty()) line.comment = kBeginLost;
  frame.opened_at = hold(std::move(line));
  for (GraphLine& note : std::exchange(frame.notes, {})) {
    note.depth = index + 1;
    hold(std::move(note));
  }
}

// Returns the number of the line.
uint64_t ThreadGraph::hold(GraphLine line) {
  hold_tag(line);
  push(std::move(line));
  return lines_ - 1;
}

void ThreadGraph::hold_tag(const GraphLine& line) {
  if (line.tag.empty() || line.tag == tag_) return;
  tag_ = line.tag;
  const size_t within = line.brace == Brace::closes ? 1 : 0;
  push({.ts_ns = line.ts_ns,
        .cpu = line.cpu,
        .depth = line.depth + within,
        .comment = "tag = " + (tag_ == kUnknownTag ? tag_ : quoted_text(tag_))});
}

void ThreadGraph::push(GraphLine line) {
  line.number = lines_++;
  held_bytes_ += size_of(line);
  held_.push_back(std::move(line));
}

}  // namespace tracectl
