// SPDX-License-Identifier: BSD-2-Clause
//
// The strip above the timeline: the number of events over the whole recording, and the range that is shown.
// Dragging over a part shows it.

class TimeMap {
  constructor(timeline, search) {
    Object.assign(this, {timeline, search});
    this.canvas = byId('map');
    this.canvas.addEventListener('pointerdown', event => this.press(event));
    this.canvas.addEventListener('pointermove', event => this.drag(event));
    this.canvas.addEventListener('pointerup', event => this.release(event));
    timeline.moved.push(() => this.drawSoon());
    theme.changed.push(() => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(this.canvas);
  }

  get total() { return this.timeline.trace.total; }
  get gutter() { return this.timeline.gutter; }
  xOf(time) { return this.gutter + time / this.total * (this.canvas.clientWidth - this.gutter); }
  timeAt(x) {
    const part = (x - this.gutter) / (this.canvas.clientWidth - this.gutter);
    return clamp(part, 0, 1) * this.total;
  }

  press(event) {
    this.start = event.offsetX;
    this.canvas.setPointerCapture(event.pointerId);
  }

  drag(event) {
    if (this.start === undefined) return;
    this.draw([this.timeAt(this.start), this.timeAt(event.offsetX)].sort((a, b) => a - b));
  }

  // A click centres the range there, and does not change the zoom.
  release(event) {
    if (this.start === undefined) return;
    const {timeline} = this;
    const times = [this.timeAt(this.start), this.timeAt(event.offsetX)].sort((a, b) => a - b);
    const isClick = Math.abs(event.offsetX - this.start) < LEAST_DRAG;
    this.start = undefined;
    if (isClick) timeline.show(times[0] - timeline.span / 2, times[0] + timeline.span / 2);
    else timeline.show(...times);
  }

  // How many items begin in each column; they are in time order.
  countsOf(times, columns) {
    const counts = new Float64Array(columns);
    for (let column = 0, at = 0; column < columns; ++column) {
      const next = lowerBound(times, (column + 1) / columns * this.total, at, times.length);
      counts[column] = next - at;
      at = next;
    }
    if (columns) counts[columns - 1] += times.length - counts.reduce((sum, one) => sum + one, 0);
    return counts;
  }

  drawSoon() {
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw(part = [this.timeline.from, this.timeline.to]) {
    this.frame = undefined;
    const {context, width, height} = canvasContext(this.canvas, 44);
    const columns = Math.max(Math.floor((width - this.gutter) / 2), 1);
    const counts = this.countsOf(this.timeline.trace.items.begin, columns);
    const most = counts.reduce((a, b) => Math.max(a, b), 1);
    this.drawCounts(context, counts, most, height, theme.muted);
    if (this.search.isActive) this.drawMatches(context, columns, most, height);
    this.drawPart(context, part, width, height);
    context.fillStyle = theme.muted;
    context.font = `11px ${theme.sans}`;
    context.textBaseline = 'middle';
    context.fillText(this.gutter > 100 ? 'the whole recording' : 'whole', 10, height / 2);
  }

  drawCounts(context, counts, most, height, colour) {
    context.fillStyle = colour;
    counts.forEach((count, column) => {
      if (!count) return;
      const bar = Math.max(2, Math.sqrt(count / most) * (height - 8));
      context.fillRect(this.gutter + column * 2, height - bar, 2, bar);
    });
  }

  drawMatches(context, columns, most, height) {
    const {begin} = this.timeline.trace.items;
    const times = Float64Array.from(this.search.matches, item => begin[item]);
    this.drawCounts(context, this.countsOf(times, columns), most, height, theme.match);
  }

  drawPart(context, [from, to], width, height) {
    const [left, right] = [this.xOf(from), this.xOf(to)];
    context.globalAlpha = 0.7;
    context.fillStyle = theme.soft;
    context.fillRect(this.gutter, 0, left - this.gutter, height);
    context.fillRect(right, 0, width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, 0.75, Math.max(right - left - 1.5, 1), height - 1.5);
  }
}
