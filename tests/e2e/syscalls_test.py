# SPDX-License-Identifier: BSD-2-Clause
"""System calls within the calls of a graph. The program is tests/targets/blocks.c: each round waits in a read(2) of one
byte in three functions, and another thread makes further system calls all the time."""

import collections
import json
import os
import pathlib
import subprocess
import tempfile

import offcpu_test
import support
from support import target

AS_USER = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--inh-caps=-all',
           '--bounding-set=-all']
ROUNDS = 5  # of the program


@support.needs_root
class SystemCalls(offcpu_test.Blocks):
    def events(self, *words):
        printed, said = self.printed('graph', '--syscalls', '--json', *words)
        return [json.loads(line) for line in printed.splitlines()], said

    def ended(self, events, name):
        return [event for event in events if event['kind'] == 'return' and event['probe'] == f'syscall:{name}']

    def test_are_those_of_the_thread_within_the_calls(self):
        events, said = self.events('u::blocks_read')
        counts = collections.Counter(event['probe'] for event in events if event['probe'].startswith('syscall:'))
        self.assertEqual(counts, {'syscall:read': ROUNDS, 'syscall:pread64': 2 * ROUNDS})
        reads = self.ended(events, 'read')
        self.assertEqual({event['retval'] for event in reads}, {1})
        self.assertEqual({event['tid'] for event in reads}, {event['tid'] for event in events})
        took = sum(event['duration'] for event in reads)
        self.assertGreaterEqual(took, said['blocks_read']['least'])

    def test_come_between_the_begin_and_the_end_of_their_call(self):
        events, _ = self.events('u::blocks_hidden')
        inside = collections.Counter()
        is_open = False
        for event in events:
            if event['probe'].startswith('syscall:'):
                self.assertTrue(is_open, event)
                inside[event['probe']] += 1
            elif event['probe'].endswith(':blocks_hidden'):
                is_open = event['kind'] == 'hit'
        self.assertEqual(inside['syscall:prctl'], 2 * ROUNDS)

    def test_are_lines_of_the_graph(self):
        printed, _ = self.printed('graph', '--syscalls', 'u::blocks_read')
        self.assertRegex(printed, r'(?m)^.* us \|      syscall:read\(\) = 1;$')
        self.assertEqual(printed.count('syscall:read()'), ROUNDS)

    def test_wait_with_the_calls_whose_end_decides(self):
        events, _ = self.events('u::blocks_read', '--keep-if', 'duration > 1000000000')
        self.assertEqual(self.ended(events, 'read'), [])
        events, _ = self.events('u::blocks_read', '--keep-if', 'duration > 0')
        self.assertEqual(len(self.ended(events, 'read')), ROUNDS)

    def test_are_in_recordings_and_in_what_is_exported_of_them(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.printed('graph', '--syscalls', 'u::blocks_read', '-o', folder / 'out.tct')
        shown = support.run('show', folder / 'out.tct', '--json')
        reads = self.ended([json.loads(line) for line in shown.stdout.splitlines()], 'read')
        self.assertEqual(len(reads), ROUNDS)
        support.run('export', folder / 'out.tct', '--to', 'chrome', '-o', folder / 'out.json')
        names = collections.Counter(one.get('name') for one in json.loads((folder / 'out.json').read_text())['traceEvents'])
        self.assertEqual(names['syscall:read'], ROUNDS)

    def test_the_programs_are_there_only_while_a_session_wants_them(self):
        program = self.program('blocks')
        points = {'sys_enter', 'sys_exit'}
        self.daemon.json('session', 'new', 's')
        self.daemon.json('stage', 's', 'set', 'u::blocks_read', '-p', str(program.pid), '--do', 'graph, syscalls')
        self.daemon.json('commit', 's')
        self.assertLessEqual(points, offcpu_test.tracepoints_of(self.daemon.process.pid))
        self.daemon.json('session', 'delete', 's')
        self.assertFalse(points & offcpu_test.tracepoints_of(self.daemon.process.pid))

    def test_are_refused_to_users(self):
        os.chmod(pathlib.Path(self.daemon.socket).parent, 0o755)
        os.chmod(self.daemon.socket, 0o666)
        program = support.Program(*AS_USER, target('blocks'))
        self.addCleanup(program.end)
        done = subprocess.run(
            [*AS_USER, support.TRACECTL, '--socket', self.daemon.socket, 'graph', '--syscalls', 'u::blocks_read', '-p',
             str(program.pid), '--for', '0s'], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn('system calls are shown to who may trace every process', done.stderr)
