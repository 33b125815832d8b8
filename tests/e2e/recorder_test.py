# SPDX-License-Identifier: BSD-2-Clause
"""tracectl recorder: a flight recorder in one step, which dumps itself when the program crashes."""

import json
import os
import signal
import unittest

import dump_on_test
import record_test
import support


@support.needs_root
class Recorder(dump_on_test.ByItself):
    def begin_recorder(self, *words):
        done = self.daemon.run('recorder', record_test.HOT, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_keeps_the_last_events_for_dump(self):
        program = self.program('hot')
        said = self.begin_recorder('-p', str(program.pid), '--name', 's', *record_test.NUMBERS)
        self.assertIn('s: 1 probe and 1 site armed\nrecorder of 16.0 MiB', said)
        self.assertNotIn('dumped when', said)
        self.call(program, 30)
        file = str(self.directory / 'out.tct')
        self.assertEqual(self.daemon.run('dump', 's', '-o', file).returncode, 0)
        self.is_end_of(self.shown(file=file)[0], list(range(30)))

    def test_dumps_itself_when_the_program_crashes(self):
        program = self.program('hot')
        said = self.begin_recorder('-p', str(program.pid), '--name', 's', '--on-crash', *record_test.NUMBERS)
        self.assertIn('dumped when a process crashes', said)
        self.call(program, 12)
        os.kill(program.pid, signal.SIGSEGV)
        items, why = self.dumped()
        self.is_end_of(items, list(range(12)))
        self.assertIn('was killed by SIGSEGV', why)

    def test_dumps_itself_at_an_exit_with_a_status_and_at_a_signal(self):
        program, other = self.program('hot'), self.program('hot')
        said = self.begin_recorder('-p', str(program.pid), '-p', str(other.pid), '--name', 's',
                                   '--on-exit', '3', '--on-signal', 'TERM', *record_test.NUMBERS)
        self.assertIn('dumped when a process is ended by SIGTERM or a process exits with 3\n', said)
        self.call(program, 12)
        program.send('exit 3')
        items, why = self.dumped()
        self.is_end_of(items, list(range(12)))
        self.assertIn(f'process {program.pid} (hot) has exited with status 3', why)
        file, = self.files('s')
        self.assertIn(f'\n  last dump: {file}\n', self.daemon.run('session', 'show', 's').stdout)
        os.kill(other.pid, signal.SIGTERM)
        support.wait_until(lambda: self.daemon.json('session', 'show', 's')['recorder']['dumps_left_out'] == 1,
                           'the dump that is left out so shortly after the other')

    def test_of_other_ends_there_is_none(self):
        programs = [self.program('hot') for _ in range(4)]
        pids = [word for program in programs for word in ('-p', str(program.pid))]
        self.begin_recorder(*pids, '--name', 's', '--on-exit', '3', *record_test.NUMBERS)
        programs[0].send('exit 0')
        programs[1].send('exit 4')
        for program in programs[:2]:
            program.process.wait(timeout=60)
        os.kill(programs[2].pid, signal.SIGINT)  # number 2
        programs[2].process.wait(timeout=60)
        programs[3].send('exit 3')
        # The kernel reports ends in order.
        _, why = self.dumped()
        self.assertIn(f'process {programs[3].pid} (hot) has exited with status 3', why)

    def test_tells_what_it_has_in_json(self):
        program = self.program('hot')
        told = json.loads(self.begin_recorder('--json', '-p', str(program.pid), '--size', '10s', '--on-crash'))
        self.assertEqual((told['name'], told['sites'], told['recorder']['bound']), ('recorder', 1, {'seconds': 10}))
        self.assertEqual(told['recorder']['dump_on'], {'crash': True, 'failed_units': []})

    def test_leaves_nothing_where_it_cannot_begin(self):
        program = self.program('hot')
        pid = str(program.pid)
        missing = self.daemon.run('recorder', 'u::no_such_function', '-p', pid)
        self.assertEqual(missing.returncode, 5, missing.stderr)
        self.assertEqual(self.daemon.json('session', 'list')['sessions'], [])
        self.begin_recorder('-p', pid)
        again = self.daemon.run('recorder', record_test.HOT, '-p', pid)
        self.assertNotEqual(again.returncode, 0)
        self.assertIn('"recorder"', again.stderr)
        self.assertEqual(self.daemon.json('session', 'show', 'recorder')['sites'], 1)

    def test_refuses_what_could_not_be_meant(self):
        for words, reason in ((['--', 'true'], '-- COMMAND'), (['--on-failure', '-x', '/bin/true'], '-u'),
                              (['--on-exit', '0'], '1 to 255'), (['--on-signal', 'TREM'], 'no signal TREM'),
                              (['--size', 'much', '-x', '/bin/true'], 'much')):
            done = self.daemon.run('recorder', 'u::f', *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(reason, done.stderr)


if __name__ == '__main__':
    unittest.main()
