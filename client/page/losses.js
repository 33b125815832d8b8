// SPDX-License-Identifier: BSD-2-Clause
//
// What the recording does not have: events lost while it was made, and unreadable parts of the file.

function damageTexts(facts) {
  const texts = [];
  if (facts.unknown_end) {
    texts.push('Its end is unknown, and later events may be missing: it was still being recorded, or its writer was killed.');
  }
  const tell = (count, noun, rest) => { if (count) texts.push(pluralText(count, noun) + rest); };
  tell(facts.unfinished_bytes, 'byte', ' at the end of the file are incomplete: its writer was killed, or was still writing.');
  tell(facts.damaged_bytes, 'byte', ' of the file are damaged, and left out.');
  tell(facts.damaged_blocks, 'block', ` of it with ${pluralText(facts.damaged_records, 'event')} ` +
    'cannot be read, and are left out.');
  tell(facts.unknown_parts, 'part', ' of it are of kinds that only a newer tracectl knows.');
  return texts;
}

function timeCell(loss, timeline) {
  const button = make('button', exactTime(loss.time), 'link');
  button.type = 'button';
  button.title = 'Show this moment in the timeline';
  button.addEventListener('click', () => {
    timeline.show(loss.time - timeline.span / 2, loss.time + timeline.span / 2);
    byId('timeline').scrollIntoView();
  });
  return button;
}

function showLosses(trace, timeline) {
  const {facts, losses} = trace;
  const damage = damageTexts(facts);
  const whole = damage.length ? '' : ' The file is whole.';
  byId('losses-summary').textContent = facts.lost
    ? `${pluralText(facts.lost, 'event')} were lost while this was recorded, in ` +
      `${pluralText(losses.length + facts.left_out_losses, 'place')}.${whole}`
    : (facts.unknown_end ? 'No event is known to be lost.'
      : `No event was lost while this was recorded.${whole}`);
  byId('damage').replaceChildren(...damage.map(text => make('li', text)));
  byId('losses-frame').hidden = !losses.length;
  new SortedTable(byId('loss-table'), [['Since'], ['Cause'], ['CPU', true], ['Events', true]],
    losses.map(loss => [cellOf(timeCell(loss, timeline), loss.time), cellOf(loss.cause),
      loss.cpu === null ? cellOf('–', -1) : cellOf(String(loss.cpu), loss.cpu),
      countCell(loss.count)]));
}
