// SPDX-License-Identifier: BSD-2-Clause
#include "client/page/page_data.h"

#include <algorithm>

#include "client/render/args.h"

namespace tracectl {
namespace {

std::string frame_name(const Frame& frame) {
  if (!frame.function.empty()) return printable(frame.function);
  const std::string file = frame.module.substr(frame.module.rfind('/') + 1);
  return "[" + printable(file.empty() ? "?" : file) + "]";
}

ItemKind kind_of(const Event& event) {
  switch (event.kind) {
    case EventKind::returned: return ItemKind::returned;
    case EventKind::unwound: return ItemKind::unwound;
    case EventKind::latency: return ItemKind::latency;
    case EventKind::hit: break;
  }
  return ItemKind::hit;
}

// At equal beginnings the longer item comes first, because the shorter one is within it.
bool begins_before(const PageItem& a, const PageItem& b) {
  if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
  return a.end_ns() > b.end_ns();
}

}  // namespace

uint64_t PageItem::end_ns() const {
  return duration_ns == kNoDuration ? begin_ns : begin_ns + duration_ns;
}

void PageCollector::add(const StreamItem& item) {
  if (const auto* lost = std::get_if<Lost>(&item)) return add_loss(*lost);
  add_event(std::get<Event>(item));
}

void PageCollector::add_loss(const Lost& lost) {
  data_.lost += lost.count;
  if (data_.losses.size() >= kMostLosses) {
    ++data_.left_out_losses;
    return;
  }
  data_.losses.push_back({.ts_ns = lost.ts_ns,
                          .count = lost.count,
                          .cause = lost.cause,
                          .cpu = lost.cpu ? *lost.cpu + 1 : 0});
}

void PageCollector::add_event(const Event& event) {
  count(event);
  if (!event.call) return note(event);
  Open& open = open_[event.tid];
  for (const CallStep& step : calls_.take(event)) make(open, step, event);
  if (open.empty()) open_.erase(event.tid);
  for (const pid_t forgotten : calls_.forgotten()) open_.erase(forgotten);
}

// ---- calls of a graph ----

void PageCollector::make(Open& open, const CallStep& step, const Event& event) {
  switch (step.kind) {
    case CallStep::Kind::begun: return begin(open, step.index, event);
    case CallStep::Kind::appeared: return open.push_back({OpenItem::kUnseen});
    case CallStep::Kind::ended: return end(open, step.index, event);
    case CallStep::Kind::lost:
      // It ended some time before this event.
      if (PageItem* item = item_of(open[step.index]))
        item->duration_ns = event.ts_ns - std::min(event.ts_ns, item->begin_ns);
      return close(open, step.index);
    case CallStep::Kind::cut: append(event, ItemKind::hit, step.index); return;
    case CallStep::Kind::late:  // where it was is not known any more
    case CallStep::Kind::noted: return;
  }
}

void PageCollector::begin(Open& open, size_t index, const Event& event) {
  const OpenItem begun{append(event, ItemKind::no_end, index)};
  if (PageItem* item = item_of(begun)) item->is_within = index > 0 && item_of(open[index - 1]);
  open.push_back(begun);
}

void PageCollector::end(Open& open, size_t index, const Event& event) {
  if (open[index].item == OpenItem::kUnseen)
    open[index] = {append(event, ItemKind::no_beginning, index)};
  if (PageItem* item = item_of(open[index])) {
    if (item->kind == ItemKind::no_end) {
      item->kind = kind_of(event);
      const uint64_t since_ns = event.ts_ns - std::min(event.ts_ns, item->begin_ns);
      item->duration_ns = event.duration_ns.value_or(since_ns);
    }
    item->result = data_.details.number_of(result_text(event).value_or(""));
    if (!item->arguments) item->arguments = data_.details.number_of(arguments_text(event));
  }
  close(open, index);
}

void PageCollector::close(Open& open, size_t index) {
  open.erase(open.begin() + static_cast<std::ptrdiff_t>(index));
}

PageItem* PageCollector::item_of(const OpenItem& open) {
  return open.item < data_.items.size() ? &data_.items[open.item] : nullptr;
}

void PageCollector::end_open_items() {
  for (const auto& [tid, open] : open_)
    for (const OpenItem& one : open)
      if (PageItem* item = item_of(one)) item->duration_ns = data_.last_ns - item->begin_ns;
}

// ---- all others ----

// A hit within calls is drawn below them.
void PageCollector::note(const Event& event) {
  const auto around = open_.find(event.tid);
  append(event, kind_of(event), around == open_.end() ? 0 : around->second.size());
}

size_t PageCollector::append(const Event& event, ItemKind kind, size_t depth) {
  if (data_.items.size() >= most_items_) {
    ++data_.left_out_items;
    return OpenItem::kLeftOut;
  }
  PageItem& item = data_.items.emplace_back();
  const uint64_t duration_ns = std::min(event.duration_ns.value_or(0), event.ts_ns);
  item.begin_ns = event.ts_ns - duration_ns;
  item.duration_ns = event.duration_ns ? duration_ns : PageItem::kNoDuration;
  item.probe = static_cast<uint32_t>(&probe_of(event) - data_.probes.data());
  item.thread = thread_of(event);
  item.depth = static_cast<uint32_t>(depth);
  item.cpu = event.cpu;
  item.arguments = data_.details.number_of(arguments_text(event));
  item.result = data_.details.number_of(result_text(event).value_or(""));
  item.tag = data_.details.number_of(event.tag);
  item.stack = stack_of(event);
  item.kind = kind;
  item.is_placed = event.call.has_value() || !event.duration_ns;
  data_.first_ns = std::min(data_.first_ns, item.begin_ns);
  return data_.items.size() - 1;
}

// ---- what items refer to ----

PageProbe& PageCollector::probe_of(const Event& event) {
  const std::string& pattern = event.source->probe;
  const auto next = static_cast<uint32_t>(data_.probes.size());
  const auto [known, is_new] = probes_.emplace(pattern, next);
  if (is_new)
    data_.probes.push_back({.name = data_.names.number_of(names_.of(pattern)),
                            .pattern = data_.names.number_of(printable(pattern))});
  return data_.probes[known->second];
}

uint32_t PageCollector::thread_of(const Event& event) {
  const auto known = threads_.find({event.pid, event.tid});
  if (known != threads_.end()) {
    // The thread's latest name: programs name their threads after creating them.
    data_.threads[known->second].comm = data_.names.number_of(printable(event.comm));
    return known->second;
  }
  if (data_.threads.size() >= kMostThreads) return kMostThreads - 1;
  const auto number = static_cast<uint32_t>(data_.threads.size());
  threads_.emplace(std::pair{event.pid, event.tid}, number);
  data_.threads.push_back({event.pid, event.tid, data_.names.number_of(printable(event.comm))});
  return number;
}

uint32_t PageCollector::stack_of(const Event& event) {
  if (!event.stack) return 0;
  std::vector<uint32_t> names;
  for (auto frame = event.stack->frames.rbegin(); frame != event.stack->frames.rend(); ++frame)
    names.push_back(data_.names.number_of(frame_name(*frame)));
  const auto known = stacks_.find(names);
  if (known != stacks_.end()) return known->second;
  if (data_.stacks.size() > kMostStacks || data_.stack_names + names.size() > kMostStackNames)
    return ++data_.left_out_stacks, 0;
  data_.stack_names += names.size();
  const auto number = static_cast<uint32_t>(data_.stacks.size());
  stacks_.emplace(names, number);
  data_.stacks.push_back(std::move(names));
  return number;
}

void PageCollector::count(const Event& event) {
  ++data_.events;
  ++data_.cpus[event.cpu];
  thread_of(event);
  data_.first_ns = std::min(data_.first_ns, event.ts_ns);
  data_.last_ns = std::max(data_.last_ns, event.ts_ns);
  PageProbe& probe = probe_of(event);
  switch (event.kind) {
    case EventKind::hit: ++probe.hits; return;
    case EventKind::returned: ++probe.returned; return;
    case EventKind::unwound: ++probe.unwound; return;
    case EventKind::latency: ++probe.latency; return;
  }
}

const PageData& PageCollector::finish() {
  end_open_items();
  if (data_.first_ns > data_.last_ns) data_.first_ns = data_.last_ns;
  std::stable_sort(data_.items.begin(), data_.items.end(), begins_before);
  place_items(data_.items, data_.threads.size());
  return data_;
}

// ---- items without a depth ----

namespace {

constexpr size_t kMostLanes = 64;  // for items that overlap

// The first lane whose last item has ended.
size_t lane_for(std::vector<uint64_t>& ends, const PageItem& item) {
  const auto is_free = [&](uint64_t end_ns) { return end_ns <= item.begin_ns; };
  auto lane = std::find_if(ends.begin(), ends.end(), is_free);
  if (lane == ends.end()) lane = ends.size() < kMostLanes ? ends.insert(lane, 0) : lane - 1;
  *lane = item.end_ns();
  return static_cast<size_t>(lane - ends.begin());
}

}  // namespace

void place_items(std::deque<PageItem>& items, size_t threads) {
  std::vector<uint32_t> placed_rows(threads);
  for (const PageItem& item : items)
    if (item.is_placed && item.kind != ItemKind::hit)
      placed_rows[item.thread] = std::max(placed_rows[item.thread], item.depth + 1);
  std::vector<std::vector<uint64_t>> ends(threads);
  for (PageItem& item : items)
    if (!item.is_placed)
      item.depth =
          placed_rows[item.thread] + static_cast<uint32_t>(lane_for(ends[item.thread], item));
}

}  // namespace tracectl
