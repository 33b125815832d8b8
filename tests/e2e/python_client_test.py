# SPDX-License-Identifier: BSD-2-Clause
"""The Python client, client/python/tracectl.py, with a daemon; compared with the targets' own reports."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import cgroups
import pandas
import service_manager
import support

sys.path.insert(0, str(support.ROOT / 'client/python'))
import tracectl  # noqa: E402  the client that is tested

OF_A_USER = """
import subprocess, sys, tracectl
socket, path = sys.argv[1:]
hot = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
hot.stdout.readline()
here = tracectl.target(pids=[hot.pid])
with tracectl.connect(socket) as daemon, daemon.session() as session:
    try:
        session.set(['u::hot_push'], here, do='count')
    except tracectl.Refused as error:
        print(error.name)
    session.set(['u::hot_push'], here, do='count', files=[path])
    session.commit()
    hot.communicate('hot_push 100\\n')
    print(session.read()['rows'][0]['count'])
    try:
        daemon.call('record.dumped', {'dump': 1})
    except tracectl.Refused as error:
        print(error.name)
"""


@support.needs_root
class PythonClient(support.DaemonTest):
    def setUp(self):
        super().setUp()
        self.connection = tracectl.connect(self.daemon.socket)
        self.addCleanup(self.connection.close)

    def hot(self):
        """A program that calls hot_push as often as requested, and a target that chooses it."""
        program = self.program('hot')
        return program, tracectl.target(pids=[program.pid])

    def call(self, program, times):
        program.send(f'hot_push {times}')
        self.assertEqual(program.result()['calls'], times)

    def test_a_user_traces_its_own_process_by_a_file_that_it_opens(self):
        kept = self.connection.session('kept', recorder={'bytes': 1 << 20})
        with tempfile.TemporaryFile() as file:
            self.assertEqual(kept.call('record.dump', descriptors=[file])['dump'], 1)
        self.assertEqual(self.connection.call('record.dumped', {'dump': 1})['session'], 'kept')
        # Where the user can read them.
        folder = pathlib.Path(self.daemon.directory.name)
        folder.chmod(0o755)
        program = folder / 'hot'
        for path in tracectl.__file__, support.target('hot'):
            shutil.copy(path, folder)
        done = subprocess.run([sys.executable, '-c', OF_A_USER, self.daemon.socket, program],
                              cwd=folder, user=65534, group=65534, extra_groups=[], timeout=60,
                              capture_output=True, text=True, env={}, check=False)
        self.assertEqual((done.stdout, done.returncode), ('denied\n100\nnot_found\n', 0), done.stderr)

    def names(self):
        return [session['name'] for session in self.connection.sessions()]

    def test_counts_are_the_programs_and_an_unnamed_session_goes(self):
        program, here = self.hot()
        with self.connection.session() as session:
            session.set(['u::hot_push'], here, do='count', when='arg0 >= 100')
            self.assertEqual(session.commit()['added'], 1)
            self.call(program, 1000)
            rows = session.read(clear=True)['rows']
            self.assertEqual([row['count'] for row in rows], [900])
            self.assertEqual([row['count'] for row in session.read()['rows']], [0])
            self.assertEqual(self.names(), [session.name])
        self.assertEqual(self.names(), [])
        self.assertTrue(self.connection.is_open)

    def test_containers_are_chosen_by_name_and_those_that_run_by_cgroup(self):
        made = pathlib.Path(tempfile.mkdtemp(prefix='tracectl_test_', dir=cgroups.mount_of_v2()))
        program = self.program('hot')
        self.addCleanup(made.rmdir)
        self.addCleanup(program.end)
        (made / 'cgroup.procs').write_text(str(program.pid))
        chosen = tracectl.target(containers=['web'], pods=iter(['shop/web-0']), container_cgroups=['/' + made.name])
        self.assertEqual(chosen, {'containers': {'names': ['web'], 'pods': ['shop/web-0'], 'cgroups': ['/' + made.name]}})
        with self.connection.session('s') as session:
            session.set(['u::hot_push'], chosen, do='count')
            session.commit()
            self.call(program, 10)
            self.assertEqual([row['count'] for row in session.read()['rows']], [10])
            [setting] = session.show()['settings']
            self.assertEqual(setting['target']['containers'], chosen['containers'])

    def test_a_named_session_stays_and_can_be_opened_again(self):
        program, here = self.hot()
        with self.connection.session('s') as session:
            session.set(['u::hot_push'], here, do='count')
            session.commit()
        self.connection.close()
        with tracectl.connect(self.daemon.socket) as again:
            session = again.open_session('s')
            session.pause()
            self.call(program, 10)
            self.assertTrue(session.show()['paused'])
            session.resume()
            self.call(program, 7)
            self.assertEqual([row['count'] for row in session.read()['rows']], [7])
            session.delete()
            self.assertEqual(again.sessions(), [])

    def test_rows_are_a_frame(self):
        program, here = self.hot()
        with self.connection.session() as session:
            self.assertEqual((session.frame().shape, list(session.frame())), ((0, 2), ['probe', 'count']))
            session.set(['u::hot_push'], here, do='count by arg0 % 3, tid')
            session.set(['u::hot_nop5'], here, do='sum(arg0)')
            session.commit()
            self.call(program, 10)
            program.send('hot_nop5 100')
            program.result()
            frame = session.frame(clear=True)
            self.assertEqual(len(session.frame()), 0)
        self.assertEqual(set(frame), {'probe', 'arg0 % 3', 'tid', 'count', 'of', 'sum'})
        self.assertEqual(len(frame), 4)
        pushes = frame[frame['probe'].str.endswith('hot_push')].sort_values('arg0 % 3')
        self.assertEqual([list(pushes[name]) for name in ('arg0 % 3', 'tid', 'count')],
                         [[0, 1, 2], [program.pid] * 3, [4, 3, 3]])
        others = frame[frame['probe'].str.endswith('hot_nop5')]
        self.assertTrue(others['tid'].isna().all())
        self.assertEqual([list(others[name]) for name in ('of', 'sum')], [['arg0'], [sum(range(100))]])
        self.assertEqual(str(frame['tid'].dtype), 'Int64')

    def test_events_are_a_frame(self):
        program, here = self.hot()
        with self.connection.session() as session:
            session.set(['u::hot_push'], here, do='event(arg0, comm), return')
            session.subscribe(describe=True)
            session.commit()
            self.call(program, 20)
            session.flush()
            items = session.pending()
        frame = tracectl.frame_of(items)
        self.assertEqual(len(frame), 40)
        hits, returns = (frame[frame['kind'] == kind] for kind in ('hit', 'return'))
        self.assertEqual([list(hits[name]) for name in ('arg0', 'arg1')], [list(range(20)), ['hot'] * 20])
        self.assertEqual(set(frame['pid']), {program.pid})
        self.assertEqual(list(returns['duration']), [item.duration for item in items
                                                     if isinstance(item, tracectl.Event) and item.kind == 'return'])
        self.assertTrue(hits['duration'].isna().all())
        self.assertNotIn('args', frame)

    def test_every_event_comes_in_order_before_flush_returns(self):
        program, here = self.hot()
        with self.connection.session() as session:
            session.set(['u::hot_push'], here, do='event(arg0), return')
            session.subscribe()
            committed = session.commit()
            self.call(program, 500)
            session.flush()
            events = session.pending()
        hits = [event for event in events if event.kind == 'hit']
        returns = [event for event in events if event.kind == 'return']
        self.assertEqual([event.args for event in hits], [[i] for i in range(500)])
        self.assertEqual(len(returns), 500)
        self.assertTrue(all(event.duration >= 0 for event in returns))
        self.assertEqual({(event.pid, event.epoch) for event in events},
                         {(program.pid, committed['epoch'])})

    def test_events_end_where_none_comes_and_wait_for_those_that_do(self):
        program, here = self.hot()
        with self.connection.session() as session:
            session.set(['u::hot_push'], here)
            session.subscribe()
            session.commit()
            self.assertEqual(list(session.events(timeout_s=0)), [])
            program.send('hot_push 3')
            came = session.events()
            self.assertEqual([next(came).args[0] for _ in range(3)], [0, 1, 2])
            session.delete()  # and not again at the end

    MANY = 1_000_000

    def test_what_a_slow_reader_has_lost_stands_among_the_events(self):
        program, here = self.hot()
        with self.connection.session() as session:
            session.set(['u::hot_push'], here, do='event(arg0)')
            session.subscribe()
            session.commit()
            self.call(program, self.MANY)  # more than the daemon keeps for clients that do not read
            session.flush()
            items = session.pending()
        lost = [item for item in items if isinstance(item, tracectl.Lost)]
        events = [item for item in items if isinstance(item, tracectl.Event)]
        self.assertTrue(lost)
        self.assertEqual(len(events) + sum(item.count for item in lost), self.MANY)
        self.assertEqual([item.ts for item in items], sorted(item.ts for item in items))

    def test_arguments_are_described_to_who_wants_it(self):
        program, here = self.hot()
        with self.connection.session() as session:
            session.set(['u::hot_push'], here)
            session.subscribe(describe=True)
            session.commit()
            self.call(program, 1)
            session.flush()
            first, event = session.pending()
        self.assertIsInstance(first, tracectl.Described)
        self.assertEqual([one['name'] for one in first.args], ['seq', 'b', 'c'])
        self.assertEqual(event.args, [0, 2, 1])

    def test_a_refusal_has_code_name_place_and_leaves_the_connection_as_it_was(self):
        _, here = self.hot()
        with self.connection.session() as session:
            with self.assertRaises(tracectl.Refused) as refused:
                session.set(['u::hot_push'], here, when='arg0 >')
            self.assertEqual((refused.exception.code, refused.exception.name), (1, 'invalid'))
            self.assertEqual(refused.exception.data['text'], 'arg0 >')
            self.assertEqual(refused.exception.data['field'], 'when')
            with self.assertRaises(tracectl.Refused) as refused:
                self.connection.session(session.name)
            self.assertEqual(refused.exception.name, 'busy')
            with self.assertRaises(tracectl.Refused):
                self.connection.call('no.such')
            self.assertEqual(self.connection.hello()['daemon'], 'tracectld')

    def test_descriptors_go_with_a_request(self):
        program, here = self.hot()
        with tempfile.TemporaryFile() as file, self.connection.session() as session:
            session.set(['u::hot_push'], here)
            session.commit()
            session.call('record.start', descriptors=[file])
            self.call(program, 5)
            session.flush()
            session.call('record.stop')
            def recording():
                return session.call('record.show')
            support.wait_until(lambda: recording()['state'] == 'done', 'the recording')
            self.assertEqual(recording()['events'], 5)
            shown = support.run('--json', 'show', f'/proc/{os.getpid()}/fd/{file.fileno()}')
        self.assertEqual(len(shown.stdout.splitlines()), 5, shown.stderr)

    def test_no_daemon_and_one_that_ends_are_told(self):
        with self.assertRaises(tracectl.Disconnected):
            tracectl.connect('/nowhere/tracectl.sock')
        daemon = support.Daemon()
        connection = tracectl.connect(daemon.socket)
        with connection.session() as session:
            session.subscribe()
            daemon.end()
            with self.assertRaises(tracectl.Disconnected):
                next(session.events())
            with self.assertRaises(tracectl.Disconnected):
                connection.hello()
            self.assertFalse(connection.is_open)
            for use_it in connection.hello, session.pending, lambda: next(session.events()):
                self.assertRaises(tracectl.Disconnected, use_it)

    def test_what_a_daemon_has_sent_can_be_taken_after_a_request_has_found_its_end(self):
        daemon = support.Daemon()
        program, here = self.hot()
        connection = tracectl.connect(daemon.socket)
        self.addCleanup(connection.close)
        session = connection.session('s')
        session.set(['u::hot_push'], here, do='event(arg0)')
        session.subscribe()
        session.commit()
        self.call(program, 500)
        daemon.end()
        self.assertRaises(tracectl.Disconnected, session.show)
        self.assertEqual([event.args for event in session.pending()], [[i] for i in range(500)])
        self.assertRaises(tracectl.Disconnected, session.pending)

    def test_an_answer_can_be_made_something_else_while_it_is_read(self):
        program, here = self.hot()
        with self.connection.session() as session:
            session.set(['u::hot_push'], here, do='count by arg0')
            session.commit()
            self.call(program, 20)
            keys = []
            read = self.connection.call('session.read', {'session': session.name}, object_hook=lambda found: (
                keys.append(found['by']['arg0']) if 'by' in found else found))
        self.assertEqual(sorted(keys), list(range(20)))
        self.assertEqual(read['rows'], [None] * 20)

    def test_a_request_that_is_too_long_is_not_sent(self):
        with self.assertRaises(ValueError):
            self.connection.call('hello', {'more': 'x' * (1 << 20)})
        self.assertEqual(self.connection.hello()['protocol'], 1)

    def test_the_socket_of_the_environment_is_taken(self):
        program = 'import tracectl; print(tracectl.connect().status()["pid"])'
        done = subprocess.run(['/usr/bin/python3', '-c', program], capture_output=True, text=True,
                              env={'TRACECTL_SOCKET': self.daemon.socket,
                                   'PYTHONDONTWRITEBYTECODE': '1',
                                   'PYTHONPATH': str(support.ROOT / 'client/python')})
        self.assertEqual(done.stdout, f'{self.daemon.process.pid}\n', done.stderr)


@support.needs_root
class Rejoining(unittest.TestCase):
    def setUp(self):
        self.service = service_manager.Service()
        self.addCleanup(self.service.end)
        self.service.start()
        self.hot = support.Program(support.target('hot'))
        self.addCleanup(self.hot.end)
        self.service.json('session', 'new', 's', '--saved')
        connection = tracectl.connect(self.service.socket)
        self.addCleanup(connection.close)
        self.session = connection.open_session('s')
        self.session.set(['u::hot_push'], tracectl.target(pids=[self.hot.pid]))
        self.session.commit()
        self.session.subscribe(describe=True)

    def call(self, times):
        self.hot.send(f'hot_push {times}')
        self.assertEqual(self.hot.result()['calls'], times)

    def test_a_saved_session_goes_on_with_the_next_daemon(self):
        self.call(3)
        self.service.finish()
        self.call(4)
        self.service.start()
        self.assertTrue(self.session.rejoin())
        self.session.flush()
        items = self.session.pending()
        self.assertEqual([event.args[0] for event in items if isinstance(event, tracectl.Event)],
                         [0, 1, 2, 0, 1, 2, 3])
        self.assertEqual(sum(isinstance(item, tracectl.Described) for item in items), 2)
        self.assertNotIn('gap', self.session.show())

    def test_it_waits_for_a_daemon_that_comes_later(self):
        self.service.finish()
        joined = []
        waiting = threading.Thread(target=lambda: joined.append(self.session.rejoin(60)))
        waiting.start()
        self.service.start()
        waiting.join()
        self.assertEqual(joined, [True])

    def test_it_ends_by_what_it_was_told_to_wait_for_too(self):
        stop, other = socket.socketpair()
        with stop, other:
            self.service.finish()
            other.send(b'!')
            self.assertFalse(self.session.rejoin(60, stop))
            self.service.start()
            stop.recv(1)
            self.assertTrue(self.session.rejoin(60, stop))

    def test_a_session_that_is_gone_and_a_daemon_that_does_not_come_are_told(self):
        self.service.finish()
        with self.assertRaisesRegex(tracectl.Disconnected, '^the daemon does not answer; tried for 0.3 s$'):
            self.session.rejoin(0.3)
        self.service.start()
        self.service.stop()
        self.service.start()
        with self.assertRaises(tracectl.Refused) as refused:
            self.session.rejoin(60)
        self.assertEqual(refused.exception.name, 'not_found')
        self.service.finish()
        self.service.listening.close()
        with self.assertRaisesRegex(tracectl.Disconnected, 'no daemon listens on .*; tried for 0.3 s$'):
            self.session.rejoin(0.3)


class Frames(unittest.TestCase):
    def test_a_lost_item_is_a_row(self):
        event = tracectl.Event(1, '2026-11-21T04:10:45.641765954Z', 2, 's', 0, 7, 7, 'hot', 'p', 'hit', [5])
        frame = tracectl.frame_of([event, tracectl.Lost(3, 40, 'ring_full', 's'),
                                   tracectl.Described('s', 'p', [{'name': 'x'}])])
        self.assertEqual(list(frame['kind']), ['hit', 'lost'])
        self.assertEqual((frame['count'][1], frame['cause'][1]), (40, 'ring_full'))
        self.assertTrue(pandas.isna(frame['count'][0]))
        self.assertEqual(list(tracectl.frame_of([]))[:2], ['ts', 'wall'])

    def test_no_integer_loses_digits(self):
        for values in ([2 ** 63 - 1, None], [2 ** 64 - 1, None, 5], [-2 ** 63, 2 ** 64 - 1, None], [2 ** 62 + 1, 0.5]):
            column = tracectl._frame(pandas, [{'value': value} for value in values], [])['value']
            self.assertEqual([None if pandas.isna(value) else value for value in column], values)

    def test_a_key_that_is_named_as_a_member_has_a_column_of_its_own(self):
        schema = json.loads((support.BUILD / 'protocol.schema.json').read_text())
        members = schema['$defs']['session.read.reply']['properties']['rows']['items']['properties']
        self.assertIn('sum', members)
        for name in members:
            cells = tracectl._cells_of_row({'probe': 'p', 'by': {name: 'key'}, 'count': 1})
            self.assertEqual(cells, {'probe': 'p', name + '_': 'key', 'count': 1})


class FakeDaemon:
    """Answers one connection with given texts, for replies that a real daemon never sends."""

    def __init__(self, test, answer):
        folder = tempfile.mkdtemp()
        test.addCleanup(shutil.rmtree, folder)
        self.path = folder + '/socket'
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, args=[answer])
        self._thread.start()
        test.addCleanup(self._thread.join)

    def _serve(self, answer):
        connection, _ = self._listener.accept()
        with connection, self._listener:
            connection.recv(1 << 16)
            connection.sendall(answer)
            connection.recv(1)  # its end


class Strange(unittest.TestCase):
    def connection(self, answer, timeout_s=60):
        connection = tracectl.connect(FakeDaemon(self, answer).path, timeout_s)
        self.addCleanup(connection.close)
        return connection

    def test_what_a_later_daemon_says_more_is_left_alone(self):
        connection = self.connection(
            b'{"jsonrpc":"2.0","method":"novelty","params":{"session":"s"}}\n'
            b'{"jsonrpc":"2.0","method":"lost","params":{"session":"s","ts":1,"count":2,'
            b'"cause":"ring_full","novel":1}}\n'
            b'{"jsonrpc":"2.0","id":1,"result":{"daemon":"tracectld"}}\n')
        self.assertEqual(connection.hello(), {'daemon': 'tracectld'})
        item, = tracectl.Session(connection, 's', True).pending()
        self.assertEqual((item.count, item.cause), (2, 'ring_full'))

    def test_an_answer_that_does_not_come_ends_the_connection(self):
        connection = self.connection(b'', timeout_s=0.01)
        with self.assertRaises(tracectl.Disconnected):
            connection.hello()
        self.assertFalse(connection.is_open)

    def test_an_answer_to_something_else_ends_the_connection(self):
        connection = self.connection(b'{"jsonrpc":"2.0","id":7,"result":{}}\n')
        with self.assertRaises(tracectl.Disconnected):
            connection.hello()
        self.assertFalse(connection.is_open)


if __name__ == '__main__':
    unittest.main()
