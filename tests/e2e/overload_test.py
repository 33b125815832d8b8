# SPDX-License-Identifier: BSD-2-Clause
"""More of everything than the daemon can take: events, clients, requests; for OVERLOAD_SECONDS, a
minute in `make check` and an hour to be sure.

Programs make events on every CPU without end. A thousand clients are connected; some come and go,
some stage settings and vanish before or within a commit, some subscribe and do not read. All the while
one asks what everybody asks, and gets its answers. In the end every event is accounted for, nothing of
those who vanished is left, and the daemon has not grown.
"""

import os
import random
import signal
import threading
import time
import unittest

import support
from support import target

SECONDS = float(os.environ.get('OVERLOAD_SECONDS', '60'))
CLIENTS = 1000
CALLS_AT_ONCE = 200_000
MOST_GROWTH = 256 << 20  # bytes: buffers of subscribers, and what the allocator keeps
USUAL_ANSWER_S = 0.1     # 99 of 100 answers take no longer, beside programs that take all CPUs


def resident_bytes(pid):
    with open(f'/proc/{pid}/statm', encoding='ascii') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


class LoudDaemon(support.Daemon):
    """Whose log is read while it runs: it is longer than a pipe."""

    def __init__(self, *options):
        super().__init__(*options)
        self.said = []
        self.reading = threading.Thread(target=lambda: self.said.extend(self.process.stderr))
        self.reading.start()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)
        self.reading.join()
        self.process.stderr.close()
        self.directory.cleanup()
        return self.process.returncode, ''.join(self.said[-20:])


class Flood(threading.Thread):
    """A program that calls a function again and again, until the end."""

    def __init__(self, program, until):
        super().__init__()
        self.program, self.until, self.calls = program, until, 0

    def run(self):
        while not self.until.is_set():
            self.program.send(f'hot_push {CALLS_AT_ONCE}')
            self.calls += self.program.result()['calls']


class Worker(threading.Thread):
    """Does something until the end; what goes wrong is the test's failure."""

    def __init__(self, work, until):
        super().__init__()
        self.work, self.until, self.error, self.turns = work, until, None, 0

    def run(self):
        try:
            while not self.until.is_set():
                self.work()
                self.turns += 1
        except Exception as error:  # pylint: disable=broad-except
            self.error = error


@support.needs_root
class Overload(support.DaemonTest):
    def setUp(self):
        # Small rings: they are full at once.
        self.daemon = LoudDaemon('--ring-bytes', '65536')
        self.addCleanup(self.end_daemon)
        self.until = threading.Event()
        self.random = random.Random(1)

    # ---- who disturbs ----

    def subscriber(self, pids):
        client = self.daemon.connect()
        self.addCleanup(client.close)
        name = client.result('session.create')['name']
        client.result('stage.set', session=name, patterns=['u::hot_push'], target={'pids': pids},
                      do='event(arg0), count')
        client.result('session.subscribe', session=name)
        client.result('stage.commit', session=name)
        return client, name

    def come_and_go(self):
        """One of the crowd is replaced by another."""
        place = self.random.randrange(CLIENTS)
        self.crowd[place].close()
        self.crowd[place] = self.daemon.connect()
        self.crowd[place].result('hello')

    def vanish(self, pid):
        """At a random point of what makes a session speak, mostly without waiting for answers."""
        client = self.daemon.connect()
        name = client.result('session.create')['name']
        lines = [{'method': 'stage.set', 'params': {'session': name, 'patterns': ['u::hot_push'],
                                                    'target': {'pids': [pid]}}},
                 {'method': 'session.subscribe', 'params': {'session': name}},
                 {'method': 'stage.commit', 'params': {'session': name}}]
        for number, line in enumerate(lines[:self.random.randint(1, 3)]):
            client.send(support.line_of({'jsonrpc': '2.0', 'id': 100 + number, **line}))
        if self.random.random() < 0.5:
            client.receive()
        client.close()

    def talk_nonsense(self):
        client = self.daemon.connect()
        client.send(self.random.choice([b'{"jsonrpc"\n', b'[]\n', b'\xff\xfe\n', b'{}\n' * 1000,
                                        b'x' * 200_000, b'[' * 5000 + b'\n']))
        client.close()

    # ---- who is not to be disturbed ----

    def ask(self):
        began = time.monotonic()
        self.witness.result('daemon.status')
        self.witness.result('session.list')
        self.waits.append((time.monotonic() - began) / 2)

    # ---- what is to hold ----

    def check_account(self, client, name, calls):
        """Every hit was counted, and is an event or lost, by what the stream itself has told."""
        client.result('session.flush', session=name)
        shown = client.result('session.show', session=name)
        events = sum(note['method'] == 'event' for note in client.notifications)
        lost = sum(note['params']['count'] for note in client.notifications
                   if note['method'] == 'lost')
        self.assertEqual(shown['hits'], calls)
        self.assertEqual(events + lost, calls)
        self.assertGreater(lost, 0, 'there was no overload')

    def test_everybody_else_is_served_and_every_event_is_accounted_for(self):
        programs = [self.program('hot') for _ in range(os.cpu_count())]
        pids = [program.pid for program in programs]
        slow = [self.subscriber(pids) for _ in range(3)]
        self.crowd = [self.daemon.connect() for _ in range(CLIENTS)]
        self.addCleanup(lambda: [client.close() for client in self.crowd])
        self.witness, self.waits = self.daemon.connect(), []
        self.addCleanup(self.witness.close)
        before = resident_bytes(self.daemon.process.pid)
        floods = [Flood(program, self.until) for program in programs]
        workers = [Worker(self.ask, self.until), Worker(self.come_and_go, self.until),
                   Worker(lambda: self.vanish(pids[0]), self.until),
                   Worker(self.talk_nonsense, self.until)]
        for thread in floods + workers:
            thread.start()
        self.until.wait(SECONDS)
        most = resident_bytes(self.daemon.process.pid)
        self.until.set()
        for thread in floods + workers:
            thread.join()
        for worker in workers:
            self.assertIsNone(worker.error)
            self.assertGreater(worker.turns, SECONDS)
        calls = sum(flood.calls for flood in floods)
        for client, name in slow:
            self.check_account(client, name, calls)
        self.assertLess(most - before, MOST_GROWTH)
        self.waits.sort()
        p50, p99 = (self.waits[int(len(self.waits) * part)] * 1e3 for part in (0.5, 0.99))
        print(f'overload: {calls} hits, {workers[2].turns} vanished, {len(self.waits)} requests '
              f'answered in {p50:.1f} ms (median), {p99:.1f} ms (99 %), {self.waits[-1] * 1e3:.0f} '
              f'ms (longest); memory +{(most - before) >> 20} MiB')
        self.assertLess(p99, USUAL_ANSWER_S * 1e3)
        # Nothing of those who vanished is left.
        for client, name in slow:
            client.close()
        support.wait_until(lambda: self.witness.result('daemon.status')['sessions'] == 0,
                           'their sessions to end')
        self.assertEqual(self.witness.result('daemon.status')['sites'], 0)
        for program in programs:
            self.assertEqual(support.text_differs(program.pid, target('hot')), 0)


@support.needs_root
class TooManyClients(unittest.TestCase):
    def test_without_descriptors_clients_are_sent_away_and_the_others_go_on(self):
        daemon = support.Daemon(program='prlimit', first=['--nofile=100', support.TRACECTLD])
        self.addCleanup(daemon.end)
        first = daemon.connect()
        self.addCleanup(first.close)
        crowd = [daemon.connect() for _ in range(200)]
        self.assertGreater(first.result('daemon.status')['clients'], 10)
        self.assertEqual([client.receive() for client in crowd[-50:]], [None] * 50)
        for client in crowd:
            client.close()
        support.wait_until(lambda: first.result('daemon.status')['clients'] == 1, 'them to be gone')
        later = daemon.connect()
        self.assertIn('version', later.result('hello'))
        later.close()


if __name__ == '__main__':
    unittest.main()
