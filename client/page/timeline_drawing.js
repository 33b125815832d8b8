// SPDX-License-Identifier: BSD-2-Clause
//
// Draws the timeline. The effort depends on the number of pixels, not of events: one item is drawn for each
// pixel.

const LEAST_SLICE = 1.5;  // pixels

class TimelineDrawing {
  constructor(view) {
    const {trace, lanes, search} = view;
    Object.assign(this, {view, trace, lanes, search});
  }

  // Caches what every slice needs from the page.
  measure() {
    const {from, to, span, gutter, plotWidth, collapsed, chosen} = this.view;
    Object.assign(this, {from, to, span, gutter, plotWidth, collapsed, chosen});
  }

  timeAt(x) { return this.from + (x - this.gutter) / this.plotWidth * this.span; }
  xOf(time) { return this.gutter + (time - this.from) / this.span * this.plotWidth; }

  draw() {
    const {view} = this;
    const {context, width, height} = canvasContext(view.canvas, view.height);
    Object.assign(this, {context, width, height});
    this.measure();
    context.font = `12px ${theme.mono}`;
    this.letter = context.measureText('m').width;
    const step = niceStep(view.span, view.plotWidth / 110);
    this.drawGrid(step, height);
    const top = view.scroller.scrollTop;
    for (const band of view.bands)
      if (band.y + band.height > top + RULER && band.y < top + height)
        this.drawBand(band, band.y - top);
    this.drawRuler(step);
  }

  drawGrid(step, height) {
    this.context.fillStyle = theme.line;
    // Counts steps: beyond 2^53 ns, adding a step may not change the number.
    for (let i = Math.ceil(this.from / step); i * step <= this.to; ++i)
      this.context.fillRect(Math.round(this.xOf(i * step)), 0, 1, height);
  }

  drawRuler(step) {
    const {context} = this;
    context.fillStyle = theme.card;
    context.fillRect(0, 0, this.width, RULER - 1);
    context.fillStyle = theme.line;
    context.fillRect(0, RULER - 1, this.width, 1);
    context.font = `11px ${theme.sans}`;
    context.textBaseline = 'middle';
    for (let i = Math.ceil(this.from / step); i * step <= this.to; ++i) {
      const time = i * step;
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
    const hasMore = this.lanes.rowsOf[band.index] > 1;
    const sign = !hasMore ? '' : this.collapsed.has(band.index) ? '▸ ' : '▾ ';
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

  // Items that do not match the search are faded.
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

  // The place after the items that begin in the pixel of x, without the last one if that is wider: it is
  // drawn on its own.
  endOfPixel(lane, place, stop, x) {
    const {lanes} = this;
    const end = this.timeAt(Math.floor(x) + 1);
    const next = Math.max(place + 1, lowerBound(lanes.begin, end, place, stop));
    const goesOn = next - 1 > place &&
      this.xOf(lanes.end(next - 1)) - this.xOf(lanes.begin[next - 1]) >= LEAST_SLICE;
    return goesOn ? next - 1 : next;
  }

  // Draws one item for several in one pixel, a search result if there is one.
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

  // Marks calls that were unwound, or whose beginning or end was not seen.
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
    const label = letters > name.length + 4 ? name + argumentsText(this.trace, item) : name;
    this.context.fillStyle = theme.sliceInk;
    this.context.font = `12px ${theme.mono}`;
    this.context.textBaseline = 'middle';
    const text = label.length <= letters ? label : label.slice(0, letters - 1) + '…';
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

  // The more ticks in a pixel, the taller.
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
    const width = Math.max(Math.min(end, this.width + 4) - x, 3);
    this.context.strokeRect(x - 1, y + row * ROW + 1, width, ROW - 2);
  }
}
