// SPDX-License-Identifier: BSD-2-Clause
//
// Reads the recording, makes the parts of the page and connects them.

// `views` are redrawn with the results.
function connectSearch(search, views, input) {
  let at = -1;
  const field = byId('search-text');
  const tell = () => {
    const total = search.matches.length;
    byId('search-count').textContent = !search.isActive ? ''
      : !total ? 'none' : at < 0 ? countText(total) : `${countText(at + 1)} of ${countText(total)}`;
    byId('timeline').dataset.matches = search.isActive ? total : '';
  };
  const find = () => {
    search.find(field.value.trim());
    at = -1;
    tell();
    for (const view of views) view.drawSoon();
  };
  const go = by => {
    const total = search.matches.length;
    if (!total) return;
    at = at < 0 && by < 0 ? total - 1 : (at + by + total) % total;
    tell();
    input.go(search.matches[at]);
  };
  let later;
  field.addEventListener('input', () => {
    clearTimeout(later);
    later = setTimeout(find, 150);
  });
  byId('search').addEventListener('submit', event => {
    event.preventDefault();
    clearTimeout(later);
    if (field.value.trim().toLowerCase() !== search.wanted) find();
    go(1);
  });
  byId('search-previous').addEventListener('click', () => go(-1));
  document.addEventListener('keydown', event => {
    if (event.key !== '/' || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName)) return;
    event.preventDefault();
    field.focus();
  });
  return text => {
    field.value = text;
    find();
  };
}

function tellRange(timeline) {
  const {from, to, span} = timeline;
  byId('range').textContent =
    `${timeText(from, span / 1000)} to ${timeText(to, span / 1000)}: ${durationText(span)}`;
  Object.assign(byId('timeline').dataset, {from, to});
}

function start() {
  theme.start();
  performance.mark('tracectl-begin');
  const trace = readTrace();
  performance.mark('tracectl-read');
  const lanes = new Lanes(trace);
  const search = new Search(trace, lanes);
  const timeline = new Timeline(trace, lanes, search);
  const map = new TimeMap(timeline, search);
  const input = new TimelineInput(timeline);
  const flame = new Flame(trace, timeline, search);
  const latency = new Latency(trace, timeline);
  const find = connectSearch(search, [timeline, map, flame], input);
  timeline.moved.push(() => tellRange(timeline));
  timeline.chose.push(item => {
    showDetails(trace, item);
    byId('timeline').dataset.chosen = item;
  });
  showOverview(trace, probe => {
    find(probe.name);
    latency.choose(probe.index);
    byId('timeline').scrollIntoView();
  });
  showLosses(trace, timeline);
  flame.build();
  latency.build();
  tellRange(timeline);
  // After the frame in which everything is drawn.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    performance.mark('tracectl-ready');
    document.documentElement.dataset.ready = '1';
  }));
}

start();
