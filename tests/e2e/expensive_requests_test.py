# SPDX-License-Identifier: BSD-2-Clause
"""The most expensive requests of a single user, for EXPENSIVE_SECONDS (8 in `make check`): of every method, on as
many connections as a user may have; or arming and disarming 10,000 sites again and again; or reading tens of
thousands of rows again and again.

Meanwhile root's `daemon.status` is answered, a session of root's counts and streams every call of a program,
and the daemon's memory stays below its bound.
"""

import itertools
import json
import os
import pathlib
import select
import shutil
import socket
import tempfile
import threading
import time
import unittest

import support
from support import target

SECONDS = float(os.environ.get('EXPENSIVE_SECONDS', '8'))
USER = 4001
CONNECTIONS = 60   # of at most 64 for a user
SESSIONS = 12      # of at most 16
LEAST_BOUND = 128 << 20
PATTERNS = 1000    # at most, in one request of a user
PHASE_S = 1        # requests that are too large, and allowed ones, take turns
FUNCTIONS = 10_000  # of the target `many`
ROWS = 40_000      # that a user reads
CALLS = 200        # of the program that root traces, at a time
# On a loaded machine one answer in twenty may take longer; if something occupies the daemon, all take longer.
USUAL, USUAL_MS = 0.95, 100
LONGEST_MS = 2000
INVALID_PARAMS = -32602
MOST_PROOFS = 128  # of one request


def functions(count, each):
    """Patterns that match `each` functions of the target `many`, which has m00000 to m09999."""
    digits = 5 - len(str(each))
    return [f'u::m0{number % 10 ** digits:0{digits}}*' if digits else 'u::m0*' for number in range(count)]


class Expensive:
    """For each method the parameters of its most expensive requests, with the files sent with them."""

    def __init__(self, process, program, folder):
        self.process, self.pid, self.program, self.folder = process, process.pid, program, folder
        self.numbers = itertools.count()

    def call(self):
        self.process.send(f'hot_push {ROWS}')
        self.process.result()

    def generators(self):
        return {
            'hello': lambda s: {},
            'probe.list': self.probe_list,
            'probe.info': lambda s: {'pattern': 'u:*:*', 'generations': True},
            'session.create': lambda s: {'name': s},
            'session.list': lambda s: {},
            'session.show': lambda s: {'session': s},
            'session.budget': lambda s: {'session': s},
            'session.prove': lambda s: {'session': s, 'proofs': MOST_PROOFS},
            'session.delete': lambda s: {'session': s if next(self.numbers) % 8 == 0 else 'none'},
            'stage.set': self.stage_set,
            'stage.remove': lambda s: {'session': s, 'patterns': functions(PATTERNS // 2, 1)},
            'stage.commit': lambda s: {'session': s, 'dry_run': next(self.numbers) % 2 == 0},
            'stage.grow': lambda s: {'session': s},
            'stage.join': lambda s: {'session': s, 'containers': {'names': ['web'], 'cgroups': ['/none']}},
            'stage.abort': lambda s: {'session': s},
            'session.pause': lambda s: {},
            'session.resume': lambda s: {},
            'session.restart': lambda s: {'session': s},
            'session.read': lambda s: {'session': s, 'clear': next(self.numbers) % 2 == 0},
            'session.flush': lambda s: {'session': s},
            'session.subscribe': lambda s: {'session': s},
            'session.unsubscribe': lambda s: {'session': s},
            'record.start': lambda s: {'session': s, 'compress': True},
            'record.show': lambda s: {'session': s},
            'record.stop': lambda s: {'session': s},
            'record.dump': lambda s: {'session': s},
            'record.dumped': lambda s: {'dump': 1},
            'daemon.status': lambda s: {},
            'daemon.stats': lambda s: {},
            'daemon.top': lambda s: {},
            'daemon.doctor': lambda s: {},
        }

    def of_program(self, **params):
        return {'target': {'pids': [self.pid]}, 'files': [self.program], **params}

    def patterns(self):
        """Each matches all functions; or there are as many as allowed that match some each; then together as
        many as the user's connections may request at once."""
        number = next(self.numbers)
        if int(time.monotonic() / PHASE_S) % 2:
            return functions(PATTERNS, (10_000, 100, 10)[number % 3])
        return functions(*((1, 1000), (10, 100), (PATTERNS, 1), (1, 10_000))[number % 4])

    def probe_list(self, _):
        return self.of_program(patterns=self.patterns(), proofs=1)

    def stage_set(self, session):
        return self.of_program(session=session, patterns=self.patterns(), do='count by arg0')


def send_with_files(client, number, method, params, files=()):
    line = support.line_of({'jsonrpc': '2.0', 'id': number, 'method': method, 'params': params})
    sent = socket.send_fds(client.socket, [line], files) if files else 0
    client.send(line[sent:])


class Attacker:
    """One connection of the user that sends one request after another."""

    def __init__(self, daemon, number, expensive):
        generators, self.folder, self.pid = expensive.generators(), expensive.folder, expensive.pid
        self.client = daemon.connect()
        self.session = f'user-{number % SESSIONS}'
        self.generators = list(generators.items())
        self.at = number  # different requests at the same time
        if number < SESSIONS:
            self.client.result('session.create', name=self.session)
            self.prove()
        self.answered, self.malformed = {}, []

    def prove(self):
        with open(f'/proc/{self.pid}/mem', 'rb', buffering=0) as memory:
            send_with_files(self.client, 'proof', 'session.prove', {'session': self.session, 'proofs': 1},
                            [memory.fileno()])
        proven = self.client.receive()['result']['proven']
        assert proven == [self.pid], proven

    def ask(self):
        method, params_of = self.generators[self.at % len(self.generators)]
        self.at += 1
        params = params_of(self.session)
        paths = [*params.get('files', ()), *[f'/proc/{self.pid}/mem'] * params.get('proofs', 0)]
        files = [os.open(path, os.O_RDONLY) for path in paths]
        if method in ('record.start', 'record.dump'):
            files = [os.open(f'{self.folder}/{self.session}', os.O_WRONLY | os.O_CREAT, 0o600)]
        try:
            send_with_files(self.client, self.at, method, params, files)
        finally:
            for file in files:
                os.close(file)
        answer = {}
        try:
            while 'id' not in answer:
                answer = self.client.receive()
        except TimeoutError:
            raise AssertionError(f'no answer to {method}') from None
        if answer.get('error', {}).get('code') == INVALID_PARAMS:
            self.malformed.append((method, answer['error']['message']))
        code = answer['error']['data']['code'] if 'error' in answer else 'result'
        counts = self.answered.setdefault(method, {})
        counts[code] = counts.get(code, 0) + 1

    def run(self, until):
        while not until.is_set():
            self.ask()
        self.client.close()


def become_user():
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)


def every_method(daemon, expensive, until):
    """The number of answers by method, and of malformed ones."""
    attackers = [Attacker(daemon, number, expensive) for number in range(CONNECTIONS)]
    ended = threading.Event()
    threads = [threading.Thread(target=one.run, args=(ended,)) for one in attackers]
    for thread in threads:
        thread.start()
    ended.wait(max(0, until - time.monotonic()))
    ended.set()
    for thread in threads:
        thread.join()
    answered, malformed = {}, []
    for one in attackers:
        malformed += one.malformed
        for method, counts in one.answered.items():
            into = answered.setdefault(method, {})
            for code, count in counts.items():
                into[code] = into.get(code, 0) + count
    return [answered, malformed]


class OneSession:
    """A session of the user's, in the program."""

    def __init__(self, daemon, expensive):
        self.client, self.expensive = daemon.connect(), expensive

    def begin(self, pattern, do):
        """Returns the number of sites that it has armed."""
        self.client.result('session.create', name='one')
        with open(f'/proc/{self.expensive.pid}/mem', 'rb', buffering=0) as memory:
            self.ask('session.prove', {'session': 'one', 'proofs': 1}, memory)
        with open(self.expensive.program, 'rb') as program:
            self.ask('stage.set', self.expensive.of_program(session='one', patterns=[pattern], do=do), program)
        return self.client.result('stage.commit', session='one')['added']

    def ask(self, method, params, file):
        send_with_files(self.client, method, method, params, [file.fileno()])
        answer = self.client.receive()
        assert 'result' in answer, answer


def arm_and_disarm(daemon, expensive, until):
    """Returns how many sites were armed."""
    session, sites = OneSession(daemon, expensive), 0
    while time.monotonic() < until:
        sites += session.begin('u::m[0-9]*', 'count')
        session.client.result('session.delete', session='one')
    session.client.close()
    return sites


def read_rows(daemon, expensive, until):
    """Returns how many rows were read."""
    session, rows = OneSession(daemon, expensive), 0
    session.begin('u::hot_push', 'count by arg0')
    expensive.call()
    while time.monotonic() < until:
        rows += len(session.client.result('session.read', session='one', clear=False)['rows'])
    session.client.close()
    return rows


class Stream:
    """Reads all that a subscriber of the session `root` gets, until the answer to the flush at its end."""

    def __init__(self, client):
        self.client, self.methods, self.hits = client, {}, None
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        self.client.socket.settimeout(None)
        while 'id' not in (message := self.client.receive()):
            self.methods[message['method']] = self.methods.get(message['method'], 0) + 1

    def end(self):
        self.client.send(support.line_of({'jsonrpc': '2.0', 'id': 'flush', 'method': 'session.flush',
                                          'params': {'session': 'root'}}))
        self.thread.join()
        self.hits = self.client.result('session.show', session='root')['hits']


def within(waits, part):
    return sorted(waits)[min(len(waits) - 1, int(len(waits) * part))]


@support.needs_root
@support.runs_alone('measures how long answers take')
class ExpensiveRequests(support.DaemonTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.daemon.directory.name, 0o755)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.chmod(self.folder.name, 0o777)

    def connect(self):
        client = self.daemon.connect()
        self.addCleanup(client.close)
        return client

    def program_of_user(self, name='many'):
        path = self.folder.name + '/' + name
        shutil.copy(target(name), path)
        program = support.Program('setpriv', f'--reuid={USER}', f'--regid={USER}', '--clear-groups', path)
        self.addCleanup(program.end)
        return program, path

    def subscribed(self, program):
        """A session of root's that counts and streams."""
        client = self.connect()
        client.result('session.create', name='root')
        client.result('stage.set', session='root', patterns=['u::hot_push'], do='event, count',
                      target={'pids': [program.pid]})
        client.result('session.subscribe', session='root')
        client.result('stage.commit', session='root')
        return client

    def begin(self, attack, expensive):
        """Runs the attack in a process of the user."""
        reading, writing = os.pipe()
        self.results = self.folder.name + '/results'
        child = os.fork()
        if child == 0:
            status = 1
            try:
                become_user()
                os.write(writing, b'.')
                results = attack(self.daemon, expensive, time.monotonic() + SECONDS)
                pathlib.Path(self.results).write_text(json.dumps(results), encoding='utf-8')
                status = 0
            finally:
                os._exit(status)
        os.close(writing)
        self.assertEqual(os.read(reading, 1), b'.')
        os.close(reading)
        return child

    def ask_until(self, client, child):
        """Returns the time of each answer, and the highest memory reported, until the child has ended."""
        waits, most = [], 0
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                self.assertEqual(status, 0)
                return waits, most
            began = time.monotonic()
            told = client.result('daemon.status')
            waits.append((time.monotonic() - began) * 1e3)
            most = max(most, told['memory_bytes'])
            time.sleep(0.005)

    def attacked(self, attack, name='many'):
        """Attacks as a user who traces a program of this name; returns the times of root's answers, the highest
        memory, and the attack's result."""
        program, path = self.program_of_user(name)
        traced, asking = self.program('hot'), self.connect()
        stream = Stream(self.subscribed(traced))
        expensive = Expensive(program, path, self.folder.name)
        child = self.begin(attack, expensive)
        calls, until = [0], threading.Event()

        def call():
            while not until.is_set():
                traced.send(f'hot_push {CALLS}')
                calls[0] += traced.result()['calls']
                until.wait(0.05)
        calling = threading.Thread(target=call)
        calling.start()
        try:
            waits, most = self.ask_until(asking, child)
        finally:
            until.set()
            calling.join()
            stream.end()
        self.check_account(stream, calls[0])
        self.assertLess(most, asking.result('daemon.status')['memory_limit_bytes'])
        return waits, most, json.loads(pathlib.Path(self.results).read_text(encoding='utf-8'))

    def check_waits(self, waits, most, asked):
        print(f"\nexpensive requests: {asked}; root's status {len(waits)} times, median "
              f'{within(waits, 0.5):.1f} ms, 95 % {within(waits, 0.95):.1f}, 99 % {within(waits, 0.99):.1f}, '
              f'99.9 % {within(waits, 0.999):.1f}, longest {max(waits):.0f}; memory {most >> 20} MiB')
        self.assertLessEqual(within(waits, USUAL), USUAL_MS)
        self.assertLessEqual(max(waits), LONGEST_MS)

    def test_root_is_answered_and_loses_nothing(self):
        waits, most, (answered, malformed) = self.attacked(every_method)
        self.assertEqual(malformed, [])
        self.assertEqual(sorted(answered), sorted(self.connect().result('hello')['methods']))
        count = sum(sum(counts.values()) for counts in answered.values())
        self.check_waits(waits, most, f'{count} answered')

    def test_root_is_answered_while_sites_are_armed_and_disarmed(self):
        waits, most, sites = self.attacked(arm_and_disarm)
        self.assertGreater(sites, FUNCTIONS)
        self.check_waits(waits, most, f'{sites} sites armed')

    def test_root_is_answered_while_rows_are_read(self):
        waits, most, rows = self.attacked(read_rows, 'hot')
        self.assertGreater(rows, ROWS / 2)
        self.check_waits(waits, most, f'{rows} rows read')

    def check_account(self, stream, calls):
        """Nothing was lost, and the stream reports no loss."""
        self.assertEqual(stream.hits, calls)
        self.assertEqual(stream.methods, {'event': calls})
        self.assertGreater(calls, 0)

    def as_user(self):
        """A connection of the user: the kernel takes the credentials at connect."""
        os.setegid(USER)
        os.seteuid(USER)
        try:
            return self.connect()
        finally:
            os.seteuid(0)
            os.setegid(0)

    def ask_list(self, client, path, pid, patterns):
        client.last_id += 1
        params = {'patterns': patterns, 'target': {'pids': [pid]}, 'files': [path], 'proofs': 1}
        with open(path, 'rb') as file, open(f'/proc/{pid}/mem', 'rb', buffering=0) as memory:
            send_with_files(client, client.last_id, 'probe.list', params, [file.fileno(), memory.fileno()])

    def refusal(self, client, path, pid, patterns):
        self.ask_list(client, path, pid, patterns)
        error = client.receive()['error']
        self.assertEqual(error['data']['code'], 'exhausted')
        return error['message']

    def test_a_request_is_bounded(self):
        program, path = self.program_of_user()
        user = self.as_user()
        self.assertIn('quota.patterns', self.refusal(user, path, program.pid, ['u::main'] * (PATTERNS + 1)))
        self.assertIn('quota.matches', self.refusal(user, path, program.pid, ['u::m[0-9]*'] * 6))
        self.ask_list(user, path, program.pid, functions(PATTERNS, 10))
        self.assertEqual(user.receive()['result']['total_probes'], 10_000)
        root = self.connect()
        self.ask_list(root, path, program.pid, ['u::m[0-9]*'] * 6)
        self.assertEqual(root.receive()['result']['total_probes'], 10_000)

    def test_without_memory_users_are_refused_and_root_is_not(self):
        self.end_daemon()
        config = self.folder.name + '/tracectld.json'
        pathlib.Path(config).write_text(f'{{"memory-bytes": {LEAST_BOUND}}}', encoding='ascii')
        self.daemon = support.Daemon('--config', config)
        os.chmod(self.daemon.directory.name, 0o755)
        program, path = self.program_of_user()
        user, root = self.as_user(), self.connect()
        user.result('session.create', name='before')
        holding = []  # answers that root does not read
        while root.result('daemon.status')['memory_bytes'] < LEAST_BOUND:
            holding.append(self.daemon.connect())
            self.ask_list(holding[-1], path, program.pid, ['u::m[0-9]*'])
            support.wait_until(lambda: select.select([holding[-1].socket], [], [], 0)[0], 'its answer')
        refused = user.call('session.create')
        self.assertEqual(refused['error']['data']['code'], 'exhausted')
        self.assertIn('memory-bytes', refused['error']['message'])
        self.assertIn('memory_bytes', user.result('daemon.status'))
        user.result('session.delete', session='before')
        root.result('session.create', name='roots')
        for client in holding:
            client.close()
        support.wait_until(lambda: 'result' in user.call('session.create'), 'memory to be given back')


if __name__ == '__main__':
    unittest.main()
