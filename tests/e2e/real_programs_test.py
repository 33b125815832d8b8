# SPDX-License-Identifier: BSD-2-Clause
"""The main features with unmodified Debian programs, compared with numbers that the programs know."""

import pathlib
import tempfile
import unittest

import postgresql
import support

PYTHON = '/usr/bin/python3.11'

# CPython 3.11 fires function__entry only while a profiler is set.
SCRIPT = '''
import sys
def step(n): return n + 1
def nothing(*rest): pass
sys.setprofile(nothing)
for _ in range(int(sys.argv[1])): step(1)
sys.setprofile(None)
'''


@support.needs_root
class Python(unittest.TestCase):
    def calls_counted(self, calls):
        with tempfile.TemporaryDirectory() as directory:
            script = directory + '/script.py'
            pathlib.Path(script).write_text(SCRIPT)
            done = support.run('--embedded', '--json', 'count', 'usdt::python:function__entry', '--',
                               PYTHON, '-I', script, str(calls))
        self.assertEqual(done.returncode, 0, done.stderr)
        return support.json.loads(done.stdout)['total_hits']

    def test_every_call_of_a_script_is_counted(self):
        self.assertEqual(self.calls_counted(12345) - self.calls_counted(0), 12345)


@support.needs_root
@support.in_group('postgresql')  # they trace all its processes
class PostgreSQL(postgresql.ServerTest):
    def test_every_query_is_counted(self):
        self.daemon.json('session', 'new', 'q')
        self.daemon.json('stage', 'q', 'set', 'usdt::postgresql:query__start', '-x',
                         postgresql.POSTGRES, '--do', 'count by pid')
        self.daemon.json('commit', 'q')
        done = self.psql('select 1;\n' * 500)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.daemon.json('read', 'q')['rows']
        self.assertEqual([row['count'] for row in rows], [500])

    def test_every_query_is_timed(self):
        self.daemon.json('session', 'new', 'q')
        self.daemon.json('stage', 'q', 'set', 'usdt::postgresql:query__done', '--from',
                         'usdt::postgresql:query__start', '--by', 'pid, str(arg0)', '--slowest', '2',
                         '-x', postgresql.POSTGRES, '--do', 'time')
        self.daemon.json('commit', 'q')
        done = self.psql('select 1;\n' * 200 + 'select pg_sleep(0.2);\nselect pg_sleep(0.1);\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        latency, = self.daemon.json('read', 'q')['latencies']
        self.assertEqual([latency[name] for name in ('started', 'matched', 'open', 'unmatched')],
                         [202, 202, 0, 0])
        self.assertEqual([slow['by']['str(arg0)'] for slow in latency['slowest']],
                         ['select pg_sleep(0.2);', 'select pg_sleep(0.1);'])
        self.assertGreaterEqual(latency['slowest'][0]['duration'], 200_000_000)
        self.assertGreaterEqual(latency['slowest'][1]['duration'], 100_000_000)


@support.needs_root
class Bpftrace(support.DaemonTest):
    def test_counts_the_same_on_the_same_run(self):
        # bpftrace may also see the daemon hit the probe, in a mapping of its own.
        said, read, truth = self.beside_bpftrace(
            'uprobe:PATH:f0003 /pid == PID/ { @calls = count(); }', 1, 'counters', '2', '300', '20',
            setting=('uprobe::f0003', '--do', 'count'))
        calls = truth['calls_per_function']
        self.assertIn(f'@calls: {calls}', said)
        self.assertEqual(read['rows'][0]['count'], calls)


@support.needs_root
class Counters(support.DaemonTest):
    def test_2000_functions_of_4_threads_through_the_daemon(self):
        program = self.program('counters', '4', '25')
        self.daemon.json('session', 'new', 's')
        self.daemon.json('stage', 's', 'set', 'uprobe::f[0-9]*', '-p', str(program.pid), '--do',
                         'count')
        self.assertEqual(self.daemon.json('commit', 's')['sites'], 2000)
        program.send('go')
        truth = program.result()
        rows = self.daemon.json('read', 's')['rows']
        self.assertEqual(len(rows), 2000)
        self.assertEqual({row['count'] for row in rows}, {truth['calls_per_function']})
        self.daemon.json('session', 'list')
        self.assertEqual(self.daemon.run('session', 'delete', 's').returncode, 0)
        self.assertEqual(support.text_differs(program.pid, support.target('counters')), 0)


if __name__ == '__main__':
    unittest.main()
