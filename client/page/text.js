// SPDX-License-Identifier: BSD-2-Clause
//
// Formats numbers, and makes elements. Strings from a trace are set as text, never as markup: programs choose
// them.

const byId = id => document.getElementById(id);

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

const WHOLE = new Intl.NumberFormat('en-US');
const countText = count => WHOLE.format(count);
const pluralText = (count, noun, many = noun + 's') =>
  `${countText(count)} ${count === 1 ? noun : many}`;

const TIME_UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

// Three digits: 1.23 ms.
function durationText(ns) {
  if (ns < 0) return '–';
  const [size, unit] = TIME_UNITS.find(([least]) => ns >= least) ?? TIME_UNITS[3];
  const value = ns / size;
  const digits = size === 1 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

// For an axis: 1 ms, 20 µs.
function markText(ns) {
  const [size, unit] = TIME_UNITS.find(([least]) => ns >= least) ?? TIME_UNITS[3];
  return `${Math.round(ns / size)} ${unit}`;
}

// A time as precise as the axis's step requires.
function timeText(ns, step) {
  if (ns < step / 2) return '0';
  const [size, unit] = TIME_UNITS.find(([least]) => Math.max(ns, step) >= least) ?? TIME_UNITS[3];
  const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return `${(ns / size).toFixed(digits)} ${unit}`;
}

function bytesText(bytes) {
  const power = Math.min(3, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  return power ? `${(bytes / 1024 ** power).toFixed(1)} ${['', 'KiB', 'MiB', 'GiB'][power]}`
    : `${bytes} B`;
}

// The step of an axis: 1, 2 or 5 times a power of ten, with at most `most` steps in `span`.
function niceStep(span, most) {
  const rough = Math.max(span / Math.max(most, 1), 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map(factor => factor * power).find(step => step >= rough);
}

// The index of the first of sorted values between `low` and `high` that is not less than `value`.
function lowerBound(values, value, low, high) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

// A canvas at its displayed size, in CSS pixels; drawing code can ignore the screen's pixel ratio.
function canvasContext(canvas, height = canvas.clientHeight) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const [pixels, rows] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== pixels) canvas.width = pixels;
  if (canvas.height !== rows) canvas.height = rows;
  if (canvas.style.height !== height + 'px') canvas.style.height = height + 'px';
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return {context, width, height};
}

const tip = {
  show(text, event) {
    const element = byId('tip');
    element.textContent = text;
    element.hidden = false;
    const {width, height} = element.getBoundingClientRect();
    element.style.left = clamp(event.clientX + 14, 4, innerWidth - width - 4) + 'px';
    const below = event.clientY + 18;
    element.style.top = (below + height < innerHeight ? below : event.clientY - height - 10) + 'px';
  },
  hide() { byId('tip').hidden = true; },
};
