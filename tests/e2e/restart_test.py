# SPDX-License-Identifier: BSD-2-Clause
"""Saved sessions go on when the daemon is restarted or killed; others end with it."""

import json
import os
import pathlib
import random
import re
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

import service_manager
import support
from support import target

HOT = target('hot')
CALLS = 100
RESTARTS = 5  # and as many kills
KILLS = 10
AS_USER = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--inh-caps=-all',
           '--bounding-set=-all']
RESERVED = 16  # descriptors in the store, reserved for states
MOST_CONNECTIONS = 2048  # of the daemon


def connects_and_leaves(path):
    """False if no connection is taken for half a second, so that new ones wait."""
    with socket.socket(socket.AF_UNIX) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('ll', 0, 500_000))
        try:
            client.connect(path)
        except BlockingIOError:
            return False
    return True


@support.needs_root
class Restart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.service = service_manager.Service('--sessions', folder.name)
        self.addCleanup(self.service.end)
        self.service.start()

    def program(self, name='hot', *arguments):
        program = support.Program(target(name), *arguments)
        self.addCleanup(program.end)
        return program

    def let_users_in(self):
        os.chmod(self.service.directory.name, 0o755)
        os.chmod(self.service.socket, 0o666)

    def as_user(self, *words):
        return subprocess.run([*AS_USER, support.TRACECTL, '--socket', self.service.socket, *words],
                              capture_output=True, text=True, timeout=60)

    def users_program(self, path=HOT):
        program = support.Program(*AS_USER, path)
        self.addCleanup(program.end)
        return program

    def call(self, program):
        program.send(f'hot_push {CALLS}')
        program.result()

    def make(self, name, *setting, options=('--saved',)):
        do = () if '--do' in setting else ('--do', 'count')
        self.service.json('session', 'new', name, *options)
        self.service.json('stage', name, 'set', 'uprobe::hot_push', *setting, *do)
        self.service.json('commit', name)

    def show(self, name):
        return self.service.json('session', 'show', name)

    def count(self, name):
        return sum(row['count'] for row in self.service.json('read', name)['rows'])

    def names(self):
        return [one['name'] for one in self.service.json('session', 'list')['sessions']]

    def test_a_saved_session_goes_on_as_it_was(self):
        program = self.program()
        self.make('s', '-p', str(program.pid), '--when', 'arg0 >= 10',
                  options=('--saved', '--budget', '50'))
        self.make('unsaved', '-p', str(program.pid), options=())
        was = self.show('s')
        self.assertEqual((was['saved'], 'gap' in was), (True, False))
        self.assertEqual(self.service.restart(), 0)
        self.assertEqual(self.names(), ['s'])
        now = self.show('s')
        for part in 'settings', 'budget', 'sites', 'saved', 'paused':
            self.assertEqual(now[part], was[part])
        self.assertNotIn('gap', now)
        self.assertEqual(now['not_resumed'], [])
        self.assertRegex(self.service.log(), r'continue session=s uid=0 gapns=0 settings=1 failed=0')
        self.call(program)
        self.assertEqual(self.count('s'), CALLS - 10)
        shown = self.show('s')
        self.assertEqual((shown['hits'], shown['filtered']), (CALLS, 10))

    def test_restarts_and_kills_in_a_row_leave_it_as_it_was(self):
        program = self.program()
        self.make('s', '-p', str(program.pid))
        self.service.json('session', 'new', 'draft', '--saved')
        self.service.json('stage', 'draft', 'set', 'uprobe::hot_nop5', '-p', str(program.pid))
        for times, number in enumerate([signal.SIGTERM, signal.SIGKILL] * RESTARTS):
            self.service.restart(number)
            self.assertEqual(self.count('s'), times * CALLS)
            self.call(program)
            self.assertEqual(self.count('s'), (times + 1) * CALLS)
            self.assertEqual(len(self.show('draft')['draft']), 1)
            kept = [re.sub(r'^kept\.\d+\.|\.\d+$', '', name) for name in self.service.names()]
            self.assertEqual([kept.count(name) for name in ('sessions', 'sessions.alive', 'engine')],
                             [1, 1, 1], self.service.names())
        self.assertEqual(self.service.log().count('continue session=s'), 2 * RESTARTS)

    def test_a_kill_at_any_moment_leaves_all_that_was_answered(self):
        client = self.service.connect()
        random.seed(8)
        made = 0
        for _ in range(KILLS):
            end = threading.Timer(random.uniform(0, 0.05), os.kill, (self.service.pid, signal.SIGKILL))
            end.start()
            try:
                while True:
                    client.result('session.create', name=f's{made}', saved=True)
                    made += 1
                    client.result('session.delete', session=f's{made - 1}')
                    made -= 1
                    client.result('session.create', name=f's{made}', saved=True)
                    made += 1
            except (AssertionError, ConnectionError):
                pass
            end.join()
            client.close()
            self.service.restart(signal.SIGKILL)
            there = {int(name[1:]) for name in self.names()}
            # The last request may have taken effect without an answer, or the other way round.
            self.assertLessEqual(set(range(made - 1)), there)
            self.assertLessEqual(there, set(range(made + 1)))
            client = self.service.connect()
            for number in there:
                client.result('session.delete', session=f's{number}')
            made = 0
        client.close()

    def test_calls_that_were_blocked_while_no_daemon_ran_are_not_split(self):
        program = self.program('blocks', '5')
        self.service.json('session', 'new', 's', '--saved')
        self.service.json('stage', 's', 'set', 'uprobe::blocks_read', '-p', str(program.pid), '--do', 'time, split')
        self.service.json('commit', 's')
        self.service.finish(signal.SIGKILL)
        program.send('go')
        program.result()
        self.service.start()
        row, = self.service.json('read', 's')['rows']
        self.assertEqual((row['count'], row['unsplit'], row['blocked']), (5, 5, 0))

    def test_a_paused_session_a_draft_and_a_recorder_stay_what_they_are(self):
        program = self.program()
        self.make('p', '-p', str(program.pid))
        self.service.json('stage', 'p', 'remove', 'uprobe::hot_push', '-p', str(program.pid))
        self.service.json('stage', 'p', 'set', 'uprobe::hot_nop5', '-p', str(program.pid))
        self.service.json('pause', 'p')
        self.service.json('session', 'new', 'z', '--saved', '--recorder', '2M', '--dump-on', 'crash')
        was = self.show('p')
        self.service.restart(signal.SIGKILL)
        now = self.show('p')
        for part in 'settings', 'draft', 'paused', 'saved':
            self.assertEqual(now[part], was[part])
        self.call(program)
        self.assertEqual(self.count('p'), 0)
        self.service.json('resume', 'p')
        self.call(program)
        self.assertEqual(self.count('p'), CALLS)
        recorder = self.show('z')['recorder']
        self.assertEqual((recorder['bound'], recorder['dump_on']['crash']), ({'bytes': 2 << 20}, True))

    def test_sessions_that_trigger_one_another_go_on_together(self):
        program = self.program()
        on = ['-p', str(program.pid), '--do']
        self.make('z', *on, 'count')
        self.make('a', *on, 'trigger(z)')
        self.service.restart()
        self.assertEqual(self.show('z')['triggered_by'], ['a'])
        self.assertEqual(self.show('z')['not_resumed'] + self.show('a')['not_resumed'], [])

    def test_a_process_that_has_ended_is_said_and_stops_nothing_else(self):
        gone, stays = self.program(), self.program()
        self.make('s', '-p', str(gone.pid))
        self.service.json('stage', 's', 'set', 'uprobe::hot_push', '-p', str(stays.pid), '--do', 'count')
        self.service.json('commit', 's')
        self.service.finish()
        gone.end()
        self.service.forget_what_is_armed()
        self.service.start()
        shown = self.show('s')
        self.assertEqual(len(shown['settings']), 1)
        self.assertIn('have ended', shown['not_resumed'][0])
        self.assertIn('not resumed: uprobe::hot_push', self.service.run('session', 'show', 's').stdout)
        self.call(stays)
        self.assertEqual(self.count('s'), CALLS)

    def test_what_a_process_has_done_that_has_ended_stays_counted(self):
        gone, stays = self.program(), self.program()
        self.make('s', '-p', str(gone.pid), '-p', str(stays.pid))
        self.call(gone)
        self.service.finish()
        self.call(gone)
        gone.end()
        self.service.start()
        self.call(stays)
        self.assertEqual(self.count('s'), 3 * CALLS)

    def test_what_cannot_be_taken_over_begins_anew_and_says_how_long_it_did_not_count(self):
        program = self.program()
        before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.make('s', '-p', str(program.pid))
        self.call(program)
        self.service.finish()
        self.service.forget_what_is_armed()
        self.service.start()
        gap = self.show('s')['gap']
        self.assertLess(before, gap['since'])
        self.assertLess(gap['since'], gap['until'])
        self.assertEqual(gap['ns'], gap['until'] - gap['since'])
        self.assertEqual(self.count('s'), 0)
        self.call(program)
        self.assertEqual(self.count('s'), CALLS)

    def test_a_number_that_means_another_process_is_passed_over(self):
        program = self.program()
        self.make('s', '-p', str(program.pid))
        self.service.finish()
        state, = self.states()
        text = os.pread(state[1], 1 << 20, 0).decode()
        kept = json.loads(text)
        kept['sessions'][0]['settings'][0]['births'][0] += 1
        self.replace(state, json.dumps(kept))
        self.service.forget_what_is_armed()
        self.service.start()
        self.assertIn('have ended', self.show('s')['not_resumed'][0])
        self.assertEqual(self.show('s')['sites'], 0)

    def states(self):
        """Those in the store; one, except for a moment while another is written."""
        return [one for one in self.service.store if one[0].partition('.sessions.')[2].isdigit()]

    def replace(self, state, text):
        """Replaces the text of a state in the store."""
        fd = os.memfd_create('state')
        os.pwrite(fd, text.encode(), 0)
        self.service.store[self.service.store.index(state)] = (state[0], fd)
        os.close(state[1])

    def test_what_cannot_be_read_is_said_and_the_daemon_begins(self):
        for text in ('', '{"version": 2, "sessions": []}', '{"version": 1', '[' * 100000,
                     '{"version": 1, "written_ns": 1, "sessions": [{"name": "s"}]}'):
            with self.subTest(text[:40]):
                self.service.json('session', 'new', 's', '--saved')
                self.service.finish()
                for state in self.states():
                    self.replace(state, text)
                self.service.start()
                self.assertEqual(self.names(), [])
                self.assertIn('cannot be read', self.service.log())
                self.assertEqual([name for name in self.service.names() if 'alive' not in name], [])

    def leave_room_for(self, descriptors):
        """Leaves room for this many more in the store."""
        self.service.finish()
        self.service.most = len(self.service.store) + RESERVED + descriptors
        self.service.start()

    def test_what_the_store_has_no_room_for_is_refused_and_costs_nobody_what_is_there(self):
        programs = [self.program() for _ in range(6)]
        self.make('kept', '-p', str(programs[0].pid))
        self.leave_room_for(4)
        before = self.service.names()
        self.service.json('session', 'new', 'many', '--saved')
        for program in programs[1:]:  # each needs its own link
            self.service.json('stage', 'many', 'set', 'uprobe::hot_push', '-p', str(program.pid),
                              '--do', 'count')
        refused = self.service.run('commit', 'many')
        self.assertEqual(refused.returncode, 1)
        self.assertIn("systemd's store of descriptors for the daemon is full", refused.stderr)
        self.assertEqual(self.show('many')['sites'], 0)
        for program in programs[1:]:
            self.assertEqual(support.text_differs(program.pid, HOT), 0)
        self.make('few', '-p', str(programs[1].pid))
        self.service.restart()
        for program in programs:
            self.call(program)
        self.assertEqual([self.count(name) for name in ('kept', 'few', 'many')], [CALLS, CALLS, 0])
        for name in 'few', 'many':
            self.service.json('session', 'delete', name)
        self.service.restart()
        self.assertEqual(len(self.service.names()), len(before))
        self.assertEqual(self.service.dropped, 0)

    def test_who_connects_and_leaves_while_the_store_is_waited_for_keeps_nobody_out(self):
        self.make('s', '-p', str(self.program().pid))
        self.service.barriers = []
        deleting = subprocess.Popen([support.TRACECTL, '--socket', self.service.socket, 'session', 'delete', 's'],
                                    stdout=subprocess.DEVNULL)
        support.wait_until(lambda: self.service.barriers, 'the deletion to wait for the store')
        taken = 0
        while taken < MOST_CONNECTIONS and connects_and_leaves(self.service.socket):
            taken += 1
        self.assertLess(taken, MOST_CONNECTIONS // 4)
        for barrier in self.service.barriers:
            os.close(barrier)
        self.service.barriers = None
        self.assertEqual(deleting.wait(timeout=60), 0)
        self.assertEqual(self.names(), [])

    def test_a_user_has_a_part_of_the_store(self):
        config = self.folder / 'tracectld.conf'
        config.write_text(json.dumps({'quota': {'kept': 2}}), encoding='utf-8')
        self.service.finish()
        self.service.options += '--config', str(config)
        self.service.start()
        self.let_users_in()
        programs = [self.users_program() for _ in range(3)]
        # A file counts as one, and so does a link for each process.
        for name, options, taken in ('saved', ['--saved'], 1), ('unsaved', [], 3):
            self.as_user('session', 'new', name, *options)
            committed = []
            for program in programs:
                self.as_user('stage', name, 'set', 'uprobe::hot_push', '-p', str(program.pid),
                             '--do', 'count')
                committed.append(self.as_user('commit', name))
            self.assertEqual([done.returncode for done in committed], [0] * taken + [1] * (3 - taken))
            self.assertEqual(self.show(name)['sites'], taken)
            if taken < 3:
                self.assertIn('a user may have 2 descriptors of saved sessions', committed[-1].stderr)

    def test_a_session_is_saved_only_where_that_means_something(self):
        refused = self.service.connect().call('session.create', saved=True)['error']
        self.assertIn('has a name', refused['message'])
        daemon = support.Daemon()
        self.addCleanup(daemon.end)
        done = daemon.run('session', 'new', 's', '--saved')
        self.assertEqual(done.returncode, 1)
        self.assertIn('cannot save a session', done.stderr)
        self.assertEqual(daemon.json('session', 'list')['sessions'], [])

    def test_a_stop_ends_it(self):
        self.service.json('session', 'new', 's', '--saved')
        self.assertEqual(self.service.stop(), 0)
        self.service.start()
        self.assertEqual(self.names(), [])

    def test_one_of_a_file_begins_once_and_anew_when_the_file_has_changed(self):
        setting = {'pattern': 'uprobe::hot_push', 'scope': 'local', 'do': 'count',
                   'target': {'executables': [HOT]}}
        file = self.folder / 'f.json'
        file.write_text(json.dumps({'settings': [setting]}), encoding='utf-8')
        self.service.restart()
        self.assertTrue(self.show('f')['saved'])
        self.service.json('stage', 'f', 'set', 'uprobe::hot_nop5', '-x', HOT)
        self.service.json('commit', 'f')
        self.service.restart()
        self.assertEqual(len(self.show('f')['settings']), 2)
        self.assertNotIn('gap', self.show('f'))
        file.write_text(json.dumps({'settings': [{**setting, 'when': 'arg0 > 1'}]}), encoding='utf-8')
        self.service.restart()
        self.assertEqual([one.get('when') for one in self.show('f')['settings']], ['arg0 > 1'])
        self.assertNotIn('gap', self.show('f'))
        file.unlink()
        self.service.restart()
        self.assertEqual(self.names(), [])
        self.assertEqual(self.service.log().count('error'), 0, self.service.log())

    def test_a_user_s_session_goes_on_with_the_user_s_files_and_rights(self):
        self.let_users_in()
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            path = folder + '/hot'
            subprocess.run(['cp', HOT, path], check=True)
            own = self.users_program(path)
            for words in (['session', 'new', 'u', '--saved'],
                          ['stage', 'u', 'set', 'uprobe::hot_push', '-p', str(own.pid), '--do',
                           'count'],
                          ['commit', 'u']):
                done = self.as_user(*words)
                self.assertEqual(done.returncode, 0, done.stderr)
            status = os.stat(path)
            name = f'.file.{status.st_dev}.{status.st_ino}'
            self.assertTrue(any(one.endswith(name) for one in self.service.names()), self.service.names())
            self.service.restart(signal.SIGKILL)
            shown = self.show('u')
            self.assertEqual((shown['user'], shown['not_resumed'], shown['sites']), (65534, [], 1))
            self.call(own)
            self.assertEqual(self.count('u'), CALLS)
            self.service.json('session', 'delete', 'u')
            support.wait_until(lambda: not any('.file.' in one for one in self.service.names()),
                               'the file to be forgotten')

    def test_a_user_s_session_does_not_go_on_for_another_account_of_that_number(self):
        passwd = self.folder / 'passwd'
        entry = lambda name: f'root:x:0:0::/:/bin/sh\n{name}:x:65534:65534::/:/bin/sh\n'
        self.service.stop()
        self.service.options = ('--mount', 'sh', '-c', f'mount --bind {passwd} /etc/passwd && exec "$@"', 'sh',
                                self.service.program, *self.service.options)
        self.service.program = 'unshare'
        for now, goes_on in ((entry('alice'), True), (entry('mallory'), False), (entry('root'), False),
                             ('root:x:0:0::/:/bin/sh\n', False)):
            with self.subTest(now):
                passwd.write_text(entry('alice'), encoding='utf-8')
                self.service.start()
                self.let_users_in()
                own = self.users_program()
                for words in (['session', 'new', 'u', '--saved'],
                              ['stage', 'u', 'set', 'uprobe::hot_push', '-p', str(own.pid), '--do', 'count'],
                              ['commit', 'u']):
                    done = self.as_user(*words)
                    self.assertEqual(done.returncode, 0, done.stderr)
                self.service.finish()
                passwd.write_text(now, encoding='utf-8')
                self.service.start()
                self.assertEqual(self.names(), ['u'] if goes_on else [])
                self.assertEqual(support.text_differs(own.pid, HOT) > 0, goes_on)
                if not goes_on:
                    self.assertIn('is not restored: user 65534 was alice', self.service.log())
                self.service.stop()


if __name__ == '__main__':
    unittest.main()
