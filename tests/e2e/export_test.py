# SPDX-License-Identifier: BSD-2-Clause
"""Recordings in the formats of other tools, read by those tools."""

import collections
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import support

CORPUS = support.ROOT / 'tests/recordings'
CALLS = CORPUS / 'v1-calls.tct'
EVENTS = CORPUS / 'v1-events.tct'
COMPRESSED = CORPUS / 'v1-compressed.tct'
ALL = CALLS, EVENTS, COMPRESSED
PROTO = support.ROOT / 'tests/e2e/perfetto.proto'


def output_of(*words, stderr=subprocess.PIPE, **options):
    """The output of a tool, which must not complain."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=stderr, timeout=120, **options)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def items_of(file):
    done = support.run('--json', '-q', 'show', str(file))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def calls_of(items):
    """Each call with a beginning and an end: its thread, function, begin and end."""
    begun, calls = {}, []
    for item in items:
        if 'call' not in item:
            continue
        key = item['tid'], item['call']
        if item['kind'] == 'hit':
            begun[key] = item['ts']
        else:
            calls.append((item['tid'], item['probe'].split(':')[-1], begun.pop(key), item['ts']))
    return sorted(calls), begun


class ExportTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def exported(self, file, to):
        """Exports the recording to that format, and returns the path."""
        path = self.directory / to
        done = support.run('export', str(file), '--to', to, '-o', str(path))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, rf'^{path}: \d+ events?, 0 lost\n$')
        return path


class Ctf(ExportTest):
    LINE = re.compile(r'\[(\d+)\] (.*): \{ cpu_id = (\d+) \}, '
                      r'\{ vpid = (\d+), vtid = (\d+), procname = "(.*?)" \}, \{ (.*) \}$')

    def read(self, directory):
        lines = output_of('babeltrace2', '--no-delta', '--clock-cycles', directory).decode()
        matches = [(line, self.LINE.match(line)) for line in lines.splitlines()]
        self.assertEqual([line for line, match in matches if not match], [])
        return [match.groups() for _, match in matches]

    def test_has_every_event_and_its_time(self):
        for file in ALL:
            with self.subTest(file=file.name):
                read = self.read(self.exported(file, 'ctf'))
                of_babeltrace = sorted((int(ts), int(cpu), int(pid), int(tid), comm, name)
                                       for ts, name, cpu, pid, tid, comm, _ in read)
                suffix = lambda item: '' if item['kind'] == 'hit' else ' ' + item['kind']
                ours = sorted((item['ts'], item['cpu'], item['pid'], item['tid'], item['comm'],
                               item['probe'] + suffix(item)) for item in items_of(file))
                self.assertEqual(of_babeltrace, ours)
                subprocess.run(['rm', '-r', self.directory / 'ctf'], check=True)

    def test_has_what_the_events_have(self):
        for file in EVENTS, COMPRESSED:
            with self.subTest(file=file.name):
                items = {item['ts']: item for item in items_of(file)}
                for ts, *_, fields in self.read(self.exported(file, 'ctf')):
                    item = items[int(ts)]
                    # The names of a number precede it: ( "RED" : container = 1 ).
                    numbers = [int(number, 0) for number in
                               re.findall(r'(?:^|, |container = )(?:[a-z]\w* = )?'
                                          r'(-?(?:0x)?[0-9A-F]+)(?=,| |$)', fields.split('stack_')[0])]
                    for value in item['args']:
                        if isinstance(value, int):
                            self.assertIn(value & (2**64 - 1), [n & (2**64 - 1) for n in numbers],
                                          fields)
                        elif isinstance(value, str):
                            self.assertIn(json.dumps(value), fields)
                    for frame in item.get('stack', []):
                        self.assertIn(frame['function'], fields)
                subprocess.run(['rm', '-r', self.directory / 'ctf'], check=True)

    def test_times_are_those_of_the_day(self):
        seconds = output_of('babeltrace2', '--clock-seconds', '--no-delta',
                            self.exported(CALLS, 'ctf')).decode().splitlines()[0]
        wall = min(items_of(CALLS), key=lambda item: item['ts'])['wall']
        expected = output_of('date', '-u', '-d', wall, '+%s.%N').decode().strip()
        self.assertTrue(seconds.startswith(f'[{expected}]'), (seconds, expected))


def parse_messages(lines):
    """The text format of protoc as a dict of lists."""
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == '}':
            break
        if line.endswith(' {'):
            message[line[:-2]].append(parse_messages(lines))
        else:
            name, value = line.split(': ', 1)
            message[name].append(value.strip('"') if not re.fullmatch(r'-?\d+', value)
                                 else int(value))
    return message


class Perfetto(ExportTest):
    def packets(self, file):
        with open(self.exported(file, 'perfetto'), 'rb') as data:
            text = output_of('protoc', '--decode=Trace', f'-I{PROTO.parent}', PROTO, stdin=data)
        # A field that is missing in the schema would appear with its number.
        self.assertIsNone(re.search(rb'^\s*\d+[:{ ]', text, re.MULTILINE))
        return parse_messages(iter(text.decode().splitlines()))['packet']

    def spans(self, packets):
        """Spans as Perfetto makes them: in time order, an end is that of the innermost span of a track."""
        tracks = {}
        for packet in packets:
            for track in packet['track_descriptor']:
                for thread in track['thread']:
                    tracks[track['uuid'][0]] = thread['tid'][0]
        open_spans, spans, instants = collections.defaultdict(list), [], 0
        events = [packet for packet in packets if packet['track_event']]
        for packet in sorted(events, key=lambda packet: packet['timestamp'][0]):
            event, ts = packet['track_event'][0], packet['timestamp'][0]
            track = event['track_uuid'][0]
            if event['type'] == ['TYPE_SLICE_BEGIN']:
                open_spans[track].append((tracks[track], event['name'][0], ts))
            elif event['type'] == ['TYPE_SLICE_END']:
                spans.append((*open_spans[track].pop(), ts))
            else:
                instants += 1
        self.assertFalse(any(open_spans.values()))
        return sorted(spans), instants

    def test_calls_are_spans(self):
        items = items_of(CALLS)
        calls, without_end = calls_of(items)
        spans, instants = self.spans(self.packets(CALLS))
        last = max(item['ts'] for item in items)
        # Calls that had not ended last until the end of the recording.
        open_calls = [span for span in spans if span[3] == last and span not in calls]
        self.assertEqual(len(open_calls), len(without_end))
        self.assertEqual([span for span in spans if span not in open_calls], calls)
        self.assertEqual(instants, sum('call' not in item for item in items))

    def test_other_events_are_instants(self):
        packets = self.packets(EVENTS)
        hits = [item for item in items_of(EVENTS) if item['kind'] == 'hit']
        _, instants = self.spans(packets)
        self.assertEqual(instants, len(hits))
        times = sorted(packet['timestamp'][0] for packet in packets if packet['track_event'] and
                       packet['track_event'][0]['type'] == ['TYPE_INSTANT'])
        self.assertEqual(times, sorted(item['ts'] for item in hits))
        clocks = packets[0]['clock_snapshot'][0]['clocks']
        self.assertEqual([clock['clock_id'][0] for clock in clocks], [6, 1])


class Chrome(ExportTest):
    def test_calls_are_complete_events(self):
        items = items_of(CALLS)
        calls, without_end = calls_of(items)
        events = json.loads(self.exported(CALLS, 'chrome').read_text())['traceEvents']
        ns = lambda us: round(us * 1000)
        spans = sorted((event['tid'], event['name'], ns(event['ts']), ns(event['ts']) +
                        ns(event['dur'])) for event in events
                       if event['ph'] == 'X' and event['args'].get('end') != 'not seen')
        self.assertEqual(spans, calls)
        self.assertEqual(sum(event['ph'] == 'X' for event in events),
                         len(calls) + len(without_end))
        threads = {event['tid'] for event in events if event['name'] == 'thread_name'}
        self.assertEqual(threads, {item['tid'] for item in items})

    def test_arguments_are_there(self):
        events = json.loads(self.exported(EVENTS, 'chrome').read_text())['traceEvents']
        instants = sorted((event for event in events if event['ph'] == 'i'),
                          key=lambda event: event['ts'])
        hits = [item for item in items_of(EVENTS) if item['kind'] == 'hit']
        self.assertEqual(len(instants), len(hits))
        for event, item in zip(instants, hits):
            self.assertEqual(list(event['args'].values())[:len(item['args'])], item['args'])


class Sums(ExportTest):
    def test_folded_is_that_of_report(self):
        done = support.run('report', str(CALLS), '--folded')
        self.assertEqual(self.exported(CALLS, 'folded').read_text(), done.stdout)

    def test_stacks_are_counted(self):
        folded = self.exported(EVENTS, 'folded').read_text()
        counts = {way: int(count) for way, _, count in
                  (line.rpartition(' ') for line in folded.splitlines())}
        expected = collections.Counter(
            ';'.join(frame['function'] for frame in reversed(item['stack']))
            for item in items_of(EVENTS) if 'stack' in item)
        self.assertGreater(len(expected), 0)
        self.assertEqual(counts, expected)

    def test_a_flame_graph_shows_each_way(self):
        root = xml.etree.ElementTree.parse(self.exported(CALLS, 'flamegraph')).getroot()
        names = {title.text.split(' (')[0] for title in root.iter('{http://www.w3.org/2000/svg}title')}
        folded = support.run('report', str(CALLS), '--folded').stdout
        self.assertEqual(names, {'all'} | {name for line in folded.splitlines()
                                           for name in line.rpartition(' ')[0].split(';')})

    def pprof(self, file, index):
        text = output_of('go', 'tool', 'pprof', '-raw', f'-sample_index={index}',
                         self.exported(file, 'pprof'),
                         env={**os.environ, 'HOME': str(self.directory)}, stderr=subprocess.DEVNULL)
        text = text.decode()
        samples = text.split('Samples:\n')[1].split('Locations\n')[0].splitlines()
        kinds, *rows = samples
        values = [[int(n) for n in row.split(':')[0].split()] for row in rows if ':' in row]
        return kinds, [sum(column) for column in zip(*values)]

    def test_pprof_has_the_calls_and_their_time(self):
        kinds, sums = self.pprof(CALLS, 'time')
        self.assertIn('calls/count time/nanoseconds', kinds)
        report = json.loads(support.run('--json', 'report', str(CALLS)).stdout)['functions']
        self.assertEqual(sums, [sum(row['calls'] for row in report),
                                sum(row['self_ns'] for row in report)])

    def test_pprof_counts_stacks(self):
        kinds, sums = self.pprof(EVENTS, 'hits')
        self.assertIn('hits/count', kinds)
        self.assertEqual(sums, [sum('stack' in item for item in items_of(EVENTS))])

    def test_without_calls_and_stacks_there_is_no_sum(self):
        file = self.directory / 'none.tct'
        file.write_bytes(CALLS.read_bytes()[:64])
        for to in 'folded', 'flamegraph', 'pprof':
            with self.subTest(to=to):
                done = support.run('export', str(file), '--to', to, '-o', str(self.directory / to))
                self.assertEqual(done.returncode, 1)
                self.assertIn('neither calls nor stacks', done.stderr)
                self.assertEqual(os.listdir(self.directory), ['none.tct'])


class Lines(ExportTest):
    def test_json_lines_are_those_of_show(self):
        for file in ALL:
            shown = support.run('--json', '-q', 'show', str(file)).stdout
            self.assertEqual(self.exported(file, 'jsonl').read_text(), shown)

    def test_csv_has_a_row_for_each_event(self):
        for file in ALL:
            with self.subTest(file=file.name):
                rows = list(csv.DictReader(io.StringIO(self.exported(file, 'csv').read_text())))
                items = items_of(file)
                self.assertEqual(len(rows), len(items))
                for row, item in zip(rows, items):
                    for name in 'ts', 'wall', 'kind', 'cpu', 'pid', 'tid', 'comm', 'probe':
                        self.assertEqual(row[name], str(item[name]))
                    for i, value in enumerate(item['args']):
                        self.assertEqual(row[f'arg{i}'], '' if value is None else str(value))
                    self.assertEqual(row['stack'].count('\n'), max(0, len(item.get('stack', [])) - 1))

    def test_goes_to_standard_output(self):
        done = support.run('-q', 'export', str(CALLS), '--to', 'csv', '-o', '-')
        self.assertEqual(done.stdout, self.exported(CALLS, 'csv').read_text())


class Verb(ExportTest):
    def test_lists_the_formats(self):
        done = support.run('export', '--to')
        self.assertEqual(done.returncode, 0)
        names = [line.split()[0] for line in done.stdout.splitlines()[1:]]
        self.assertEqual(names[:2], ['ctf', 'perfetto'])
        self.assertEqual(json.loads(support.run('--json', 'export', '--to').stdout),
                         {'formats': names})

    def test_refuses_what_makes_no_sense(self):
        out = str(self.directory / 'out')
        for words, expected in [(['--to', 'xml', '-o', out], 'no format "xml"'),
                                (['--to', 'ctf'], '-o DIRECTORY'), (['--to', 'csv'], '-o FILE'),
                                (['--to', 'ctf', '-o', '-'], 'directory')]:
            done = support.run('export', str(CALLS), *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(expected, done.stderr)
        self.assertEqual(os.listdir(self.directory), [])

    def test_does_not_take_the_place_of_its_recording(self):
        file = self.directory / 'out.tct'
        file.write_bytes(CALLS.read_bytes())
        done = support.run('export', str(file), '--to', 'csv', '-o', str(file))
        self.assertEqual(done.returncode, 1)
        self.assertIn('is the trace file', done.stderr)
        self.assertEqual(file.read_bytes(), CALLS.read_bytes())

    def test_a_link_stays_and_its_file_is_written(self):
        there, link = self.directory / 'there', self.directory / 'link'
        there.mkdir()
        out = there / 'out.csv'
        out.write_text('before')
        link.symlink_to('second')
        (self.directory / 'second').symlink_to('there/out.csv')
        self.assertEqual(self.export(link).returncode, 0)
        self.assertTrue(link.is_symlink())
        self.assertEqual(out.read_text(), self.exported(CALLS, 'csv').read_text())
        self.assertEqual(os.listdir(there), ['out.csv'])

    def test_a_link_to_nothing_is_refused(self):
        link = self.directory / 'link'
        link.symlink_to('nowhere')
        done = self.export(link)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'the link {link} points to: No such file', done.stderr)
        self.assertEqual(os.listdir(self.directory), ['link'])

    def test_a_file_without_a_name_gets_what_is_written(self):
        with tempfile.TemporaryFile('w+') as file:
            support.run('-q', 'export', str(CALLS), '--to', 'csv', '-o', f'/dev/fd/{file.fileno()}',
                        pass_fds=[file.fileno()])
            self.assertEqual(file.read(), self.exported(CALLS, 'csv').read_text())

    def export(self, out):
        return support.run('export', str(CALLS), '--to', 'csv', '-o', str(out))

    def test_nothing_is_left_of_one_that_is_killed(self):
        exporting = subprocess.Popen([support.TRACECTL, 'export', str(CALLS), '--to', 'csv', '-o',
                                      str(self.directory / 'out.csv')])
        exporting.kill()
        exporting.wait()
        self.assertEqual(set(os.listdir(self.directory)) - {'out.csv'}, set())

    def test_leaves_what_is_there_until_it_is_whole(self):
        out = self.directory / 'out'
        out.write_text('before')
        broken = self.directory / 'broken.tct'
        broken.write_bytes(b'no trace file')
        done = support.run('export', str(broken), '--to', 'csv', '-o', str(out))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(out.read_text(), 'before')
        self.assertEqual(sorted(os.listdir(self.directory)), ['broken.tct', 'out'])
        full = self.directory / 'full'
        full.mkdir()
        (full / 'something').touch()
        done = support.run('export', str(CALLS), '--to', 'ctf', '-o', str(full))
        self.assertEqual(done.returncode, 1)
        self.assertIn('not empty', done.stderr)
        self.assertEqual(os.listdir(full), ['something'])


if __name__ == '__main__':
    unittest.main()
