# SPDX-License-Identifier: BSD-2-Clause
"""A hundred clients that send the same request at the same moment, for each method: each gets the answers to
its own requests, and nothing of them is left afterwards."""

import contextlib
import os
import pathlib
import signal
import socket
import tempfile
import unittest

import protocol_test
import support

CLIENTS = 100
FUNCTIONS = 100


class Client(support.Client):
    """With its own session and function."""

    def __init__(self, daemon, number, folder):
        super().__init__(daemon.socket)
        self.number = number
        self.name = f's{number}'
        self.pattern = f'uprobe::f{number:04}'
        self.folder = folder
        self.dump = None

    def begin(self, method, params, *, takes_file=False):
        """Sends this request; and the same with an unknown member, which must be refused by its name."""
        requests = b''.join(
            support.line_of({'jsonrpc': '2.0', 'id': f'{self.name} {method} {kind}', 'method': method,
                             'params': {**params, **more}})
            for kind, more in (('good', {}), ('wrong', {f'of_{self.name}': 1})))
        if not takes_file:
            return self.send(requests)
        with open(self.folder / f'{self.name}-{method}', 'w', encoding='utf-8') as file:
            socket.send_fds(self.socket, [requests], [file.fileno()])

    def answer(self):
        while 'id' not in (answer := self.receive()):
            pass
        return answer

    def end(self, test, method):
        """Returns the result or the refusal; checks that each request has its own answer."""
        good, wrong = self.answer(), self.answer()
        test.assertEqual([answer['id'] for answer in (good, wrong)],
                         [f'{self.name} {method} {kind}' for kind in ('good', 'wrong')])
        test.assertEqual(wrong['error']['data']['field'], f'of_{self.name}')
        if method in MAY_BE_REFUSED and 'error' in good:
            return good['error']
        test.assertIn('result', good, good)
        if self.number % 10 == 0:  # checking all takes longer than everything else
            protocol_test.check(f'{method}.reply', good['result'])
        return good['result']


def of_session(client):
    return {'session': client.name}


def of_nothing(_):
    return {}


# In an order that meets their requirements. What a client sends, and what in the answer is its own.
METHODS = {
    'hello': (of_nothing, None),
    'session.create': (lambda client: {'name': client.name, 'budget': 100, 'recorder': {'bytes': 1 << 20}},
                       lambda client, result: result['name'] == client.name),
    'probe.list': (lambda client: {'patterns': [client.pattern], 'target': client.target},
                   lambda client, result: [probe['probe'].split(':')[-1] for probe in result['probes']] ==
                   [client.pattern.split(':')[-1]]),
    'stage.set': (lambda client: {'session': client.name, 'patterns': [client.pattern], 'do': 'event, count',
                                  'target': client.target},
                  lambda _, result: result['sites'] == 1),
    'session.subscribe': (of_session, None),
    'stage.commit': (of_session, lambda _, result: result['added'] + result['removed'] == 1),
    'stage.grow': (of_session, lambda client, error: f'"{client.name}"' in error['message']),
    'stage.join': (lambda client: {'session': client.name, 'containers': {'names': ['web']}},
                   lambda client, error: f'"{client.name}"' in error['message']),
    'session.show': (of_session, lambda client, result: result['settings'][0]['pattern'] == client.pattern),
    'session.list': (of_nothing, lambda _, result: len(result['sessions']) == CLIENTS),
    'session.prove': (of_session, lambda _, result: not result['needed']),
    'session.budget': (of_session, lambda _, result: result['budget'] == 100),
    'record.start': (of_session, lambda client, result: result['session'] == client.name),
    'record.show': (of_session, lambda client, result: result['session'] == client.name),
    'session.pause': (of_session, lambda _, result: result['sessions'] == 1),
    'session.resume': (of_session, lambda _, result: result['sessions'] == 1),
    'session.restart': (of_session, lambda _, result: result['sessions'] == 1),
    'session.flush': (of_session, None),
    'session.read': (of_session, lambda client, result:
                     [row['probe'].split(':')[-1] for row in result['rows']] == [client.pattern.split(':')[-1]]),
    'probe.info': (lambda client: {'pattern': client.pattern},
                   lambda client, result: [one['session'] for one in result['settings']] == [client.name]),
    'record.dump': (of_session, lambda client, result: result['session'] == client.name),
    'record.dumped': (lambda client: {'dump': client.dump},
                      lambda client, said: said.get('session') == client.name or
                      f'number {client.dump} ' in said['message']),
    'record.stop': (of_session, lambda client, result: result['session'] == client.name),
    'session.unsubscribe': (of_session, None),
    'stage.remove': (lambda client: {'session': client.name, 'patterns': [client.pattern]},
                     lambda _, result: result['settings'] == 0),
    'stage.abort': (of_session, None),
    'daemon.status': (of_nothing, lambda _, result: result['sessions'] == CLIENTS),
    'daemon.stats': (of_nothing, None),
    'daemon.top': (of_nothing, None),
    'daemon.doctor': (of_nothing, None),
    'session.delete': (of_session, lambda _, result: result['sessions'] == 1),
}
TAKE_FILES = {'record.start', 'record.dump'}
# Nobody has a graph or containers, and only some of so many dumps are remembered.
MAY_BE_REFUSED = {'stage.grow', 'stage.join', 'record.dumped'}
CALLS = 10


@support.needs_root
class HundredClients(support.DaemonTest):
    def setUp(self):
        super().setUp()
        self.daemon.take_log()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    @contextlib.contextmanager
    def clients(self, count):
        self.traced = self.program('counters', '1', str(CALLS), str(FUNCTIONS))
        clients = [Client(self.daemon, number, self.folder) for number in range(count)]
        for client in clients:
            client.target = {'pids': [self.traced.pid]}
        try:
            yield clients
        finally:
            for client in clients:
                client.close()

    @contextlib.contextmanager
    def daemon_stands_still(self):
        """When it continues, all requests have arrived."""
        self.daemon.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.daemon.process.send_signal(signal.SIGCONT)

    def ask_all(self, clients, method):
        params, is_own = METHODS[method]
        if method == 'session.flush':
            self.traced.send('go')
            self.traced.result()
        with self.daemon_stands_still():
            for client in clients:
                client.begin(method, params(client), takes_file=method in TAKE_FILES)
        for client in clients:
            result = client.end(self, method)
            if is_own and len(clients) == CLIENTS:
                self.assertTrue(is_own(client, result), f'{method} of {client.name}: {result}')
            if method == 'record.dump':
                client.dump = result['dump']

    def descriptors(self):
        return len(os.listdir(f'/proc/{self.daemon.process.pid}/fd'))

    def test_each_gets_its_own_answers_in_every_method(self):
        with contextlib.closing(self.daemon.connect()) as client:
            self.assertEqual(set(client.result('hello')['methods']), set(METHODS), 'each method needs a row here')
        for count in 1, CLIENTS:  # what the daemon keeps for later clients exists after the first round
            before = self.descriptors()
            with self.clients(count) as clients:
                for method in METHODS:
                    self.ask_all(clients, method)
                    if method == 'stage.remove':  # all in one moment, unlike a hundred ends of sessions
                        self.ask_all(clients, 'stage.commit')
        support.wait_until(lambda: self.descriptors() <= before, f'its {before} descriptors')
        self.assertEqual(self.daemon.json('status')['sites'], 0)
        self.assertEqual(support.text_differs(self.traced.pid, support.target('counters')), 0)


if __name__ == '__main__':
    unittest.main()
