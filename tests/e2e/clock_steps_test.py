# SPDX-License-Identifier: BSD-2-Clause
"""Steps of the time of day, forward and back, while the daemon and its clients run: only outputs of the time of
day depend on it."""

import json
import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import time
import unittest

import support

DAY_NS = 86_400_000_000_000
STEPS_NS = 0, DAY_NS, -2 * DAY_NS  # successive differences between the time of day and the right time
CALLS = 100
PUSH = 'uprobe::hot_push'
SHIM = support.ROOT / 'tests/support/stepped_clock.c'


@support.needs_root
class ClockSteps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.step_file = self.folder / 'step'
        self.step_file.write_bytes(struct.pack('q', 0))
        shim = self.folder / 'stepped_clock.so'
        subprocess.run(['cc', '-O2', '-shared', '-fPIC', '-o', shim, SHIM], check=True)
        self.environment = {'LD_PRELOAD': str(shim), 'STEPPED_CLOCK': str(self.step_file)}
        self.dumps = self.folder / 'dumps'
        self.daemon = support.Daemon('--dumps', str(self.dumps), environment=self.environment)
        self.addCleanup(self.end_daemon)
        self.program = support.Program(support.target('hot'))
        self.addCleanup(self.program.end)

    def end_daemon(self):
        status, log = self.daemon.end()
        self.assertEqual(status, 0, log)

    def step_to(self, ns):
        with open(self.step_file, 'r+b') as file:
            file.write(struct.pack('q', ns))

    def session(self, *options, do):
        self.daemon.json('session', 'new', 's', *options)
        self.daemon.json('stage', 's', 'set', PUSH, '-p', str(self.program.pid), '--do', do)
        self.daemon.json('commit', 's')

    def call(self):
        self.program.send(f'hot_push {CALLS}')
        self.program.result()

    def call_between_steps(self, then=lambda: None):
        for step_ns in STEPS_NS:
            self.step_to(step_ns)
            self.call()
            then()

    def check_events(self, events, since_ns):
        """All calls between steps: in order, with times of the events' clock since `since_ns`."""
        self.assertEqual([event['args'][0] for event in events if event['kind'] == 'hit'],
                         list(range(CALLS)) * len(STEPS_NS))
        times = [event['ts'] for event in events]
        self.assertEqual(times, sorted(times))
        until_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.assertTrue(since_ns < times[0] <= times[-1] < until_ns, (since_ns, times[0], times[-1]))
        for event in events:
            self.assertLess(event.get('duration', 0), until_ns - since_ns)

    def test_the_clock_of_the_daemon_is_stepped(self):
        """The other tests depend on this."""
        self.step_to(DAY_NS)
        self.session('--recorder', '1M', do='event')
        self.dump_by_signal(1)
        dump, = self.dumps.iterdir()
        tomorrow = time.strftime('%Y%m%d', time.gmtime(time.time() + DAY_NS // 10**9))
        self.assertEqual(dump.name[2:10], tomorrow)

    def test_events_come_in_their_order_with_the_time_since_boot(self):
        since_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.session(do='event(arg0), return')
        client = self.daemon.connect()
        self.addCleanup(client.close)
        client.result('session.subscribe', session='s')
        self.call_between_steps(lambda: client.result('session.flush', session='s'))
        events = [one['params'] for one in client.notifications]
        self.check_events(events, since_ns)
        days = {event['wall'][:10] for event in events}
        self.assertGreater(len(days), 1)  # as the stepped clock says

    def dump_by_signal(self, count):
        self.daemon.process.send_signal(signal.SIGUSR2)
        support.wait_until(lambda: self.daemon.json('stats')['dumps'] == count, f'{count} dumps')

    def test_a_recorder_keeps_its_time_and_its_last_dumps(self):
        since_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.session('--recorder', '60m', do='event(arg0), return')
        made = iter(range(1, 100))
        names = []

        def dump():
            self.dump_by_signal(next(made))
            names.extend(file for file in self.dumps.iterdir() if file not in names)
        self.call_between_steps(dump)
        self.assertEqual(len(names), len(STEPS_NS))
        self.assertLess(names[-1].name, names[0].name)  # by the time of day the last one is the oldest
        shown = support.run('--json', 'show', str(names[-1]))
        self.check_events(list(map(json.loads, shown.stdout.splitlines())), since_ns)

    def test_the_last_dump_stays_where_it_is_the_oldest_by_the_time_of_day(self):
        self.session('--recorder', '1M', do='event')
        for count in range(1, 9):
            self.dump_by_signal(count)
        before = set(self.dumps.iterdir())
        self.step_to(-DAY_NS)
        self.dump_by_signal(9)
        self.assertEqual(len(set(self.dumps.iterdir()) - before), 1)
        self.assertEqual(len(list(self.dumps.iterdir())), 8)

    @support.runs_alone('its calls must come within the second that the client waits for')
    def test_a_time_that_a_client_waits_for_is_as_long_as_ever(self):
        wanted_s = 1
        for step_ns in DAY_NS, -DAY_NS:
            with self.subTest(step_ns=step_ns):
                self.step_to(0)
                verb = subprocess.Popen(
                    [support.TRACECTL, '--socket', self.daemon.socket, '--json', 'count', PUSH, '-p',
                     str(self.program.pid), '--for', str(wanted_s)],
                    env={**os.environ, **self.environment}, text=True, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
                self.addCleanup(verb.communicate)
                self.addCleanup(verb.kill)
                began = time.monotonic()
                self.assertTrue(any('tracing' in line for line in verb.stderr), 'it did not begin')
                self.call()
                self.step_to(step_ns)
                out, errors = verb.communicate(timeout=60)
                self.assertGreater(time.monotonic() - began, wanted_s / 2)
                self.assertEqual(verb.returncode, 0, errors)
                self.assertEqual([row['count'] for row in json.loads(out)['rows']], [CALLS])


if __name__ == '__main__':
    unittest.main()
