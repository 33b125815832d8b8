# SPDX-License-Identifier: BSD-2-Clause
"""The daemon as a systemd service, installed from its package: its units, sandbox and log."""

import json
import re
import unittest

import installed
import support
from installed import CONFIGURATION, FOLDER

STATE = '/var/lib/tracectl'
CAPABILITIES = 1 << 19 | 1 << 38 | 1 << 39  # CAP_SYS_PTRACE, CAP_PERFMON, CAP_BPF
HOT = FOLDER + '/hot'
CALLS = 100
EXPOSURE = 1.0  # at most, of 10; from systemd-analyze security

# The settings that systemd-analyze complains about, by its names for them, and why they stay.
EXPOSED = {
    'AmbientCapabilities': 'a user other than root has capabilities by them',
    'CapabilityBoundingSet_CAP_BPF': 'it loads programs into the kernel',
    'CapabilityBoundingSet_CAP_SYS_PTRACE': 'it looks at the processes of others',
    'DeviceAllow': 'ProtectClock= allows to read the clock, and nothing else is allowed',
    'PrivateUsers': 'its capabilities would be of a user namespace that has no other process',
    'ProcSubset': "the kernel's command line, core_pattern and kallsyms are read",
    'RestrictAddressFamilies_AF_UNIX': "its own socket, the journal's and the bus's",
    'RootDirectoryOrRootImage': 'debug files are where the system has them',
    'SystemCallFilter_debug': 'perf_event_open, by which the kernel records what a command maps',
    'SystemCallFilter_privileged': 'bpf; and capset, by which reading processes drop what they have',
}

# Tries what an attacker who has taken over the daemon would do, and prints each result: as a program in the
# daemon's place, with the process id of a process of root's.
ATTEMPTS = '''
import ctypes, errno, json, mmap, os, pathlib, resource, shutil, subprocess, sys

victim = int(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
page = ctypes.create_string_buffer(4096)
for line in pathlib.Path(f'/proc/{victim}/maps').read_text().splitlines():
    if ' rw-p ' in line:
        memory = int(line.partition('-')[0], 16)
here, there = (ctypes.c_size_t * 2)(ctypes.addressof(page), 8), (ctypes.c_size_t * 2)(memory, 8)
pidfd = os.pidfd_open(victim)
zero = ctypes.c_long(0)
own = os.getpid()

def call(number, *arguments):
    as_long = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return 'done' if libc.syscall(number, *as_long) >= 0 else errno.errorcode[ctypes.get_errno()]

def attempt(function, *arguments):
    try:
        function(*arguments)
        return 'done'
    except OSError as error:
        return errno.errorcode[error.errno]

def execute(path):
    subprocess.run([shutil.copy('/bin/true', path)], check=True)

def map_code(path):
    with open(path, 'rb') as file:
        mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)

said = {
    'process_vm_readv': call(310, victim, here, 1, there, 1, 0),
    'process_vm_writev': call(311, victim, here, 1, there, 1, 0),
    'ptrace': call(101, 0x4206, victim, 0, 0),  # PTRACE_SEIZE
    'pidfd_getfd': call(438, pidfd, 0, 0),
    'kcmp': call(312, own, own, 0, 0, 0),
    'process_madvise': call(440, pidfd, here, 1, 0, 1),
    'perf_event_open': call(298, 0, 0, -1, -1, 0),
    'io_setup': call(206, 1, ctypes.byref(zero)),
    'io_uring_setup': call(425, 1, ctypes.create_string_buffer(120)),
    'add_key': call(248, b'user', b'tracectl', b'x', 1, -3),
    'keyctl': call(250, 0, -3, 0),
    'userfaultfd': call(323, 0x80001),
    'mlock': call(149, page, 4096),
    'setresuid': call(117, -1, -1, -1),
    'unshare': call(272, 0),
    'setns': call(308, -1, 0x80),
    'execveat': call(322, -1, b'x', 0, 0, 0),
    'mknod': call(133, b'/var/lib/tracectl/fifo', 0o10600, 0),
    'splice': call(275, -1, 0, -1, 0, 1, 0),
    'vmsplice': call(278, -1, 0, 0, 0),
    'mq_open': call(240, b'tracectl', 0, 0, 0),
    'msgget': call(68, 0, 0o1600),
    'semget': call(64, 0, 1, 0o1600),
    'shmget': call(29, 0, 4096, 0o1600),
    'write its memory': attempt(open, f'/proc/{victim}/mem', 'r+b'),
    'signal it': attempt(os.kill, victim, 0),
    'execute what was written': attempt(execute, '/var/lib/tracectl/true'),
    'execute what was written for a time': attempt(execute, '/tmp/true'),
    'have code of what was written': attempt(map_code, '/tmp/true'),
    'list /boot': attempt(os.listdir, '/boot'),
    'read by the root of init': attempt(open, '/proc/1/root/etc/passwd'),
    'read what is not for everybody by it': attempt(open, '/proc/1/root/etc/shadow'),
    'write what others own by it': attempt(open, '/proc/1/root/etc/passwd', 'r+b'),
    'write and execute by it': attempt(execute, '/proc/1/root/var/tmp/true'),
    'secure bits': libc.prctl(27),  # PR_GET_SECUREBITS
    'core': resource.getrlimit(resource.RLIMIT_CORE),
}
print(json.dumps(said))
'''
ALLOWED = ['process_vm_readv', 'read by the root of init', 'write and execute by it']
NOT_IN_CONTAINERS = {'add_key', 'keyctl', 'pidfd_getfd', 'setns'}
# Independent of the system call filter.
REFUSED = {'write its memory': 'EACCES', 'signal it': 'EPERM', 'execute what was written': 'EACCES',
           'execute what was written for a time': 'EACCES', 'have code of what was written': 'EPERM',
           'list /boot': 'EACCES', 'read what is not for everybody by it': 'EACCES',
           'write what others own by it': 'EACCES',
           'perf_event_open': 'EFAULT'}  # it is allowed, and is given nothing to open


setUpModule = installed.boot


class ServiceTest(installed.ServiceTest):
    def configure(self, text):
        self.container.path(CONFIGURATION).write_text(text, encoding='utf-8')

    def status_of_daemon(self):
        """From /proc/PID/status of the daemon."""
        lines = self.run_there('cat', f'/proc/{self.property("MainPID")}/status').splitlines()
        return dict(line.split(':\t', 1) for line in lines)

    def status(self):
        return json.loads(self.run_there('tracectl', '--json', 'status'))

    def counted(self):
        """The result of `tracectl count` for a command that makes CALLS calls; half of them at a 5-byte nop,
        for which a child of the daemon runs code."""
        calls = f'hot_push {CALLS // 2}\nhot_nop5 {CALLS // 2}\nexit\n'
        out = self.tracectl('--json', 'count', 'uprobe::hot_*', '--', HOT, input=calls)
        document = next(line for line in out.splitlines() if '"rows"' in line)
        return sum(row['count'] for row in json.loads(document)['rows'])


@support.needs_root
class Life(ServiceTest):
    def test_whoever_asks_first_starts_it(self):
        self.assertEqual(self.property('ActiveState'), 'inactive')
        status = self.status()
        self.assertEqual(status['pid'], int(self.property('MainPID')))
        self.assertEqual(self.property('ActiveState'), 'active')
        self.assertEqual(self.property('StatusText'), 'listening on /run/tracectl/tracectl.sock')

    def test_it_starts_stops_and_starts_anew(self):
        self.systemctl('start', 'tracectld')
        first = self.status()['pid']
        self.assertIn('listening on', self.systemctl('status', 'tracectld'))
        self.systemctl('restart', 'tracectld')
        second = self.status()['pid']
        self.assertNotEqual(second, first)
        self.systemctl('stop', 'tracectld')
        self.assertEqual(self.property('Result'), 'success')
        self.assertEqual(self.property('ActiveState', 'tracectld.socket'), 'active')
        self.assertNotEqual(self.status()['pid'], second)

    def test_the_socket_is_there_for_all_and_stays_when_the_daemon_ends(self):
        socket = '/run/tracectl/tracectl.sock'
        before = self.run_there('stat', '--format=%a %U %i', socket)
        self.assertRegex(before, '^666 root ')
        self.status()
        self.systemctl('stop', 'tracectld.service')
        self.assertEqual(self.run_there('stat', '--format=%a %U %i', socket), before)
        self.systemctl('stop', 'tracectld.socket')
        self.assertEqual(self.run_there('find', '/run/tracectl', '-mindepth', '1'), '')

    def test_killed_it_comes_back(self):
        first = self.status()['pid']
        self.systemctl('kill', '--signal=KILL', 'tracectld')
        self.wait_for('NRestarts', '1')
        self.wait_for('ActiveState', 'active')
        self.assertNotEqual(self.status()['pid'], first)
        self.assertEqual(self.counted(), CALLS)

    def test_killed_again_and_again_it_is_given_up(self):
        for start in range(int(self.property('StartLimitBurst'))):
            self.wait_for('NRestarts', str(start))
            self.wait_for('ActiveState', 'active') if start else self.status()
            self.systemctl('kill', '--signal=KILL', 'tracectld')
        self.wait_for('ActiveState', 'failed')
        self.assertIn('Start request repeated too quickly',
                      self.run_there('journalctl', '--unit=tracectld.service'))

    def test_it_is_told_how_much_systemd_keeps_for_it(self):
        self.assertIn('TRACECTLD_FDSTORE=' + self.property('FileDescriptorStoreMax'),
                      self.property('Environment').split())

    def test_it_feeds_its_watchdog_and_is_replaced_where_it_hangs(self):
        folder = self.container.path('/run/systemd/system/tracectld.service.d')
        folder.mkdir(parents=True, exist_ok=True)
        (folder / 'watchdog.conf').write_text('[Service]\nWatchdogSec=1\n')
        self.addCleanup(self.systemctl, 'daemon-reload')
        self.addCleanup((folder / 'watchdog.conf').unlink)
        self.systemctl('daemon-reload')
        self.status()
        fed = lambda: int(self.property('WatchdogTimestampMonotonic'))
        first = fed()
        support.wait_until(lambda: fed() > first, 'the watchdog to be fed')
        self.systemctl('kill', '--signal=STOP', 'tracectld')
        self.wait_for('NRestarts', '1')
        self.assertIn('Watchdog timeout', self.run_there('journalctl', '--unit=tracectld.service'))


@support.needs_root
class Sandbox(ServiceTest):
    def test_the_units_are_free_of_warnings(self):
        self.assertEqual(self.run_there('systemd-analyze', 'verify', '--man=no',
                                        'tracectld.service', 'tracectld.socket'), '')

    def test_the_manual_that_the_units_name_is_there(self):
        for unit in 'tracectld.service', 'tracectld.socket':
            text = (support.ROOT / 'systemd' / unit).read_text()
            for page, chapter in re.findall(r'man:([\w.]+)\((\d)\)', text):
                self.assertTrue((support.ROOT / f'docs/man/{page}.{chapter}').exists(), page)

    def test_little_is_exposed(self):
        said = self.run_there('systemd-analyze', 'security', 'tracectld.service')
        exposure = float(re.search(r'Overall exposure level for \S+: ([\d.]+)', said)[1])
        self.assertLessEqual(exposure, EXPOSURE)

    def test_what_is_exposed_has_its_reason(self):
        rows = json.loads(self.run_there('systemd-analyze', 'security', '--json=short', 'tracectld.service'))
        self.assertEqual({row['json_field'] for row in rows if not row['set']}, set(EXPOSED))

    def attempts(self, *without):
        """The results of ATTEMPTS with the unit's settings, except those that begin with `without`."""
        _, victim = self.start_target('hot')
        self.container.path(FOLDER + '/attempts.py').write_text(ATTEMPTS)
        left_out = ['Requires', 'After', 'Type', 'Exec', 'Notify', 'Watchdog', 'Restart=', 'RestartSec', *without]
        unit = self.run_there('cat', '/lib/systemd/system/tracectld.service').partition('[Install]')[0]
        lines = [line for line in unit.splitlines() if not line.startswith(tuple(left_out))]
        lines += ['Type=oneshot', f'ExecStart=/usr/bin/python3 {FOLDER}/attempts.py {victim}',
                  'StandardOutput=truncate:/run/attempts.json']
        file = self.container.path('/run/systemd/system/attempts.service')
        file.write_text('\n'.join(lines) + '\n')
        self.addCleanup(file.unlink, missing_ok=True)
        self.systemctl('daemon-reload')
        self.systemctl('start', 'attempts')
        return json.loads(self.container.path('/run/attempts.json').read_text())

    def test_who_takes_it_over_reads_processes_and_changes_none(self):
        said = self.attempts()
        self.assertEqual((said.pop('secure bits'), said.pop('core')), (0x2f, [0, 0]))
        self.assertEqual(said, {**{name: 'EPERM' for name in said}, **REFUSED,
                                **{name: 'done' for name in ALLOWED}})
        # Without the filter they succeed, except those that the container does not support.
        without = self.attempts('SystemCallFilter')
        self.assertEqual({name for name, end in without.items() if end == 'EPERM' and name not in REFUSED},
                         NOT_IN_CONTAINERS)
        allowed = self.property('SystemCallFilter').split()
        self.assertIn('process_vm_readv', allowed)
        self.assertEqual(NOT_IN_CONTAINERS & set(allowed), set())

    def test_it_has_three_capabilities_and_a_user_of_its_own(self):
        self.status()
        status = self.status_of_daemon()
        for kind in 'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb':
            self.assertEqual(int(status[kind], 16), CAPABILITIES, kind)
        user = self.run_there('id', '--user', 'tracectld').strip()
        group = self.run_there('id', '--group', 'tracectld').strip()
        self.assertNotEqual(user, '0')
        self.assertEqual(status['Uid'].split(), [user] * 4)
        self.assertEqual(status['Gid'].split(), [group] * 4)
        self.assertEqual(status['Groups'].split(), [group])
        self.assertEqual((status['NoNewPrivs'], status['Seccomp']), ('1', '2'))

    def test_it_has_no_network(self):
        self.status()
        there = f'/proc/{self.property("MainPID")}'
        self.assertNotEqual(self.run_there('readlink', f'{there}/ns/net'),
                            self.run_there('readlink', '/proc/1/ns/net'))
        devices = self.run_there('cat', f'{there}/net/dev').splitlines()[2:]
        self.assertEqual([line.split(':')[0].strip() for line in devices], ['lo'])

    def test_what_it_is_for_works(self):
        self.assertEqual(self.counted(), CALLS)
        busy, pid = self.start_target('busy')
        busy.stdin.write('go\n')
        busy.stdin.flush()
        for words, expected in (
                (('list', 'uprobe::busy_*'), r'\d+ probes'),
                (('trace', 'uprobe::busy_cool', '--for', '100ms'), r'[1-9]\d* events, 0 lost'),
                (('time', 'uprobe::busy_below', '--for', '100ms'), r'\d+ hits'),
                (('record', 'uprobe::busy_cool', '--for', '100ms', '-o', '/root/x.tct'),
                 r'[1-9]\d* events, 0 lost')):
            with self.subTest(words=words):
                self.assertRegex(self.tracectl(*words, '-p', pid), expected)
        checks = json.loads(self.tracectl('--json', 'doctor'))['checks']
        self.assertEqual([check for check in checks if check['result'] == 'unknown'], [])

    def test_it_hears_of_units_that_fail_and_of_crashes(self):
        unit = self.container.path('/run/systemd/system/hot.service')
        unit.write_text('[Service]\nExecStart=/bin/sh -c "echo hot_push 100 | '
                        f'{HOT}; kill -SEGV $$$$"\n')
        self.addCleanup(unit.unlink)
        self.systemctl('daemon-reload')
        self.record('failed', 'failed:hot', '-a')
        self.systemctl('start', 'hot')
        self.wait_for_dump('failed')
        hot, pid = self.start_target('hot')
        self.record('crash', 'crash', '-p', pid)
        hot.stdin.write('hot_push 1\n')
        hot.stdin.flush()
        self.assertEqual(hot.stdout.readline(), 'done\n')
        self.run_there('kill', '-SEGV', pid)
        self.wait_for_dump('crash')

    def test_a_unit_that_was_never_started_is_traced_from_its_first_call(self):
        unit = self.container.path('/run/systemd/system/never.service')
        unit.write_text(f'[Service]\nExecStart={HOT}\nStandardInput=data\n'
                        f'StandardInputText=hot_push {CALLS}\n')
        self.addCleanup(unit.unlink)
        self.systemctl('daemon-reload')
        self.tracectl('session', 'new', 's')
        self.tracectl('stage', 's', 'set', 'uprobe::hot_push', '-u', 'never', '--do', 'count')
        self.tracectl('commit', 's')
        for times in 1, 2:
            self.systemctl('start', 'never')
            self.wait_for('ActiveState', 'inactive', 'never.service')
            self.assertEqual([row['count'] for row in self.json('read', 's')['rows']], [times * CALLS])
        self.assertIn('systemd knows no unit nobody.service',
                      self.tracectl('list', 'uprobe::*', '-u', 'nobody', check=False))

    def record(self, session, cause, *target):
        self.tracectl('session', 'new', session, '--recorder', '1M', '--dump-on', cause)
        self.tracectl('stage', session, 'set', f'uprobe:{HOT}:hot_push', '--do', 'event', *target)
        self.tracectl('commit', session)

    def wait_for_dump(self, session):
        folder = self.container.path(STATE + '/dumps')
        support.wait_until(lambda: installed.dumps_in(folder, session), f'a dump of {session}')


@support.needs_root
class Log(ServiceTest):
    def entry(self, *matches, of=lambda entry: True):
        """The only matching entry. A thread of the daemon writes it, maybe after the answer."""
        found = lambda: [entry for entry in self.entries(*matches) if of(entry)]
        support.wait_until(found, 'an entry of the journal')
        entry, = found()
        return entry

    def test_a_commit_has_fields_in_the_journal(self):
        self.tracectl('session', 'new', 'fields')
        self.tracectl('stage', 'fields', 'set', f'uprobe:{HOT}:hot_push', '-a', '--do', 'count')
        epoch = json.loads(self.tracectl('--json', 'commit', 'fields'))['epoch']
        entry = self.entry('TRACECTL_ACTION=commit')
        self.assertEqual({name: value for name, value in entry.items()
                          if name.startswith('TRACECTL_') and name != 'TRACECTL_PID'},
                         {'TRACECTL_ACTION': 'commit', 'TRACECTL_SESSION': 'fields',
                          'TRACECTL_UID': '0', 'TRACECTL_EPOCH': str(epoch),
                          'TRACECTL_PROBES': '1', 'TRACECTL_SITES': '1', 'TRACECTL_ADDED': '1',
                          'TRACECTL_UPDATED': '0', 'TRACECTL_REMOVED': '0'})
        self.assertRegex(entry['TRACECTL_PID'], r'^\d+$')
        self.assertEqual((entry['PRIORITY'], entry['SYSLOG_IDENTIFIER']), ('6', 'tracectld'))

    def test_nobody_puts_fields_into_what_was_refused(self):
        self.tracectl('commit', 'x uid=4711', check=False)
        entry = self.entry(of=lambda entry: '4711' in entry['MESSAGE'])
        self.assertEqual([name for name in entry if name.startswith('TRACECTL_')], [])
        self.assertEqual(entry['PRIORITY'], '4')


@support.needs_root
class Configuration(ServiceTest):
    def refused(self, text):
        """The journal's error for a start with this configuration."""
        self.configure(text)
        self.systemctl('start', 'tracectld', check=False)
        self.assertEqual(self.property('ExecMainStatus'), '2')
        self.assertEqual(self.property('NRestarts'), '0')
        said, = (entry['MESSAGE'] for entry in self.entries('PRIORITY=3', 'SYSLOG_IDENTIFIER=tracectld'))
        self.systemctl('reset-failed')
        return said

    def test_what_is_wrong_is_refused_with_its_place(self):
        for text, expected in (
                ('{"linger": 1,\n "verbose" true}', 'line 2, column 15: this is not JSON in UTF-8'),
                ('{"liger": 1}', 'liger: unknown field; did you mean "linger"?'),
                ('{"linger": "1"}', 'linger: expected a number, got a string')):
            with self.subTest(text=text):
                self.assertEqual(self.refused(text), f'{CONFIGURATION}: {expected}')

    def test_a_reload_takes_what_can_change(self):
        self.status()
        self.configure('{"dumps": "/var/lib/tracectl/elsewhere", "linger": 2}')
        self.systemctl('reload', 'tracectld')
        self.wait_for('StatusText', 'configuration read; needs a restart: linger')
        self.assertIn('the configuration was read; needs a restart: linger', self.messages())
        self.tracectl('session', 'new', 's', '--recorder', '1M')
        self.systemctl('kill', '--signal=USR2', 'tracectld')
        folder = self.container.path(STATE + '/elsewhere')
        support.wait_until(lambda: installed.dumps_in(folder, 's'), 'a dump')

    def test_a_quota_is_of_each_user_who_is_not_privileged(self):
        self.configure('{"quota": {"sessions": 1}}')
        made = lambda uid, name: self.container.run(
            'setpriv', f'--reuid={uid}', f'--regid={uid}', '--clear-groups', support.TRACECTL,
            'session', 'new', name, check=False)
        self.assertIn('is there', made(4001, 'first'))
        self.assertIn('a user may have 1 sessions: delete some', made(4001, 'second'))
        self.assertIn('is there', made(4002, 'third'))
        for name in 'fourth', 'fifth':
            self.assertIn('is there', made(0, name))

    def test_a_reload_of_what_is_wrong_changes_nothing(self):
        self.status()
        pid = self.property('MainPID')
        self.configure('{"verbose": 1}')
        self.assertIn('failed', self.systemctl('reload', 'tracectld', check=False))
        said = (f'the configuration stays as it was: {CONFIGURATION}: verbose: expected a boolean, '
                'got an integer')
        self.wait_for('StatusText', said)
        self.assertIn(said, self.messages())
        self.assertEqual((self.property('ActiveState'), self.property('MainPID')), ('active', pid))
        self.assertEqual(self.counted(), CALLS)


if __name__ == '__main__':
    unittest.main()
