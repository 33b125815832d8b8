// SPDX-License-Identifier: BSD-2-Clause
//
// Facts about the recording, in figures and tables.

const MOST_LINES = 500;  // of a table; the page says how many more there are

function factOf([name, value, className]) {
  const fact = make('div');
  fact.append(make('dt', name), make('dd', value, className));
  return fact;
}

// `columns`: [title, whether it is a number]. `lines`: cells, each a text or an element.
function fillTable(table, columns, lines) {
  const head = make('tr');
  for (const [title, isNumber] of columns) {
    const cell = make('th', title, isNumber ? 'number' : '');
    cell.scope = 'col';
    head.append(cell);
  }
  table.tHead.replaceChildren(head);
  const rows = lines.slice(0, MOST_LINES).map(cells => lineOf(columns, cells));
  if (lines.length > MOST_LINES) rows.push(moreLine(columns, lines.length - MOST_LINES));
  table.tBodies[0].replaceChildren(...rows);
}

function lineOf(columns, cells) {
  const row = make('tr');
  cells.forEach((content, i) => {
    const cell = make('td', undefined, columns[i][1] ? 'number' : content.nodeType ? 'name' : '');
    cell.append(content);
    row.append(cell);
  });
  return row;
}

function moreLine(columns, count) {
  const cell = make('td', `and ${countText(count)} more`, 'muted');
  cell.colSpan = columns.length;
  const row = make('tr');
  row.append(cell);
  return row;
}

function showOverview(trace, choose) {
  const {facts} = trace;
  const name = trace.file.split('/').at(-1) || trace.file;
  document.title = `${name} – tracectl`;
  byId('title').textContent = name;
  byId('subtitle').textContent =
    `${trace.file === name ? '' : trace.file + ', '}${bytesText(facts.file_bytes)}, ` +
    (facts.events ? `recorded ${wallTime(trace, 0).replace(/\.\d+/, '')}` : 'without events');
  const processes = new Set(trace.threads.map(thread => thread.pid)).size;
  byId('facts').replaceChildren(...[
    ['Events', countText(facts.events)], ['Duration', durationText(facts.duration_ns)],
    ['Probes', countText(trace.probes.length)], ['Processes', countText(processes)],
    ['Threads', countText(trace.threads.length)], ['CPUs', countText(trace.cpus.length)],
    ['Lost', countText(facts.lost), facts.lost ? 'warn' : ''],
  ].map(factOf));
  byId('facts').dataset.events = facts.events;
  byId('reason').textContent = trace.reason && `Dumped because ${trace.reason}.`;
  showNotices(facts);
  showProbes(trace, choose);
  showThreads(trace);
  fillTable(byId('cpus'), [['CPU'], ['Events', true]],
    trace.cpus.map(one => [String(one.cpu), countText(one.events)]));
}

function showNotices(facts) {
  const notices = [];
  if (facts.left_out_items)
    notices.push(`This page has the first calls and hits only: ${countText(facts.left_out_items)} ` +
      'that came later are counted here, and drawn nowhere.');
  if (facts.left_out_stacks)
    notices.push(`${pluralText(facts.left_out_stacks, 'event')} are without their stacks: ` +
      'there are very many.');
  if (facts.left_out_texts)
    notices.push(`${pluralText(facts.left_out_texts, 'text')} left out: all of them would be too large.`);
  if (facts.lost)
    notices.push(`${pluralText(facts.lost, 'event')} were lost, so calls and hits are missing here, ` +
      'or have no end.');
  byId('notices').replaceChildren(...notices.map(text => make('p', text, 'notice')));
}

function probeCell(probe, choose) {
  const cell = document.createDocumentFragment();
  const swatch = make('span', undefined, 'swatch');
  theme.changed.push(() => { swatch.style.background = theme.slice(probe.index); });
  swatch.style.background = theme.slice(probe.index);
  const button = make('button', probe.name, 'link');
  button.type = 'button';
  button.title = 'Find it in the timeline, and show its latency';
  button.addEventListener('click', () => choose(probe));
  cell.append(swatch, button, make('span', probe.pattern, 'where'));
  return cell;
}

function showProbes(trace, choose) {
  const sums = timedProbes(trace);
  const columns = [['Probe'], ['Events', true], ['Hits', true], ['Returns', true],
    ['Unwound', true], ['Total', true], ['Average', true], ['Greatest', true]];
  const probes = [...trace.probes].sort((a, b) => b.events - a.events);
  fillTable(byId('probes'), columns, probes.map(probe => {
    const {count, total, greatest} = sums[probe.index];
    const times = count ? [total, total / count, greatest].map(durationText) : ['–', '–', '–'];
    return [probeCell(probe, choose), countText(probe.events), countText(probe.hits),
      countText(probe.returned + probe.latency), countText(probe.unwound), ...times];
  }));
}

function showThreads(trace) {
  const counts = new Float64Array(trace.threads.length);
  for (let i = 0; i < trace.count; ++i) ++counts[trace.items.thread[i]];
  fillTable(byId('threads'), [['Name'], ['Thread', true], ['Process', true], ['Calls and hits', true]],
    trace.threads.map((thread, i) =>
      [thread.comm, String(thread.tid), String(thread.pid), countText(counts[i])]));
}
