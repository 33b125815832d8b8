// SPDX-License-Identifier: BSD-2-Clause
//
// The timeline: which part of the time is shown, and its drawing. What is drawn grows with the pixels
// and not with the events: of all that falls into one pixel one is drawn.

const GUTTER = 168;   // names of threads
const RULER = 26;
const ROW = 19;
const THREAD_GAP = 9;
const LEAST_SPAN = 20;  // ns
const LEAST_SLICE = 1.5;  // pixels

class Timeline {
  constructor(trace, lanes, search) {
    Object.assign(this, {trace, lanes, search});
    this.canvas = byId('lanes');
    this.scroller = byId('rows');
    this.from = 0;
    this.to = trace.total;
    this.chosen = -1;
    this.collapsed = new Set();
    this.moved = [];   // who wants to know of another range
    this.chose = [];   // or another chosen item
    this.layOut();
    this.scroller.addEventListener('scroll', () => this.drawSoon());
    theme.changed.push(() => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(this.scroller);
  }

  // ---- where rows are ----

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
    // Sections have room for themselves; very many threads scroll.
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

  // So that it can be seen among what is around it.
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
    for (const one of [lane + 1, lane]) {  // ticks lie over slices
      const place = this.lanes.nearest(one, this.timeAt(x), slack);
      if (place >= 0) return this.lanes.order[place];
    }
    return -1;
  }

  // ---- drawing ----

  drawSoon() {
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = undefined;
    const {context, width, height} = canvasContext(this.canvas, this.height);
    Object.assign(this, {context, width});
    context.font = `12px ${theme.mono}`;
    this.letter = context.measureText('m').width;
    const step = niceStep(this.span, this.plotWidth / 110);
    this.drawGrid(step, height);
    const top = this.scroller.scrollTop;
    for (const band of this.bands)
      if (band.y + band.height > top + RULER && band.y < top + height)
        this.drawBand(band, band.y - top);
    this.drawRuler(step);
    this.canvas.dataset.drawn = Number(this.canvas.dataset.drawn ?? 0) + 1;
    Object.assign(this.canvas.dataset, {from: this.from, to: this.to});
  }

  drawGrid(step, height) {
    this.context.fillStyle = theme.line;
    for (let time = Math.ceil(this.from / step) * step; time <= this.to; time += step)
      this.context.fillRect(Math.round(this.xOf(time)), 0, 1, height);
  }

  drawRuler(step) {
    const {context} = this;
    context.fillStyle = theme.card;
    context.fillRect(0, 0, this.width, RULER - 1);
    context.fillStyle = theme.line;
    context.fillRect(0, RULER - 1, this.width, 1);
    context.font = `11px ${theme.sans}`;
    context.textBaseline = 'middle';
    for (let time = Math.ceil(this.from / step) * step; time <= this.to; time += step) {
      const x = Math.round(this.xOf(time));
      context.fillStyle = theme.line;
      context.fillRect(x, RULER - 7, 1, 6);
      context.fillStyle = theme.muted;
      context.fillText(timeText(time, step), x + 4, RULER / 2);
    }
    this.drawLosses();
  }

  drawLosses() {
    this.context.fillStyle = theme.warn;
    for (const loss of this.trace.losses)
      if (loss.time >= this.from && loss.time <= this.to)
        this.context.fillRect(Math.round(this.xOf(loss.time)) - 1, RULER - 8, 3, 7);
  }

  drawBand(band, y) {
    const {context} = this;
    context.save();
    context.beginPath();
    context.rect(this.gutter, RULER, this.plotWidth, this.height);
    context.clip();
    for (let row = 0; row < band.rows; ++row) {
      const lane = (this.lanes.firstRow[band.index] + row) * 2;
      const top = y + row * ROW;
      if (top + ROW < RULER || top > this.height) continue;
      this.drawSlices(lane, top);
      this.drawTicks(lane + 1, top);
    }
    this.drawChosen(band, y);
    context.restore();
    this.drawName(band, y);
  }

  drawName(band, y) {
    const {context} = this;
    const {thread} = band;
    context.fillStyle = theme.line;
    context.fillRect(0, y + band.height - THREAD_GAP / 2, this.width, 1);
    context.textBaseline = 'middle';
    const sign = this.lanes.rowsOf[band.index] > 1 ? this.collapsed.has(band.index) ? '▸ ' : '▾ ' : '';
    const letters = Math.floor((this.gutter - 16) / this.letter);
    context.font = `12px ${theme.mono}`;
    context.fillStyle = theme.ink;
    context.fillText((sign + thread.comm).slice(0, letters), 10, y + ROW / 2);
    if (band.rows < 2) {
      const left = letters - sign.length - thread.comm.length - 1;
      context.fillStyle = theme.muted;
      if (String(thread.tid).length <= left)
        context.fillText(thread.tid, this.gutter - 8 - String(thread.tid).length * this.letter,
          y + ROW / 2);
      return;
    }
    context.fillStyle = theme.muted;
    const hidden = this.lanes.hidden[band.index];
    const more = hidden ? `, ${countText(hidden)} deeper` : '';
    context.fillText(`${sign && '  '}${thread.tid}${more}`.slice(0, letters), 10, y + ROW * 1.5);
  }

  // What stands out is what was searched for.
  alphaOf(low, high) {
    return !this.search.isActive || this.search.isAmong(low, high) ? 1 : 0.22;
  }

  drawSlices(lane, y) {
    const {lanes} = this;
    let [place, stop] = lanes.from(lane, this.from);
    while (place < stop && lanes.begin[place] <= this.to) {
      const x = this.xOf(lanes.begin[place]);
      const width = this.xOf(lanes.end(place)) - x;
      if (width >= LEAST_SLICE) {
        this.drawSlice(place, x, y, width);
        ++place;
        continue;
      }
      const next = this.endOfPixel(lane, place, stop, x);
      this.drawFew(place, next, Math.floor(x), y);
      place = next;
    }
  }

  // Behind all that begins in the pixel of x but the last, if that goes on: it is drawn by itself.
  endOfPixel(lane, place, stop, x) {
    const {lanes} = this;
    const end = this.timeAt(Math.floor(x) + 1);
    const next = Math.max(place + 1, lowerBound(lanes.begin, end, place, stop));
    const goesOn = next - 1 > place &&
      this.xOf(lanes.end(next - 1)) - this.xOf(lanes.begin[next - 1]) >= LEAST_SLICE;
    return goesOn ? next - 1 : next;
  }

  // Of those in one pixel, the one that was searched for before others.
  drawFew(low, high, x, y) {
    const {context, search} = this;
    const shown = search.isActive && search.isAmong(low, high) ? search.firstAmong(low, high) : low;
    context.globalAlpha = this.alphaOf(low, high);
    context.fillStyle = theme.slice(this.trace.items.probe[this.lanes.order[shown]]);
    context.fillRect(x, y + 1, 1, ROW - 2);
    context.globalAlpha = 1;
  }

  drawSlice(place, x, y, width) {
    const {context} = this;
    const item = this.lanes.order[place];
    const left = Math.max(x, this.gutter - 2);
    const shown = Math.min(x + width, this.width + 2) - left;
    context.globalAlpha = this.alphaOf(place, place + 1);
    context.fillStyle = theme.slice(this.trace.items.probe[item]);
    context.fillRect(left, y + 1, Math.max(shown - (shown > 4 ? 1 : 0), 1), ROW - 2);
    const kind = this.trace.items.kind[item];
    if (kind !== KIND.returned && kind !== KIND.latency) this.drawMark(kind, x, y, width);
    this.drawLabel(item, left, y, shown);
    context.globalAlpha = 1;
  }

  // Calls that were unwound, or of which one end was not seen.
  drawMark(kind, x, y, width) {
    const {context} = this;
    context.fillStyle = theme.warn;
    if (kind === KIND.noBeginning) context.fillRect(x, y + 1, 2, ROW - 2);
    else context.fillRect(x + width - 3, y + 1, 2, ROW - 2);
  }

  drawLabel(item, x, y, width) {
    const letters = Math.floor((width - 9) / this.letter);
    const {name} = this.trace.probes[this.trace.items.probe[item]];
    if (letters < Math.min(name.length, 4)) return;
    this.context.fillStyle = theme.sliceInk;
    this.context.font = `12px ${theme.mono}`;
    this.context.textBaseline = 'middle';
    const text = name.length <= letters ? name : name.slice(0, letters - 1) + '…';
    this.context.fillText(text, x + 4, y + ROW / 2 + 0.5);
  }

  drawTicks(lane, y) {
    const {lanes} = this;
    let [place, stop] = lanes.from(lane, this.from);
    while (place < stop && lanes.begin[place] <= this.to) {
      const x = Math.floor(this.xOf(lanes.begin[place]));
      const next = Math.max(place + 1, lowerBound(lanes.begin, this.timeAt(x + 1), place, stop));
      this.drawTick(place, next, x, y);
      place = next;
    }
  }

  // The more there are in a pixel, the taller.
  drawTick(low, high, x, y) {
    const {context, search} = this;
    const shown = search.isActive && search.isAmong(low, high) ? search.firstAmong(low, high) : low;
    const height = Math.min(ROW - 3, 9 + 1.6 * Math.log2(high - low));
    const isCrowded = this.plotWidth / this.span * this.trace.total / this.trace.count < 3;
    context.globalAlpha = this.alphaOf(low, high);
    context.fillStyle = theme.slice(this.trace.items.probe[this.lanes.order[shown]]);
    context.fillRect(x, y + ROW - 1 - height, isCrowded ? 1 : 2, height);
    context.globalAlpha = 1;
  }

  drawChosen(band, y) {
    const {items} = this.trace;
    if (this.chosen < 0 || items.thread[this.chosen] !== band.index) return;
    const row = items.depth[this.chosen];
    if (row >= band.rows) return;
    const x = Math.max(this.xOf(items.begin[this.chosen]), this.gutter - 4);
    const end = this.xOf(items.begin[this.chosen] + Math.max(items.duration[this.chosen], 0));
    this.context.strokeStyle = theme.ink;
    this.context.lineWidth = 2;
    this.context.strokeRect(x - 1, y + row * ROW + 1, Math.max(Math.min(end, this.width + 4) - x, 3),
      ROW - 2);
  }
}
