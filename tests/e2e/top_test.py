# SPDX-License-Identifier: BSD-2-Clause
"""tracectl top, compared with what the programs count."""

import errno
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import unittest

import jsonschema
import support
from support import target

SCHEMA = json.loads((support.BUILD / 'protocol.schema.json').read_text())


def check(table):
    schema = {'$ref': '#/$defs/top', '$defs': SCHEMA['$defs']}
    jsonschema.validate(table, schema, cls=jsonschema.Draft202012Validator)


@support.needs_root
def terminal_text(descriptor):
    """All that was written to a terminal whose other side is closed: one read may return only a part of it."""
    text = b''
    while True:
        try:
            text += os.read(descriptor, 1 << 16)
        except OSError as end:
            assert end.errno == errno.EIO, end
            return text.decode()


class Top(support.DaemonTest):
    def start(self, *words):
        top = subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, 'top', *words],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(top.communicate)
        self.addCleanup(top.kill)
        return top

    def table(self, top):
        table = json.loads(top.stdout.readline())
        check(table)
        return table

    def end(self, top):
        top.send_signal(signal.SIGINT)
        _, said = top.communicate(timeout=60)
        self.assertEqual((top.returncode, said), (130, ''))

    def session(self, name, pattern, *choice, do='count'):
        self.daemon.json('session', 'new', name)
        self.daemon.json('stage', name, 'set', pattern, '--do', do, *choice)
        self.daemon.json('commit', name)

    def call(self, program, function, times):
        program.send(f'{function} {times}')
        self.assertEqual(program.result()['calls'], times)

    def sums(self, top, wanted):
        """The sums of all tables by session, process and probe, up to the table that reaches this many hits."""
        sums = {}
        while True:
            table = self.table(top)
            for row in table['rows']:
                key = row['session'], row.get('pid'), row['probe'].rsplit(':', 1)[1]
                hits, percent = sums.get(key, (0, 0))
                sums[key] = (hits + row['hits_per_second'] * table['seconds'],
                             percent + row['percent'] * table['seconds'])
            if round(sum(hits for hits, _ in sums.values())) >= wanted:
                return {key: (round(hits), percent) for key, (hits, percent) in sums.items()}

    def test_hits_are_the_programs_by_probe_session_and_process(self):
        first, second = self.program('hot'), self.program('hot')
        self.session('both', 'u::hot_*', '-p', str(first.pid), '-p', str(second.pid))
        self.session('all', 'u::hot_push', '-x', target('hot'))
        self.call(first, 'hot_push', 77)  # before it reads
        top = self.start('--json', '--interval', '50ms')
        self.table(top)
        self.call(first, 'hot_push', 1000)
        self.call(second, 'hot_push', 300)
        self.call(second, 'hot_nop5', 200)
        hits = {key: hits for key, (hits, _) in self.sums(top, 2800).items()}
        self.assertEqual(hits, {('both', first.pid, 'hot_push'): 1000,
                                ('both', second.pid, 'hot_push'): 300,
                                ('both', first.pid, 'hot_nop5'): 0,
                                ('both', second.pid, 'hot_nop5'): 200,
                                ('all', None, 'hot_push'): 1300})
        last = self.table(top)
        self.assertEqual({(row['session'], row.get('pid'), row.get('comm')): row['hits']
                          for row in last['rows'] if row['probe'].endswith('push')},
                         {('both', first.pid, 'hot'): 1077, ('both', second.pid, 'hot'): 300,
                          ('all', None, None): 1377})
        self.end(top)

    def test_of_a_process_counts_its_functions_without_a_session(self):
        program, other = self.program('hot'), self.program('hot')
        self.session('of_other', 'u::hot_push', '-p', str(other.pid))
        top = self.start('--json', '--interval', '50ms', '-p', str(program.pid))
        first = self.table(top)
        self.assertEqual({row['pid'] for row in first['rows']}, {program.pid})
        functions = {row['probe'].rsplit(':', 1)[1] for row in first['rows']}
        self.assertTrue({'main', 'hot_push', 'hot_nop5'} <= functions, functions)
        self.call(program, 'hot_push', 30)
        table = self.table(top)
        while not table['rows'][0]['hits_per_second']:
            table = self.table(top)
        self.assertEqual((table['rows'][0]['probe'].rsplit(':', 1)[1], table['rows'][0]['hits']), ('hot_push', 30))
        top.send_signal(signal.SIGINT)
        top.communicate(timeout=60)
        self.assertEqual(top.returncode, 130)
        self.assertEqual([one['name'] for one in self.daemon.json('session', 'list')['sessions']], ['of_other'])

    def test_of_a_process_leaves_out_what_exceeds_the_budget_and_names_ten_of_it(self):
        worker = subprocess.Popen([target('demo_worker')], stdout=subprocess.DEVNULL)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        done = self.daemon.run('top', 'demo::*', '-p', str(worker.pid), '--for', '2s', '--budget', '0.001')
        said = re.findall(r'^tracectl: left out: (.*)', done.stderr, re.M)
        named = [line for line in said if line.endswith('the budget is 0.001 %')]
        more = sum(int(re.fullmatch(r'(\d+) more probes?', line)[1]) for line in said[len(named):])
        self.assertEqual((len(named), more > 50), (10, True), done.stderr)

    def test_without_a_target_takes_no_pattern(self):
        for words in (['u::main'], ['--for', '1s'], ['--budget', '1'], ['--partial'], ['--strict'], ['--yes'],
                      ['--dry-run'], ['--end-command']):
            done = self.daemon.run('top', *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn('without a target', done.stderr)

    def test_the_dearest_come_first_and_slow_sites_cost_more(self):
        program = self.program('busy')
        self.session('s', 'u::busy_*', '-p', str(program.pid))
        program.send('go')
        top = self.start('--json', '--interval', '200ms')
        while True:
            rows = {row['probe'].rsplit(':', 1)[1]: row for row in self.table(top)['rows']}
            if min(rows[name]['hits_per_second'] for name in ('busy_cool', 'busy_slow', 'busy_hot')):
                break
        program.send('stop')
        program.result()
        self.end(top)
        percents = [row['percent'] for row in rows.values()]
        self.assertEqual(percents, sorted(percents, reverse=True))
        self.assertEqual(next(iter(rows)), 'busy_hot')
        ns = {name: row['percent'] / 100 * 1e9 / row['hits_per_second'] for name, row in rows.items()}
        self.assertAlmostEqual(ns['busy_hot'], ns['busy_cool'], delta=1)
        self.assertTrue(100 < ns['busy_cool'] < 5000, ns)  # an estimate, but in nanoseconds
        self.assertGreater(ns['busy_slow'], 1.5 * ns['busy_cool'])
        self.assertEqual({row['class'] for name, row in rows.items() if name != 'busy_slow'}, {'normal'})

    def test_what_is_lost_is_told(self):
        daemon = support.Daemon('--ring-bytes', '4096')
        self.addCleanup(daemon.end)
        self.daemon, mine = daemon, self.daemon
        self.addCleanup(setattr, self, 'daemon', mine)
        program = self.program('hot')
        self.session('s', 'u::hot_push', '-p', str(program.pid), do='event')
        top = self.start('--json', '--interval', '50ms')
        self.table(top)
        self.call(program, 'hot_push', 100_000)
        lost, hits = 0, 0
        while round(hits) < 100_000:
            table = self.table(top)
            hits += table['rows'][0]['hits_per_second'] * table['seconds']
            lost += table['rows'][0]['lost_per_second'] * table['seconds']
        self.end(top)
        self.assertEqual(round(lost), daemon.json('session', 'show', 's')['lost'])
        self.assertGreater(lost, 0)

    def test_tables_for_people(self):
        program = self.program('hot')
        self.session('s', 'u::hot_*', '-p', str(program.pid))
        self.call(program, 'hot_push', 42)
        done = self.daemon.run('top', '--iterations', '2', '--interval', '10ms', '--rows', '1')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        sums, title, row, end = done.stdout.split('\n')[:4]
        self.assertEqual(sums, '2 armed probes, 0 hits/s, 0 lost/s, by estimate 0.0 % of a CPU')
        self.assertRegex(title, '^HITS/S +CPU % +LOST/S +HITS +CLASS +PROCESS +SESSION +PROBE$')
        self.assertRegex(row, rf'^ +0 +0\.00 +0 +42 +normal +{program.pid} hot +s +uprobe:.*:hot_push$')
        self.assertEqual(end, '')
        self.assertEqual(len(re.findall('armed probes', done.stdout)), 2)

    def test_a_terminal_has_one_table_in_place_of_the_other_as_large_as_it(self):
        program = self.program('busy')
        self.session('s', 'u::busy_*', '-p', str(program.pid))  # 4 probes
        ours, its = pty.openpty()
        self.addCleanup(os.close, ours)
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack('HHHH', 6, 200, 0, 0))
        top = subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, 'top', '--iterations', '3',
                                '--interval', '10ms'], stdin=subprocess.DEVNULL, stdout=its)
        os.close(its)
        self.assertEqual(top.wait(timeout=60), 0)
        shown = terminal_text(ours).split('\x1b[H\x1b[J')
        self.assertEqual(shown[0], '')
        self.assertEqual([text.count('\n') for text in shown[1:]], [5, 5, 5])

    def test_nothing_armed_is_told_and_bad_intervals_are_refused(self):
        self.assertIn('0 armed probes', self.daemon.run('top', '--iterations', '1', '--interval', '10ms').stdout)
        for words in (['--interval', '0'], ['--interval', 'soon'], ['--iterations', '0']):
            self.assertEqual(self.daemon.run('top', *words).returncode, 2)


if __name__ == '__main__':
    unittest.main()
