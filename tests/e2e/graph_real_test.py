# SPDX-License-Identifier: BSD-2-Clause
"""Graphs of unmodified Debian programs: every call that began has ended, within the call around it, and no time
is counted twice."""

import collections
import json
import pathlib
import subprocess
import tempfile
import unittest

import postgresql
import support

PYTHON = '/usr/bin/python3.11'
SCRIPT = '''
import json, re
for i in range(20):
    json.loads(json.dumps({str(k): [k, 'x' * k] for k in range(20)}))
    re.sub('a+', 'b', 'caat' * 10)
    try: int('none')
    except ValueError: pass
'''


class Thread:
    """The open calls, as [number, time of the calls within], and the sums of all times."""

    def __init__(self):
        self.open = []
        self.calls = 0
        self.total_ns = 0  # of the outermost calls
        self.self_ns = 0   # of all calls

    def begin(self, event):
        self.calls += 1
        self.open.append([event['call'], 0])

    def end(self, event):
        number, within_ns = self.open.pop()
        assert number == event['call'], f'{event} ends within call {number}'
        assert within_ns <= event['duration'], f'{event}: {within_ns} ns of it in calls within'
        self.self_ns += event['duration'] - within_ns
        if self.open:
            self.open[-1][1] += event['duration']
        else:
            self.total_ns += event['duration']


def threads_of(lines):
    threads = collections.defaultdict(Thread)
    for line in lines:
        event = json.loads(line)
        assert 'lost' not in event, line
        if event['kind'] == 'hit' and event['call']:
            threads[event['tid']].begin(event)
        elif event['kind'] != 'hit':
            threads[event['tid']].end(event)
    return threads


class RealTest:
    def check(self, lines, least_calls):
        threads = threads_of(lines)
        self.assertGreater(sum(thread.calls for thread in threads.values()), least_calls)
        for thread in threads.values():
            self.assertEqual(thread.open, [])
            self.assertAlmostEqual(thread.self_ns, thread.total_ns, delta=thread.total_ns / 100)


@support.needs_root
class Python(RealTest, unittest.TestCase):
    def test_every_call_of_a_script_ends_within_the_one_around_it(self):
        with tempfile.TemporaryDirectory() as directory:
            script = pathlib.Path(directory, 'script.py')
            script.write_text(SCRIPT)
            done = support.run('--embedded', '--json', 'graph', 'PyObject_Call*', '--depth', '4',
                               '--partial', '--',
                               PYTHON, '-I', str(script))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(' 0 lost', done.stderr)
        self.check(done.stdout.splitlines(), 1000)


@support.needs_root
@support.in_group('postgresql')  # they trace all its processes
class PostgreSQL(RealTest, postgresql.ServerTest):
    def test_every_call_of_pgbench_ends_within_the_one_around_it(self):
        self.pgbench('-i', '-q')
        printed = pathlib.Path(self.directory, 'printed')
        with printed.open('w') as file, subprocess.Popen(
                [support.TRACECTL, '--embedded', '--json', 'graph', 'PortalRun',
                 'pg_plan_query', '--depth', '4', '-x', postgresql.POSTGRES],
                text=True, stdout=file, stderr=subprocess.PIPE) as verb:
            try:
                support.wait_until(lambda: 'tracing' in verb.stderr.readline(), 'the graph')
                # At a rate that a client that prints every call can sustain.
                self.pgbench('-t', '20', '-c', '2', '-R', '10')
                verb.send_signal(subprocess.signal.SIGINT)
                _, errors = verb.communicate(timeout=120)
            finally:
                verb.kill()
        self.assertEqual(verb.returncode, 130, errors)
        self.assertIn(' 0 lost', errors)
        with printed.open() as lines:
            self.check(lines, 1000)

    def pgbench(self, *options):
        subprocess.run([*postgresql.AS_POSTGRES, postgresql.BIN + '/pgbench', '-h', self.directory,
                        *options, 'postgres'], check=True, capture_output=True, cwd='/')


if __name__ == '__main__':
    unittest.main()
