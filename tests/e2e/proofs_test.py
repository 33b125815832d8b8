# SPDX-License-Identifier: BSD-2-Clause
"""A user can trace a process if the kernel itself allows it: also where ids and capabilities match but
something else forbids it. Landlock is such a thing in every kernel that this project supports."""

import json
import subprocess
import unittest

import support
from users import DENIED, PROGRAM, User, WithUsers

STEP = 'uprobe::changes_step'
CALLS = 100

# Executes a program that may read and execute every file, in a Landlock domain (landlock(7)): it may trace the
# processes in its domain.
SANDBOX = '''
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
MAKE_SOCKETS = 1 << 9  # LANDLOCK_ACCESS_FS_MAKE_SOCK: all that is refused
ruleset = libc.syscall(444, ctypes.byref(ctypes.c_uint64(MAKE_SOCKETS)), 8, 0)
assert ruleset >= 0, os.strerror(ctypes.get_errno())
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
assert libc.syscall(446, ruleset, 0) == 0, os.strerror(ctypes.get_errno())
os.execvp(sys.argv[1], sys.argv[1:])
'''


@support.needs_root
class Proofs(WithUsers):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sandboxed = User('sandboxed', cls.alice.uid)
        cls.sandboxed.enter = [*cls.alice.enter, 'python3', '-c', SANDBOX]
        cls.file = '/opt/of-alice'
        cls.container.run('install', '-m', '755', '-o', cls.alice.uid, PROGRAM, cls.file)

    def unproven(self, name):
        return self.json(self.root, 'session', 'show', name).get('unproven')

    def counted(self, user, name):
        return sum(row['count'] for row in self.json(user, 'read', name)['rows'])

    def test_who_is_under_landlock_sees_no_process_outside(self):
        process = self.of(self.alice, self.file)
        for user, is_seen in (self.alice, True), (self.sandboxed, False):
            with self.subTest(user=user.name):
                pid = process.says_pid
                listed = self.tracectl(user, 'list', STEP, '-p', pid)
                self.assertEqual(listed.returncode, 0 if is_seen else DENIED, listed.stderr)
                staged = self.session(user, f'p-{user.name}', STEP, '-p', pid, '--do', 'count')
                self.assertEqual(staged.returncode, 0 if is_seen else DENIED, staged.stderr)
                if not is_seen:
                    self.assertIn(f'/proc/{pid}/mem', staged.stderr)
                    self.assertIn('Landlock', staged.stderr)
                for action in 'count', 'count, event(str(arg0))':
                    name = f'{len(action)}-{user.name}'
                    staged = self.session(user, name, f'uprobe:{self.file}:changes_step', '-a',
                                          '--do', action)
                    self.assertEqual(staged.returncode, 0, staged.stderr)
                    self.do(process, f'call {CALLS}')
                    self.assertEqual(self.counted(user, name), CALLS if is_seen else 0)
                    left_out = None if is_seen else {'processes': 1, 'hits': CALLS}
                    self.assertEqual(self.unproven(name), left_out)

    def test_who_is_under_landlock_sees_what_it_starts_from_the_first_instruction(self):
        for user in self.alice, self.sandboxed:
            with self.subTest(user=user.name):
                done = self.tracectl(user, '--json', 'count', STEP, '--', self.file,
                                     input=f'call {CALLS}\nexit\n')
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn('left out', done.stderr)
                self.assertIn(f'"count":{CALLS}', done.stdout)

    def test_a_setuid_command_gets_its_rights_and_is_not_seen(self):
        """Under ptrace(2), a program stopped at its start would run without them."""
        setuid = '/opt/setuid-command'
        self.container.run('install', '-m', '4755', PROGRAM, setuid)
        command = subprocess.Popen(
            self.container.command(*self.alice.enter, support.TRACECTL, '--json', 'count', STEP, '--', setuid),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(command.wait)
        self.addCleanup(command.stdin.close)
        self.assertIn('ready', command.stdout.readline())
        [pid] = self.container.run('pidof', setuid).split()
        ids = self.container.run('grep', '^Uid', f'/proc/{pid}/status').split()
        self.assertEqual(ids, ['Uid:', str(self.alice.uid), '0', '0', '0'])
        output, _ = command.communicate(f'call {CALLS}\nexit\n', timeout=60)
        self.assertIn('"total_hits":0', output)

    def test_what_comes_later_is_seen_when_a_client_that_is_there_has_proven_it(self):
        self.session(self.alice, 'later', STEP.replace('::', f':{self.file}:'), '-a', '--do', 'count')
        process = self.of(self.alice, self.file)
        self.do(process, f'call {CALLS}')
        self.assertEqual(self.counted(self.alice, 'later'), 0)
        self.assertEqual(self.unproven('later'), {'processes': 1, 'hits': CALLS})
        watch = subprocess.Popen(
            self.container.command(*self.alice.enter, support.TRACECTL, 'watch', 'later'),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        calls = 0

        def is_seen():
            nonlocal calls
            self.do(process, 'call 1')
            calls += 1
            return self.counted(self.alice, 'later') > 0
        support.wait_until(is_seen, 'the watching client to prove it')
        shown = self.json(self.root, 'session', 'show', 'later')
        self.assertEqual(shown['unproven']['processes'], 1)
        self.assertEqual(shown['unproven']['hits'] + self.counted(self.alice, 'later'), CALLS + calls)

    def test_nobody_but_who_may_see_it_proves_a_process(self):
        """Nobody else can prove a process to a session, and nobody can prove another user's process."""
        self.session(self.alice, 'hers', STEP.replace('::', f':{self.file}:'), '-a', '--do', 'count')
        refused = self.tracectl(self.bob, 'session', 'prove', 'hers')
        self.assertEqual(refused.returncode, DENIED, refused.stderr)
        process = self.of(self.bob, self.file)
        proven = self.json(self.alice, 'session', 'prove', 'hers', '-p', process.says_pid)
        self.assertEqual(proven['proven'], [])
        self.do(process, f'call {CALLS}')
        self.assertEqual(self.counted(self.alice, 'hers'), 0)
        self.assertIsNone(self.unproven('hers'))

    def test_a_request_names_no_more_proofs_than_it_has(self):
        name = 'few'
        self.session(self.alice, name, STEP.replace('::', f':{self.file}:'), '-a', '--do', 'count')
        program = ('import sys; sys.path.insert(0, sys.argv[1]); import tracectl\n'
                   'with tracectl.connect() as daemon:\n'
                   '    for proofs in 1, 129, -1, "1":\n'
                   '        try:\n'
                   f'            daemon.call("session.prove", {{"session": "{name}", "proofs": proofs}})\n'
                   '        except tracectl.Refused as refused: print(refused)\n')
        done = subprocess.run(self.container.command(*self.alice.enter, 'python3', '-c', program,
                                                     str(support.ROOT / 'client/python')),
                              capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(len(done.stdout.splitlines()), 4, done.stdout)


if __name__ == '__main__':
    unittest.main()
