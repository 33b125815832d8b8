// SPDX-License-Identifier: BSD-2-Clause
//
// Durations in logarithmic buckets, four for each doubling: the relative precision is the same for 1 us and
// for 1 s.

const PER_OCTAVE = 4;

const bucketOf = ns => Math.floor(Math.log2(Math.max(ns, 1)) * PER_OCTAVE);
const bucketBegin = bucket => 2 ** (bucket / PER_OCTAVE);

// The item's duration is complete.
const isTimed = (items, item) => items.duration[item] >= 0 && items.kind[item] !== KIND.noEnd;

// The number and the times of each probe's items that have a duration: {probe, count, total, greatest}.
function timedProbes(trace) {
  const {items, count} = trace;
  const sums = trace.probes.map(probe => ({probe, count: 0, total: 0, greatest: 0}));
  for (let i = 0; i < count; ++i) {
    if (!isTimed(items, i)) continue;
    const sum = sums[items.probe[i]];
    ++sum.count;
    sum.total += items.duration[i];
    sum.greatest = Math.max(sum.greatest, items.duration[i]);
  }
  return sums;
}

// The items of one probe, or of all if it is -1, in the order of their beginnings.
function timedItems(trace, probe) {
  const {items, count} = trace;
  const found = [];
  for (let i = 0; i < count; ++i)
    if ((probe < 0 || items.probe[i] === probe) && isTimed(items, i)) found.push(i);
  return Uint32Array.from(found);
}

// The buckets from the shortest to the longest duration: {first, counts}.
function bucketCounts(trace, chosen) {
  const {duration} = trace.items;
  let [first, last] = [Infinity, -Infinity];
  for (const item of chosen) {
    const bucket = bucketOf(duration[item]);
    first = Math.min(first, bucket);
    last = Math.max(last, bucket);
  }
  // Some empty buckets on both sides, also if all durations are equal.
  first = Math.max(first - 2, 0);
  last += 2;
  const counts = new Float64Array(last - first + 1);
  for (const item of chosen) ++counts[bucketOf(duration[item]) - first];
  return {first, counts};
}

function quantiles(trace, chosen) {
  const sorted = Float64Array.from(chosen, item => trace.items.duration[item]).sort();
  const at = part => sorted[Math.min(Math.floor(part * sorted.length), sorted.length - 1)];
  const total = sorted.reduce((sum, one) => sum + one, 0);
  return [['Number', countText(sorted.length)], ['Total', durationText(total)],
    ['Average', durationText(total / sorted.length)], ['Least', durationText(sorted[0])],
    ['Median', durationText(at(0.5))], ['90 %', durationText(at(0.9))],
    ['99 %', durationText(at(0.99))], ['99.9 %', durationText(at(0.999))],
    ['Greatest', durationText(sorted.at(-1))]];
}
