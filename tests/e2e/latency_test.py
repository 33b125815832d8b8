# SPDX-License-Identifier: BSD-2-Clause
"""The time from one probe to another on the command line, compared with what the program knows of its own
requests (tests/targets/requests.cpp), and with bpftrace."""

import json
import re
import subprocess
import unittest

import support
from support import target

BEGIN, END = 'usdt::requests:begin', 'usdt::requests:end'
PAIR = ('--from', BEGIN, '--to', END, '--by', 'arg0')


@support.needs_root
class Latencies(support.DaemonTest):
    one_daemon = True

    def measured(self, *words):
        """The program's report, and the output of tracectl after it."""
        done = self.daemon.run(*words, '--', target('requests'), '2', '700', input='go\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        _, _, said, printed = done.stdout.split('\n', 3)
        return json.loads(said), printed

    def assert_counts(self, latency, said):
        self.assertEqual([latency[name] for name in ('started', 'matched', 'overwritten', 'open',
                                                     'unmatched', 'unread', 'dropped')],
                         [said[name] for name in ('begun', 'matched', 'overwritten', 'open',
                                                  'unmatched')] + [0, 0])

    def test_times_and_counts_are_the_programs_own(self):
        said, printed = self.measured('--json', 'latency', *PAIR, '--slowest', '3')
        read = json.loads(printed)
        row, = read['rows']
        self.assertEqual((row['of'], row['count']), ('duration', said['matched']))
        self.assertNotIn('self', row)
        self.assertGreaterEqual(row['sum'], said['inner'])
        self.assertLessEqual(row['sum'], said['outer'])
        self.assertAlmostEqual(row['avg'], row['sum'] / row['count'], delta=1e-3)
        self.assertEqual(sum(bucket['count'] for bucket in row['hist']), row['count'])
        latency, = read['latencies']
        self.assert_counts(latency, said)
        bounds = {number: (least, most) for number, least, most, *_ in said['longest']}
        self.assertEqual(len(latency['slowest']), 3)
        for slow in latency['slowest']:
            least, most = bounds.pop(slow['by']['arg0'])
            self.assertTrue(least <= slow['duration'] <= most)
        self.assertLessEqual(max(least for least, _ in bounds.values()),
                             latency['slowest'][-1]['duration'])

    def test_rows_are_per_what_is_known_at_the_end(self):
        said, printed = self.measured('--json', 'latency', *PAIR, '--per', 'arg0 & 1, str(arg1, 1)')
        rows = json.loads(printed)['rows']
        self.assertEqual({tuple(row['by'].values()) for row in rows}, {(0, 'r'), (1, 'r')})
        self.assertEqual(sum(row['count'] for row in rows), said['matched'])
        total = sum(row['sum'] for row in rows)
        self.assertTrue(said['inner'] <= total <= said['outer'])

    def test_what_is_printed(self):
        said, printed = self.measured('latency', *PAIR)
        self.assertRegex(printed, r'^COUNT +TOTAL +AVG +MIN +P50 +P90 +P99 +MAX  PROBE\n *%d ' % said['matched'])
        self.assertIn(f'\nfrom {BEGIN}\nto {END}, by arg0:\n{said["begun"]} started, '
                      f'{said["matched"]} matched, {said["open"]} without an end, '
                      f'{said["overwritten"]} started again before it; '
                      f'{said["unmatched"]} ends without a start\n', printed)
        self.assertRegex(printed, r'\nSLOWEST +arg0 +FROM TID +TO TID +ENDED\n')
        self.assertEqual(len(re.findall(r'^ *[\d.]+ ms +\d+ +\d+ +\d+ +\d+\.\d{6} s$', printed,
                                        re.M)), 5)

    def test_the_slow_ones_are_streamed(self):
        # Not as its child, whose own long line could be mixed with those of tracectl.
        program = self.program('requests', '2', '700')
        with subprocess.Popen(
                [support.TRACECTL, '--socket', self.daemon.socket, '--json', 'trace', END, '--from',
                 BEGIN, '--by', 'arg0', '--when', 'duration > 5000000', '--do',
                 'event(duration, str(arg1))', '-p', str(program.pid)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as trace:
            self.assertTrue(any('^C' in line for line in trace.stderr))
            program.send('go')
            said = program.result()
            program.send('exit')
            printed, log = trace.communicate(timeout=60)
        self.assertEqual(trace.returncode, 0, log)
        events = [json.loads(line) for line in printed.splitlines()]
        surely = [number for number, least, *_ in said['longest'] if least > 5000000]
        perhaps = [number for number, _, most, *_ in said['longest'] if most > 5000000]
        names = {event['args'][1] for event in events}
        self.assertTrue({f'r{number}' for number in surely} <= names)
        self.assertTrue(names <= {f'r{number}' for number in perhaps})
        for event in events:
            self.assertEqual((event['kind'], event['duration']), ('latency', event['args'][0]))
            self.assertNotIn('retval', event)

    def test_a_session_keeps_them(self):
        program = self.program('requests', '2', '700')
        self.daemon.json('session', 'new', 's')
        self.daemon.json('stage', 's', 'set', END, '--from', BEGIN, '--by', ' str( arg1 ),pid',
                         '--do', 'count', '-p', str(program.pid))
        self.daemon.json('commit', 's')
        program.send('go')
        said = program.result()
        read = self.daemon.json('read', 's')
        self.assert_counts(read['latencies'][0], said)
        self.assertEqual([row['count'] for row in read['rows']], [said['matched']])
        shown, = self.daemon.json('session', 'show', 's')['settings']
        self.assertEqual((shown['from'], shown['by'], shown['slowest']),
                         (BEGIN, 'str(arg1), pid', 5))
        self.assertIn(f'count from {BEGIN} by str(arg1), pid',
                      self.daemon.run('session', 'show', 's').stdout)
        self.daemon.json('stage', 's', 'remove', END)
        self.assertEqual(self.daemon.json('commit', 's')['sites'], 0)
        self.assertFalse(support.text_differs(program.pid, target('requests')))
        self.assert_counts(self.daemon.json('read', 's')['latencies'][0], said)

    def test_what_cannot_be_is_refused(self):
        words = ('latency', '-p', str(self.program('requests', '1', '1').pid), '--to', END)
        for more, text in (((), '--from is required'),
                           (('--from', BEGIN, '--by', 'duration'), 'not known at the start'),
                           (('--from', BEGIN, '--by', 'arg9'), 'arg9'),
                           (('--from', BEGIN, '--by', 'arg0, pud'), '\n  arg0, pud\n        ^\n'),
                           (('--from', 'usdt::requests:none'), 'no USDT probe matches'),
                           (('--from', 'ur::request_begins'), 'no uretprobe'),
                           (('--from', BEGIN, '--when', 'retval == 0'), 'no return between')):
            with self.subTest(more=more):
                done = self.daemon.run(*words, *more)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(text, done.stderr)

    def test_pauses_of_pythons_garbage_collector(self):
        code = 'import gc\nfor i in range(50): gc.collect()'
        read = self.daemon.json('latency', '--from', 'usdt::python:gc__start', '--to',
                                'usdt::python:gc__done', '--', '/usr/bin/python3', '-c', code)
        latency, = read['latencies']
        self.assertGreaterEqual(latency['matched'], 50)
        self.assertEqual(latency['matched'] * 2, read['total_hits'])
        self.assertEqual(latency['open'] + latency['overwritten'] + latency['unmatched'], 0)


@support.needs_root
class Bpftrace(support.DaemonTest):
    SCRIPT = """
    usdt:PATH:requests:begin /pid == PID/ {
        @begun = count(); if (@start[arg0]) { @overwritten = count(); } @start[arg0] = nsecs;
    }
    usdt:PATH:requests:end /pid == PID/ {
        if (@start[arg0]) {
            @matched = count(); @total = sum(nsecs - @start[arg0]); delete(@start[arg0]);
        } else { @unmatched = count(); }
    }
    END { clear(@start); }"""

    def test_matches_the_same(self):
        theirs, read, said = self.beside_bpftrace(
            self.SCRIPT, 2, 'requests', '2', '700',
            setting=(END, '--from', BEGIN, '--by', 'arg0', '--do', 'time'))
        numbers = {name: int(number) for name, number in re.findall(r'^@(\w+): (\d+)$', theirs, re.M)}
        latency, = read['latencies']
        self.assertEqual([numbers[name] for name in ('begun', 'matched', 'overwritten', 'unmatched')],
                         [latency[name] for name in ('started', 'matched', 'overwritten',
                                                     'unmatched')])
        # Both measured times are within the program's own.
        for total in (numbers['total'], read['rows'][0]['sum']):
            self.assertTrue(said['inner'] <= total <= said['outer'])


if __name__ == '__main__':
    unittest.main()
