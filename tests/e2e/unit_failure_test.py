# SPDX-License-Identifier: BSD-2-Clause
"""Flight recorders are dumped when a systemd unit fails."""

import json
import re
import unittest

import container
import support

DUMPS = '/var/lib/tracectl/dumps'
CALLS = 100
CALL = ['uprobe:' + support.target('hot') + ':hot_push', '-a']
WORK = f"echo hot_push {CALLS} | {support.target('hot')}"
CRASH = f'ExecStart=/bin/sh -c "{WORK}; kill -SEGV $$$$"'


@support.needs_root
class UnitFailure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.container = container.Container()
        cls.addClassCleanup(cls.container.end)
        cls.container.run('systemctl', 'is-system-running', '--wait')
        cls.unit('crasher', CRASH)
        cls.unit('well', 'Type=oneshot', f'ExecStart=/bin/sh -c "{WORK}"')

    def setUp(self):
        self.container.run('systemd-run', '--unit=tracectld', '--service-type=notify', '--collect',
                           support.TRACECTLD, '--dumps', DUMPS)
        self.addCleanup(self.container.run, 'rm', '-rf', DUMPS)
        self.addCleanup(self.container.run, 'systemctl', 'stop', 'tracectld')
        self.began = self.systemctl('show', 'tracectld', '-P', 'InvocationID').strip()

    @classmethod
    def unit(cls, name, *lines):
        path = cls.container.path(f'/run/systemd/system/{name}.service')
        path.parent.mkdir(exist_ok=True)
        path.write_text('\n'.join(['[Unit]', 'StartLimitIntervalSec=0', '[Service]', *lines, '']),
                        encoding='utf-8')
        cls.container.run('systemctl', 'daemon-reload')

    def systemctl(self, *words):
        return self.container.run('systemctl', *words)

    def tracectl(self, *words, **options):
        return self.container.run(support.TRACECTL, *words, **options)

    def json(self, *words):
        return json.loads(self.tracectl('--json', *words))

    def session(self, name, *units):
        """Records the calls of all processes."""
        causes = [word for unit in units for word in ('--dump-on', f'failed:{unit}')]
        self.tracectl('session', 'new', name, '--recorder', '1M', *causes)
        self.tracectl('stage', name, 'set', *CALL, '--do', 'event(arg0)')
        self.tracectl('commit', name)

    def wait_for_dumps(self, count, left_out=0, session='s'):
        """Dumps of all sessions, and those left out for this session because of another one just before."""
        got = lambda: (self.json('stats')['dumps'],
                       self.json('session', 'show', session)['recorder']['dumps_left_out'])
        support.wait_until(lambda: got() >= (count, left_out), f'{count} and {left_out} dumps')
        self.assertEqual(got(), (count, left_out))

    def files(self, session='s'):
        return sorted(self.container.path(DUMPS).glob(f'{session}-*.tct'))

    def log(self):
        self.container.run('journalctl', '--sync')
        return self.container.run('journalctl', '--output=cat',
                                  f'_SYSTEMD_INVOCATION_ID={self.began}')

    def failures(self):
        """All failures that the daemon has logged, with a dump or without: units and causes."""
        return sorted(re.findall(r'the unit (\S+)\.service has failed: (.*)', self.log()))

    def main_pid(self, unit):
        return self.systemctl('show', unit, '-P', 'ExecMainPID').strip()

    def test_the_dump_has_what_was_done_before_and_why(self):
        self.session('s', 'crasher')
        self.systemctl('start', 'crasher')
        self.wait_for_dumps(1)
        file, = self.files()
        file = f'{DUMPS}/{file.name}'
        reason = ('the unit crasher.service has failed: '
                  f'its process {self.main_pid("crasher")} was killed by SIGSEGV')
        shown = self.tracectl('show', '--json', file)
        self.assertIn(f'dumped because {reason}', shown)
        items = [json.loads(line) for line in shown.splitlines() if line.startswith('{')]
        self.assertEqual([item['args'] for item in items], [[i] for i in range(CALLS)])
        self.assertIn(f'dumped because {reason}', self.tracectl('report', file))

    def test_each_failure_of_a_service_that_is_restarted_is_told_once(self):
        self.unit('again', 'ExecStart=/bin/sh -c "exit 3"', 'Restart=on-failure', 'RestartSec=0',
                  '[Unit]', 'StartLimitBurst=2', 'StartLimitIntervalSec=1h')
        self.session('s', 'again', 'crasher')
        self.systemctl('start', 'again')
        self.wait_for_dumps(1, left_out=1)
        # Then it has given up, which is reported before the other unit's failure.
        self.container.run('sh', '-c', 'until systemctl is-failed again; do :; done')
        self.systemctl('start', 'crasher')
        self.wait_for_dumps(1, left_out=2)
        told = self.failures()
        self.assertEqual([unit for unit, _ in told], ['again', 'again', 'crasher'])
        pids = re.findall(r'its process (\d+) exited with 3', str(told))
        self.assertEqual(len(set(pids)), 2)
        self.assertIn(self.main_pid('again'), pids)

    def test_what_ends_well_is_no_failure(self):
        self.session('s', 'well', 'crasher')
        self.systemctl('start', 'well')
        self.systemctl('start', 'crasher')
        self.wait_for_dumps(1)
        self.assertEqual([unit for unit, _ in self.failures()], ['crasher'])

    def test_sessions_are_dumped_for_their_units_alone(self):
        self.unit('other', 'ExecStart=/bin/false')
        self.session('s', 'crasher')
        self.session('t', 'crasher', 'other')
        self.session('u')
        self.assertEqual(self.json('session', 'show', 't')['recorder']['dump_on'],
                         {'crash': False, 'failed_units': ['crasher.service', 'other.service']})
        self.systemctl('start', 'other')
        self.wait_for_dumps(1, session='t')
        self.systemctl('start', 'crasher')
        self.wait_for_dumps(2, left_out=1, session='t')
        self.assertEqual([len(self.files(session)) for session in 'stu'], [1, 1, 0])

    def test_a_session_that_is_gone_watches_no_more(self):
        self.unit('other', 'ExecStart=/bin/false')
        self.session('s', 'crasher')
        self.session('t', 'other')
        self.tracectl('session', 'delete', 't')
        self.systemctl('start', 'other')
        self.systemctl('start', 'crasher')
        self.wait_for_dumps(1)
        self.assertEqual([unit for unit, _ in self.failures()], ['crasher'])

    def test_without_such_sessions_the_daemon_is_not_on_the_bus(self):
        is_there = lambda: 'tracectld' in self.container.run('busctl', '--no-pager', 'list')
        self.assertFalse(is_there())
        for name in 's', 't':
            self.session(name, 'crasher')
        self.assertTrue(is_there())
        self.tracectl('session', 'delete', 's')
        self.assertTrue(is_there())
        self.tracectl('session', 'delete', 't')
        support.wait_until(lambda: not is_there(), 'it to leave')
        self.tracectl('session', 'new', 's', '--recorder', '1M', '--dump-on', 'failed:nowhere',
                      check=False)
        support.wait_until(lambda: not is_there(), 'it to leave again')

    def test_a_systemd_that_reads_all_anew_goes_on_telling(self):
        self.unit('other', 'ExecStart=/bin/false')
        self.session('s', 'crasher', 'other')
        self.systemctl('start', 'crasher')
        self.wait_for_dumps(1)
        self.systemctl('daemon-reload')
        self.systemctl('daemon-reexec')
        self.systemctl('start', 'other')
        self.wait_for_dumps(1, left_out=1)
        self.assertEqual([unit for unit, _ in self.failures()], ['crasher', 'other'])

    def test_a_unit_that_fails_without_end_does_no_harm(self):
        self.unit('flapping', 'ExecStart=/bin/false', 'Restart=always', 'RestartSec=0')
        self.session('s', 'flapping')
        self.systemctl('start', 'flapping')
        left_out = lambda: self.json('session', 'show', 's')['recorder']['dumps_left_out']
        support.wait_until(lambda: left_out() >= 200, 'hundreds of failures')
        self.systemctl('stop', 'flapping')
        # Each was another run of the unit.
        causes = [cause for _, cause in self.failures()]
        self.assertEqual(len(set(causes)), len(causes))
        self.assertGreater(len(causes), 200)

    def test_a_unit_that_is_not_there_is_refused(self):
        for name, expected in [('nowhere', 'systemd knows no unit nowhere.service'),
                               ('no name', 'Unit name no name.service is not valid')]:
            said = self.tracectl('session', 'new', 's', '--recorder', '1M', '--dump-on',
                                 f'failed:{name}', check=False)
            self.assertIn(expected, said)
        self.assertEqual(self.json('session', 'list')['sessions'], [])

    def test_without_the_bus_tracing_goes_on(self):
        self.session('s', 'crasher')
        self.systemctl('stop', 'dbus.socket', 'dbus.service')
        support.wait_until(lambda: 'the connection to the system\'s bus has ended' in self.log(),
                           'it to be told')
        refused = self.tracectl('session', 'new', 't', '--recorder', '1M', '--dump-on',
                                'failed:well', check=False)
        self.assertIn("reach systemd by the system's bus", refused)
        self.systemctl('start', 'well')
        self.assertEqual(self.json('session', 'show', 's')['hits'], CALLS)
        # The next request connects again, also for the other sessions.
        self.systemctl('start', 'dbus.socket')
        self.session('t', 'well')
        self.systemctl('start', 'crasher')
        self.wait_for_dumps(1)


if __name__ == '__main__':
    unittest.main()
