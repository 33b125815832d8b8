// SPDX-License-Identifier: BSD-2-Clause
//
// Finds the items with a text in their name, arguments or results. All texts are searched as one long string,
// and each match is then mapped to its text.

class Search {
  constructor(trace, lanes) {
    this.trace = trace;
    this.lanes = lanes;
    this.clear();
  }

  clear() {
    this.isActive = false;
    this.wanted = '';
    this.matches = new Uint32Array(0);  // items, in the order of time
    this.before = null;                 // the number of matches before each place of `lanes`
  }

  find(text) {
    this.clear();
    if (!text) return;
    this.isActive = true;
    const wanted = this.wanted = text.toLowerCase();
    const probes = this.trace.probes.map(probe =>
      probe.name.toLowerCase().includes(wanted) || probe.pattern.toLowerCase().includes(wanted));
    this.collect(probes, this.textsWith(text));
  }

  // One character per byte, so positions in it are byte offsets.
  get haystack() {
    return this.text ??= new TextDecoder('latin1').decode(this.trace.details.bytes).toLowerCase();
  }

  textsWith(text) {
    const bytes = new TextEncoder().encode(text);
    const wanted = new TextDecoder('latin1').decode(bytes).toLowerCase();
    const begins = this.trace.details.begins;
    const found = new Uint8Array(begins.length - 1);
    let at = this.haystack.indexOf(wanted);
    while (at >= 0) {
      // The last text that begins at or before the match.
      const number = lowerBound(begins, at + 1, 0, begins.length) - 1;
      const isWithin = at + wanted.length <= begins[number + 1];
      if (isWithin) found[number] = 1;
      at = this.haystack.indexOf(wanted, isWithin ? begins[number + 1] : at + 1);
    }
    return found;
  }

  collect(probes, texts) {
    const {items, count} = this.trace;
    const isMatch = new Uint8Array(count);
    let matches = 0;
    for (let i = 0; i < count; ++i) {
      isMatch[i] = probes[items.probe[i]] || texts[items.arguments[i]] ||
        texts[items.result[i]] || texts[items.tag[i]] ? 1 : 0;
      matches += isMatch[i];
    }
    this.matches = new Uint32Array(matches);
    for (let i = 0, next = 0; i < count; ++i) if (isMatch[i]) this.matches[next++] = i;
    this.sumUp(isMatch);
  }

  sumUp(isMatch) {
    const {order} = this.lanes;
    this.before = new Uint32Array(order.length + 1);
    for (let i = 0; i < order.length; ++i) this.before[i + 1] = this.before[i] + isMatch[order[i]];
  }

  // One of the places from `low` to before `high` matches.
  isAmong(low, high) {
    return this.before[high] > this.before[low];
  }

  firstAmong(low, high) {
    return lowerBound(this.before, this.before[low] + 1, low, high + 1) - 1;
  }
}
