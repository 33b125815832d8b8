// SPDX-License-Identifier: BSD-2-Clause
//
// Trees for the flame graph: of calls by the way to them, weighed by time, and of stacks by how often
// they were seen. Calls may be nested thousands deep, so nothing here calls itself.

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

// Each behind the one it is in.
function nodesOf(root) {
  const nodes = [root];
  for (let i = 0; i < nodes.length; ++i)
    for (const child of nodes[i].children.values()) nodes.push(child);
  return nodes;
}

const isCall = (items, item) =>
  items.duration[item] >= 0 && items.kind[item] !== KIND.latency;

// What of a call lies in the range.
function timeWithin(items, item, from, to) {
  const end = Math.min(items.begin[item] + items.duration[item], to);
  return Math.max(end - Math.max(items.begin[item], from), 0);
}

// A call is in the one above it that goes on when it begins. The items are in the order of their
// beginnings, so those are the last ones of each depth of the thread.
function addCall(trace, open, item, root, from, to) {
  const {items, probes} = trace;
  const {begin, duration, depth, probe} = items;
  const around = open[depth[item] - 1];
  const isWithin = around && begin[around.item] + duration[around.item] >= begin[item];
  const parent = isWithin ? around.node : root;
  const node = parent.child(probe[item], probes[probe[item]].name, probe[item]);
  open[depth[item]] = {item, node};
  const time = timeWithin(items, item, from, to);
  if (!time && (begin[item] < from || begin[item] > to)) return;
  node.total += time;
  ++node.count;
}

// The time of the whole is that of what it consists of.
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
