// SPDX-License-Identifier: BSD-2-Clause
//
// Mouse, wheel, touch, keys and buttons of the timeline.

const LEAST_DRAG = 4;  // pixels: less is a click

class TimelineInput {
  constructor(timeline) {
    this.timeline = timeline;
    const {canvas} = timeline;
    canvas.addEventListener('pointerdown', event => this.press(event));
    canvas.addEventListener('pointermove', event => this.move(event));
    canvas.addEventListener('pointerup', event => this.release(event));
    canvas.addEventListener('pointercancel', () => this.stop());
    canvas.addEventListener('pointerleave', () => tip.hide());
    canvas.addEventListener('dblclick', event => this.zoomTo(this.itemOf(event)));
    canvas.addEventListener('wheel', event => this.wheel(event), {passive: false});
    canvas.addEventListener('keydown', event => this.key(event));
    this.addButtons();
  }

  addButtons() {
    const {timeline} = this;
    byId('zoom-in').addEventListener('click', () => timeline.zoom(0.5));
    byId('zoom-out').addEventListener('click', () => timeline.zoom(2));
    byId('zoom-all').addEventListener('click', () => timeline.showAll());
    byId('move-left').addEventListener('click', () => timeline.move(-0.4));
    byId('move-right').addEventListener('click', () => timeline.move(0.4));
  }

  itemOf(event) {
    return this.timeline.itemAt(event.offsetX, event.offsetY);
  }

  press(event) {
    if (event.button !== 0) return;
    const {timeline} = this;
    this.drag = {x: event.offsetX, from: timeline.from, to: timeline.to, isMoved: false,
      isPart: event.shiftKey || event.offsetY < RULER};
    timeline.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    if (!this.drag) return this.hover(event);
    const {timeline, drag} = this;
    const pixels = event.offsetX - drag.x;
    if (!drag.isMoved && Math.abs(pixels) < LEAST_DRAG) return;
    drag.isMoved = true;
    tip.hide();
    if (drag.isPart) return this.showPart(event.offsetX);
    timeline.canvas.classList.add('moving');
    const time = pixels / timeline.plotWidth * (drag.to - drag.from);
    timeline.show(drag.from - time, drag.to - time);
  }

  // Highlights the part that is dragged over.
  showPart(x) {
    const {timeline, drag} = this;
    timeline.draw();
    const {context} = timeline.drawing;
    context.globalAlpha = 0.18;
    context.fillStyle = theme.accent;
    context.fillRect(Math.min(x, drag.x), 0, Math.abs(x - drag.x), timeline.height);
    context.globalAlpha = 1;
  }

  release(event) {
    const {timeline, drag} = this;
    this.stop();
    if (!drag) return;
    if (!drag.isMoved) return this.click(event);
    if (!drag.isPart) return;
    const times = [timeline.timeAt(drag.x), timeline.timeAt(event.offsetX)];
    timeline.show(Math.min(...times), Math.max(...times));
  }

  stop() {
    this.drag = undefined;
    this.timeline.canvas.classList.remove('moving');
  }

  click(event) {
    const {timeline} = this;
    const band = timeline.bandAt(event.offsetY);
    if (event.offsetX < timeline.gutter && band) timeline.toggle(band.index);
    else timeline.choose(this.itemOf(event));
  }

  hover(event) {
    const item = this.itemOf(event);
    if (item < 0) return tip.hide();
    tip.show(itemText(this.timeline.trace, item), event);
  }

  // Scrolling the page over the timeline goes on: the timeline uses the wheel only after it was clicked.
  wheel(event) {
    const {timeline} = this;
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const isOurs = document.activeElement === timeline.canvas || event.ctrlKey || event.metaKey;
    if (!isOurs && !isSideways) return;
    event.preventDefault();
    const turn = (event.deltaY || event.deltaX) * (event.deltaMode === 1 ? 16 : 1);
    if (isSideways) timeline.move((event.deltaX || event.deltaY) / timeline.plotWidth);
    else timeline.zoom(Math.exp(turn * 0.0016), timeline.timeAt(event.offsetX));
  }

  zoomTo(item) {
    if (item >= 0) this.timeline.zoomToItem(item);
  }

  // Chooses the event before or after the chosen one in its lane.
  step(by) {
    const {timeline} = this;
    const {lanes} = timeline;
    if (timeline.chosen < 0) return this.chooseFirst();
    const lane = lanes.laneOf(timeline.chosen);
    const place = lanes.placeOf(timeline.chosen) + by;
    if (lane < 0 || place < lanes.start[lane] || place >= lanes.start[lane + 1]) return;
    this.go(lanes.order[place]);
  }

  chooseFirst() {
    const {timeline} = this;
    const {begin} = timeline.trace.items;
    const item = lowerBound(begin, timeline.from, 0, begin.length);
    if (item < begin.length) this.go(item);
  }

  go(item) {
    this.timeline.choose(item);
    this.timeline.showItem(item);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const {timeline} = this;
    const actions = {
      ArrowLeft: () => timeline.move(-0.2), ArrowRight: () => timeline.move(0.2),
      '+': () => timeline.zoom(0.5), '=': () => timeline.zoom(0.5), '-': () => timeline.zoom(2),
      0: () => timeline.showAll(), Home: () => timeline.showAll(),
      '[': () => this.step(-1), ']': () => this.step(1),
      Enter: () => this.zoomTo(timeline.chosen), Escape: () => timeline.choose(-1),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
}
