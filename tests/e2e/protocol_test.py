# SPDX-License-Identifier: BSD-2-Clause
"""The protocol as any program can use it: a socket and lines of JSON, validated by the schema."""

import collections
import functools
import json
import os
import re
import time
import unittest

import jsonschema
import support
from support import target

SCHEMA = json.loads((support.BUILD / 'protocol.schema.json').read_text())


@functools.cache
def validator(name):
    """Made once: processing the schema takes longer than a validation."""
    schema = {'$ref': '#/$defs/' + name, '$defs': SCHEMA['$defs']}
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def check(name, value):
    validator(name).validate(value)


@support.needs_root
class Protocol(support.DaemonTest):
    def setUp(self):
        super().setUp()
        self.client = self.daemon.connect()
        self.addCleanup(self.client.close)

    def result(self, method, **params):
        check(f'{method}.request', params)
        result = self.client.result(method, **params)
        check(f'{method}.reply', result)
        return result

    def error(self, code, method, **params):
        answer = self.client.call(method, **params)
        check('error', answer['error'])
        self.assertEqual(answer['error']['data']['code'], code, answer)
        return answer['error']

    def raw_error(self, line, number):
        self.client.send(line + b'\n')
        answer = self.client.receive()
        self.assertEqual(answer['error']['code'], number, answer)
        check('error', answer['error'])
        self.result('hello')  # the connection still works
        return answer

    def test_the_installed_schema_is_the_programs(self):
        self.assertEqual(json.loads(support.run('schema').stdout), SCHEMA)

    def test_a_session_with_events_counts_and_an_end(self):
        program = self.program('counters', '2', '10', '5')
        here = {'pids': [program.pid]}
        self.assertIn('stage.commit', self.result('hello')['methods'])
        self.assertEqual(self.result('probe.list', patterns=['u::f000*'], target=here)['total_sites'],
                         10)
        self.result('session.create', name='s')
        self.result('stage.set', session='s', patterns=['u::f000*'], target=here,
                    do='event, count by tid')
        self.result('session.subscribe', session='s')
        commit = self.result('stage.commit', session='s')
        self.assertEqual(commit['added'], 10)
        program.send('go')
        truth = program.result()
        self.result('session.flush', session='s')
        # Every event fired before the call has come before its answer.
        events = [n['params'] for n in self.client.notifications if n['method'] == 'event']
        for event in events:
            check('event', event)
        self.assertEqual(len(events), truth['total'])
        self.assertEqual([e['ts'] for e in events], sorted(e['ts'] for e in events))
        self.assertTrue(re.match(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$', events[0]['wall']))
        self.assertEqual({e['epoch'] for e in events}, {commit['epoch']})
        read = self.result('session.read', session='s', clear=True)
        self.assertEqual(sum(row['count'] for row in read['rows']), truth['total'])
        self.assertEqual(self.result('probe.info', pattern='u::f0001')['settings'][0]['session'], 's')
        self.result('session.unsubscribe', session='s')
        self.result('stage.remove', session='s', patterns=['u::f000*'])
        self.result('stage.abort', session='s')
        for method in ('session.list', 'daemon.status', 'daemon.stats', 'daemon.doctor'):
            self.result(method)
        self.result('session.show', session='s')
        self.result('session.delete', session='s')

    def test_conditions_values_and_rows_of_every_kind(self):
        program = self.program('values', '2', '1000')
        here = {'pids': [program.pid]}
        do = ('event(str(arg3), arg0, s16(arg5)), count by comm, str(arg3), sum(arg2), avg(arg0), '
              'min(arg0), max(arg2), hist(arg1), lhist(arg0, 0, 100, 10) by u32(arg5 + 4)')
        self.result('session.create', name='s')
        staged = self.result('stage.set', session='s', patterns=['usdt::values:work'], target=here,
                             do=do, when='str(arg3) != "select"', explain=True)
        self.assertEqual(staged['spec']['when'], 'str(arg3) != "select"')
        self.result('session.subscribe', session='s')
        self.result('stage.commit', session='s')
        program.send('go')
        truth = program.result()
        self.result('session.flush', session='s')
        events = [n['params'] for n in self.client.notifications if n['method'] == 'event']
        for event in events[:100]:
            check('event', event)
        holds = truth['holds']['str(arg3) != "select"']
        names = collections.Counter(event['args'][0] for event in events)
        self.assertEqual(names, {name: sums[0] for name, sums in truth['by_name'].items()
                                 if name != 'select'})
        self.assertIn(None, {event['args'][2] for event in events})
        read = self.result('session.read', session='s')
        self.assertEqual((read['total_hits'], read['total_filtered']),
                         (truth['calls'], truth['calls'] - holds))
        self.assertEqual(sum(row['count'] for row in read['rows'] if 'str(arg3)' in row.get('by', {})),
                         holds)
        settings = self.result('probe.info', pattern='usdt::values:work')['settings']
        self.assertEqual(settings[0]['when'], 'str(arg3) != "select"')
        self.assertEqual(self.result('session.show', session='s')['filtered'],
                         truth['calls'] - holds)
        spot = self.error('invalid', 'stage.set', session='s', patterns=['u::f'], target=here,
                          when='arg0 >')['data']
        self.assertEqual((spot['field'], spot['text'], spot['column']), ('when', 'arg0 >', 6))

    def expect_figures(self, reply, epoch):
        self.assertEqual(reply['epoch'], epoch)
        phases = reply['phases_us']
        self.assertGreater(phases['wait'], 0)
        cpus = [first['cpu'] for first in reply['skew_ns']]
        self.assertEqual(len(cpus), len(set(cpus)))
        self.assertLessEqual(set(cpus), set(range(os.sysconf('SC_NPROCESSORS_CONF'))))
        # Each phase was rounded down to whole microseconds.
        longest_ns = (phases['switch'] + phases['wait'] + 2) * 1000
        self.assertTrue(all(first['ns'] < longest_ns for first in reply['skew_ns']), reply)
        return len(cpus)

    def test_every_switch_says_how_it_went(self):
        program = self.program('counters', '2', '0', '100')
        here = {'pids': [program.pid]}

        def count(name):
            self.result('session.create', name=name)
            self.result('stage.set', session=name, patterns=['u::f00*'], target=here, do='count')
            return self.result('stage.commit', session=name)['epoch']

        def hits():
            return self.result('session.read', session='stays')['total_hits']

        count('stays')
        program.send('go')
        support.wait_until(lambda: hits() > 1000, 'the program to be busy')
        seen = {'clear': 0, 'delete': 0}

        def switch():
            epoch = count('s')
            read = self.result('session.read', session='s', clear=True)
            seen['clear'] += self.expect_figures(read, epoch + 1)
            deleted = self.result('session.delete', session='s')
            self.assertEqual((deleted['sessions'], deleted['sites']), (1, 100))
            seen['delete'] += self.expect_figures(deleted, epoch + 2)
            return all(seen.values())  # on a busy machine a CPU may have had no hit

        support.wait_until(switch, 'hits between the switches and the ends of their waits')
        plain = self.result('session.read', session='stays')
        self.assertFalse({'phases_us', 'skew_ns'} & set(plain))

    def test_what_is_wrong_is_named(self):
        self.assertIn('sesion', self.error('invalid', 'session.show', sesion='s')['message'])
        self.assertEqual(self.error('invalid', 'stage.set', session='s', patterns=['u::f'])
                         ['data']['field'], 'target')
        self.assertEqual(self.error('invalid', 'probe.list', patterns=['u::f'],
                                    target={'pids': [1, 'x']})['data']['field'], 'target.pids[1]')
        spot = self.error('invalid', 'probe.list', patterns=['usdt:a:b'])['data']
        self.assertEqual((spot['field'], spot['text']), ('patterns', 'usdt:a:b'))
        self.error('not_found', 'session.show', session='nobody')
        self.error('invalid', 'session.create', name='a b')
        self.result('session.create', name='twice')
        self.error('busy', 'session.create', name='twice')

    def test_lines_that_are_no_requests_are_answered_and_harm_nobody(self):
        self.raw_error(b'{', -32700)
        self.raw_error(b'\xff\xfe', -32700)
        self.raw_error(b'[' * 5000 + b']' * 5000, -32700)
        self.raw_error(b'[]', -32600)
        self.raw_error(b'{"jsonrpc":"2.0","method":"hello"}', -32600)
        answer = self.raw_error(b'{"jsonrpc":"2.0","id":7,"method":"helo"}', -32601)
        self.assertIn('hello', answer['error']['message'])
        self.raw_error(b'{"jsonrpc":"2.0","id":7,"method":"hello","params":{"x":1}}', -32602)

    def test_a_line_of_two_mebibytes_ends_that_client_only(self):
        other = self.daemon.connect()
        try:
            other.send(b'x' * (2 << 20) + b'\n')
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            answer = other.receive()
            self.assertIn('1 MiB', answer['error']['message'])
            self.assertIsNone(other.receive())
        except ConnectionResetError:
            pass  # it was sent more than it wanted to read
        other.close()
        self.result('hello')

    def test_half_a_line_and_silence_hold_up_nobody(self):
        silent = self.daemon.connect()
        silent.send(b'{"jsonrpc":"2.0",')
        self.result('hello')
        silent.send(b'"id":1,"method":"hello"}\n')
        self.assertEqual(silent.receive()['id'], 1)
        silent.close()

    def test_a_client_that_vanishes_in_a_commit_leaves_nothing_of_its_own(self):
        program = self.program('counters', '1', '1')
        other = self.daemon.connect()
        name = other.result('session.create')['name']
        other.result('stage.set', session=name, patterns=['u::f*'], target={'pids': [program.pid]})
        other.send(b'{"jsonrpc":"2.0","id":9,"method":"stage.commit","params":{"session":"%s"}}\n'
                   % name.encode())
        other.close()
        support.wait_until(lambda: not self.result('session.list')['sessions'], 'its session to go')
        self.assertEqual(self.result('daemon.status')['sites'], 0)
        self.assertEqual(support.text_differs(program.pid, target('counters')), 0)

    def test_a_subscriber_that_does_not_read_is_told_what_it_lost(self):
        program = self.program('counters', '2', '20000', '20')
        slow = self.daemon.connect()
        name = slow.result('session.create')['name']
        slow.result('stage.set', session=name, patterns=['u::f00[01]*'],
                    target={'pids': [program.pid]})
        slow.result('session.subscribe', session=name)
        slow.result('stage.commit', session=name)
        program.send('go')
        truth = program.result()['total']
        began = time.monotonic()
        self.result('hello')
        self.assertLess(time.monotonic() - began, 30)
        slow.result('session.flush', session=name)
        events = lost = 0
        for notification in slow.notifications:
            if notification['method'] == 'event':
                events += 1
            else:
                check('lost', notification['params'])
                lost += notification['params']['count']
        self.assertGreater(lost, 0)
        self.assertEqual(events + lost, truth)
        slow.close()


if __name__ == '__main__':
    unittest.main()
