// SPDX-License-Identifier: BSD-2-Clause
//
// Where items are drawn. A thread has a row for each depth of its calls, and a row has two lanes: slices,
// which have a duration, and ticks, which have none. The items of a lane are in time order, so those at one
// pixel are found by binary search, however many there are.

const MOST_ROWS = 48;  // of one thread; deeper ones are counted, not drawn

class Lanes {
  constructor(trace) {
    this.trace = trace;
    this.findRows();
    this.sortItems();
  }

  isTick(item) {
    return this.trace.items.duration[item] < 0;
  }

  findRows() {
    const {items, threads, count} = this.trace;
    this.rowsOf = new Uint16Array(threads.length);
    this.hidden = new Float64Array(threads.length);  // items that are deeper than all rows
    for (let i = 0; i < count; ++i) {
      const [thread, depth] = [items.thread[i], items.depth[i]];
      if (depth >= MOST_ROWS) ++this.hidden[thread];
      this.rowsOf[thread] = Math.max(this.rowsOf[thread], Math.min(depth + 1, MOST_ROWS));
    }
    this.firstRow = new Uint32Array(threads.length + 1);
    threads.forEach((_, i) => { this.firstRow[i + 1] = this.firstRow[i] + this.rowsOf[i]; });
  }

  // -1: not drawn.
  laneOf(item) {
    const {thread, depth} = this.trace.items;
    if (depth[item] >= MOST_ROWS) return -1;
    return (this.firstRow[thread[item]] + depth[item]) * 2 + (this.isTick(item) ? 1 : 0);
  }

  // A counting sort: fast for millions of items.
  sortItems() {
    const {items, count} = this.trace;
    const lanes = this.firstRow.at(-1) * 2;
    this.start = new Uint32Array(lanes + 1);
    const laneOf = new Int32Array(count);
    for (let i = 0; i < count; ++i) {
      laneOf[i] = this.laneOf(i);
      if (laneOf[i] >= 0) ++this.start[laneOf[i] + 1];
    }
    for (let i = 0; i < lanes; ++i) this.start[i + 1] += this.start[i];
    const next = this.start.slice();
    this.order = new Uint32Array(this.start[lanes]);
    this.begin = new Float64Array(this.start[lanes]);
    for (let i = 0; i < count; ++i) {
      if (laneOf[i] < 0) continue;
      const place = next[laneOf[i]]++;
      this.order[place] = i;
      this.begin[place] = items.begin[i];
    }
  }

  end(place) {
    return this.begin[place] + Math.max(this.trace.items.duration[this.order[place]], 0);
  }

  // The first place in a lane that is visible from `time` on, and the end of the lane.
  from(lane, time) {
    const stop = this.start[lane + 1];
    let place = lowerBound(this.begin, time, this.start[lane], stop);
    if (place > this.start[lane] && this.end(place - 1) > time) --place;
    return [place, stop];
  }

  // The place in a lane nearest to `time`, at most `slack` away; -1: none.
  nearest(lane, time, slack) {
    const [low, high] = [this.start[lane], this.start[lane + 1]];
    const next = lowerBound(this.begin, time, low, high);
    let [found, least] = [-1, slack];
    for (const place of [next - 1, next]) {
      if (place < low || place >= high) continue;
      const away = Math.max(this.begin[place] - time, time - this.end(place), 0);
      if (away <= least) [found, least] = [place, away];
    }
    return found;
  }

  placeOf(item) {
    const lane = this.laneOf(item);
    if (lane < 0) return -1;
    let place = lowerBound(this.begin, this.trace.items.begin[item], this.start[lane],
      this.start[lane + 1]);
    while (place < this.start[lane + 1] && this.order[place] !== item) ++place;
    return place;
  }
}
