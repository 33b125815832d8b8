# SPDX-License-Identifier: BSD-2-Clause
"""Files that attack their readers: the effect on the daemon, on its other clients, and on the processes that
read for it."""

import contextlib
import os
import pathlib
import re
import select
import signal
import string
import tempfile
import threading
import time
import unittest

import hostile_files
import support
from support import DaemonTest, needs_root, wait_until

HELD_UP_S = 1  # at most, for a client because of another's file
CORPUS = support.ROOT / 'tests/fuzz/corpus'
GOOD = support.target('usdt_all')
A_STRANGER = 54321
EPOLL_WAIT = '232'  # x86-64
A_WHILE_S = 0.2


def patterns_of(path):
    return [f'usdt:{path}:*:*', f'uprobe:{path}:*']


class Asking:
    """A request on its own connection, without waiting for the answer."""

    def __init__(self, daemon, method, **params):
        self.client = daemon.connect()
        message = {'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params}
        self.client.send(support.json.dumps(message).encode() + b'\n')

    def is_answered(self):
        return bool(select.select([self.client.socket], [], [], 0)[0])

    def answer(self):
        answer = self.client.receive()
        self.client.close()
        return answer

    def hang_up(self):
        self.client.close()


class StandingStill:
    """The longest time for which a thread that wakes periodically did not run."""

    PAUSE_S = 0.01

    def __init__(self):
        self.longest = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        last = time.monotonic()
        while not self.ended.wait(self.PAUSE_S):
            now = time.monotonic()
            self.longest = max(self.longest, now - last - self.PAUSE_S)
            last = now

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


@needs_root
class HostileFiles(DaemonTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)

    def path_of(self, name):
        return str(self.folder / name)

    def hostile(self, make, owner=0, name=None):
        path = self.path_of(name or make.__name__)
        make(path)
        os.chown(path, owner, owner)
        return path

    def ask(self, path):
        return Asking(self.daemon, 'probe.list', patterns=[f'uprobe:{path}:*'])

    def readers(self):
        """Process ids of the daemon's reading processes."""
        children = pathlib.Path(f'/proc/{self.daemon.process.pid}/task/{self.daemon.process.pid}'
                                '/children').read_text().split()
        return {int(pid) for pid in children
                if pathlib.Path(f'/proc/{pid}/comm').read_text() == 'tracectld-read\n'}

    def busy_reader(self, path, asking):
        """The process id of the one that reads the file, which takes some time."""
        def having_it():
            return [pid for pid in self.readers() if path in
                    [os.readlink(link) for link in pathlib.Path(f'/proc/{pid}/fd').iterdir()]]
        wait_until(having_it, 'a process that reads ' + path)
        self.assertFalse(asking.is_answered())
        return having_it()[0]

    def longest_wait_of_another(self, asking):
        """The longest wait of a client with another request until this one is answered; without the time for
        which the machine itself stood still."""
        other = self.daemon.connect()
        longest = 0
        with StandingStill() as machine:
            while not asking.is_answered():
                begun = time.monotonic()
                other.result('daemon.status')
                longest = max(longest, time.monotonic() - begun)
        other.close()
        return longest - machine.longest

    def check_harmless(self, path):
        for pattern in patterns_of(path):
            asking = Asking(self.daemon, 'probe.list', patterns=[pattern])
            self.assertLess(self.longest_wait_of_another(asking), HELD_UP_S)
            answer = asking.answer()
            self.assertTrue('result' in answer or answer['error']['message'], answer)

    def check_good_file_is_read(self):
        found = self.daemon.json('list', f'usdt:{GOOD}:*:*')
        self.assertTrue(found['probes'])

    def test_no_file_takes_the_daemon_down_or_holds_up_another_client(self):
        for owner in (0, A_STRANGER):
            for make in hostile_files.ALL:
                with self.subTest(make.__name__, owner=owner):
                    path = self.hostile(make, owner)
                    self.check_harmless(path)
                    os.unlink(path)
        self.check_good_file_is_read()

    def test_what_fuzzing_has_found_takes_nothing_down(self):
        for seed in sorted(CORPUS.glob('*/*')):
            with self.subTest(seed.relative_to(CORPUS)):
                path = self.path_of('seed')
                pathlib.Path(path).write_bytes(seed.read_bytes())
                self.check_harmless(path)
        self.check_good_file_is_read()

    def test_a_file_without_an_end_is_given_up_and_not_begun_again(self):
        path = self.hostile(hostile_files.endless_functions)
        asking = self.ask(path)
        self.assertLess(self.longest_wait_of_another(asking), HELD_UP_S)
        message = asking.answer()['error']['message']
        self.assertEqual(message, f'{path} could not be read: reading it took more than 10 s of CPU '
                                  'time')
        readers = self.readers()
        self.assertEqual(self.ask(path).answer()['error']['message'], message)
        self.assertEqual(self.readers(), readers)
        self.check_good_file_is_read()

    def test_other_files_are_read_while_one_takes_its_time(self):
        slow = [self.hostile(hostile_files.endless_functions, owner, f'slow{number}')
                for number, owner in enumerate([0, A_STRANGER, A_STRANGER, A_STRANGER, A_STRANGER])]
        asking = [self.ask(path) for path in slow]
        # Stopped, they do not come to the end of their CPU time while a busy machine reads the others.
        for path, one in zip(slow[:4], asking):
            os.kill(self.busy_reader(path, one), signal.SIGSTOP)
        self.check_good_file_is_read()
        theirs = self.path_of('theirs')
        pathlib.Path(theirs).write_bytes(pathlib.Path(GOOD).read_bytes())
        os.chown(theirs, A_STRANGER + 1, 0)
        self.assertTrue(self.daemon.json('list', f'usdt:{theirs}:*:*')['probes'])
        self.assertFalse(any(one.is_answered() for one in asking))
        for one in asking:
            one.hang_up()

    def test_a_session_waits_for_its_file_and_goes_on(self):
        path = self.hostile(hostile_files.deep_nesting)
        self.daemon.json('session', 'new', 's')
        staged = self.daemon.json('stage', 's', 'set', '-a', f'uprobe:{path}:victim')
        self.assertEqual(staged['sites'], 1)
        self.assertEqual(self.daemon.json('commit', 's', '--dry-run')['sites'], 1)

    def test_the_end_of_a_reading_process_is_the_end_of_its_request_alone(self):
        path = self.hostile(hostile_files.endless_functions)
        asking = self.ask(path)
        os.kill(self.busy_reader(path, asking), signal.SIGKILL)
        self.assertRegex(asking.answer()['error']['message'],
                         re.escape(path) + r' could not be read: .* \(signal 9\)$')
        self.check_good_file_is_read()

    def test_a_stranger_s_file_shares_its_process_with_no_other(self):
        self.daemon.json('session', 'new', 's')  # files stay known while there is a session
        for name, owner, mode in (('of_root', 0, 0o755), ('of_root_too', 0, 0o755),
                                  ('of_a_stranger', A_STRANGER, 0o755),
                                  ('another', A_STRANGER, 0o755), ('of_all', 0, 0o777)):
            path = self.path_of(name)
            pathlib.Path(path).write_bytes(pathlib.Path(GOOD).read_bytes())
            os.chown(path, owner, owner)
            os.chmod(path, mode)
            self.assertTrue(self.daemon.json('list', f'usdt:{path}:*:*')['probes'])
        shared = [{os.path.basename(os.readlink(link))
                   for link in pathlib.Path(f'/proc/{pid}/fd').iterdir()} for pid in self.readers()]
        files = sorted(sorted(name for name in names if not name.startswith('socket:'))
                       for names in shared)
        self.assertEqual(files, [['another'], ['of_a_stranger'], ['of_all'],
                                 ['of_root', 'of_root_too']])

    def test_a_reading_process_has_no_rights(self):
        path = self.hostile(hostile_files.endless_functions)
        asking = self.ask(path)
        pid = self.busy_reader(path, asking)
        status = dict(line.split(':\t', 1)
                      for line in pathlib.Path(f'/proc/{pid}/status').read_text().splitlines()
                      if ':\t' in line)
        for rights in ('CapPrm', 'CapEff', 'CapInh', 'CapAmb'):
            self.assertEqual(int(status[rights], 16), 0, rights)
        self.assertEqual(status['NoNewPrivs'], '1')
        self.assertEqual(status['Seccomp'], '2')
        limits = pathlib.Path(f'/proc/{pid}/limits').read_text()
        self.assertRegex(limits, r'Max address space +2147483648 +2147483648 ')
        self.assertRegex(limits, r'Max core file size +0 +0 ')
        self.assertEqual(pathlib.Path(f'/proc/{pid}/environ').read_bytes(), b'')
        files = {os.readlink(link) for link in pathlib.Path(f'/proc/{pid}/fd').iterdir()}
        self.assertEqual({name for name in files if not name.startswith('socket:')}, {path})
        asking.hang_up()

    def waits_within_a_request(self):
        """The daemon waits for what is read for one request, and not for any event: for that it would take more
        than one event at a time."""
        number, *arguments = pathlib.Path(f'/proc/{self.daemon.process.pid}/syscall').read_text().split()
        return number == EPOLL_WAIT and int(arguments[2], 16) == 1

    def ask_and_see_it_wait(self, letter):
        """None if the request was put aside before that was seen."""
        asking = Asking(self.daemon, 'probe.list', patterns=[f'uprobe:{GOOD}:{letter}*'])
        end = time.monotonic() + A_WHILE_S
        while not (seen := self.waits_within_a_request()) and time.monotonic() < end:
            pass
        return asking, seen

    def test_what_is_read_while_another_request_waits_is_told_to_who_has_waited_before(self):
        self.check_good_file_is_read()
        reader, = self.readers()
        for letter in string.ascii_lowercase:
            os.kill(reader, signal.SIGSTOP)
            first, _ = self.ask_and_see_it_wait(letter)
            with contextlib.closing(self.daemon.connect()) as other:
                other.result('daemon.status')  # so the first one has been put aside
            second, seen = self.ask_and_see_it_wait(letter.upper())
            os.kill(reader, signal.SIGCONT)  # now both are read
            for asking in second, first:
                asking.answer()
            if seen:
                return
        self.fail('the machine is too slow to see the daemon wait')

    def test_what_nobody_waits_for_any_more_is_not_begun(self):
        paths = [self.hostile(hostile_files.endless_functions, A_STRANGER, f'slow{number}')
                 for number in range(4)]
        asking = [self.ask(path) for path in paths]
        for path, one in zip(paths[:3], asking):
            self.busy_reader(path, one)
        other = self.daemon.connect()
        self.addCleanup(other.close)
        asking[3].hang_up()
        wait_until(lambda: other.result('daemon.status')['clients'] == 4, 'the client to be gone')
        os.kill(self.busy_reader(paths[0], asking[0]), signal.SIGKILL)
        self.assertIn('error', asking[0].answer())
        self.check_good_file_is_read()
        self.assertNotIn(paths[3], [os.readlink(link) for pid in self.readers()
                                    for link in pathlib.Path(f'/proc/{pid}/fd').iterdir()])
        for one in asking[1:3]:
            one.hang_up()


if __name__ == '__main__':
    unittest.main()
