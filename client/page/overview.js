// SPDX-License-Identifier: BSD-2-Clause
//
// Facts about the recording, in figures and tables.

const MOST_LINES = 500;  // of a table; the page says how many more there are

function factOf([name, value, className]) {
  const fact = make('div');
  fact.append(make('dt', name), make('dd', value, className));
  return fact;
}

// A cell of a table: what is shown, a text or an element, and by which value lines are sorted.
const cellOf = (shown, value = shown) => ({shown, value});
const countCell = count => cellOf(countText(count), count);
const NO_TIME = cellOf('–', -1);

// A table whose lines are sorted by the column whose title is clicked, and the other way round by the next click.
class SortedTable {
  // `columns`: [title, whether it is a number]. `lines`: their cells.
  constructor(table, columns, lines) {
    Object.assign(this, {table, columns, lines: [...lines], rows: new Map()});
    const head = make('tr');
    this.titles = columns.map((column, i) => this.titleOf(column, i));
    head.append(...this.titles);
    table.tHead.replaceChildren(head);
    this.show();
  }

  titleOf([title, isNumber], i) {
    const cell = make('th', undefined, isNumber ? 'number' : '');
    cell.scope = 'col';
    const button = make('button', title, 'sorter');
    button.type = 'button';
    button.addEventListener('click', () => this.sortBy(i));
    cell.append(button);
    return cell;
  }

  // At first texts from A on, and numbers from the greatest on.
  sortBy(column) {
    this.isDown = this.column === column ? !this.isDown : this.columns[column][1];
    this.column = column;
    const compare = (a, b) => (typeof a === 'number' ? a - b : String(a).localeCompare(String(b)));
    this.lines.sort((a, b) => (this.isDown ? -1 : 1) * compare(a[column].value, b[column].value));
    this.titles.forEach((title, i) => title.removeAttribute('aria-sort'));
    this.titles[column].setAttribute('aria-sort', this.isDown ? 'descending' : 'ascending');
    this.show();
  }

  show() {
    const shown = this.lines.slice(0, MOST_LINES).map(cells => this.rowOf(cells));
    const more = this.lines.length - shown.length;
    if (more) shown.push(moreLine(this.columns, more));
    this.table.tBodies[0].replaceChildren(...shown);
  }

  rowOf(cells) {
    if (!this.rows.has(cells)) this.rows.set(cells, lineOf(this.columns, cells));
    return this.rows.get(cells);
  }
}

function lineOf(columns, cells) {
  const row = make('tr');
  cells.forEach(({shown}, i) => {
    const cell = make('td', undefined, columns[i][1] ? 'number' : shown.nodeType ? 'name' : '');
    cell.append(shown);
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
  new SortedTable(byId('cpus'), [['CPU'], ['Events', true]],
    trace.cpus.map(one => [cellOf(String(one.cpu), one.cpu), countCell(one.events)]));
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
  const table = new SortedTable(byId('probes'), columns, probes.map(probe => {
    const {count, total, greatest} = sums[probe.index];
    const times = count
      ? [total, total / count, greatest].map(time => cellOf(durationText(time), time))
      : [NO_TIME, NO_TIME, NO_TIME];
    return [cellOf(probeCell(probe, choose), probe.name), countCell(probe.events),
      countCell(probe.hits), countCell(probe.returned + probe.latency), countCell(probe.unwound),
      ...times];
  }));
  if (sums.some(sum => sum.count)) table.sortBy(columns.findIndex(([title]) => title === 'Total'));
}

function showThreads(trace) {
  const counts = new Float64Array(trace.threads.length);
  for (let i = 0; i < trace.count; ++i) ++counts[trace.items.thread[i]];
  new SortedTable(byId('threads'),
    [['Name'], ['Thread', true], ['Process', true], ['Calls and hits', true]],
    trace.threads.map((thread, i) => [cellOf(thread.comm), cellOf(String(thread.tid), thread.tid),
      cellOf(String(thread.pid), thread.pid), countCell(counts[i])]));
}
