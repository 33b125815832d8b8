// SPDX-License-Identifier: BSD-2-Clause
//
// The recording, which client/report_page.cpp puts into the page: one element per column.

const NUMBER_TYPES = {u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array};

function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// Removes the element: its text is not needed once it is decoded.
function column(name) {
  const element = document.getElementById('column-' + name);
  const bytes = decodeBase64(element.textContent);
  element.remove();
  return new NUMBER_TYPES[element.dataset.type](bytes.buffer);
}

// Not fatal: strings of programs need not be UTF-8.
const UTF8 = new TextDecoder('utf-8');

// Texts by number. They are decoded when the first is needed: drawing needs no arguments of events.
class Texts {
  constructor(name) {
    this.name = name;
    this.length = column(name + '_length');
  }
  get bytes() {
    return this.decoded ??= column(this.name);
  }
  get begins() {
    if (this.sums) return this.sums;
    this.sums = new Uint32Array(this.length.length + 1);
    for (let i = 0; i < this.length.length; ++i) this.sums[i + 1] = this.sums[i] + this.length[i];
    return this.sums;
  }
  at(number) {
    return UTF8.decode(this.bytes.subarray(this.begins[number], this.begins[number + 1]));
  }
}

function readFacts() {
  const lines = UTF8.decode(column('facts')).trim().split('\n');
  return Object.fromEntries(lines.map(line => {
    const [name, number] = line.split(' ');
    return [name, Number(number)];
  }));
}

// The values of the enums ItemKind and LossCause.
const KIND = {hit: 0, returned: 1, unwound: 2, latency: 3, noEnd: 4, noBeginning: 5};
const KIND_TEXT = ['hit', 'call', 'call, ended by unwinding', 'from start to end',
  'call without an end', 'call without a beginning'];
const CAUSE_TEXT = ['the ring of its CPU was full', 'the client was slow', 'the disk was slow, or full',
  'a call kept more records than fit until its end', 'the file does not say how it ended'];

// Times since the first event, in ns.
function readBegins() {
  const steps = column('begin_step');
  const begins = new Float64Array(steps.length);
  let time = 0;
  for (let i = 0; i < steps.length; ++i) begins[i] = time += steps[i];
  return begins;
}

// -1: none.
function readDurations() {
  const numbers = column('duration');
  const durations = new Float64Array(numbers.length);
  for (let i = 0; i < numbers.length; ++i) durations[i] = numbers[i] - 1;
  return durations;
}

function readItems() {
  return {
    begin: readBegins(), duration: readDurations(), probe: column('probe'),
    thread: column('thread'), depth: column('depth'), cpu: column('cpu'), kind: column('kind'),
    within: column('within'),
    arguments: column('arguments'), result: column('result'), tag: column('tag'),
    stack: column('stack'),
  };
}

function readProbes(names) {
  const [name, pattern] = [column('probe_name'), column('probe_pattern')];
  const [hits, returned] = [column('probe_hits'), column('probe_returned')];
  const [unwound, latency] = [column('probe_unwound'), column('probe_latency')];
  return Array.from(name, (number, i) => ({
    index: i, name: names.at(number) || '?', pattern: names.at(pattern[i]),
    hits: hits[i], returned: returned[i], unwound: unwound[i], latency: latency[i],
    events: hits[i] + returned[i] + unwound[i] + latency[i],
  }));
}

function readThreads(names) {
  const [pid, tid, comm] = [column('thread_pid'), column('thread_tid'), column('thread_comm')];
  return Array.from(pid, (number, i) => ({pid: number, tid: tid[i], comm: names.at(comm[i])}));
}

function readLosses() {
  const [time, count] = [column('loss_time'), column('loss_count')];
  const [cause, cpu] = [column('loss_cause'), column('loss_cpu')];
  return Array.from(time, (at, i) => ({
    time: at, count: count[i], cause: CAUSE_TEXT[cause[i]], cpu: cpu[i] ? cpu[i] - 1 : null,
  }));
}

// The names of frames by the number of a stack, the outermost first.
function readStacks() {
  const [frames, lengths] = [column('stack_frames'), column('stack_length')];
  let begin = 0;
  return Array.from(lengths, length => frames.subarray(begin, begin += length));
}

function readCpus() {
  const [number, events] = [column('cpu_number'), column('cpu_events')];
  return Array.from(number, (cpu, i) => ({cpu, events: events[i]}));
}

function readTrace() {
  const names = new Texts('names');
  const facts = readFacts();
  const items = readItems();
  return {
    facts, names, items,
    file: UTF8.decode(column('file')),
    reason: UTF8.decode(column('reason')),
    details: new Texts('details'),
    probes: readProbes(names), threads: readThreads(names), losses: readLosses(),
    stacks: readStacks(), cpus: readCpus(),
    count: items.begin.length,
    // The shown range has a width, even if everything happened at once.
    total: Math.max(facts.duration_ns, 1000),
  };
}
