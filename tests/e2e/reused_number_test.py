# SPDX-License-Identifier: BSD-2-Clause
"""Processes that end, and others that get their process ids: settings for the first do not apply to the
second."""

import os
import subprocess
import unittest

import numbered
import service_manager
import support
from support import target

HOT, CALLS = target('hot'), 100
PUSH = 'uprobe::hot_push'
USER = 65534
AS_USER = ['setpriv', f'--reuid={USER}', f'--regid={USER}', '--clear-groups', '--inh-caps=-all',
           '--bounding-set=-all']


@support.needs_root
class ReusedNumber(unittest.TestCase):
    def setUp(self):
        self.service = service_manager.Service()
        self.addCleanup(self.service.end)
        self.service.start()
        os.chmod(self.service.directory.name, 0o755)
        os.chmod(self.service.socket, 0o666)

    def program(self, *before):
        program = support.Program(*before, HOT)
        self.addCleanup(program.end)
        return program

    def impostor(self, number, *command):
        impostor = numbered.Impostor(number, *(command or (HOT,)))
        self.addCleanup(impostor.end)
        return impostor

    def session(self, *target, name='s', options=()):
        self.service.json('session', 'new', name, *options)
        self.stage(*target, name=name)

    def stage(self, *target, name='s'):
        self.service.json('stage', name, 'set', PUSH, *target, '--do', 'count')

    def commit(self):
        return self.service.run('commit', 's')

    def check_refused(self, done):
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn('its number means another process now', done.stderr)

    def call(self, program):
        program.send(f'hot_push {CALLS}')
        program.result()

    def count(self):
        return sum(row['count'] for row in self.service.json('read', 's')['rows'])

    def check_untouched(self, impostor):
        before = self.count()
        self.assertEqual(support.text_differs(impostor.pid, HOT), 0)
        self.call(impostor)
        self.assertEqual(self.count(), before)

    def test_between_staging_and_commit(self):
        first = support.Program(HOT)
        self.session('-p', str(first.pid))
        first.end()
        impostor = self.impostor(first.pid)
        self.check_refused(self.commit())
        self.check_untouched(impostor)

    def test_of_a_user_s_process_by_one_of_root_s(self):
        as_user = lambda *words: subprocess.run(
            [*AS_USER, support.TRACECTL, '--socket', self.service.socket, *words], capture_output=True,
            text=True, timeout=60)
        first = support.Program(*AS_USER, HOT)
        for words in (['session', 'new', 's'],
                      ['stage', 's', 'set', PUSH, '-p', str(first.pid), '--do', 'count']):
            done = as_user(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
        first.end()
        impostor = self.impostor(first.pid)
        self.check_refused(as_user('commit', 's'))
        self.check_untouched(impostor)

    def test_between_one_commit_and_the_next(self):
        first, stays = support.Program(HOT), self.program()
        self.session('-p', str(first.pid), '-p', str(stays.pid))
        self.assertEqual(self.commit().returncode, 0)
        self.call(first)
        first.end()
        impostor = self.impostor(first.pid)
        self.check_untouched(impostor)
        self.stage('-p', str(self.program().pid))
        self.check_refused(self.commit())
        self.check_untouched(impostor)
        self.call(stays)
        self.assertEqual(self.count(), 2 * CALLS)

    def test_of_one_whose_children_are_followed(self):
        first, stays = support.Program(HOT), self.program()
        self.session('-p', str(first.pid), '-p', str(stays.pid), '-f')
        self.assertEqual(self.commit().returncode, 0)
        self.call(first)
        first.end()
        impostor = self.impostor(first.pid)
        self.call(impostor)
        self.assertEqual(self.count(), CALLS)
        self.stage('-p', str(self.program().pid))
        self.check_refused(self.commit())
        self.call(impostor)
        self.call(stays)
        self.assertEqual(self.count(), 2 * CALLS)

    def test_while_the_daemon_of_a_saved_session_is_away(self):
        for armed in True, False:  # whether the probes are still armed
            with self.subTest(armed=armed):
                first, stays = support.Program(HOT), self.program()
                self.session('-p', str(first.pid), '-p', str(stays.pid), options=['--saved'])
                self.assertEqual(self.commit().returncode, 0)
                self.service.finish()
                if not armed:
                    self.service.forget_what_is_armed()
                first.end()
                impostor = self.impostor(first.pid)
                self.service.start()
                self.check_untouched(impostor)
                self.call(stays)
                self.assertEqual(self.count(), CALLS)
                self.service.json('session', 'delete', 's')


if __name__ == '__main__':
    unittest.main()
