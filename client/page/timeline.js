// SPDX-License-Identifier: BSD-2-Clause
//
// The timeline: the shown range, the rows of threads, and the chosen item.

const GUTTER = 168;   // the names of threads
const RULER = 26;
const ROW = 19;
const THREAD_GAP = 9;
const LEAST_SPAN = 20;  // ns

class Timeline {
  constructor(trace, lanes, search) {
    Object.assign(this, {trace, lanes, search});
    this.canvas = byId('lanes');
    this.scroller = byId('rows');
    this.drawing = new TimelineDrawing(this);
    this.from = 0;
    this.to = trace.total;
    this.chosen = -1;
    this.collapsed = new Set();
    this.moved = [];   // callbacks for a new range
    this.chose = [];   // callbacks for a new chosen item
    this.layOut();
    this.scroller.addEventListener('scroll', () => this.drawSoon());
    theme.changed.push(() => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(this.scroller);
  }

  // ---- rows ----

  layOut() {
    let y = RULER;
    this.bands = [];
    this.trace.threads.forEach((thread, index) => {
      const rows = this.lanes.rowsOf[index];
      if (!rows) return;
      const shown = this.collapsed.has(index) ? 1 : rows;
      this.bands.push({thread, index, rows: shown, y, height: shown * ROW + THREAD_GAP});
      y += shown * ROW + THREAD_GAP;
    });
    this.contentHeight = Math.max(y + 4, RULER + 3 * ROW);
    // The height is bounded; very many threads scroll.
    const most = Math.min(innerHeight * 0.68, 736);
    this.height = Math.min(this.contentHeight, Math.max(most, 180));
    this.canvas.style.height = this.height + 'px';
    byId('rows-space').style.height = this.contentHeight - this.height + 'px';
    this.drawSoon();
  }

  toggle(index) {
    if (!this.collapsed.delete(index)) this.collapsed.add(index);
    this.layOut();
  }

  bandAt(y) {
    const inContent = y + this.scroller.scrollTop;
    return y < RULER ? undefined
      : this.bands.find(band => inContent >= band.y && inContent < band.y + band.height);
  }

  // ---- time ----

  get span() { return this.to - this.from; }
  get plotWidth() { return Math.max(this.canvas.clientWidth - this.gutter, 10); }
  get gutter() { return this.canvas.clientWidth < 560 ? 92 : GUTTER; }
  timeAt(x) { return this.from + (x - this.gutter) / this.plotWidth * this.span; }
  xOf(time) { return this.gutter + (time - this.from) / this.span * this.plotWidth; }

  show(from, to) {
    const span = clamp(to - from, Math.min(LEAST_SPAN, this.trace.total), this.trace.total);
    this.from = clamp(from + (to - from - span) / 2, 0, this.trace.total - span);
    this.to = this.from + span;
    this.drawSoon();
    for (const tell of this.moved) tell();
  }

  showAll() { this.show(0, this.trace.total); }
  move(part) { this.show(this.from + part * this.span, this.to + part * this.span); }
  zoom(factor, time = (this.from + this.to) / 2) {
    const span = clamp(this.span * factor, LEAST_SPAN, this.trace.total);
    const part = (time - this.from) / this.span;
    this.show(time - part * span, time + (1 - part) * span);
  }

  // Moves the range so that the item is visible with some of its surroundings.
  showItem(item) {
    const {begin, duration} = this.trace.items;
    const length = Math.max(duration[item], 0);
    const isSeen = begin[item] >= this.from && begin[item] + length <= this.to;
    if (!isSeen || length < this.span / 400) {
      const room = Math.max(length * 1.5, Math.min(this.span, this.trace.total / 50) / 2, 200);
      this.show(begin[item] + length / 2 - room, begin[item] + length / 2 + room);
    }
    this.scrollTo(item);
  }

  zoomToItem(item) {
    const {begin, duration} = this.trace.items;
    const length = Math.max(duration[item], 50);
    this.show(begin[item] - length * 0.06, begin[item] + length * 1.06);
    this.scrollTo(item);
  }

  scrollTo(item) {
    const band = this.bands.find(one => one.index === this.trace.items.thread[item]);
    if (!band) return;
    const y = band.y + Math.min(this.trace.items.depth[item], band.rows - 1) * ROW;
    const top = this.scroller.scrollTop;
    if (y < top + RULER || y + ROW > top + this.height)
      this.scroller.scrollTop = y - this.height / 2;
  }

  choose(item) {
    this.chosen = item;
    this.drawSoon();
    for (const tell of this.chose) tell(item);
  }

  itemAt(x, y) {
    const band = this.bandAt(y);
    if (!band || x < this.gutter) return -1;
    const row = Math.floor((y + this.scroller.scrollTop - band.y) / ROW);
    if (row >= band.rows) return -1;
    const slack = 3 / this.plotWidth * this.span;
    const lane = (this.lanes.firstRow[band.index] + row) * 2;
    for (const one of [lane + 1, lane]) {  // ticks are drawn over slices
      const place = this.lanes.nearest(one, this.timeAt(x), slack);
      if (place >= 0) return this.lanes.order[place];
    }
    return -1;
  }

  drawSoon() {
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = undefined;
    this.drawing.draw();
    this.canvas.dataset.drawn = Number(this.canvas.dataset.drawn ?? 0) + 1;
    Object.assign(this.canvas.dataset, {from: this.from, to: this.to});
  }
}
