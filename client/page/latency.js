// SPDX-License-Identifier: BSD-2-Clause
//
// Durations of calls: a histogram, and a heat map of durations over time.

const CHART = {left: 62, right: 14, top: 12, bottom: 30, height: 250};
const HEAT_COLUMN = 6;  // pixels at least

class Latency {
  constructor(trace, timeline) {
    Object.assign(this, {trace, timeline});
    this.addChoices();
    byId('latency-of').addEventListener('change', () => this.build());
    byId('histogram').addEventListener('pointermove', event => this.hoverHistogram(event));
    byId('heat').addEventListener('pointermove', event => this.hoverHeat(event));
    byId('heat').addEventListener('click', event => this.clickHeat(event));
    for (const id of ['histogram', 'heat'])
      byId(id).addEventListener('pointerleave', () => tip.hide());
    theme.changed.push(() => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(byId('latency-charts'));
  }

  addChoices() {
    const timed = timedProbes(this.trace).filter(sum => sum.count);
    timed.sort((a, b) => b.total - a.total);
    const select = byId('latency-of');
    for (const {probe, count} of timed)
      select.append(new Option(`${probe.name} (${countText(count)})`, probe.index));
    if (timed.length > 1) select.append(new Option('all of them', -1));
    this.isEmpty = !timed.length;
    select.parentElement.hidden = this.isEmpty;
    byId('latency-none').hidden = !this.isEmpty;
    byId('latency-none').textContent =
      'Nothing in this recording has a duration: tracectl graph -o FILE records calls, ' +
      'record --from PROBE the time from one probe to another.';
    byId('latency-charts').hidden = byId('latency-figures').hidden = this.isEmpty;
  }

  choose(probe) {
    const select = byId('latency-of');
    if (![...select.options].some(option => option.value === String(probe))) return;
    select.value = probe;
    this.build();
  }

  build() {
    if (this.isEmpty) return;
    this.chosen = timedItems(this.trace, Number(byId('latency-of').value));
    const figures = quantiles(this.trace, this.chosen);
    byId('latency-figures').replaceChildren(...figures.map(factOf));
    Object.assign(this, bucketCounts(this.trace, this.chosen));
    const words = figures.map(([name, value]) => `${name} ${value}`).join(', ');
    byId('histogram').setAttribute('aria-label', `Histogram of durations. ${words}`);
    this.drawSoon();
  }

  drawSoon() {
    if (this.isEmpty || !this.chosen) return;
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = undefined;
    this.drawHistogram();
    this.drawHeat();
    byId('latency-charts').dataset.count = this.chosen.length;
  }

  bucketText(bucket) {
    return `${durationText(bucketBegin(bucket))} to ${durationText(bucketBegin(bucket + 1))}`;
  }

  // The marks on the axis of durations: powers of ten, and numbers between if the range is small.
  marks() {
    const last = this.first + this.counts.length;
    const factors = this.counts.length > 8 * PER_OCTAVE ? [1] : [1, 2, 5];
    const times = Array.from({length: 16}, (_, power) => factors.map(factor => factor * 10 ** power));
    return times.flat().map(ns => [ns, Math.log2(ns) * PER_OCTAVE])
      .filter(([, bucket]) => bucket >= this.first && bucket <= last);
  }

  // ---- histogram ----

  histogramPlot(width) {
    const room = width - CHART.left - CHART.right;
    return {room, bar: room / this.counts.length, depth: CHART.height - CHART.top - CHART.bottom};
  }

  drawHistogram() {
    const {context, width} = canvasContext(byId('histogram'), CHART.height);
    const {bar, depth} = this.histogramPlot(width);
    const most = this.counts.reduce((a, b) => Math.max(a, b), 1);
    this.drawCounts(context, width, depth, most);
    context.fillStyle = theme.accent;
    this.counts.forEach((count, i) => {
      const height = count ? Math.max(count / most * depth, 1.5) : 0;
      context.fillRect(CHART.left + i * bar + 0.5, CHART.top + depth - height,
        Math.max(bar - 1, 1), height);
    });
    context.fillStyle = theme.muted;
    context.textAlign = 'center';
    for (const [ns, bucket] of this.marks())
      context.fillText(markText(ns), CHART.left + (bucket - this.first) * bar,
        CHART.height - 12);
    context.textAlign = 'start';
  }

  drawCounts(context, width, depth, most) {
    const step = niceStep(most, 4);
    context.font = `11px ${theme.sans}`;
    context.textBaseline = 'middle';
    for (let count = 0; count <= most; count += step) {
      const y = Math.round(CHART.top + depth - count / most * depth);
      context.fillStyle = theme.line;
      context.fillRect(CHART.left, y, width - CHART.left - CHART.right, 1);
      context.fillStyle = theme.muted;
      context.textAlign = 'end';
      context.fillText(countText(count), CHART.left - 8, y);
    }
    context.textAlign = 'start';
  }

  hoverHistogram(event) {
    const {bar} = this.histogramPlot(event.target.clientWidth);
    const i = Math.floor((event.offsetX - CHART.left) / bar);
    if (!(i in this.counts)) return tip.hide();
    tip.show(`${this.bucketText(this.first + i)}\n${countText(this.counts[i])}`, event);
  }

  // ---- heat map ----

  heatPlot(width) {
    const room = width - CHART.left - CHART.right;
    const columns = Math.max(Math.floor(room / HEAT_COLUMN), 1);
    return {columns, cell: room / columns, rows: this.counts.length,
      row: (CHART.height - CHART.top - CHART.bottom) / this.counts.length};
  }

  columnOf(time, columns) {
    return Math.min(Math.floor(time / this.trace.total * columns), columns - 1);
  }

  cellsOf({columns, rows}) {
    const {begin, duration} = this.trace.items;
    const cells = new Float64Array(columns * rows);
    for (const item of this.chosen)
      ++cells[this.columnOf(begin[item], columns) * rows + bucketOf(duration[item]) - this.first];
    return cells;
  }

  drawHeat() {
    const {context, width} = canvasContext(byId('heat'), CHART.height);
    const plot = this.heatPlot(width);
    this.cells = this.cellsOf(plot);
    const most = Math.log2(this.cells.reduce((a, b) => Math.max(a, b), 1) + 1);
    this.drawHeatAxes(context, width, plot);
    // As many colours as can be told apart.
    const shades = Array.from({length: 13}, (_, i) => theme.heat(i / 12));
    this.cells.forEach((count, i) => {
      if (!count) return;
      context.fillStyle = shades[Math.round(Math.log2(count + 1) / most * 12)];
      const row = plot.rows - 1 - i % plot.rows;
      context.fillRect(CHART.left + Math.floor(i / plot.rows) * plot.cell, CHART.top + row * plot.row,
        Math.ceil(plot.cell) - 0.5, Math.max(plot.row - 0.5, 1));
    });
  }

  drawHeatAxes(context, width, plot) {
    const bottom = CHART.height - CHART.bottom;
    context.font = `11px ${theme.sans}`;
    context.textBaseline = 'middle';
    for (const [ns, bucket] of this.marks()) {
      const y = Math.round(bottom - (bucket - this.first) * plot.row);
      context.fillStyle = theme.line;
      context.fillRect(CHART.left, y, width - CHART.left - CHART.right, 1);
      context.fillStyle = theme.muted;
      context.textAlign = 'end';
      context.fillText(markText(ns), CHART.left - 8, y);
    }
    context.textAlign = 'center';
    const step = niceStep(this.trace.total, (width - CHART.left) / 90);
    for (let time = 0; time <= this.trace.total; time += step)
      context.fillText(timeText(time, step),
        CHART.left + time / this.trace.total * plot.cell * plot.columns, CHART.height - 12);
    context.textAlign = 'start';
  }

  heatCell(event) {
    const plot = this.heatPlot(event.target.clientWidth);
    const column = Math.floor((event.offsetX - CHART.left) / plot.cell);
    const row = plot.rows - 1 - Math.floor((event.offsetY - CHART.top) / plot.row);
    const isWithin = column >= 0 && column < plot.columns && row >= 0 && row < plot.rows;
    return isWithin ? {column, row, plot, count: this.cells[column * plot.rows + row]} : undefined;
  }

  hoverHeat(event) {
    const cell = this.heatCell(event);
    if (!cell?.count) return tip.hide();
    const width = this.trace.total / cell.plot.columns;
    tip.show(`${countText(cell.count)} of ${this.bucketText(this.first + cell.row)}\n` +
      `from ${timeText(cell.column * width, width)}; a click shows them in the timeline`, event);
  }

  clickHeat(event) {
    const cell = this.heatCell(event);
    if (!cell) return;
    const width = this.trace.total / cell.plot.columns;
    this.timeline.show(cell.column * width, (cell.column + 1) * width);
    byId('timeline').scrollIntoView();
  }
}
