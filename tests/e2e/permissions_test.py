# SPDX-License-Identifier: BSD-2-Clause
"""Which users may trace what: real users, on a socket that all of them may connect to.

Users and programs are in a container, so they do not exist elsewhere."""

import collections
import collections.abc
import dataclasses
import json
import unittest

import support
from users import ALICE, BOB, DENIED, PROGRAM, SETUID, User, WithUsers

STEP = 'uprobe::changes_step'
EVERYTHING = 'event(arg0), stack(4), count'
CALLS = 100
SOCKET = '/run/tracectl/tracectl.sock'

# Connects, sends a request and executes a program; its child, which has the socket, prints the answer.
PEER = '''
import os, socket, sys
path, request, program = sys.argv[1:]
peer = socket.socket(socket.AF_UNIX)
peer.connect(path)
peer.sendall(request.encode() + b'\\n')
if os.fork():
    os.execv(program, [program])
print(peer.makefile().readline(), end='', flush=True)
'''


@dataclasses.dataclass
class Kind:
    """A kind of process."""
    name: str
    start: collections.abc.Callable  # with the file to run
    seen: dict = dataclasses.field(default_factory=dict)       # calls, by user
    ptraced_by: set = dataclasses.field(default_factory=set)  # at the end
    calls: int = CALLS


@support.needs_root
class Permissions(WithUsers):
    def seen(self, user, name):
        """The session's count so far, and the number of recorded events, which have stacks."""
        events = self.recorded(user, name)
        rows = self.json(user, 'read', name)['rows']
        return sum(row['count'] for row in rows), len(events)

    def recorded(self, user, name):
        file = f'/var/tmp/dump-{name}-of-{user.name}'
        dumped = self.tracectl(user, 'dump', name, '-o', file)
        self.assertEqual(dumped.returncode, 0, dumped.stderr)
        shown = self.tracectl(user, 'show', '--json', file).stdout.splitlines()
        self.container.run('rm', file)
        events = [json.loads(line) for line in shown if '"ts"' in line]
        for event in events:
            # Names are there if they could be read in time.
            self.assertTrue(event['stack'] and all(frame['address'] for frame in event['stack']), event)
        return events

    # ---- the matrix: which user sees what of which kind of process ----

    def kinds(self):
        """Each runs its own file, which belongs to alice until it starts and is armed in all processes, and
        makes CALLS calls, or twice as many. Name; how to start it; the calls seen by the session of alice, and
        of alice inside a user namespace; and which of the two could ptrace the process afterwards."""
        alice, bob, inside, root = self.alice, self.bob, self.inside, self.root
        return [
            Kind('own', lambda file: self.calling(alice.enter, file), {alice: CALLS}, {alice}),
            Kind('of another user', lambda file: self.calling(bob.enter, file)),
            Kind('of another group', lambda file: self.calling(
                ['setpriv', f'--reuid={ALICE}', f'--regid={BOB}', '--clear-groups'], file)),
            Kind('of root', lambda file: self.calling(root.enter, file)),
            Kind('of a setuid file', self.of_setuid_file),
            Kind('of another user and a file that is setuid to alice', self.of_file_setuid_to_alice),
            Kind('that was root', lambda file: self.calling(root.enter, file, f'user {ALICE}')),
            Kind('that becomes another user\'s', self.becoming_alices, calls=2 * CALLS),
            Kind('that executes a setuid file', self.executing_setuid_file, {alice: CALLS},
                 calls=2 * CALLS),
            Kind('not dumpable', lambda file: self.calling(alice.enter, file, 'dumpable 0')),
            Kind('with capabilities', lambda file: self.calling(
                [*alice.enter, '--inh-caps=+net_raw', '--ambient-caps=+net_raw'], file)),
            Kind('in another user namespace', lambda file: self.calling(inside.enter, file),
                 {inside: CALLS}, {inside}),
            Kind('in another mount namespace', self.in_mount_namespace, {alice: CALLS}, {alice}),
        ]

    def calling(self, enter, file, *before):
        process = self.process(*enter, file)
        self.do(process, *before)
        self.prove(process)
        self.do(process, f'call {CALLS}')
        return process

    def prove(self, process):
        """To each one's session, if the kernel allows it."""
        for user in self.alice, self.inside:
            proven = self.json(user, 'session', 'prove', user.name, '-p', process.says_pid)
            self.assertTrue(proven['needed'])

    def make_setuid(self, file, owner):
        self.container.run('chown', owner, file)
        self.container.run('chmod', 'u+s', file)

    def of_setuid_file(self, file):
        self.make_setuid(file, 'root')
        return self.calling(self.alice.enter, file)

    def of_file_setuid_to_alice(self, file):
        self.make_setuid(file, ALICE)
        return self.calling(self.bob.enter, file)

    def becoming_alices(self, file):
        process = self.calling(self.root.enter, file)
        self.do(process, f'user {ALICE}', f'call {CALLS}')
        return process

    def executing_setuid_file(self, file):
        process = self.calling(self.alice.enter, file)
        self.make_setuid(file, 'root')
        self.executing(process, file)
        self.do(process, f'call {CALLS}')
        return process

    def executing(self, process, file):
        process.send(f'exec {file}')
        self.assertIn('ready', process.process.stdout.readline())

    def in_mount_namespace(self, file):
        return self.calling(['unshare', '--mount', 'sh', '-c',
                             f'touch /opt/elsewhere && mount --bind {file} /opt/elsewhere && exec "$@"',
                             'sh', *self.alice.enter], '/opt/elsewhere')

    def trace_whoever_runs(self, user, files):
        self.assertEqual(self.tracectl(user, 'session', 'new', user.name, '--recorder', '4M')
                         .returncode, 0)
        self.addCleanup(self.tracectl, self.root, 'session', 'delete', user.name)
        for words in [['stage', user.name, 'set', *(f'uprobe:{file}:changes_step' for file in files),
                       '-a', '--do', 'event(arg0), stack(4), count by pid'], ['commit', user.name]]:
            done = self.tracectl(user, *words)
            self.assertEqual(done.returncode, 0, done.stderr)

    def check_choice(self, user, process, allowed):
        """Chooses the process by its number."""
        pid = process.says_pid
        for words in ['list', STEP], ['stage', user.name, 'set', STEP]:
            done = self.tracectl(user, *words, '-p', pid)
            self.assertEqual(done.returncode, 0 if allowed else DENIED, done.stderr)
            if not allowed:
                self.assertIn(f'process {pid} is not yours to trace', done.stderr)

    def of_each(self, user):
        """Results of the session with the user's name: counts and events by process, hits by file."""
        rows = self.json(user, 'read', user.name)['rows']
        settings = self.json(user, 'info', STEP.replace('::', ':*:'))['settings']
        return ({str(row['by']['pid']): row['count'] for row in rows},
                collections.Counter(str(event['pid']) for event in self.recorded(user, user.name)),
                {setting['probe'].split(':')[1]: setting['hits'] for setting in settings
                 if setting['session'] == user.name},
                {setting['session'] for setting in settings})

    def test_each_user_sees_what_it_could_ptrace_of_each_kind_of_process(self):
        kinds, users = self.kinds(), [self.alice, self.inside, self.carol, self.root]
        files = [f'/opt/of-alice/{number}' for number in range(len(kinds))]
        self.container.run('mkdir', '-p', '/opt/of-alice')
        for file in files:
            self.container.run('install', '-m', '755', '-o', ALICE, PROGRAM, file)
        for user in users:
            self.trace_whoever_runs(user, files)
        processes = [kind.start(file) for kind, file in zip(kinds, files)]
        for user in users:
            sees_all = user in (self.carol, self.root)
            counts, events, hits, sessions = self.of_each(user)
            self.assertEqual(sessions, {one.name for one in users} if sees_all else {user.name})
            for kind, file, process in zip(kinds, files, processes):
                with self.subTest(process=kind.name, user=user.name):
                    seen = kind.calls if sees_all else kind.seen.get(user, 0)
                    pid = process.says_pid
                    self.assertEqual((counts.get(pid, 0), events[pid], hits[file]), (seen,) * 3)
                    self.check_choice(user, process, sees_all or user in kind.ptraced_by)

    # ---- changes of a process while it is traced ----

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
        """The probes stay in the process: the file is the same, but has become setuid."""
        self.container.run('install', '-m', '755', PROGRAM, '/opt/becomes')
        process = self.of(self.alice, '/opt/becomes')
        self.session(self.alice, 's', STEP, '-p', process.says_pid, '--do', EVERYTHING)
        self.do(process, f'call {CALLS}')
        self.make_setuid('/opt/becomes', 'root')
        self.executing(process, '/opt/becomes')
        self.do(process, f'call {CALLS}')
        self.assertEqual(self.seen(self.alice, 's'), (CALLS, CALLS))
        refused = self.session(self.alice, 't', STEP, '-p', process.says_pid)
        self.assertEqual(refused.returncode, DENIED)

    def test_that_a_process_has_crashed_is_told_to_who_could_look_at_it(self):
        file = '/opt/crashes'
        self.container.run('install', '-m', '755', PROGRAM, file)
        processes = [self.of(self.alice, file) for _ in range(3)]
        chosen = [word for process in processes for word in ('-p', process.says_pid)]
        for user, name in (self.alice, 's'), (self.root, 'all'):
            staged = self.session(user, name, STEP, *chosen, recorder=['1M', '--dump-on', 'crash'])
            self.assertEqual(staged.returncode, 0, staged.stderr)
        self.make_setuid(file, 'root')
        self.executing(processes[0], file)
        for process in processes:
            self.container.run('kill', '-SEGV', process.says_pid)
            process.process.wait(timeout=60)
        # The first reported crash is dumped, and those immediately after it are counted.
        left_out = lambda user, name: self.json(user, 'session', 'show', name)['recorder']['dumps_left_out']
        support.wait_until(lambda: left_out(self.root, 'all') == 2, 'all crashes to be told of')
        self.assertEqual(left_out(self.alice, 's'), 1)

    # ---- who connects ----

    def test_what_a_peer_executes_gives_its_child_no_rights(self):
        """It connects, and executes a setuid file before the daemon has looked at it."""
        process = self.process(*self.alice.enter, '--inh-caps=+net_raw', '--ambient-caps=+net_raw',
                               PROGRAM)
        self.json(self.root, 'status')
        daemon = self.container.run('systemctl', 'show', '--property=MainPID', '--value',
                                    'tracectld').strip()
        asked = {'jsonrpc': '2.0', 'id': 1, 'method': 'probe.list',
                 'params': {'patterns': [STEP], 'target': {'pids': [int(process.says_pid)]}}}
        self.container.run('kill', '-STOP', daemon)
        state = lambda: self.container.run('cat', f'/proc/{daemon}/stat')
        try:
            support.wait_until(lambda: ') T ' in state(), 'the daemon to stop')
            peer = self.of(self.alice, 'python3', '-c', PEER, SOCKET, json.dumps(asked), SETUID)
        finally:
            self.container.run('kill', '-CONT', daemon)
        answer = json.loads(peer.process.stdout.readline())
        self.assertIn(f'process {process.says_pid} is not yours to trace', answer['error']['message'])

    def test_root_without_capabilities_is_a_user_like_others(self):
        weak = User('weak', 0)
        weak.enter = ['setpriv', '--bounding-set=-all', '--inh-caps=-all']
        for owner in self.alice, self.root:
            with self.subTest(owner=owner.name):
                process = self.of(owner)
                words = 'w', STEP, '-p', process.says_pid, '--do', 'count'
                refused = self.session(weak, *words)
                self.assertEqual(refused.returncode, DENIED, refused.stderr)
                self.assertIn('root with CAP_SYS_PTRACE', refused.stderr)
                self.tracectl(weak, 'session', 'delete', 'w')
                self.assertEqual(self.session(self.root, *words).returncode, 0)
                self.tracectl(self.root, 'session', 'delete', 'w')
        own = self.of(weak)
        staged = self.session(weak, 'w', STEP, '-p', own.says_pid, '--do', 'count')
        self.assertEqual(staged.returncode, 0, staged.stderr)
        self.do(own, f'call {CALLS}')
        row, = self.json(weak, 'read', 'w')['rows']
        self.assertEqual(row['count'], CALLS)

    # ---- use of other users' time ----

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
        self.assertIn('check that you may read it', refused.stderr)
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
        table = self.json(self.alice, 'top', '--iterations', '1', '--interval', '10ms')
        self.assertEqual([row['session'] for row in table['rows']], ['alices'])

    def test_to_pause_all_is_to_pause_ones_own(self):
        process = self.of(self.alice)
        for user, name in (self.alice, 'alices'), (self.root, 'roots'):
            self.session(user, name, STEP, '-p', process.says_pid, '--do', 'count')
        self.assertEqual(self.tracectl(self.alice, 'pause', '--all').returncode, 0)
        self.do(process, f'call {CALLS}')
        self.assertEqual(self.json(self.root, 'session', 'show', 'roots')['hits'], CALLS)
        self.assertEqual(self.json(self.alice, 'session', 'show', 'alices')['hits'], 0)

    def test_a_user_who_fills_the_keys_leaves_others_theirs(self):
        read = {}
        for user, name, calls in ((self.alice, 'alices', 70_000), (self.root, 'roots', 6000),
                                  (self.bob, 'bobs', 1000)):
            process = self.of(user)
            self.session(user, name, STEP, '-p', process.says_pid, '--do', 'count by arg0')
            self.do(process, f'call {calls}')
            results = self.json(user, 'read', name)
            read[name] = len(results['rows']), results['dropped_keys']
        self.assertEqual(read['roots'], (6000, 0))
        self.assertEqual(read['bobs'], (1000, 0))
        # The rest, 32,772, and a fifteenth of a quarter of the table.
        self.assertEqual(read['alices'], (33_864, 70_000 - 33_864))

    def test_flight_recorders_of_a_user_have_a_quota(self):
        for user, name, status in ((self.alice, 'first', 0), (self.alice, 'second', 1),
                                   (self.bob, 'third', 0), (self.root, 'fourth', 0),
                                   (self.root, 'fifth', 0)):
            done = self.tracectl(user, 'session', 'new', name, '--recorder', '200M')
            self.addCleanup(self.tracectl, self.root, 'session', 'delete', name)
            self.assertEqual(done.returncode, status, done.stderr)
            if status:
                self.assertIn('the flight recorders of a user may have', done.stderr)


if __name__ == '__main__':
    unittest.main()
