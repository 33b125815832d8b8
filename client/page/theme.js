// SPDX-License-Identifier: BSD-2-Clause
//
// Light and dark: as the system is set, until the button is used.

const theme = {
  changed: [],  // callbacks of the views that use its colours

  start() {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', () => this.use(dark.matches));
    byId('theme').addEventListener('click', () => this.use(!this.isDark));
    this.use(dark.matches);
  },

  use(isDark) {
    this.isDark = isDark;
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
    byId('theme').textContent = isDark ? 'Light' : 'Dark';
    byId('theme').setAttribute('aria-label', isDark ? 'Use light colours' : 'Use dark colours');
    this.read();
    for (const draw of this.changed) draw();
  },

  read() {
    const style = getComputedStyle(document.documentElement);
    const value = name => style.getPropertyValue('--' + name).trim();
    for (const name of ['ground', 'card', 'ink', 'muted', 'line', 'soft', 'accent', 'warn', 'match',
      'mono', 'sans', 'heat-low', 'heat-high', 'slice-ink'])
      this[name.replace(/-(.)/g, (_, letter) => letter.toUpperCase())] = value(name);
    this.lightness = Number(value('slice-lightness'));
    this.chroma = Number(value('slice-chroma'));
    this.slices = new Map();
  },

  // Neighbours in the list of probes have very different hues.
  slice(index) {
    let colour = this.slices.get(index);
    if (!colour) {
      const hue = (index * 137.508 + 235) % 360;
      const shade = this.lightness + ((index * 7) % 3 - 1) * 0.025;
      colour = `oklch(${shade.toFixed(3)} ${this.chroma} ${hue.toFixed(1)})`;
      this.slices.set(index, colour);
    }
    return colour;
  },

  // From 0 to 1.
  heat(part) {
    return `color-mix(in oklab, ${this.heatHigh} ${(part * 100).toFixed(0)}%, ${this.heatLow})`;
  },
};
