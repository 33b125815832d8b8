# SPDX-License-Identifier: BSD-2-Clause
"""A file that replaces another, as in an upgrade, at a path whose processes are traced."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import service_manager
import support
from support import target

CALLS = 100
WORK = 5000


class ReplacedTest(unittest.TestCase):
    options = ()  # of the session; classes with these tests also have a daemon

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = str(self.folder / 'program')

    def put(self, name):
        """As dpkg does."""
        new = shutil.copy(target(name), self.path + '.new')
        os.rename(new, self.path)

    def begin(self):
        program = support.Program(self.path)
        self.addCleanup(program.end)
        return program

    def call(self, program, calls=CALLS):
        program.send(f'hot_push {calls}')
        program.result()

    def choose(self, pattern, *words):
        self.daemon.json('session', 'new', 's', *self.options)
        self.daemon.json('stage', 's', 'set', pattern, *words, '--do', 'count by pid')
        self.daemon.json('commit', 's')

    def shown(self):
        return self.daemon.json('session', 'show', 's')

    def wait_for_it(self, count=1):
        support.wait_until(lambda: len(self.shown()['followed']) == count, 'the file to be armed')
        return self.shown()['followed'][-1]

    def counts(self):
        return {row['by']['pid']: row['count'] for row in self.daemon.json('read', 's')['rows']}


@support.needs_root
class Replaced(ReplacedTest, support.DaemonTest):
    def check_both_are_traced(self, pattern, *words):
        self.put('hot')
        old = self.begin()
        self.choose(pattern, *words)
        self.put('hot')
        followed = self.wait_for_it()
        self.assertEqual((followed['object'], followed['cgroup'], followed['pid']),
                         (self.path, '', 0))
        self.assertEqual(followed['unobserved_us'], 0)
        new = self.begin()
        for program in old, new:
            self.call(program)
        self.assertEqual(self.counts(), {old.pid: CALLS, new.pid: CALLS})
        self.assertEqual(self.shown()['sites'], 2)
        old.end()
        self.put('hot')
        self.wait_for_it(2)
        self.assertEqual(self.shown()['sites'], 2)  # no process maps the first one any more

    def test_it_is_armed_beside_the_old_one_for_those_that_run_it(self):
        self.check_both_are_traced('uprobe::hot_push', '-x', self.path)

    def test_it_is_armed_beside_the_old_one_for_all(self):
        self.check_both_are_traced(f'uprobe:{self.path}:hot_push', '-a')

    def test_it_is_traced_from_the_first_instruction(self):
        self.put('forker')
        self.choose('uprobe::work', '-x', self.path)
        for times in range(1, 4):
            self.put('forker')
            self.wait_for_it(times)
            subprocess.run([self.path, 'child', str(WORK)], check=True)
        counts = self.counts()
        self.assertEqual((len(counts), set(counts.values())), (3, {WORK}))

    def test_what_ran_before_ran_within_the_gap_that_is_told(self):
        self.put('hot')
        self.choose('uprobe::hot_push', '-x', self.path)
        self.daemon.process.send_signal(signal.SIGSTOP)
        self.put('hot')
        before_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        new = self.begin()
        self.call(new, 70)
        called_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.daemon.process.send_signal(signal.SIGCONT)
        followed = self.wait_for_it()
        self.call(new)
        tick_ns = 10**9 // os.sysconf('SC_CLK_TCK')
        self.assertEqual(followed['pid'], new.pid)
        self.assertGreater(followed['ts'], before_ns - tick_ns)
        self.assertLess(followed['ts'], called_ns)
        self.assertGreater(followed['ts'] + followed['unobserved_us'] * 1000, called_ns)
        self.assertEqual(self.counts(), {new.pid: CALLS})

    def test_one_that_is_no_program_changes_nothing(self):
        self.put('hot')
        old = self.begin()
        self.choose('uprobe::hot_push', '-x', self.path)
        (self.folder / 'other').write_text('not a program', encoding='ascii')
        os.rename(self.folder / 'other', self.path)
        self.call(old)
        self.assertEqual(self.counts(), {old.pid: CALLS})
        self.put('hot')
        self.wait_for_it()
        new = self.begin()
        self.call(new)
        self.assertEqual(self.counts(), {old.pid: CALLS, new.pid: CALLS})


@support.needs_root
class SavedReplaced(service_manager.Saving, ReplacedTest):
    options = ('--saved',)

    def test_a_file_that_is_put_in_place_while_there_is_no_daemon_is_found(self):
        self.put('hot')
        old = self.begin()
        self.choose('uprobe::hot_push', '-x', self.path)
        self.daemon.finish()
        self.call(old)
        self.put('hot')
        new = self.begin()
        self.call(new, 70)
        called_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.daemon.start()
        followed = self.wait_for_it()
        self.assertEqual((followed['object'], followed['pid']), (self.path, new.pid))
        self.assertGreater(followed['ts'] + followed['unobserved_us'] * 1000, called_ns)
        for program in old, new:
            self.call(program)
        self.assertEqual(self.counts(), {old.pid: 2 * CALLS, new.pid: CALLS})


if __name__ == '__main__':
    unittest.main()
