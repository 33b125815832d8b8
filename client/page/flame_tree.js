// SPDX-License-Identifier: BSD-2-Clause
//
// Trees for the flame graph: of calls, weighted by time, and of stacks, weighted by count. Calls may be
// nested thousands deep, so nothing here is recursive.

class FlameNode {
  constructor(name, colour, parent) {
    Object.assign(this, {name, colour, parent, total: 0, own: 0, count: 0});
    this.depth = parent ? parent.depth + 1 : 0;
    this.children = new Map();
  }
  child(key, name, colour) {
    let node = this.children.get(key);
    if (!node) this.children.set(key, node = new FlameNode(name, colour, this));
    return node;
  }
  get sorted() {
    return [...this.children.values()].sort((a, b) => b.total - a.total);
  }
}

// All nodes, each after its parent.
function nodesOf(root) {
  const nodes = [root];
  for (let i = 0; i < nodes.length; ++i)
    for (const child of nodes[i].children.values()) nodes.push(child);
  return nodes;
}

const isCall = (items, item) =>
  items.duration[item] >= 0 && items.kind[item] !== KIND.latency;

// The part of a call's time that is within the range.
function timeWithin(items, item, from, to) {
  const end = Math.min(items.begin[item] + items.duration[item], to);
  return Math.max(end - Math.max(items.begin[item], from), 0);
}

// A call's parent is the last call of the thread one level up: items are in the order of their beginnings. Where the
// call around it is no item, the last one may have ended before. A duration tells that it has not, but not that it has:
// the time of probes is left out of it.
function addCall(trace, open, item, root, from, to) {
  const {items, probes} = trace;
  const {begin, duration, depth, probe} = items;
  const around = open[depth[item] - 1];
  const isWithin = around && (items.within[item] ||
    begin[around.item] + duration[around.item] >= begin[item]);
  const parent = isWithin ? around.node : root;
  const node = parent.child(probe[item], probes[probe[item]].name, probe[item]);
  open[depth[item]] = {item, node};
  const time = timeWithin(items, item, from, to);
  if (!time && (begin[item] < from || begin[item] > to)) return;
  node.total += time;
  ++node.count;
}

// A node's time is at least the sum of its children's.
function settle(root) {
  const nodes = nodesOf(root);
  for (const node of nodes.reverse()) {
    let within = 0;
    for (const child of node.children.values()) within += child.total;
    node.total = Math.max(node.total, within);
    node.own = node.total - within;
  }
  return root;
}

function callTree(trace, from, to) {
  const {items, threads, count} = trace;
  const root = new FlameNode('all calls', -1, null);
  const open = threads.map(() => []);
  for (let i = 0; i < count && items.begin[i] <= to; ++i)
    if (isCall(items, i)) addCall(trace, open[items.thread[i]], i, root, from, to);
  return settle(root);
}

function stackTree(trace, from, to) {
  const {items, count} = trace;
  const counts = new Map();
  for (let i = lowerBound(items.begin, from, 0, count); i < count && items.begin[i] <= to; ++i)
    if (items.stack[i]) counts.set(items.stack[i], (counts.get(items.stack[i]) ?? 0) + 1);
  const root = new FlameNode('all stacks', -1, null);
  for (const [stack, times] of counts) addStack(trace, root, trace.stacks[stack], times);
  return root;
}

function addStack(trace, root, frames, times) {
  let node = root;
  for (const name of frames) {
    node.total += times;
    node.count += times;
    node = node.child(name, trace.names.at(name), name);
  }
  node.total += times;
  node.count += times;
  node.own += times;
}
