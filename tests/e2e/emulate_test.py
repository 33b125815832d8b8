# SPDX-License-Identifier: BSD-2-Clause
"""--emulate, where the kernel allows it and where it does not. What is emulated is tested in virtual machines, by kernel
Emulation.*."""

import json
import unittest

from support import Daemon, Program, run, target


class Emulate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        checks = json.loads(run('--json', 'doctor').stdout)['checks']
        cls.found = next(check for check in checks if check['name'] == 'emulation')
        cls.program = Program(target('emulated'), '1')

    @classmethod
    def tearDownClass(cls):
        cls.program.end()

    def test_a_command_says_why_it_cannot_or_has_the_class(self):
        done = run('--emulate', '--embedded', 'list', 'uprobe::em_move', '-p', str(self.program.pid))
        if self.found['result'] == 'yes':
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            self.assertRegex(done.stdout, r'uprobe:emulated:em_move +emulated ')
        else:
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, f'tracectl: --emulate: {self.found["found"]}\n')

    def test_a_daemon_says_why_it_cannot_and_traces_all_the_same(self):
        daemon = Daemon('--emulate', listens=False)
        try:
            log = daemon.process.stderr.readline()
            if self.found['result'] == 'no':
                self.assertIn(f'nothing is emulated: {self.found["found"]}', log)
                log = daemon.process.stderr.readline()
            self.assertIn('listening', log)
            [probe] = daemon.json('list', 'uprobe::em_move', '-p', str(self.program.pid))['probes']
            emulates = self.found['result'] == 'yes'
            self.assertEqual(probe['sites'][0]['cost'], 'emulated' if emulates else 'slow')
        finally:
            daemon.end()

    def test_a_running_daemon_is_not_changed_by_it(self):
        daemon = Daemon()
        try:
            done = daemon.run('--emulate', 'list', 'uprobe::em_move', '-p', str(self.program.pid))
        finally:
            daemon.end()
        self.assertEqual(done.returncode, 2)
        self.assertIn('--emulate has no effect on a running daemon', done.stderr)


if __name__ == '__main__':
    unittest.main()
