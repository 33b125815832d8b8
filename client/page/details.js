// SPDX-License-Identifier: BSD-2-Clause
//
// Text about one item: a line for the tooltip, and everything when it is chosen.

// Its arguments and its result: (seq=1) = 3.
function argumentsText(trace, item) {
  const {items, details} = trace;
  const given = items.arguments[item] ? `(${details.at(items.arguments[item])})` : '';
  const result = items.result[item] ? ` = ${details.at(items.result[item])}` : '';
  return given + result;
}

function itemText(trace, item) {
  const {items} = trace;
  const duration = items.duration[item] < 0 ? KIND_TEXT[KIND.hit] : durationText(items.duration[item]);
  const about = items.kind[item] === KIND.returned ? '' : `, ${KIND_TEXT[items.kind[item]]}`;
  return `${trace.probes[items.probe[item]].name}${argumentsText(trace, item)}\n` +
    `${duration}${items.duration[item] < 0 ? '' : about}, at ${exactTime(items.begin[item])}`;
}

const exactTime = ns => `${(ns / 1e9).toFixed(9)} s`;

const wallTime = (trace, ns) =>
  new Date(trace.facts.wall_ms + ns / 1e6).toISOString().replace('T', ' ').replace('Z', ' UTC');

function itemFacts(trace, item) {
  const {items, details, threads, probes} = trace;
  const thread = threads[items.thread[item]];
  const duration = items.duration[item];
  const facts = [
    ['Probe', probes[items.probe[item]].pattern],
    ['What', KIND_TEXT[items.kind[item]]],
    ['Begins', `${exactTime(items.begin[item])} after the first (${wallTime(trace, items.begin[item])})`],
  ];
  if (duration >= 0)
    facts.push([items.kind[item] === KIND.noEnd ? 'Took, as seen' : 'Took',
      duration < 1000 ? `${duration} ns` : `${durationText(duration)} (${countText(duration)} ns)`]);
  if (items.arguments[item]) facts.push(['Given', details.at(items.arguments[item])]);
  if (items.result[item]) facts.push(['Returned', details.at(items.result[item])]);
  if (items.tag[item]) facts.push(['Tag', details.at(items.tag[item])]);
  facts.push(['Thread', `${thread.comm} ${thread.tid}, of process ${thread.pid}`],
    ['CPU', items.cpu[item]]);
  // Items of latency probes are not in calls: their depth is only a free row.
  if (items.kind[item] !== KIND.latency) facts.push(['Calls around it', items.depth[item]]);
  if (items.stack[item]) facts.push(['Stack', stackText(trace, items.stack[item])]);
  return facts;
}

// The innermost first, as in debuggers.
function stackText(trace, number) {
  return Array.from(trace.stacks[number], name => trace.names.at(name)).reverse().join('\n');
}

function fillList(list, facts) {
  list.replaceChildren(...facts.flatMap(([name, value]) => [make('dt', name), make('dd', value)]));
}

function showDetails(trace, item) {
  const place = byId('details');
  if (item < 0) return place.replaceChildren();
  const list = make('dl');
  fillList(list, itemFacts(trace, item));
  const name = trace.probes[trace.items.probe[item]].name + argumentsText(trace, item);
  place.replaceChildren(make('h3', name.length < 200 ? name : name.slice(0, 199) + '…'), list);
}
