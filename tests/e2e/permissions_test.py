# SPDX-License-Identifier: BSD-2-Clause
"""Who may trace what: real users, on a socket that all of them may connect to.

Users and programs are in a container, so that they are nowhere else."""

import json
import subprocess
import unittest

import container
import support

ALICE, BOB, CAROL = 4001, 4002, 4003
STEP = 'uprobe::changes_step'
EVERYTHING = 'event(arg0), stack(4), count'
CALLS = 100
PROGRAM = '/opt/changes'      # root's, for everybody to execute
SETUID = '/opt/changes-suid'  # the same, and executed as root
DENIED = 4                    # exit status


class User:
    def __init__(self, uid, *groups):
        self.uid = uid
        self.enter = ['setpriv', f'--reuid={uid}', f'--regid={uid}',
                      f'--groups={",".join(map(str, groups))}' if groups else '--clear-groups']


@support.needs_root
class Permissions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.container = container.Container()
        cls.addClassCleanup(cls.container.end)
        run = cls.container.run
        run('systemctl', 'is-system-running', '--wait')
        for name, uid in ('alice', ALICE), ('bob', BOB), ('carol', CAROL):
            run('useradd', '--uid', uid, '--user-group', '--create-home', name)
        cls.container.install(container.package('tracectl'), container.package('tracectld'))
        run('install', '-m', '755', support.target('changes'), PROGRAM)
        run('install', '-m', '4755', support.target('changes'), SETUID)
        group = int(run('getent', 'group', 'tracectl').split(':')[2])
        cls.alice, cls.bob, cls.carol = User(ALICE), User(BOB), User(CAROL, group)
        cls.root = User(0)

    def tracectl(self, user, *words, **options):
        return subprocess.run(self.container.command(*user.enter, support.TRACECTL, *words),
                              capture_output=True, text=True, timeout=120, **options)

    def json(self, user, *words):
        done = self.tracectl(user, '--json', *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def process(self, *command):
        process = support.Program(*self.container.command(*command))
        self.addCleanup(process.end)
        return process

    def of(self, user, *command):
        return self.process(*user.enter, *(command or (PROGRAM,)))

    @staticmethod
    def do(process, *lines):
        for line in lines:
            process.send(line)
            process.result()

    def session(self, user, name, *words):
        """With what is to be seen of these processes; its draft is in force."""
        self.assertEqual(self.tracectl(user, 'session', 'new', name, '--recorder', '1M').returncode, 0)
        self.addCleanup(self.tracectl, self.root, 'session', 'delete', name)
        staged = self.tracectl(user, 'stage', name, 'set', *words)
        if staged.returncode == 0:
            committed = self.tracectl(user, 'commit', name)
            self.assertEqual(committed.returncode, 0, committed.stderr)
        return staged

    def seen(self, user, name):
        """What the session has counted so far, and what it has recorded, which has a stack."""
        file = f'/tmp/dump-{name}-of-{user.uid}'
        dumped = self.tracectl(user, 'dump', name, '-o', file)
        self.assertEqual(dumped.returncode, 0, dumped.stderr)
        shown = self.tracectl(user, 'show', '--json', file).stdout.splitlines()
        self.container.run('rm', file)
        events = [json.loads(line) for line in shown if '"ts"' in line]
        for event in events:
            self.assertIn('main', str(event['stack']))
        rows = self.json(user, 'read', name)['rows']
        return sum(row['count'] for row in rows), len(events)

    # ---- the matrix: whose processes of which kind are seen ----

    def kinds(self):
        """Name, how such a process comes about, and whether alice could ptrace it."""
        in_mount_namespace = ['unshare', '--mount', 'sh', '-c',
                              f'mount -t tmpfs none /mnt && cp {PROGRAM} /mnt/ && exec "$@"', 'sh']
        return [
            ('own', lambda: self.of(self.alice), True),
            ('of another user', lambda: self.of(self.bob), False),
            ('of root', lambda: self.of(self.root), False),
            ('of a setuid file', lambda: self.of(self.alice, SETUID), False),
            ('not dumpable', self.not_dumpable, False),
            ('that was root', self.was_root, False),
            ('with capabilities', lambda: self.process(
                *self.alice.enter, '--inh-caps=+net_raw', '--ambient-caps=+net_raw', PROGRAM),
             False),
            ('of another group', lambda: self.process(
                'setpriv', f'--reuid={ALICE}', f'--regid={BOB}', '--clear-groups', PROGRAM), False),
            ('in another user namespace', lambda: self.of(self.alice, 'unshare', '--user', PROGRAM),
             False),
            ('in another mount namespace', lambda: self.process(
                *in_mount_namespace, *self.alice.enter, '/mnt/changes'), True),
        ]

    def not_dumpable(self):
        process = self.of(self.alice)
        self.do(process, 'dumpable 0')
        return process

    def was_root(self):
        process = self.of(self.root)
        self.do(process, f'user {ALICE}')
        return process

    def check_cells(self, user, name, process, allowed):
        """Lists, counters, events, stacks and info of one process."""
        pid = process.says_pid
        listed = self.tracectl(user, 'list', STEP, '-p', pid)
        self.assertEqual(listed.returncode, 0 if allowed else DENIED, listed.stderr)
        staged = self.session(user, 's', STEP, '-p', pid, '--do', EVERYTHING)
        self.assertEqual(staged.returncode, 0 if allowed else DENIED, staged.stderr)
        if not allowed:
            for done in listed, staged:
                self.assertIn(f'process {pid} is not yours to trace', done.stderr)
            return
        self.do(process, f'call {CALLS}')
        self.assertEqual(self.seen(user, 's'), (CALLS, CALLS))
        setting, = self.json(user, 'info', STEP.replace('::', ':*:'))['settings']
        self.assertEqual((setting['session'], setting['hits']), ('s', CALLS))

    def check_matrix(self, user, may):
        for name, start, alices in self.kinds():
            with self.subTest(process=name, user=user.uid):
                process = start()
                self.check_cells(user, name, process, may(alices))
            self.doCleanups()

    # ---- what a process does while it is traced ----

    def test_what_is_not_dumpable_any_more_is_not_seen(self):
        process = self.of(self.alice)
        self.session(self.alice, 's', STEP, '-p', process.says_pid, '--do', EVERYTHING)
        self.session(self.root, 'all', STEP, '-p', process.says_pid, '--do', EVERYTHING)
        self.do(process, f'call {CALLS}', 'dumpable 0', f'call {CALLS}', 'dumpable 1', 'call 1')
        self.assertEqual(self.seen(self.alice, 's'), (CALLS + 1, CALLS + 1))
        self.assertEqual(self.seen(self.root, 'all'), (2 * CALLS + 1, 2 * CALLS + 1))

    def test_a_call_that_ends_unseen_tells_nothing(self):
        process = self.of(self.alice)
        self.session(self.alice, 's', 'uprobe::changes_within', '-p', process.says_pid,
                     '--do', 'return, count by retval')
        self.do(process, 'within 1', 'within 0', 'dumpable 1', 'within 1')
        rows = self.json(self.alice, 'read', 's')['rows']
        self.assertEqual([(row['by'], row['count']) for row in rows], [({'retval': 0}, 2)])

    def test_a_process_that_executes_a_setuid_file_is_not_seen(self):
        """The probes stay with the process: it is the same file, that has become setuid."""
        self.container.run('install', '-m', '755', PROGRAM, '/opt/becomes')
        process = self.of(self.alice, '/opt/becomes')
        self.session(self.alice, 's', STEP, '-p', process.says_pid, '--do', EVERYTHING)
        self.do(process, f'call {CALLS}')
        self.container.run('chmod', 'u+s', '/opt/becomes')
        process.send('exec /opt/becomes')
        self.assertIn('ready', process.process.stdout.readline())
        self.do(process, f'call {CALLS}')
        self.assertEqual(self.seen(self.alice, 's'), (CALLS, CALLS))
        refused = self.session(self.alice, 't', STEP, '-p', process.says_pid)
        self.assertEqual(refused.returncode, DENIED)

    # ---- what takes other users' time ----

    def test_what_is_armed_for_everybody_is_for_the_files_owner(self):
        process = self.of(self.alice)
        for words in ['-a'], ['-x', PROGRAM], ['-f', '-p', process.says_pid]:
            with self.subTest(words=words):
                refused = self.session(self.alice, 's', f'uprobe:{PROGRAM}:changes_step', *words)
                self.assertEqual(refused.returncode, DENIED, refused.stderr)
                self.assertIn('is not your file', refused.stderr)
            self.tracectl(self.alice, 'session', 'delete', 's')

    def test_of_those_who_run_ones_file_only_ones_own_are_seen(self):
        self.container.run(*self.alice.enter, 'install', '-m', '755', PROGRAM, '/tmp/of-alice')
        processes = [self.of(user, '/tmp/of-alice') for user in (self.alice, self.bob, self.root)]
        staged = self.session(self.alice, 's', 'uprobe:/tmp/of-alice:changes_step', '-a',
                              '--do', 'event, count by uid')
        self.assertEqual(staged.returncode, 0, staged.stderr)
        for process in processes:
            self.do(process, f'call {CALLS}')
        row, = self.json(self.alice, 'read', 's')['rows']
        self.assertEqual((row['by'], row['count']), ({'uid': ALICE}, CALLS))
        self.assertEqual(self.json(self.alice, 'session', 'show', 's')['hits'], CALLS)

    # ---- files ----

    def test_a_file_that_may_not_be_read_is_not_looked_into(self):
        self.container.run('install', '-m', '711', PROGRAM, '/opt/unreadable')
        refused = self.tracectl(self.alice, 'list', 'uprobe:/opt/unreadable:changes_step')
        self.assertEqual(refused.returncode, DENIED, refused.stderr)
        self.assertIn('may not read it', refused.stderr)
        self.assertEqual(self.tracectl(self.root, 'list', 'uprobe:/opt/unreadable:changes_step')
                         .returncode, 0)

    def test_a_command_is_traced_from_its_beginning(self):
        done = self.tracectl(self.alice, '--json', 'count', STEP, '--', PROGRAM,
                             input='call 7\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([row['count'] for row in json.loads(done.stdout.splitlines()[-1])['rows']],
                         [7])

    # ---- sessions ----

    def test_sessions_of_others_are_out_of_reach(self):
        process = self.of(self.alice)
        self.session(self.root, 'roots', STEP, '-p', process.says_pid, '--do', 'count')
        self.session(self.carol, 'carols', STEP, '-p', process.says_pid, '--do', 'count')
        self.session(self.alice, 'alices', STEP, '-p', process.says_pid, '--do', 'count')
        names = lambda user: [session['name']
                              for session in self.json(user, 'session', 'list')['sessions']]
        self.assertEqual(names(self.alice), ['alices'])
        self.assertEqual(names(self.bob), [])
        for user in self.root, self.carol:
            self.assertEqual(names(user), ['alices', 'carols', 'roots'])
        for words in (['session', 'show', 'roots'], ['session', 'delete', 'carols'],
                      ['read', '--clear', 'roots'], ['pause', 'roots'], ['resume', 'roots'],
                      ['commit', 'carols'], ['abort', 'roots'], ['flush', 'roots'],
                      ['watch', 'roots'], ['restart', 'carols'],
                      ['stage', 'roots', 'remove', STEP],
                      ['dump', 'roots', '-o', '/tmp/dump'],
                      ['stage', 'alices', 'set', STEP, '-p', process.says_pid,
                       '--do', 'trigger(carols)']):
            with self.subTest(words=words):
                refused = self.tracectl(self.alice, *words)
                self.assertEqual(refused.returncode, DENIED, refused.stderr)
                self.assertIn('is another user\'s', refused.stderr)
        self.assertEqual([setting['session'] for setting in
                          self.json(self.alice, 'info', f'uprobe:{PROGRAM}:*')['settings']],
                         ['alices'])
        table = self.json(self.alice, 'top', '-n', '1', '--interval', '10ms')
        self.assertEqual([row['session'] for row in table['rows']], ['alices'])

    def test_to_pause_all_is_to_pause_ones_own(self):
        process = self.of(self.alice)
        for user, name in (self.alice, 'alices'), (self.root, 'roots'):
            self.session(user, name, STEP, '-p', process.says_pid, '--do', 'count')
        self.assertEqual(self.tracectl(self.alice, 'pause', '--all').returncode, 0)
        self.do(process, f'call {CALLS}')
        self.assertEqual(self.json(self.root, 'session', 'show', 'roots')['hits'], CALLS)
        self.assertEqual(self.json(self.alice, 'session', 'show', 'alices')['hits'], 0)

    def test_flight_recorders_of_a_user_have_a_quota(self):
        for user, name, status in ((self.alice, 'first', 0), (self.alice, 'second', 1),
                                   (self.bob, 'third', 0), (self.root, 'fourth', 0),
                                   (self.root, 'fifth', 0)):
            done = self.tracectl(user, 'session', 'new', name, '--recorder', '200M')
            self.addCleanup(self.tracectl, self.root, 'session', 'delete', name)
            self.assertEqual(done.returncode, status, done.stderr)
            if status:
                self.assertIn('the flight recorders of a user may have', done.stderr)

    # ---- the matrix ----

    def test_a_user_traces_what_it_could_ptrace(self):
        self.check_matrix(self.alice, lambda alices: alices)

    def test_members_of_the_group_trace_every_process(self):
        self.check_matrix(self.carol, lambda _: True)

    def test_root_traces_every_process(self):
        self.check_matrix(self.root, lambda _: True)


if __name__ == '__main__':
    unittest.main()
