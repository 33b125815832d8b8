# SPDX-License-Identifier: BSD-2-Clause
"""Automatic dumps of flight recorders: by a hit, or when a process crashes."""

import contextlib
import os
import pathlib
import resource
import signal
import unittest

import flight_test
import record_test
import support


class ByItself(flight_test.DumpsTest):
    def setUp(self):
        super().setUp()
        self.begin(str(self.directory / 'dumps'))

    def record(self, *target, on=()):
        """Makes the session `s`, which keeps the last events of these processes."""
        self.daemon.json('session', 'new', 's', '--recorder', '16M', *on)
        self.daemon.json('stage', 's', 'set', record_test.HOT, *target, *record_test.NUMBERS)
        self.daemon.json('commit', 's')

    def dumped(self, number=1):
        """Waits for this many dumps, and returns the newest: its events, and the output of tracectl."""
        self.wait_for_dumps(dumps=number, failed_dumps=0)
        files = self.files('s')
        self.assertEqual(len(files), number)
        return self.shown(file=str(files[-1]))


@support.needs_root
class Triggered(ByItself):
    def trigger(self, program, when):
        self.daemon.json('session', 'new', 'watch')
        self.daemon.json('stage', 'watch', 'set', record_test.HOT, '-p', str(program.pid),
                         '--do', 'trigger(s)', '--when', when)
        self.daemon.json('commit', 'watch')

    def test_by_the_hit_of_another_session_and_again_later(self):
        program = self.program('hot')
        self.record('-p', str(program.pid))
        self.trigger(program, 'arg0 == 499')
        self.call(program, 499)
        self.call(program, 500)
        items, said = self.dumped()
        self.is_end_of(items, list(range(499)) + list(range(500)))
        self.assertEqual(len(items), 999)
        self.assertIn(f'a hit of session watch in process {program.pid} (hot) has triggered it', said)

        def called_again():
            self.call(program, 500)
            return self.daemon.json('stats')['dumps'] == 2
        support.wait_until(called_again, 'triggers to be heard again')
        self.dumped(2)

    def test_by_its_own_condition(self):
        program = self.program('hot')
        self.record('-p', str(program.pid))
        self.daemon.json('stage', 's', 'set', record_test.HOT, '-p', str(program.pid),
                         '--do', 'event(arg0, arg1, arg2), trigger(s)', '--when', 'arg0 == 7')
        self.daemon.json('commit', 's')
        self.call(program, 20)
        items, said = self.dumped()
        self.assertIn(7, [item['args'][0] for item in items])
        self.assertIn('a hit of session s ', said)

    def test_has_no_gate(self):
        program = self.program('hot')
        self.record('-p', str(program.pid))
        self.trigger(program, 'arg0 == 499')
        self.assertFalse(self.daemon.json('session', 'show', 's')['paused'])
        done = self.daemon.run('stage', 'watch', 'set', record_test.HOT, '-p', str(program.pid),
                               '--do', 'trigger(s, off)')
        self.assertEqual(done.returncode, 2)
        self.assertIn('nothing to switch off', done.stderr)
        self.daemon.json('pause', 's')
        self.call(program, 500)
        items, _ = self.dumped()
        self.assertEqual(items, [])
        self.assertTrue(self.daemon.json('session', 'show', 's')['paused'])


@support.needs_root
class Crash(ByItself):
    def started(self, core):
        """Starts a program in its own directory, with at most `core` bytes of core."""
        self.room = self.directory / 'room'
        self.room.mkdir(exist_ok=True)
        program = support.Program('/bin/sh', '-c', f'cd {self.room}; exec {support.target("hot")}')
        self.addCleanup(program.end)
        resource.prlimit(program.pid, resource.RLIMIT_CORE, (core, core))
        return program

    def end_by(self, program, number):
        os.kill(program.pid, number)
        self.assertEqual(program.process.wait(timeout=60), -number)

    def test_names_the_core(self):
        program = self.started(resource.RLIM_INFINITY)
        self.record('-p', str(program.pid), on=['--dump-on', 'crash'])
        self.call(program, 12)
        self.end_by(program, signal.SIGSEGV)
        items, said = self.dumped()
        self.is_end_of(items, list(range(12)))
        self.assertIn(f'process {program.pid} (hot) was killed by SIGSEGV', said)
        pattern = pathlib.Path('/proc/sys/kernel/core_pattern').read_text().strip()
        if pattern.startswith('|'):
            self.assertIn(f'its core was handed to {pattern[1:].split()[0]}', said)
            return
        self.assertIn('its core is ', said)
        name = said.split('its core is ')[1].split()[0]
        core, = self.room.glob(name) if not name.startswith('/') else pathlib.Path('/').glob(name[1:])
        self.addCleanup(core.unlink)
        self.assertIn(b'\x7fELF', core.read_bytes()[:4])

    def test_without_a_core_of_a_process_chosen_by_its_file(self):
        self.record('-x', support.target('hot'), on=['--dump-on', 'crash'])
        program = self.started(0)
        self.call(program, 12)
        self.end_by(program, signal.SIGABRT)
        items, said = self.dumped()
        self.is_end_of(items, list(range(12)))
        self.assertIn(f'process {program.pid} (hot) was killed by SIGABRT; it left no core', said)

    def test_not_where_a_process_ends_well_or_is_another(self):
        programs = [self.started(0) for _ in range(4)]
        ends_well, told_to_end, other, killed = programs
        pids = [word for program in programs if program is not other
                for word in ('-p', str(program.pid))]
        self.record(*pids, on=['--dump-on', 'crash'])
        ends_well.send('no number')
        ends_well.process.wait(timeout=60)
        self.end_by(told_to_end, signal.SIGTERM)
        self.end_by(other, signal.SIGSEGV)
        self.end_by(killed, signal.SIGKILL)
        # The kernel reports ends in order.
        _, said = self.dumped()
        self.assertIn(f'process {killed.pid} (hot) was killed by SIGKILL', said)

    def test_only_where_it_was_asked_for(self):
        programs = [self.started(0) for _ in range(2)]
        self.record('-p', str(programs[0].pid), on=['--dump-on', 'crash'])
        self.daemon.json('session', 'new', 'other', '--recorder', '1M')
        self.daemon.json('stage', 'other', 'set', record_test.HOT, '-p', str(programs[0].pid))
        self.daemon.json('commit', 'other')
        self.end_by(programs[0], signal.SIGSEGV)
        self.dumped()
        self.assertEqual(self.files('other'), [])

    def test_again_and_again_is_dumped_once(self):
        programs = [self.started(0) for _ in range(3)]
        pids = [word for program in programs for word in ('-p', str(program.pid))]
        self.record(*pids, on=['--dump-on', 'crash'])
        for program in programs:
            self.end_by(program, signal.SIGSEGV)
        left_out = lambda: self.daemon.json('session', 'show', 's')['recorder']['dumps_left_out']
        support.wait_until(lambda: left_out() == 2, 'the others to be left out')
        _, said = self.dumped()
        self.assertIn(f'process {programs[0].pid} ', said)
        shown = self.daemon.run('session', 'show', 's').stdout
        self.assertIn('dumped when a process crashes, 2 dumps left out', shown)


@support.needs_root
class Refused(support.DaemonTest):
    def test_without_a_recorder(self):
        done = self.daemon.run('session', 'new', 's', '--dump-on', 'crash')
        self.assertEqual(done.returncode, 2)
        self.assertIn('--recorder', done.stderr)
        with contextlib.closing(self.daemon.connect()) as client:
            refused = client.call('session.create', name='s', dump_on={'crash': True})['error']
            self.assertEqual(refused['data']['field'], 'dump_on')
            self.assertEqual(client.result('session.list')['sessions'], [])

    def test_what_nobody_knows(self):
        done = self.daemon.run('session', 'new', 's', '--recorder', '1M', '--dump-on', 'rain')
        self.assertEqual(done.returncode, 2)
        self.assertIn('crash, signal:SIGNAL, exit:STATUS or failed:UNIT is wanted, not rain', done.stderr)


if __name__ == '__main__':
    unittest.main()
