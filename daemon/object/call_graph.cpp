// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/call_graph.h"
#include "daemon/object/code/sorted.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tracectl {
namespace {

constexpr unsigned kFar = std::numeric_limits<unsigned>::max();

// The limit for code and data to be read. Symbols may overlap, so the file's size is no bound.
constexpr uint64_t kMostBytes = 256 << 20;

}  // namespace

CallGraph::CallGraph(ObjectFilePtr object)
    : object_(std::move(object)),
      code_(*object_),
      data_(*object_),
      is_fixed_(object_->elf().is_fixed()),
      bytes_left_(kMostBytes) {}

// ---- the walk ----

Reach CallGraph::reach(std::span<const uint64_t> roots) {
  const auto by_calls = distances_from(roots, Follow::calls);
  return result(distances_from(roots, Follow::everything), by_calls);
}

// Data is as many calls away as the code that uses it, so it goes to the front of the queue. Thus
// the queue stays in order of distance, and a node is first reached on a shortest path.
CallGraph::Distances CallGraph::distances_from(std::span<const uint64_t> roots, Follow follow) {
  Distances distances;
  std::deque<NodeId> queue;
  const auto arrive = [&](NodeId id, unsigned distance) {
    if (distances.size() < nodes_.size()) distances.resize(nodes_.size(), kFar);
    if (distances[id] != kFar) return;
    distances[id] = distance;
    if (nodes_[id].kind == Kind::data)
      queue.push_front(id);
    else
      queue.push_back(id);
  };
  const auto step_to = [&](NodeId id, unsigned distance) {
    arrive(id, nodes_[id].kind == Kind::data ? distance : distance + 1);
  };
  for (const uint64_t root : roots)
    if (const auto routine = code_.around(root)) arrive(node_of(*routine), 0);
  while (!queue.empty()) {
    const NodeId id = queue.front();
    queue.pop_front();
    const Node& node = explored(id);
    for (const NodeId called : node.calls) step_to(called, distances[id]);
    if (follow == Follow::calls) continue;
    for (const NodeId mentioned : node.mentions) step_to(mentioned, distances[id]);
  }
  distances.resize(nodes_.size(), kFar);
  return distances;
}

Reach CallGraph::result(const Distances& distances, const Distances& by_calls) const {
  Reach reach;
  reach.complete = complete_;
  for (NodeId id = 0; id < distances.size(); ++id) {
    if (distances[id] == kFar) continue;
    const Node& node = nodes_[id];
    const bool by_address = id >= by_calls.size() || by_calls[id] == kFar;
    if (node.routine.function)
      reach.functions.push_back({node.routine.function, distances[id], by_address});
    if (node.kind == Kind::import)
      reach.imports.push_back({node.import, distances[id], by_address});
    if (node.calls_unknown) ++reach.calls_unknown;
  }
  std::ranges::sort(reach.functions, {}, [](const Reached& reached) {
    return std::pair(reached.distance, reached.function->address);
  });
  std::ranges::sort(reach.imports, {}, &ReachedImport::name);
  return reach;
}

// ---- the nodes that a node leads to ----

const CallGraph::Node& CallGraph::explored(NodeId id) {
  Node& node = nodes_[id];
  if (node.explored) return node;
  node.explored = true;
  if (node.kind == Kind::routine) explore_routine(node);
  if (node.kind == Kind::data) explore_data(node);
  sort_once(node.calls);
  sort_once(node.mentions);
  return node;
}

bool CallGraph::may_read(uint64_t size) {
  if (size > bytes_left_) complete_ = false;
  if (!complete_) return false;
  bytes_left_ -= size;
  return true;
}

void CallGraph::explore_routine(Node& node) {
  if (!may_read(code_.bytes_of(node.routine))) return;
  const CallTargets targets = code_.targets_of(node.routine);
  node.calls_unknown = targets.calls_unknown;
  for (const uint64_t address : targets.called) add_call(node, address);
  for (const uint64_t slot : targets.slots) add_slot(node, slot);
  for (const uint64_t place : targets.loaded) add_word(node, place);
  for (const uint64_t address : targets.referred) add_mention(node, address);
  if (!is_fixed_) return;
  for (const uint64_t address : targets.constants) add_mention(node, address);
}

void CallGraph::explore_data(Node& node) {
  if (!may_read(node.data.size)) return;
  for (const Pointer& pointer : data_.pointers_in(node.data)) add_mention_by(node, pointer);
  if (!is_fixed_) return;
  for (const uint64_t word : data_.words_in(node.data)) add_mention(node, word);
}

void CallGraph::add_call(Node& from, uint64_t target) {
  if (const auto routine = code_.around(target)) {
    from.calls.push_back(node_of(*routine));
  } else if (const auto slot = code_.slot_of_stub_at(target)) {
    if (const Pointer* pointer = data_.pointer_at(*slot)) add_call_by(from, *pointer);
  }
}

// A word of the linker's table has the value that the loader puts there, for good. A variable has
// it until the program writes another address there.
void CallGraph::add_slot(Node& from, uint64_t slot) {
  const Pointer* pointer = data_.pointer_at(slot);
  if (pointer && data_.is_of_linker(slot)) {
    add_call_by(from, *pointer);
  } else {
    add_word(from, slot);
    from.calls_unknown = true;
  }
}

void CallGraph::add_call_by(Node& from, const Pointer& pointer) {
  if (pointer.import.empty() && !pointer.by_resolver)
    add_call(from, pointer.target);
  else if (pointer.by_resolver)
    add_mention(from, pointer.target);
  else
    from.calls.push_back(node_of(pointer.import));
}

void CallGraph::add_word(Node& from, uint64_t place) {
  if (const Pointer* pointer = data_.pointer_at(place)) {
    add_mention_by(from, *pointer);
  } else if (is_fixed_) {
    for (const uint64_t word : data_.words_in({place, sizeof(uint64_t)})) add_mention(from, word);
  }
}

void CallGraph::add_mention(Node& from, uint64_t address) {
  if (const auto routine = code_.starting_at(address)) {
    from.mentions.push_back(node_of(*routine));
  } else if (const auto variable = data_.variable_around(address)) {
    from.mentions.push_back(node_of(*variable));
  } else if (const auto pointers = data_.pointers_from(address)) {
    from.mentions.push_back(node_of(*pointers));
  } else if (const auto slot = code_.slot_of_stub_at(address)) {
    if (const Pointer* pointer = data_.pointer_at(*slot)) add_mention_by(from, *pointer);
  }
}

void CallGraph::add_mention_by(Node& from, const Pointer& pointer) {
  if (!pointer.import.empty())
    from.mentions.push_back(node_of(pointer.import));
  else
    add_mention(from, pointer.target);
}

// ---- nodes ----

CallGraph::NodeId CallGraph::node_of(const Routine& routine) {
  const auto [at, fresh] =
      routines_.try_emplace(routine.address, static_cast<NodeId>(nodes_.size()));
  if (fresh) nodes_.push_back({.kind = Kind::routine, .routine = routine});
  return at->second;
}

CallGraph::NodeId CallGraph::node_of(const AddressRange& data) {
  const auto [at, fresh] = variables_.try_emplace(data.address, static_cast<NodeId>(nodes_.size()));
  if (fresh) nodes_.push_back({.kind = Kind::data, .data = data});
  return at->second;
}

CallGraph::NodeId CallGraph::node_of(const std::string& import) {
  const auto [at, fresh] = imports_.try_emplace(import, static_cast<NodeId>(nodes_.size()));
  if (fresh) nodes_.push_back({.kind = Kind::import, .import = import});
  return at->second;
}

}  // namespace tracectl
