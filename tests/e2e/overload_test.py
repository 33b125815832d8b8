# SPDX-License-Identifier: BSD-2-Clause
"""More of everything than the daemon can handle: events, clients, requests; for OVERLOAD_SECONDS, a minute in
`make check-all` and an hour in `make soak-overload`.

Programs on every CPU make events endlessly, ten times as many as can be read. A thousand clients are connected;
some come and go, some stage settings and vanish before or during a commit, some subscribe and do not read. A user
with a quota does so, too, and asks for more than that. Meanwhile a witness sends ordinary requests, and gets its
answers. In the end every event is accounted for, nothing of the vanished clients is left, and the daemon's memory
never exceeded the limit of its unit.
"""

import json
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import threading
import time
import traceback
import unittest

import cgroups
import support
from support import target

SECONDS = float(os.environ.get('OVERLOAD_SECONDS', '60'))
CLIENTS = 1000
CALLS_AT_ONCE = 200_000
OVERLOAD = 10  # times as many events as are read
# The most that can be read for each CPU and session at each poll, a millisecond apart.
RING_BYTES = 4096
EVENT = f'event(arg0, {", ".join(["comm"] * 8)}), count'
USER = 4001
# The user's quota; the number of connections is the daemon's own bound.
MOST_SESSIONS, MOST_CONNECTIONS, MOST_SUBSCRIPTIONS = 16, 64, 16
STREAM_BYTES = 8 << 20  # waiting for a subscriber
# This share of the answers comes within USUAL_MS, next to programs that use all CPUs. A commit waits for the
# end of all hits that began before it, and a read after it waits for the next commit.
USUAL_MS = 100
USUAL = {'daemon.status': 0.95, 'session.list': 0.95, 'stage.set': 0.95, 'stage.commit': 0.5,
         'session.read': 0.5}
# The test measures waits for the daemon, not for other programs on the machine, so the daemon and the witness
# have priority. The traced programs do not, because commits wait for programs that the traced ones would keep
# from running.
NICENESS = -10


def memory_of_unit():
    """The memory limit in the daemon's unit."""
    unit = (support.ROOT / 'systemd/tracectld.service').read_text(encoding='utf-8')
    number, suffix = re.search(r'^MemoryMax=(\d+)([MG])$', unit, re.M).groups()
    return int(number) << {'M': 20, 'G': 30}[suffix]


MEMORY_OF_UNIT = memory_of_unit()


# By the version of cgroups: the bound, and the highest use.
FILES_OF_MEMORY = {1: ('memory.limit_in_bytes', 'memory.max_usage_in_bytes'), 2: ('memory.max', 'memory.peak')}


class MemoryGroup:
    """A cgroup with this memory limit for the daemon, its children, and the kernel's memory for them."""

    def __init__(self, most_bytes):
        mount = cgroups.mount_of('memory')
        assert mount, 'there is no memory controller of cgroups'
        root, version = mount
        most, self.peak = FILES_OF_MEMORY[version]
        self.path = root / f'tracectl-overload-{os.getpid()}'
        self.path.mkdir()
        (self.path / most).write_text(str(most_bytes), encoding='ascii')

    def words_to_enter(self, *command):
        return ['sh', '-c', 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(self.path), *command]

    def peak_bytes(self):
        return int((self.path / self.peak).read_text(encoding='ascii'))

    def end(self):
        support.wait_until(lambda: not (self.path / 'cgroup.procs').read_text(), 'it to be empty')
        self.path.rmdir()


class LoudDaemon(support.Daemon):
    """Its log is read while it runs, because it is longer than a pipe."""

    def __init__(self, first, *options):
        super().__init__(*options, program=first[0], first=first[1:])
        os.chmod(self.directory.name, 0o755)  # users must be able to open the socket
        self.take_log()

    def end(self):
        status, log = super().end()
        return status, ''.join(log.splitlines(keepends=True)[-20:])


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
    """Repeats something until the end; an exception fails the test."""

    def __init__(self, work, until):
        super().__init__()
        self.work, self.until, self.error, self.turns = work, until, None, 0

    def run(self):
        try:
            while not self.until.is_set():
                self.work()
                self.turns += 1
        except Exception:  # pylint: disable=broad-except
            self.error = traceback.format_exc()


class Apart:
    """Does something in its own process, as a user, so that no other Python thread delays it."""

    def __init__(self, act, user=0):
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context('fork').Process(
            target=self.run, args=(act, user, theirs), daemon=True)
        self.process.start()

    @staticmethod
    def run(act, user, pipe):
        if user:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        pipe.recv()
        try:
            pipe.send(act(pipe.poll))
        except BaseException as error:  # pylint: disable=broad-except
            pipe.send(error)

    def begin(self):
        self.pipe.send('begin')

    def end(self):
        """Returns the results."""
        try:
            self.pipe.send('end')
        except BrokenPipeError:  # it has failed, and reported why
            pass
        result = self.pipe.recv()
        self.process.join()
        if isinstance(result, BaseException):
            raise result
        return result


class Witness:
    """Must not be disturbed: sends ordinary requests, and records the time of each answer."""

    def __init__(self, daemon, pid):
        self.daemon, self.pid, self.client = daemon, pid, None
        self.waits, self.clients = {}, []

    def ask(self, method, **params):
        began = time.monotonic()
        result = self.client.result(method, **params)
        self.waits.setdefault(method, []).append((time.monotonic() - began) * 1e3)
        return result

    def act(self, is_over):
        os.nice(NICENESS)
        self.client = self.daemon.connect()
        name = self.client.result('session.create')['name']
        turn = 0
        while not is_over():
            turn += 1
            self.clients.append(self.ask('daemon.status')['clients'])
            self.ask('session.list')
            # Another spec each time, so that each commit switches something.
            self.ask('stage.set', session=name, patterns=['u::hot_push'],
                     target={'pids': [self.pid]}, do='count by tid' if turn % 2 else 'count')
            self.ask('stage.commit', session=name)
            self.ask('session.read', session=name)
        self.client.close()
        return self.waits, self.clients


class Subscriber:
    """Reads the events of its session as fast as it can."""

    def __init__(self, daemon, pids):
        self.client = daemon.connect()
        self.name = self.client.result('session.create')['name']
        self.client.result('stage.set', session=self.name, patterns=['u::hot_push'],
                           target={'pids': pids}, do=EVENT)
        self.client.result('session.subscribe', session=self.name)
        self.client.result('stage.commit', session=self.name)
        self.events, self.lost, self.rest = 0, {}, b''

    def take(self, data):
        """Counts the events; returns the answer, if it has arrived."""
        *lines, self.rest = (self.rest + data).split(b'\n')
        answer = None
        for line in lines:
            if b'"method":"event"' in line[:60]:
                self.events += 1
                continue
            message = json.loads(line)
            if message.get('method') == 'lost':
                cause, count = message['params']['cause'], message['params']['count']
                self.lost[cause] = self.lost.get(cause, 0) + count
            elif 'id' in message:
                answer = message
        return answer

    def ask(self, method):
        self.client.send(support.line_of({'jsonrpc': '2.0', 'id': 1000, 'method': method,
                                          'params': {'session': self.name}}))
        answer = None
        while answer is None:
            answer = self.take(self.client.socket.recv(1 << 20))
        return answer['result']

    def account(self):
        self.ask('session.flush')
        return self.ask('session.show')['hits'], self.events, self.lost

    def act(self, is_over):
        self.client.socket.settimeout(0.1)
        while not is_over():
            try:
                self.take(self.client.socket.recv(1 << 20))
            except TimeoutError:
                pass
        self.client.socket.settimeout(60)
        return self.account()


def send(client, method, files=(), memory_of=(), **params):
    """With descriptors of files, because the daemon opens files only for root, and of the memory of processes,
    which prove that this user may trace them."""
    if files:
        params['files'] = list(files)
    if memory_of:
        params['proofs'] = len(memory_of)
    line = support.line_of({'jsonrpc': '2.0', 'id': method, 'method': method, 'params': params})
    descriptors = [os.open(path, os.O_RDONLY) for path in (*files, *(f'/proc/{pid}/mem' for pid in memory_of))]
    try:
        socket.send_fds(client.socket, [line], descriptors)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


ANSWERS_OF_EVENTS = 3


def ask_for_events(client, session, program):
    """It gets ANSWERS_OF_EVENTS answers."""
    path = program.process.args[-1]
    send(client, 'session.prove', memory_of=[program.pid], session=session)
    send(client, 'stage.set', files=[path], session=session, patterns=['u::hot_push'],
         target={'pids': [program.pid]}, do='event')
    send(client, 'stage.commit', session=session)


def is_exhausted(answer):
    return answer.get('error', {}).get('data', {}).get('code') == 'exhausted'


class UserWithQuota:
    """Subscribes and does not read, stages and vanishes, and asks for more than its quota."""

    def __init__(self, daemon, program):
        self.daemon, self.program, self.crowd = daemon, program, []
        self.random = random.Random(2)
        self.refused = {'sessions': 0, 'subscriptions': 0, 'connections': 0}

    def refuse(self, what, answer):
        assert is_exhausted(answer), answer
        self.refused[what] += 1

    def begin(self):
        """Two sessions with events have the maximum of subscriptions, none of which is read."""
        self.crowd = [self.daemon.connect() for _ in range(MOST_SUBSCRIPTIONS // 2)]
        first = self.crowd[0]
        names = [first.result('session.create')['name'] for _ in range(MOST_SESSIONS - 2)]
        for name in names[:2]:
            ask_for_events(first, name, self.program)
            for answer in [first.receive() for _ in range(ANSWERS_OF_EVENTS)]:
                assert 'result' in answer, answer
        for client in self.crowd:
            for name in names[:2]:
                client.result('session.subscribe', session=name)
        return names

    def connect(self):
        """Waits for room: the daemon notices after a while that fill() has made some."""
        while not self.is_served(client := self.daemon.connect()):
            client.close()
        return client

    def vanish(self):
        client = self.connect()
        created = client.call('session.create')
        if 'result' in created:
            ask_for_events(client, created['result']['name'], self.program)
            if self.random.random() < 0.5:
                client.receive()
        else:  # those that vanished just before are still counted
            self.refuse('sessions', created)
        client.close()

    def is_served(self, client):
        try:
            client.send(support.line_of({'jsonrpc': '2.0', 'id': 1, 'method': 'hello'}))
            return client.receive() is not None
        except (BrokenPipeError, ConnectionResetError):
            return False

    def fill(self):
        """Opens connections until one is refused."""
        while self.is_served(client := self.daemon.connect()):
            self.crowd.append(client)
            assert len(self.crowd) <= MOST_CONNECTIONS
        client.close()
        self.refused['connections'] += 1
        for _ in range(2):
            self.crowd.pop().close()

    def act(self, is_over):
        names = self.begin()
        other = self.daemon.connect()
        turns = 0
        while not is_over():
            turns += 1
            self.refuse('subscriptions', other.call('session.subscribe', session=names[2]))
            self.vanish()
            self.fill()
        for client in [other, *self.crowd]:
            client.close()
        return turns, self.refused


def program_of(user, directory):
    """A copy where the user may execute it."""
    path = directory + '/hot'
    if not os.path.exists(path):
        shutil.copy(target('hot'), path)
    return support.Program('setpriv', f'--reuid={user}', f'--regid={user}', '--clear-groups', path)


def within(waits, part):
    """At least this share of the waits is not longer."""
    return sorted(waits)[min(len(waits) - 1, int(len(waits) * part))]


@support.needs_root
class Overload(support.DaemonTest):
    def setUp(self):
        self.group = MemoryGroup(MEMORY_OF_UNIT)
        self.addCleanup(self.group.end)
        self.daemon = LoudDaemon(
            ['nice', f'--adjustment={NICENESS}', *self.group.words_to_enter(support.TRACECTLD)],
            '--ring-bytes', str(RING_BYTES))
        self.addCleanup(self.end_daemon)
        self.until = threading.Event()
        self.random = random.Random(1)

    def stop(self, threads):
        self.until.set()
        for thread in threads:
            thread.join()

    # ---- disturbances ----

    def come_and_go(self):
        """Replaces one client of the crowd by another."""
        place = self.random.randrange(CLIENTS)
        self.crowd[place].close()
        self.crowd[place] = self.daemon.connect()
        self.crowd[place].result('hello')

    def vanish(self, pid):
        """At a random step of making a session produce events, mostly without waiting for answers."""
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

    # ---- checks ----

    def check_account(self, account, calls):
        """Every hit was counted, and is an event or reported as lost in the stream itself."""
        hits, events, lost = account
        self.assertEqual(hits, calls)
        self.assertEqual(events + sum(lost.values()), calls)

    def check_overload(self, account):
        """The reader could take at most a tenth of the programs' hits."""
        hits, _, lost = account
        self.assertGreaterEqual(lost['ring_full'], (OVERLOAD - 1) * (hits - lost['ring_full']))

    def check_waits(self, waits):
        for method, of_one in waits.items():
            with self.subTest(method=method):
                self.assertLessEqual(within(of_one, USUAL[method]), USUAL_MS)

    def print_figures(self, account, waits, vanished, refused):
        hits, events, lost = account
        print(f'\noverload: {hits} hits, {hits / (hits - lost["ring_full"]):.1f} times as many as were '
              f'read, {events} delivered; {vanished} vanished; refused: {refused}; peak of memory '
              f'{self.group.peak_bytes() >> 20} of {MEMORY_OF_UNIT >> 20} MiB')
        for method, of_one in waits.items():
            print(f'  {method:13} {len(of_one):6} answers, median {within(of_one, 0.5):.1f} ms, 95 % '
                  f'{within(of_one, 0.95):.1f}, 99 % {within(of_one, 0.99):.1f}, longest {max(of_one):.0f}')

    def test_everybody_else_is_served_and_every_event_is_accounted_for(self):
        programs = [self.program('hot') for _ in range(os.cpu_count())]
        users = program_of(USER, self.daemon.directory.name)
        self.addCleanup(users.end)
        pids = [program.pid for program in programs]
        deaf, reading = Subscriber(self.daemon, pids), Subscriber(self.daemon, pids)
        witness = Apart(Witness(self.daemon, pids[0]).act)
        user = Apart(UserWithQuota(self.daemon, users).act, USER)
        reader = Apart(reading.act)
        self.crowd = [self.daemon.connect() for _ in range(CLIENTS)]
        self.addCleanup(lambda: [client.close() for client in self.crowd])
        for client in self.crowd:
            client.result('hello')
        floods = [Flood(program, self.until) for program in programs]
        of_user = Flood(users, self.until)
        workers = [Worker(self.come_and_go, self.until),
                   Worker(lambda: self.vanish(pids[0]), self.until),
                   Worker(self.talk_nonsense, self.until)]
        threads = [*floods, of_user, *workers]
        self.addCleanup(self.stop, threads)
        for thread in threads:
            thread.start()
        for one in (reader, user, witness):
            one.begin()
        self.until.wait(SECONDS)
        (waits, clients), (turns, refused) = witness.end(), user.end()
        self.stop(threads)
        calls = sum(flood.calls for flood in floods)
        accounts = [reader.end(), deaf.account()]
        self.print_figures(accounts[0], waits, workers[1].turns + turns, refused)
        for worker in workers:
            self.assertIsNone(worker.error, worker.error)
            self.assertGreater(worker.turns, SECONDS)
        for account in accounts:
            self.check_account(account, calls)
            self.check_overload(account)
        self.assertGreaterEqual(min(clients), CLIENTS)
        for what in 'subscriptions', 'connections':
            self.assertGreaterEqual(refused[what], turns)
        self.check_waits(waits)
        self.assertLess(self.group.peak_bytes(), MEMORY_OF_UNIT)
        self.check_nothing_is_left([deaf, reading], programs)

    def check_nothing_is_left(self, subscribers, programs):
        for subscriber in subscribers:
            subscriber.client.close()
        status = lambda: self.crowd[0].result('daemon.status')
        support.wait_until(lambda: status()['sessions'] == 0, 'their sessions to end')
        self.assertEqual(status()['sites'], 0)
        for program in programs:
            self.assertEqual(support.text_differs(program.pid, target('hot')), 0)


@support.needs_root
class MemoryOfUsers(unittest.TestCase):
    """The memory that the daemon needs for users who do not read their events."""

    def setUp(self):
        self.group = MemoryGroup(MEMORY_OF_UNIT)
        self.addCleanup(self.group.end)
        self.daemon = LoudDaemon(self.group.words_to_enter(support.TRACECTLD))
        self.addCleanup(self.daemon.end)
        self.before = self.group.peak_bytes()

    def connect(self, user):
        """The kernel takes the credentials at connect."""
        os.setegid(user)
        os.seteuid(user)
        try:
            client = self.daemon.connect()
        finally:
            os.seteuid(0)
            os.setegid(0)
        self.addCleanup(client.close)
        return client

    def sessions_with_events(self, client, program):
        names = [client.result('session.create')['name'] for _ in range(2)]
        for name in names:
            ask_for_events(client, name, program)
            for answer in [client.receive() for _ in range(ANSWERS_OF_EVENTS)]:
                self.assertIn('result', answer)
        return names

    def subscribe(self, user, names):
        """Until it is refused: how often it was not, and the reason."""
        count = 0
        while True:
            client = self.connect(user)
            for name in names:
                answer = client.call('session.subscribe', session=name)
                if 'error' in answer:
                    self.assertTrue(is_exhausted(answer), answer)
                    return count, answer['error']['message']
                count += 1

    def test_subscriptions_are_bounded_for_each_user_and_for_all(self):
        for user, most, whose in ((USER, MOST_SUBSCRIPTIONS, 'a user'),
                                  (USER + 1, MOST_SUBSCRIPTIONS, 'a user'), (USER + 2, 0, 'all users')):
            program = program_of(user, self.daemon.directory.name)
            self.addCleanup(program.end)
            asking = self.connect(user)
            names = self.sessions_with_events(asking, program)
            count, why = self.subscribe(user, names)
            self.assertEqual(count, most)
            self.assertIn(f'the streams to clients of {whose} may have', why)
            program.send(f'hot_push {CALLS_AT_ONCE}')
            program.result()
            for name in names:  # after this, the streams have the events
                asking.result('session.flush', session=name)
        root = self.daemon.connect()
        self.addCleanup(root.close)
        root.result('session.create', name='roots')
        root.result('session.subscribe', session='roots')
        held = self.group.peak_bytes() - self.before
        print(f'\nmemory: {2 * MOST_SUBSCRIPTIONS} subscriptions that nobody reads, {held >> 20} MiB')
        self.assertGreater(held, 2 * MOST_SUBSCRIPTIONS * STREAM_BYTES)
        self.assertLess(held, 2 * MOST_SUBSCRIPTIONS * 2 * STREAM_BYTES)


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
