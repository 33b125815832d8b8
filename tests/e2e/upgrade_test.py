# SPDX-License-Identifier: BSD-2-Clause
"""Saved sessions while systemd and dpkg restart and upgrade the daemon, compared with what the traced program
counted."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

import container
import installed
import support
from installed import FOLDER

SESSIONS = '/etc/tracectl/sessions.d'
BUSY = FOLDER + '/busy'
PPOLL = 271  # x86-64
RESTARTS = 12  # in a row; more than anybody does by hand
# In a row, each followed by a restart: `make soak-upgrade` makes 500.
UPGRADES = int(os.environ.get('UPGRADES', '2'))
UPGRADES_OF_A_TARGET = 25  # so that an error is reported before the end

setUpModule = installed.boot


def change_programs(tree):
    """Changes the BPF programs in the package's daemon: the name of a section that nobody reads."""
    daemon = tree / 'usr/sbin/tracectld'
    code = daemon.read_bytes()
    assert b'\0.llvm_addrsig\0' in code
    daemon.write_bytes(code.replace(b'\0.llvm_addrsig\0', b'\0.llvm_addrsiG\0'))


def is_in(call, thread):
    """A thread, in /proc, is in this system call."""
    try:
        return (thread / 'syscall').read_text().startswith(f'{call} ')
    except OSError:
        return False  # it has ended


@support.needs_root
class Upgrade(installed.ServiceTest):
    def setUp(self):
        super().setUp()
        self.busy, self.pid = self.start_target('busy')

    def tell(self, word):
        self.busy.stdin.write(word + '\n')
        self.busy.stdin.flush()

    def truth(self):
        """How often the target has called each of its functions; its work has ended."""
        self.tell('stop')
        self.assertEqual(self.busy.stdout.readline(), 'done\n')
        return json.loads(self.busy.stdout.readline())

    def make(self, name, pattern='busy_*', do='count'):
        self.tracectl('session', 'new', name, '--saved')
        self.tracectl('stage', name, 'set', f'uprobe:{BUSY}:{pattern}', '-p', self.pid, '--do', do)
        self.tracectl('commit', name)

    def make_and_go(self, name):
        self.make(name)
        self.tell('go')

    def show(self, name):
        return self.json('session', 'show', name)

    def counts(self, name):
        """By function."""
        return {row['probe'].rpartition(':')[2]: row['count'] for row in self.json('read', name)['rows']}

    def wait_for_calls(self, name):
        before = self.counts(name)['busy_cool']
        support.wait_until(lambda: self.counts(name)['busy_cool'] > before, 'calls to be counted')

    def stop(self, name):
        """Ends the target's work; returns what was counted, and what the target has counted itself."""
        truth = self.truth()
        return self.counts(name), truth

    def check_all_was_counted(self, name):
        self.assertEqual(*self.stop(name))
        shown = self.show(name)
        self.assertNotIn('gap', shown)
        self.assertEqual(shown['not_resumed'], [])

    def check_it_is_another(self, pid):
        """A new daemon is running."""
        self.assertNotIn(self.property('MainPID'), ('0', pid))

    def test_restarts_miss_no_call(self):
        self.make_and_go('s')
        for before in None, 'daemon-reload', 'daemon-reexec':
            pid = self.property('MainPID')
            if before:
                self.systemctl(before)
            self.systemctl('restart', 'tracectld')
            self.check_it_is_another(pid)
            self.wait_for_calls('s')
        self.check_all_was_counted('s')

    def kept(self):
        """The number of the daemon's descriptors that systemd stores."""
        return int(self.property('NFileDescriptorStore'))

    def test_what_is_kept_of_a_session_goes_with_it(self):
        left = []
        for name in 's', 't':
            self.make(name)
            self.systemctl('restart', 'tracectld')
            there = self.kept()
            self.tracectl('session', 'delete', name)
            self.systemctl('restart', 'tracectld')
            left.append(self.kept())
            self.assertGreater(there, left[-1])
        # The programs' tables stay once they exist.
        self.assertEqual(left[0], left[1])

    def watch(self):
        """A tracectl in the container that has subscribed, its process id here, and its output."""
        file = tempfile.NamedTemporaryFile()
        self.addCleanup(file.close)
        out = support.Output(file.name)
        self.addCleanup(out.file.close)
        watching = subprocess.Popen(self.container.command('tracectl', '--json', 'watch', 's'),
                                    stdout=file, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watching.communicate)
        self.addCleanup(watching.kill)
        support.wait_until(lambda: container.children(watching.pid), 'it to be in the container')
        pid, = container.children(watching.pid)
        support.wait_for_poll(pid)
        return watching, pid, out

    def check_it_has_rejoined(self, watching):
        for said in ('the daemon has closed the connection; waiting for session s to go on',
                     'session s goes on'):
            self.assertEqual(watching.stderr.readline(), f'tracectl: {said}\n')

    def test_who_watches_gets_every_event_over_a_restart_and_an_upgrade(self):
        self.make('s', 'busy_cool', 'event')
        watching, pid, out = self.watch()
        self.tell('go')
        events = []
        for step in lambda: self.systemctl('restart', 'tracectld'), self.upgrade:
            before = len(events)
            support.wait_until(lambda: events.extend(out.take()) or len(events) > before, 'an event')
            step()
            self.check_it_has_rejoined(watching)
        calls = self.truth()['busy_cool']
        self.assertEqual(out.wait_for(calls, events), (calls, 0))
        os.kill(pid, signal.SIGINT)
        self.assertEqual(watching.communicate(timeout=60)[1], f'{calls} events, 0 lost\n')

    def test_many_restarts_in_a_row_miss_no_call_and_no_event(self):
        self.make('s', 'busy_cool', 'event')
        self.make('counted')
        watching, pid, out = self.watch()
        self.tell('go')
        events = []
        for _ in range(RESTARTS):
            before = len(events)
            self.systemctl('restart', 'tracectld')
            self.check_it_has_rejoined(watching)
            support.wait_until(lambda: events.extend(out.take()) or len(events) > before, 'an event')
        counted, truth = self.stop('counted')
        self.assertEqual(counted, truth)
        delivered, lost = out.wait_for(truth['busy_cool'], events)
        self.assertEqual(delivered + lost, truth['busy_cool'])
        os.kill(pid, signal.SIGINT)
        self.assertEqual(watching.communicate(timeout=60)[1], f'{delivered} events, {lost} lost\n')

    def test_who_watches_hears_that_a_stop_has_ended_the_session(self):
        self.make('s', 'busy_cool', 'event')
        watching, _, _ = self.watch()
        self.systemctl('stop', 'tracectld')
        self.assertEqual(watching.communicate(timeout=60)[1],
                         'tracectl: the daemon has closed the connection; waiting for session s to go '
                         'on\ntracectl: there is no session "s"; tracectl session list shows which there are\n')
        self.assertEqual(watching.returncode, 1)
        self.wait_for('ActiveState', 'active')

    def test_killed_it_goes_on(self):
        self.make_and_go('s')
        pid = self.property('MainPID')
        self.wait_for_calls('s')
        self.systemctl('kill', '--signal=KILL', 'tracectld')
        self.wait_for('NRestarts', '1')
        self.wait_for('ActiveState', 'active')
        self.check_it_is_another(pid)
        self.wait_for_calls('s')
        self.check_all_was_counted('s')

    def test_an_upgrade_of_the_package_misses_no_call(self):
        self.make_and_go('s')
        self.wait_for_calls('s')
        pid = self.property('MainPID')
        armed = self.differences()
        self.assertGreater(armed, 0)
        self.upgrade()
        self.check_it_is_another(pid)
        self.wait_for_calls('s')
        self.assertEqual(self.differences(), armed)
        self.check_all_was_counted('s')
        self.tracectl('session', 'delete', 's')
        self.assertEqual(self.differences(), 0)

    def upgrade(self, change=None):
        """Upgrades by dpkg to another package; the original one is installed again at the end."""
        package = installed.newer_package('tracectld', self.container, change)
        self.container.install(package)
        self.addCleanup(self.container.install, container.package('tracectld'))
        version = self.run_there('dpkg-query', '--show', '--showformat=${Version}', 'tracectld')
        self.assertEqual(version, '99-1')

    def test_upgrades_and_restarts_in_a_row_under_load_miss_no_call_and_count_none_twice(self):
        for _ in range(os.cpu_count()):
            load, _ = self.start_target('busy')
            load.stdin.write('go\n')
            load.stdin.flush()
        packages = [installed.newer_package('tracectld', self.container), container.package('tracectld')]
        self.addCleanup(self.container.install, packages[1])
        for begin in range(0, UPGRADES, UPGRADES_OF_A_TARGET):
            self.make_and_go('s')
            armed = self.differences()
            for i in range(begin, min(begin + UPGRADES_OF_A_TARGET, UPGRADES)):
                self.renew(lambda package=packages[i % 2]: self.container.install(package))
                self.renew(lambda: self.systemctl('restart', 'tracectld'))
            self.assertEqual(self.differences(), armed)
            self.check_all_was_counted('s')
            self.tracectl('session', 'delete', 's')
            self.assertEqual(self.differences(), 0)
            self.busy, self.pid = self.start_target('busy')

    def renew(self, step):
        """Replaces the daemon while its session counts."""
        self.systemctl('reset-failed', 'tracectld')  # systemd counts starts
        pid = self.property('MainPID')
        step()
        self.check_it_is_another(pid)
        self.wait_for_calls('s')

    def test_what_is_deleted_is_disarmed_when_that_is_answered_however_late_systemd_is(self):
        self.make_and_go('s')
        self.assertEqual(self.differences(), 4)
        threads = self.container.path(f'/proc/{self.property("MainPID")}/task')
        waits = lambda: any(is_in(PPOLL, thread) for thread in threads.iterdir())  # only for systemd's barrier
        os.kill(self.container.init, signal.SIGSTOP)
        try:
            deleting = self.start('tracectl', 'session', 'delete', 's')
            support.wait_until(lambda: deleting.poll() is not None or waits(),
                               'the deletion to be answered, or to wait for systemd')
            if deleting.poll() is not None:
                self.assertEqual(self.differences(), 0)
            else:
                self.tracectl('status')
                self.assertTrue(waits(), 'the status waited for systemd, too')
        finally:
            os.kill(self.container.init, signal.SIGCONT)
        self.assertEqual(deleting.wait(timeout=60), 0)
        self.assertEqual(self.differences(), 0)

    def test_an_upgrade_to_other_programs_begins_anew_and_tells_the_gap(self):
        self.make_and_go('s')
        self.wait_for_calls('s')
        before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.upgrade(change_programs)
        after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        gap = self.show('s')['gap']
        self.assertLess(before, gap['since'])
        self.assertLess(gap['until'], after)
        self.assertEqual(gap['ns'], gap['until'] - gap['since'])
        self.wait_for_calls('s')
        counted, truth = self.stop('s')
        for function, calls in truth.items():
            self.assertTrue(0 < counted[function] < calls, function)
        self.systemctl('stop', 'tracectld')
        self.assertEqual(self.differences(), 0)

    def test_a_stop_ends_it_and_leaves_nothing_armed(self):
        self.make_and_go('s')
        self.systemctl('stop', 'tracectld')
        self.assertEqual(self.property('NFileDescriptorStore'), '0')
        self.assertEqual(self.differences(), 0)
        self.systemctl('start', 'tracectld')
        self.assertEqual(self.json('session', 'list')['sessions'], [])

    def write_session(self):
        setting = {'pattern': f'uprobe:{BUSY}:busy_*', 'scope': 'local', 'do': 'count',
                   'target': {'all': True}}
        file = self.container.path(SESSIONS) / 'web.json'
        file.parent.mkdir(parents=True, exist_ok=True)
        self.addCleanup(file.unlink)
        file.write_text(json.dumps({'settings': [setting]}), encoding='utf-8')

    def test_where_the_service_is_enabled_one_of_a_file_begins_at_boot_and_else_with_who_asks(self):
        self.systemctl('stop', 'tracectld')
        self.write_session()
        boot = lambda: self.systemctl('start', 'multi-user.target')  # with all that is enabled for it
        boot()
        self.assertEqual(self.property('ActiveState'), 'inactive')
        self.systemctl('enable', 'tracectld.service')
        self.addCleanup(self.systemctl, 'disable', 'tracectld.service')
        self.systemctl('stop', 'tracectld.socket')
        boot()
        self.wait_for('ActiveState', 'active')
        self.tell('go')
        self.wait_for_calls('web')
        self.check_all_was_counted('web')
        self.systemctl('disable', 'tracectld.service')
        self.assertEqual(self.systemctl('is-enabled', 'tracectld.socket'), 'enabled\n')

    def test_one_of_a_file_begins_with_the_daemon_and_goes_on_with_it(self):
        self.systemctl('stop', 'tracectld')
        self.write_session()
        self.systemctl('start', 'tracectld')
        self.assertEqual(self.show('web')['sites'], 4)
        self.tell('go')
        for _ in range(2):
            self.wait_for_calls('web')
            self.systemctl('restart', 'tracectld')
        self.check_all_was_counted('web')
        self.systemctl('stop', 'tracectld')
        self.systemctl('start', 'tracectld')
        shown = self.show('web')
        self.assertEqual((shown['sites'], shown['hits']), (4, 0))

    def differences(self):
        """Between the target's code and its file."""
        pid, = container.children(self.busy.pid)
        return support.text_differs(pid, BUSY, self.container.path(BUSY))


if __name__ == '__main__':
    unittest.main()
