# SPDX-License-Identifier: BSD-2-Clause
"""tracectl watch goes on with a saved session when the daemon is restarted."""

import json
import signal
import subprocess
import tempfile
import unittest

import service_manager
import support
from support import target

RESTARTS = 10
BURST = 5000  # more calls than small rings hold
SMALL_RINGS = ('--ring-bytes', '65536')


@support.needs_root
class Watching(unittest.TestCase):
    def setUp(self):
        self.serve()

    def serve(self, *options):
        self.service = service_manager.Service(*options)
        self.addCleanup(self.service.end)
        self.service.start()

    def program(self, name):
        program = support.Program(target(name))
        self.addCleanup(program.end)
        return program

    def make(self, program, function, *options, saved=True, action='event'):
        self.service.json('session', 'new', 's', *(['--saved'] if saved else []), *options)
        self.service.json('stage', 's', 'set', f'uprobe::{function}', '-p', str(program.pid), '--do',
                          action)
        self.service.json('commit', 's')

    def watch(self, *options):
        """A tracectl that has subscribed, and its output."""
        file = tempfile.NamedTemporaryFile()
        self.addCleanup(file.close)
        out = support.Output(file.name)
        self.addCleanup(out.file.close)
        watching = subprocess.Popen([support.TRACECTL, '--socket', self.service.socket, '--json', 'watch',
                                     's', *options], stdout=file, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watching.communicate)
        self.addCleanup(watching.kill)
        support.wait_for_poll(watching.pid)
        return watching, out

    def hears(self, watching, what):
        """Its next line on standard error is this."""
        self.assertEqual(watching.stderr.readline(), f'tracectl: {what}\n')

    def hears_of_the_end(self, watching):
        self.hears(watching, 'the daemon has closed the connection; waiting for session s to go on')

    def hears_of_a_restart(self, watching):
        self.hears_of_the_end(watching)
        self.hears(watching, 'session s goes on')

    def end(self, watching, number=signal.SIGINT):
        """Its exit status, and the rest of its standard error."""
        watching.send_signal(number)
        said = watching.communicate(timeout=60)[1]
        return watching.returncode, said

    def check_ends_with(self, watching, out, calls, items=()):
        """For this many calls: each was delivered as an event or is reported as lost; returns how many were
        lost. `items`: those taken from the output before."""
        self.service.json('flush', 's')
        events, lost = out.wait_for(calls, items)
        status, said = self.end(watching)
        self.assertEqual((status, said), (130, f'{events} events, {lost} lost\n'))
        self.assertEqual(events + lost, calls)
        return lost

    def recorded(self):
        return self.service.json('session', 'show', 's')['recorder']['events']

    def call(self, program, times):
        program.send(f'hot_push {times}')
        return program.result()['calls']

    def test_every_call_is_delivered_over_ten_restarts(self):
        program = self.program('busy')
        self.make(program, 'busy_cool')
        watching, out = self.watch()
        program.send('go')
        items = []
        for _ in range(RESTARTS):
            before = len(items)
            support.wait_until(lambda: items.extend(out.take()) or len(items) > before, 'an event')
            self.service.restart()
            self.hears_of_a_restart(watching)
        program.send('stop')
        calls = program.result()['busy_cool']
        self.assertEqual(self.check_ends_with(watching, out, calls, items), 0)

    def test_rows_of_a_session_without_events_go_on_after_a_restart(self):
        program = self.program('hot')
        self.make(program, 'hot_push', action='count')
        # The end of a daemon is noticed before the next table is due.
        watching, out = self.watch('--interval', '60m')
        counts = []

        def has(count):
            return counts.extend(table['rows'][0]['count'] for table in out.take()) or count in counts
        calls = self.call(program, 500)
        self.service.restart()
        self.hears_of_a_restart(watching)
        calls += self.call(program, 500)
        self.assertEqual((self.end(watching), has(calls), counts), ((130, ''), True, [calls]))
        watching, out = self.watch()
        support.wait_until(lambda: has(calls), 'the rows')
        self.service.restart()
        self.hears_of_a_restart(watching)
        calls += self.call(program, 500)
        support.wait_until(lambda: has(calls), 'the rows after the restart')
        self.assertEqual((self.end(watching), counts), ((130, ''), sorted(counts)))

    def test_what_a_daemon_has_sent_is_taken_where_its_end_is_noticed_first(self):
        program = self.program('hot')
        # Because of the budget the daemon is polled: the first request that fails after its end.
        self.make(program, 'hot_push', '--budget', '90')
        watching, out = self.watch()
        watching.send_signal(signal.SIGSTOP)
        calls = self.call(program, 500)
        self.service.restart()
        watching.send_signal(signal.SIGCONT)
        self.hears_of_a_restart(watching)
        self.assertEqual(self.check_ends_with(watching, out, calls), 0)

    def test_what_did_not_fit_the_rings_is_told_as_lost(self):
        self.serve(*SMALL_RINGS)
        program = self.program('hot')
        self.make(program, 'hot_push')
        watching, out = self.watch()
        calls = 0
        for _ in range(3):
            calls += self.call(program, BURST)
            self.service.finish()
            self.hears_of_the_end(watching)
            calls += self.call(program, BURST)
            self.service.start()
            self.hears(watching, 'session s goes on')
        self.assertGreater(self.check_ends_with(watching, out, calls), 0)

    def test_what_it_did_not_take_before_the_daemon_ended_is_told_as_lost(self):
        program = self.program('hot')
        self.make(program, 'hot_push')
        watching, out = self.watch()
        watching.send_signal(signal.SIGSTOP)
        calls = self.call(program, BURST)
        self.service.restart()
        watching.send_signal(signal.SIGCONT)
        self.hears_of_a_restart(watching)
        calls += self.call(program, 10)
        self.assertGreater(self.check_ends_with(watching, out, calls), 0)

    def test_what_is_called_meanwhile_waits_for_it_and_not_for_a_recorder(self):
        program = self.program('hot')
        self.make(program, 'hot_push', '--recorder', '1M')
        watching, out = self.watch()
        watching.send_signal(signal.SIGSTOP)
        self.service.finish()
        calls = self.call(program, 10)
        self.service.start()
        # Nothing is read until it reconnects.
        self.assertEqual(self.recorded(), 0)
        watching.send_signal(signal.SIGCONT)
        self.hears_of_a_restart(watching)
        self.assertEqual(self.check_ends_with(watching, out, calls), 0)
        self.assertEqual(self.recorded(), calls)

    def test_what_a_recorder_had_to_take_without_it_is_told_as_lost(self):
        self.serve(*SMALL_RINGS)
        program = self.program('hot')
        self.make(program, 'hot_push', '--recorder', '1M')
        watching, out = self.watch()
        watching.send_signal(signal.SIGSTOP)
        self.service.finish()
        calls = self.call(program, BURST)
        self.service.start()
        support.wait_until(self.recorded, 'the recorder to have it')
        watching.send_signal(signal.SIGCONT)
        self.hears_of_a_restart(watching)
        calls += self.call(program, 10)
        self.assertGreater(self.check_ends_with(watching, out, calls), 0)

    def test_it_goes_on_when_the_daemon_is_killed_and_the_next_one_too(self):
        program = self.program('hot')
        self.make(program, 'hot_push')
        watching, out = self.watch()
        self.service.finish(signal.SIGKILL)
        self.hears_of_the_end(watching)
        calls = self.call(program, 10)
        self.service.launch()
        self.service.restart(signal.SIGKILL)
        self.hears(watching, 'session s goes on')
        self.assertEqual(self.check_ends_with(watching, out, calls), 0)

    @support.runs_alone('the daemon must end within the time for which the client watches')
    def test_it_is_ended_while_it_waits(self):
        self.make(self.program('hot'), 'hot_push')
        for options, number, status in ((), signal.SIGINT, 130), (('--for', '3s'), 0, 0):
            with self.subTest(options=options):
                watching, _ = self.watch(*options)
                self.service.finish()
                self.hears_of_the_end(watching)
                self.assertEqual(self.end(watching, number), (status, '0 events, 0 lost\n'))
                self.service.start()

    def test_it_gives_up_where_no_daemon_comes_and_where_none_answers(self):
        self.make(self.program('hot'), 'hot_push')
        watching, _ = self.watch('--reconnect', '300ms')
        self.service.finish()
        self.hears_of_the_end(watching)
        self.hears(watching, 'the daemon does not answer; tried for 0.3 s')
        self.assertEqual(watching.wait(60), 1)
        self.service.start()
        watching, _ = self.watch('--reconnect', '300ms')
        self.service.finish()
        self.service.listening.close()
        self.hears_of_the_end(watching)
        self.hears(watching, f'no daemon listens on {self.service.socket}; tried for 0.3 s')
        self.assertEqual(watching.wait(60), 1)

    def test_it_ends_where_the_session_is_gone(self):
        self.make(self.program('hot'), 'hot_push')
        watching, _ = self.watch()
        self.service.stop()
        self.hears_of_the_end(watching)
        self.service.start()
        self.hears(watching, 'there is no session "s"; tracectl session list shows which there are')
        self.assertEqual(watching.wait(60), 1)

    def test_it_ends_with_the_daemon_where_nothing_is_saved_or_it_may_not_wait(self):
        for saved, options in (False, ()), (True, ('--reconnect', '0s')):
            with self.subTest(saved=saved):
                self.make(self.program('hot'), 'hot_push', saved=saved)
                watching, _ = self.watch(*options)
                self.service.restart()
                self.hears(watching, 'the daemon has closed the connection')
                self.assertEqual(watching.wait(60), 1)

    def test_it_tells_of_a_session_that_begins_anew(self):
        program, gone = self.program('hot'), self.program('hot')
        self.make(program, 'hot_push')
        self.service.json('stage', 's', 'set', 'uprobe::hot_nop5', '-p', str(gone.pid), '--do', 'count')
        self.service.json('commit', 's')
        watching, out = self.watch()
        self.call(program, 10)
        self.service.finish()
        self.hears_of_the_end(watching)
        self.service.forget_what_is_armed()
        self.call(program, 10)
        gone.end()
        self.service.start()
        self.assertRegex(watching.stderr.readline(), r'^tracectl: session s was begun anew by the next daemon: '
                         r'nothing was counted for at most \d+\.\d{3} s$')
        self.assertIn('tracectl: not resumed: uprobe::hot_nop5', watching.stderr.readline())
        self.call(program, 10)
        items = []
        support.wait_until(lambda: items.extend(out.take()) or len(items) == 21, 'all of it')
        self.assertEqual([item.get('gap') for item in items],
                         [None] * 10 + [self.service.json('session', 'show', 's')['gap']] + [None] * 10)
        self.assertEqual(self.check_ends_with(watching, out, 20, items), 0)


if __name__ == '__main__':
    unittest.main()
