// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/call_tree.h"

#include <algorithm>
#include <utility>

#include "daemon/model/expr.h"

namespace tracectl {
namespace {

const std::string kUnseen = "[unknown]";  // a call whose beginning was not seen, until it ends

const std::string kOthers = "[others]";

uint64_t less(uint64_t whole, uint64_t part) { return whole > part ? whole - part : 0; }

}  // namespace

void CallFigures::add(uint64_t duration_ns, uint64_t own_ns) {
  ++timed;
  total_ns += duration_ns;
  self_ns += own_ns;
  min_ns = std::min(min_ns, duration_ns);
  max_ns = std::max(max_ns, duration_ns);
  times.add(duration_ns);
}

void CallFigures::add(uint64_t duration_ns, const OffCpu& parts) {
  ++split;
  runnable_ns += parts.runnable_ns;
  blocked_ns += parts.blocked_ns;
  running_ns += less(duration_ns, parts.runnable_ns + parts.blocked_ns);
}

void CallFigures::add(const CallFigures& other) {
  calls += other.calls;
  timed += other.timed;
  unwound += other.unwound;
  total_ns += other.total_ns;
  self_ns += other.self_ns;
  probes_ns += other.probes_ns;
  split += other.split;
  running_ns += other.running_ns;
  runnable_ns += other.runnable_ns;
  blocked_ns += other.blocked_ns;
  min_ns = std::min(min_ns, other.min_ns);
  max_ns = std::max(max_ns, other.max_ns);
  times.add(other.times);
}

std::optional<uint64_t> CallFigures::bound_ns(unsigned percent) const {
  const auto end = times.bound(percent);
  return end ? std::optional(std::min(*end, max_ns)) : std::nullopt;
}

double CallFigures::average_ns() const {
  return timed ? static_cast<double>(total_ns) / static_cast<double>(timed) : 0;
}

void CallTree::add(const Event& event) {
  Frames& frames = threads_[event.tid];
  for (const CallStep& step : calls_.take(event)) make(frames, step, event);
  if (frames.empty()) threads_.erase(event.tid);
  for (const pid_t forgotten : calls_.forgotten()) {
    threads_.erase(forgotten);
    ++forgotten_threads_;
  }
}

namespace {

std::optional<uint64_t> number_at(const protocol::RowPart& row) {
  if (!row.by) return std::nullopt;
  const auto key = row.by->find(std::string(name_of(Operand::path)));
  if (key == row.by->end()) return std::nullopt;
  // An int64_t comes from the engine, a uint64_t from JSON.
  if (const auto* number = std::get_if<int64_t>(&key->second))
    return static_cast<uint64_t>(*number);
  if (const auto* number = std::get_if<uint64_t>(&key->second)) return *number;
  return std::nullopt;
}

uint64_t unsigned_of(const std::optional<protocol::Integer>& value) {
  if (!value) return 0;
  return std::visit([](auto bits) { return static_cast<uint64_t>(bits); }, *value);
}

CallFigures figures_of(const protocol::RowPart& row) {
  CallFigures figures{.calls = row.count,
                      .timed = row.count,
                      .unwound = row.unwound.value_or(0),
                      .total_ns = unsigned_of(row.sum),
                      .self_ns = row.self.value_or(0),
                      .probes_ns = row.probes.value_or(0),
                      .split = row.running ? row.count - row.unsplit.value_or(0) : 0,
                      .running_ns = row.running.value_or(0),
                      .runnable_ns = row.runnable.value_or(0),
                      .blocked_ns = row.blocked.value_or(0),
                      .min_ns = row.min ? unsigned_of(row.min) : UINT64_MAX,
                      .max_ns = unsigned_of(row.max)};
  if (row.hist) figures.times.add(*row.hist);
  return figures;
}

}  // namespace

// Nodes come before the nodes within them.
CallTree::Nodes CallTree::nodes_of(const std::vector<protocol::PathPart>& paths) {
  Nodes nodes{{0, &root()}};
  for (const protocol::PathPart& path : paths) {
    const auto around = nodes.find(path.around);
    Node& parent = around == nodes.end() ? child(root(), kUnseen) : *around->second;
    nodes[path.path] = &child(parent, names_.of(path.probe));
  }
  return nodes;
}

void CallTree::add(const std::vector<protocol::PathPart>& paths,
                   const std::vector<protocol::RowPart>& rows) {
  const Nodes nodes = nodes_of(paths);
  for (const protocol::RowPart& row : rows) {
    const auto number = number_at(row);
    const auto node = number ? nodes.find(*number) : nodes.end();
    if (node != nodes.end()) node->second->figures.add(figures_of(row));
  }
}

void CallTree::make(Frames& frames, const CallStep& step, const Event& event) {
  switch (step.kind) {
    case CallStep::Kind::begun: return begin(frames, event);
    case CallStep::Kind::appeared: return frames.push_back({.parent = &innermost(frames)});
    case CallStep::Kind::ended: return end(frames, step.index, event);
    // The little that is known of its time is not added to the call around it.
    case CallStep::Kind::lost: return close(frames, step.index, frames[step.index].inner_ns);
    case CallStep::Kind::cut:
      ++child(innermost(frames), names_.of(event.source->probe)).figures.calls;
      return;
    case CallStep::Kind::late:  // where it was is not known any more
    case CallStep::Kind::noted: return;
  }
}

void CallTree::begin(Frames& frames, const Event& event) {
  Node& parent = innermost(frames);
  Node& node = child(parent, names_.of(event.source->probe));
  ++node.figures.calls;
  frames.push_back({.parent = &parent, .node = &node, .began_ns = event.ts_ns});
}

void CallTree::end(Frames& frames, size_t index, const Event& event) {
  const Frame& frame = frames[index];
  const uint64_t since_ns = frame.node ? less(event.ts_ns, frame.began_ns) : frame.inner_ns;
  const uint64_t took_ns = event.duration_ns.value_or(since_ns);
  Node& node = frame.node ? *frame.node : child(*frame.parent, names_.of(event.source->probe));
  if (!frame.node) ++node.figures.calls;
  if (event.kind == EventKind::unwound) ++node.figures.unwound;
  node.figures.add(took_ns, less(took_ns, frame.inner_ns));
  if (event.off_cpu) node.figures.add(took_ns, *event.off_cpu);
  close(frames, index, took_ns);
}

// A call that goes on after its caller has ended does so on another stack, and is not part of any call that
// is around it now.
void CallTree::close(Frames& frames, size_t index, uint64_t took_ns) {
  if (index && !frames[index].is_orphan) frames[index - 1].inner_ns += took_ns;
  frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(index));
  if (index < frames.size()) frames[index].is_orphan = true;
}

CallTree::Node& CallTree::innermost(const Frames& frames) {
  if (frames.empty()) return root();
  const Frame& frame = frames.back();
  return frame.node ? *frame.node : child(*frame.parent, kUnseen);
}

CallTree::Node& CallTree::child(Node& parent, const std::string& name) {
  const auto known = parent.children.find(name);
  if (known != parent.children.end()) return *known->second;
  if (&parent == &others_ || nodes_.size() > kMostNodes) return others_;
  nodes_.push_back({.number = nodes_.size(), .name = &name});
  parent.children.emplace(name, &nodes_.back());
  return nodes_.back();
}

// ---- sums ----

// The known time of each node, by its number. A call whose end was not seen took at least as long as those
// within it.
std::vector<uint64_t> CallTree::known_times() const {
  std::vector<uint64_t> known_ns(nodes_.size());
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    uint64_t inner_ns = 0;
    for (const auto& [name, child] : node->children) inner_ns += known_ns[child->number];
    known_ns[node->number] = std::max(node->figures.total_ns, inner_ns);
  }
  return known_ns;
}

std::vector<CallTree::Place> CallTree::places(Order order) const {
  const std::vector<uint64_t> known_ns = known_times();
  std::vector<std::pair<const Node*, size_t>> ahead;  // with their depths, the next one last
  const auto go_into = [&](const Node& node, size_t depth) {
    const auto first = static_cast<std::ptrdiff_t>(ahead.size());
    for (const auto& [name, child] : node.children) ahead.emplace_back(child, depth);
    if (order == Order::time)
      std::stable_sort(ahead.begin() + first, ahead.end(), [&](const auto& a, const auto& b) {
        return known_ns[a.first->number] > known_ns[b.first->number];
      });
    std::reverse(ahead.begin() + first, ahead.end());
  };
  std::vector<Place> places;
  go_into(nodes_.front(), 0);
  while (!ahead.empty()) {
    const auto [node, depth] = ahead.back();
    ahead.pop_back();
    places.push_back({node->name, &node->figures, depth, known_ns[node->number]});
    go_into(*node, depth + 1);
  }
  // Their place is not known; probably they are within other calls, whose time includes theirs.
  if (others_.figures.calls) places.push_back({&kOthers, &others_.figures, 0, 0});
  return places;
}

namespace {

// The functions of the calls around a place.
class Way {
 public:
  struct Met {
    CallTree::Function function = {};
    size_t around = 0;  // how many calls of it are around the place
  };

  void go_to(size_t depth) {
    for (; way_.size() > depth; way_.pop_back()) --way_.back()->around;
  }
  void enter(Met& met) {
    ++met.around;
    way_.push_back(&met);
  }

 private:
  std::vector<Met*> way_;
};

}  // namespace

std::vector<CallTree::Function> CallTree::functions() const {
  std::map<std::string, Way::Met> by_name;
  Way way;
  for (const Place& place : places(Order::name)) {
    way.go_to(place.depth);
    Way::Met& met = by_name[*place.name];
    met.function.figures.add(*place.figures);
    if (!met.around) met.function.total_ns += place.figures->total_ns;
    way.enter(met);
  }
  std::vector<Function> functions;
  for (auto& [name, met] : by_name) {
    if (!met.function.figures.calls) continue;
    met.function.name = name;
    // If the outer calls of the function have no end, its own time is all that is known.
    met.function.total_ns = std::max(met.function.total_ns, met.function.figures.self_ns);
    functions.push_back(std::move(met.function));
  }
  std::stable_sort(functions.begin(), functions.end(), [](const Function& a, const Function& b) {
    return a.figures.self_ns > b.figures.self_ns;
  });
  return functions;
}

}  // namespace tracectl
