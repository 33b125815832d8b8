# SPDX-License-Identifier: BSD-2-Clause
"""A client with many requests at once: others are answered in between."""

import contextlib
import os
import pathlib
import select
import signal
import threading
import unittest

import support

MANY = 300               # times a session is paused and resumed: some turns of a user
READ_AT_ONCE = 64 << 10  # bytes at most: later ones wait for others anyway


def requests(*methods, **params):
    return b''.join(support.line_of({'jsonrpc': '2.0', 'id': number, 'method': method, 'params': params})
                    for number, method in enumerate(methods))


def wait_for_stop(pid):
    stat = pathlib.Path(f'/proc/{pid}/stat')
    support.wait_until(lambda: ') T ' in stat.read_text(), 'the daemon to stop')


@support.needs_root
@support.runs_alone('promises turns and times')
class Turns(support.DaemonTest):
    def connect(self):
        client = self.daemon.connect()
        self.addCleanup(client.close)
        return client

    @contextlib.contextmanager
    def stopped(self):
        """Requests sent in this time have all arrived when the daemon continues."""
        os.kill(self.daemon.process.pid, signal.SIGSTOP)
        try:
            wait_for_stop(self.daemon.process.pid)
            yield
        finally:
            os.kill(self.daemon.process.pid, signal.SIGCONT)

    def test_two_that_ask_much_are_answered_in_turn(self):
        clients = [self.connect() for _ in range(2)]
        for number, client in enumerate(clients):
            client.result('session.create', name=f's{number}')
        with self.stopped():
            for number, client in enumerate(clients):
                asked = requests(*['session.pause', 'session.resume'] * MANY, session=f's{number}')
                self.assertLess(len(asked), READ_AT_ONCE)
                client.send(asked)
        epochs = []  # every pause and every resume is a switch: the first and the last of each client
        for client in clients:
            answers = [client.receive() for _ in range(2 * MANY)]
            self.assertEqual([answer['id'] for answer in answers], list(range(2 * MANY)))
            epochs.append([answers[at]['result']['epoch'] for at in (0, -1)])
        (first, last), (others_first, others_last) = epochs
        self.assertLess(first, others_last)
        self.assertLess(others_first, last)

    def test_who_examines_the_kernel_again_and_again_holds_up_nobody(self):
        busy, other = self.connect(), self.connect()
        busy.send(requests(*['daemon.doctor'] * 1000))
        reader = threading.Thread(target=lambda: [busy.receive() for _ in range(1000)])
        reader.start()
        other.socket.settimeout(5)
        self.assertEqual(other.result('daemon.status')['clients'], 2)
        reader.join(timeout=60)
        self.assertFalse(reader.is_alive())

    def test_the_status_is_told_while_sites_are_disarmed(self):
        program = self.program('many')
        busy, other = self.connect(), self.connect()
        busy.result('session.create', name='s')
        busy.result('stage.set', session='s', patterns=['uprobe::m[0-9]*'], do='count',
                    target={'pids': [program.pid]})
        self.assertEqual(busy.result('stage.commit', session='s')['added'], 10_000)
        busy.send(support.line_of({'jsonrpc': '2.0', 'id': 'delete', 'method': 'session.delete',
                                   'params': {'session': 's'}}))
        told = 0
        while not select.select([busy.socket], [], [], 0)[0]:
            other.result('daemon.status')
            told += 1
        self.assertIn('result', busy.receive())
        # Before it begins, and while its answer is on the way.
        self.assertGreater(told, 4)


if __name__ == '__main__':
    unittest.main()
