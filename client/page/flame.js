// SPDX-License-Identifier: BSD-2-Clause
//
// The flame graph: the outermost frames are on top. A frame's width is its share of the frame that is zoomed
// to.

const FLAME_ROW = 20;
const FLAME_MOST_ROWS = 400;  // shown at once; zooming shows deeper ones

class Flame {
  constructor(trace, timeline, search) {
    Object.assign(this, {trace, timeline, search});
    this.canvas = byId('flame-canvas');
    this.addChoices();
    this.listen();
  }

  addChoices() {
    const {items, count} = this.trace;
    const has = test => {
      for (let i = 0; i < count; ++i) if (test(i)) return true;
      return false;
    };
    if (has(i => isCall(items, i))) byId('flame-of').append(new Option('the time of calls', 'calls'));
    if (this.trace.stacks.length > 1) byId('flame-of').append(new Option('stacks, by hits', 'stacks'));
    this.isEmpty = !byId('flame-of').length;
    byId('flame-none').hidden = !this.isEmpty;
    byId('flame-none').textContent =
      'No calls and no stacks: tracectl graph -o FILE records calls, record --do \'event, stack\' stacks.';
    for (const id of ['flame-of', 'flame-range', 'flame-reset'])
      byId(id).parentElement.hidden = this.isEmpty;
    byId('flame-scroll').hidden = byId('flame-help').hidden = this.isEmpty;
  }

  listen() {
    byId('flame-of').addEventListener('change', () => this.build());
    byId('flame-range').addEventListener('change', () => this.build());
    byId('flame-reset').addEventListener('click', () => this.zoomTo(this.root));
    this.timeline.moved.push(() => this.followRange());
    this.canvas.addEventListener('pointermove', event => this.hover(event));
    this.canvas.addEventListener('pointerleave', () => tip.hide());
    this.canvas.addEventListener('click', event => this.click(event));
    this.canvas.addEventListener('keydown', event => this.key(event));
    theme.changed.push(() => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(byId('flame-scroll'));
  }

  get isOfStacks() { return byId('flame-of').value === 'stacks'; }

  // Waits until the range has not changed for a moment, because a new tree is made from all calls.
  followRange() {
    if (!byId('flame-range').checked) return;
    clearTimeout(this.later);
    this.later = setTimeout(() => this.build(), 120);
  }

  build() {
    if (this.isEmpty) return;
    const isPart = byId('flame-range').checked;
    const [from, to] = isPart ? [this.timeline.from, this.timeline.to] : [0, Infinity];
    const way = this.focus ? this.wayTo(this.focus) : [];
    this.root = this.isOfStacks ? stackTree(this.trace, from, to) : callTree(this.trace, from, to);
    this.zoomTo(this.isOfStacks === this.wasOfStacks ? this.follow(way) : this.root);
    this.wasOfStacks = this.isOfStacks;
  }

  wayTo(node) {
    const way = [];
    for (let at = node; at; at = at.parent) way.unshift(at);
    return way;
  }

  // The node at the same chain of names in a new tree, as far as it exists there.
  follow(way) {
    let node = this.root;
    for (const {name} of way.slice(1)) {
      const next = [...node.children.values()].find(child => child.name === name);
      if (!next) break;
      node = next;
    }
    return node;
  }

  zoomTo(node) {
    this.focus = this.current = node;
    byId('flame-reset').disabled = node === this.root;
    this.canvas.dataset.focus = node.name;
    this.tell(node);
    this.drawSoon();
  }

  // ---- layout ----

  // The visible frames, each after its parent; those around the zoomed one have the full width.
  layOut(width) {
    const around = this.wayTo(this.focus).slice(0, -1);
    const frames = around.map((node, row) => ({node, row, x: 0, width, isAround: true}));
    frames.push({node: this.focus, row: around.length, x: 0, width});
    const scale = width / Math.max(this.focus.total, 1);
    for (let i = around.length; i < frames.length; ++i) {
      if (frames[i].row + 1 - around.length >= FLAME_MOST_ROWS) continue;
      let {x} = frames[i];
      for (const child of frames[i].node.sorted) {
        const share = child.total * scale;
        if (share < 0.5) break;
        frames.push({node: child, row: frames[i].row + 1, x, width: share});
        x += share;
      }
    }
    return frames;
  }

  frameAt(x, y) {
    const row = Math.floor(y / FLAME_ROW);
    return this.frames?.find(one => one.row === row && x >= one.x && x < one.x + one.width);
  }

  // ---- drawing ----

  drawSoon() {
    if (this.isEmpty || !this.root) return;
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = undefined;
    this.frames = this.layOut(this.canvas.clientWidth);
    const rows = this.frames.reduce((most, one) => Math.max(most, one.row), 0) + 1;
    const {context} = canvasContext(this.canvas, rows * FLAME_ROW);
    context.font = `12px ${theme.mono}`;
    context.textBaseline = 'middle';
    const letter = context.measureText('m').width;
    for (const one of this.frames) this.drawFrame(context, one, letter);
    this.canvas.dataset.frames = this.frames.length;
  }

  // Search results are highlighted here, too.
  alphaOf({node, isAround}) {
    const isOther = this.search.isActive && !node.name.toLowerCase().includes(this.search.wanted);
    return isOther ? 0.3 : isAround ? 0.55 : 1;
  }

  drawFrame(context, frame, letter) {
    const {node, row, x, width} = frame;
    const y = row * FLAME_ROW;
    context.globalAlpha = this.alphaOf(frame);
    context.fillStyle = node.parent ? theme.slice(node.colour) : theme.soft;
    context.fillRect(x, y, Math.max(width - (width > 3 ? 1 : 0), 0.5), FLAME_ROW - 1);
    context.globalAlpha = 1;
    if (node === this.current && node !== this.focus) this.drawCurrent(context, x, y, width);
    const letters = Math.floor((width - 10) / letter);
    if (letters < Math.min(node.name.length, 4)) return;
    context.fillStyle = node.parent ? theme.sliceInk : theme.ink;
    const text = `${node.name}  ${this.shareText(node)}`;
    const shown = text.length <= letters ? text : node.name;
    context.fillText(shown.length <= letters ? shown : shown.slice(0, letters - 1) + '…', x + 5,
      y + FLAME_ROW / 2);
  }

  drawCurrent(context, x, y, width) {
    context.strokeStyle = theme.ink;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, Math.max(width - 3, 2), FLAME_ROW - 3);
  }

  shareText(node) {
    return `${(100 * node.total / Math.max(this.root.total, 1)).toFixed(1)} %`;
  }

  text(node) {
    const amount = value => this.isOfStacks ? pluralText(value, 'hit') : durationText(value);
    const calls = node.parent && !this.isOfStacks ? `, ${pluralText(node.count, 'call')}` : '';
    return `${node.name}: ${amount(node.total)} (${this.shareText(node)}), ` +
      `${amount(node.own)} of its own${calls}`;
  }

  // ---- input ----

  tell(node) {
    byId('flame-frame').textContent = this.text(node);
  }

  hover(event) {
    const frame = this.frameAt(event.offsetX, event.offsetY);
    if (frame) tip.show(this.text(frame.node), event);
    else tip.hide();
  }

  click(event) {
    const frame = this.frameAt(event.offsetX, event.offsetY);
    if (frame) this.zoomTo(frame.node);
  }

  goTo(node) {
    if (!node) return;
    this.current = node;
    this.tell(node);
    this.drawSoon();
  }

  sibling(by) {
    const siblings = this.current.parent?.sorted ?? [];
    return siblings[siblings.indexOf(this.current) + by];
  }

  key(event) {
    const actions = {
      ArrowUp: () => this.goTo(this.current.parent), ArrowDown: () => this.goTo(this.current.sorted[0]),
      ArrowLeft: () => this.goTo(this.sibling(-1)), ArrowRight: () => this.goTo(this.sibling(1)),
      Enter: () => this.zoomTo(this.current), Escape: () => this.zoomTo(this.root),
    };
    if (!actions[event.key] || this.isEmpty || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    actions[event.key]();
  }
}
