# SPDX-License-Identifier: BSD-2-Clause
"""Files that attack their readers, from an unprivileged user, for the daemon as its package installs it: as
descriptors, through its own socket, into its sandbox."""

import json
import unittest

import hostile_files
import installed
import support

A_STRANGER, ANOTHER = 54321, 54322
HELD_UP_S = 1  # at most, for a client because of another's file

# Runs there as the stranger: makes each file, asks for its contents, and has another client send other requests
# until that is answered. Prints a line for each question: file, pattern, answer, the daemon's process id, and
# the longest wait of the other client, without the time for which the machine itself stood still.
STRANGER = '''
import json, os, sys, threading, time

import hostile_files, tracectl
from hostile_files_test import StandingStill, patterns_of

def ask(path, pattern, said):
    with tracectl.connect(timeout_s=90) as daemon:
        try:
            said.append(f"{daemon.probes([pattern], files=[path])['total_sites']} sites")
        except tracectl.Refused as refused:
            said.append(refused.message)

os.chdir(sys.argv[1])
with tracectl.connect() as other:
    for name in sys.argv[2:]:
        path = os.path.abspath(name)
        getattr(hostile_files, name)(path)
        for pattern in patterns_of(path):
            said, longest = [], 0
            asking = threading.Thread(target=ask, args=(path, pattern, said))
            with StandingStill() as machine:
                asking.start()
                while asking.is_alive():
                    begun = time.monotonic()
                    pid = other.status()['pid']
                    longest = max(longest, time.monotonic() - begun)
            print(json.dumps([name, pattern, *said, pid, longest - machine.longest]), flush=True)
        os.unlink(path)
'''


setUpModule = installed.boot


@support.needs_root
class HostileFiles(installed.ServiceTest):
    def setUp(self):
        super().setUp()
        self.folder = '/var/tmp/strangers'
        self.run_there('install', '--directory', f'--owner={A_STRANGER}', self.folder)
        self.addCleanup(self.run_there, 'rm', '-r', self.folder)
        self.run_there('tracectl', 'status')
        self.pid = int(self.property('MainPID'))

    def as_user(self, user, *words):
        return ('setpriv', f'--reuid={user}', f'--regid={user}', '--clear-groups', '--no-new-privs', 'env',
                'PYTHONDONTWRITEBYTECODE=1', 'PYTHONPATH=' + ':'.join(
                    str(support.ROOT / folder) for folder in ('tests/e2e', 'tests/support', 'client/python')),
                *words)

    def ask(self, *names):
        """The results for these files; in the order of their questions."""
        asking = self.start(*self.as_user(A_STRANGER, 'python3', '-c', STRANGER, self.folder, *names))
        for line in asking.stdout:
            name, pattern, said, pid, longest = json.loads(line)
            with self.subTest(name, pattern=pattern):
                self.assertEqual(pid, self.pid)
                self.assertLess(longest, HELD_UP_S)
            yield name, said
        self.assertEqual(asking.wait(timeout=60), 0)

    def check_the_daemon_is_well(self):
        self.assertEqual((int(self.property('MainPID')), self.property('NRestarts')), (self.pid, '0'))
        found = self.run_there(*self.as_user(ANOTHER, 'tracectl', '--json', 'list',
                                             f'uprobe:{installed.FOLDER}/hot:hot_*'))
        self.assertTrue(json.loads(found)['probes'])

    def test_no_file_takes_the_daemon_down_or_holds_up_another_client(self):
        names = [make.__name__ for make in hostile_files.ALL]
        asked = list(self.ask(*names))
        self.assertEqual(len(asked), 2 * len(names))
        self.check_the_daemon_is_well()

    def test_a_file_that_takes_all_that_its_reader_may_have_is_given_up(self):
        said = dict(self.ask('more_functions_than_memory'))['more_functions_than_memory']
        # The limit that it reaches first depends on the machine's speed.
        self.assertRegex(said, 'could not be read: reading it took more than '
                               '(2 GiB of memory|10 s of CPU time|60 s)$')
        self.check_the_daemon_is_well()


if __name__ == '__main__':
    unittest.main()
