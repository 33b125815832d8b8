# SPDX-License-Identifier: BSD-2-Clause
"""Recordings of real programs: the file has what the program did, whichever process was killed."""

import array
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import graph_truth
import support

HOT = 'uprobe::hot_push'
# The program's arguments: (i, 2, i + 1).
NUMBERS = ['--do', 'event(arg0, arg1, arg2)']
CALLS = 20_000
CORPUS = support.ROOT / 'tests/recordings'


def time_of(item):
    return (item.get('lost') or item)['ts']


# Asks to record a session into a descriptor, or a new memory file, and prints the answer.
MEMORY_USER = '''
import array, json, os, socket, sys
path, file, method = sys.argv[1:]
fd = os.memfd_create('recording') if file == 'memfd' else int(os.environ['FILE'])
peer = socket.socket(socket.AF_UNIX)
peer.connect(path)
lines = peer.makefile()
def ask(method, params, *files):
    message = {'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params}
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', files))] if files else []
    peer.sendmsg([json.dumps(message).encode() + b'\\n'], rights)
    return lines.readline()
name = json.loads(ask('session.create', {'recorder': {'bytes': 1 << 20}}))['result']['name']
print(ask(method, {'session': name}, fd), end='')
'''


def says_unknown_end(item):
    return item.get('lost', {}).get('cause') == 'unknown_end'


class RecordTest(support.DaemonTest):
    def setUp(self):
        # Removed last: a program that is killed at the end may still be dumped there by the daemon.
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        super().setUp()
        self.directory = pathlib.Path(directory.name)
        self.file = str(self.directory / 'out.tct')

    def through_daemon(self):
        return ['--socket', self.daemon.socket]

    def start(self, *words):
        """tracectl with its probes armed."""
        process = subprocess.Popen([support.TRACECTL, *words], stderr=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        line = process.stderr.readline()
        self.assertIn('tracing', line, line)
        return process

    def end(self, process):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        return out, err

    def call(self, program, times):
        program.send(f'hot_push {times}')
        self.assertEqual(program.result()['calls'], times)

    def call_in_turns(self, program, session, turns):
        """CALLS calls in each turn, which fit into a ring even if the daemon gets no CPU: so none is lost.
        Returns the numbers of all calls."""
        with contextlib.closing(self.daemon.connect()) as client:
            for _ in range(turns):
                self.call(program, CALLS)
                client.result('session.flush', session=session)
        return list(range(CALLS)) * turns

    def is_end_of(self, items, numbers):
        """The items are the last of the calls with these numbers, without gaps."""
        self.assertEqual([item for item in items if 'lost' in item], [])
        self.assertEqual([item for item in items if item['args'][1:] != [2, item['args'][0] + 1]], [])
        self.assertTrue([item['args'][0] for item in items] == numbers[len(numbers) - len(items):])

    def shown(self, *words, file=None):
        done = support.run('--json', 'show', file or self.file, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        items = [json.loads(line) for line in done.stdout.splitlines()]
        # Without the note for a file that is being written, or whose writer was killed.
        return [item for item in items if not says_unknown_end(item)], done.stderr

    def is_unbroken(self, items):
        """The items are the calls from 0 on, each once and in order; returns how many."""
        wrong = [(i, item['args']) for i, item in enumerate(items) if item['args'] != [i, 2, i + 1]]
        self.assertEqual(wrong[:3], [])
        return len(items)


@support.needs_root
class Record(RecordTest):
    def recorded(self, engine, *options):
        program = self.program('hot')
        verb = self.start(*engine, 'record', HOT, '-p', str(program.pid), '-o', self.file,
                          *NUMBERS, *options)
        self.call(program, CALLS)
        out, _ = self.end(verb)
        return program, out

    def test_has_what_the_program_did(self):
        for engine in self.through_daemon(), ['--embedded']:
            for options in [], ['--compress']:
                with self.subTest(engine=engine, options=options):
                    program, out = self.recorded(engine, *options)
                    items, errors = self.shown()
                    self.assertEqual(self.is_unbroken(items), CALLS)
                    self.assertEqual({(item['pid'], item['comm']) for item in items},
                                     {(program.pid, 'hot')})
                    self.assertIn(f'{CALLS} events, 0 lost', out)
                    self.assertEqual(errors, f'{CALLS} events, 0 lost\n')

    def test_a_file_without_a_name_has_the_time(self):
        name = r'tracectl-\d{8}T\d{6}\.\d{6}Z\.tct'
        for words, directory in ([], ''), (['-o', '.'], ''), (['-o', str(self.directory)], f'{self.directory}/'):
            with self.subTest(words=words):
                done = subprocess.run([support.TRACECTL, '--embedded', 'record', HOT, *words, '--compress', '--',
                                       support.target('hot')],
                                      cwd=self.directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                      timeout=60, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, f'(?m)^{re.escape(directory)}{name}: 0 events')
                made, = self.directory.iterdir()
                self.assertRegex(made.name, f'^{name}$')
                made.unlink()

    def test_a_part_is_shown_by_time(self):
        self.recorded(self.through_daemon())
        items, _ = self.shown()
        first = items[0]['ts']
        middle_s = (items[CALLS // 2]['ts'] - first) / 1e9
        sooner, _ = self.shown('--until', f'{middle_s:.9f}')
        later, _ = self.shown('--since', f'{middle_s:.9f}')
        self.assertTrue(sooner + later == items)
        self.assertTrue(sooner and later)

    def test_text_is_that_of_trace(self):
        self.recorded(self.through_daemon())
        done = support.run('-q', 'show', self.file, '--until', '1us')
        self.assertRegex(done.stdout, r'^ +0\.000000000 +\d+ +\d+ +\d+ hot +uprobe:.*:hot_push\(')

    def test_a_graph_is_what_was_called(self):
        log = self.directory / 'log'
        program = self.program('graph_tree', '4', '200', str(log), '6000')
        verb = self.start(*self.through_daemon(), 'graph', 'tree_root', '-p', str(program.pid),
                          '-o', self.file)
        program.send('go')
        program.result()
        self.end(verb)
        truth = graph_truth.from_log(log.read_text())
        lines = support.run('--json', 'show', self.file).stdout.splitlines()
        self.assertEqual(graph_truth.differences(truth, graph_truth.from_json(lines)), [])
        text = support.run('show', self.file, '--graph').stdout.splitlines()
        self.assertEqual(graph_truth.differences(truth, graph_truth.from_text(text)), [])
        sums = json.loads(support.run('--json', 'report', self.file).stdout)
        self.assertEqual(sums['lost'], 0)
        self.assertEqual(sum(row['calls'] for row in sums['functions']),
                         sum(1 for line in lines if '"kind":"hit"' in line))

    def test_stacks_are_in_the_file(self):
        program = self.program('hot')
        verb = self.start(*self.through_daemon(), 'record', HOT, '-p', str(program.pid), '-o',
                          self.file, '--do', 'event, stack')
        self.call(program, 5)
        self.end(verb)
        program.end()
        items, _ = self.shown()
        self.assertEqual(len(items), 5)
        for item in items:
            self.assertEqual([frame['function'] for frame in item['stack'][:2]],
                             ['hot_push', 'main'])
            self.assertEqual(item['stack'][0]['module'], support.target('hot'))

    # ---- what is killed ----

    def test_outlives_the_daemon(self):
        program = self.program('hot')
        daemon = support.Daemon()
        verb = self.start('--socket', daemon.socket, 'record', HOT, '-p', str(program.pid), '-o',
                          self.file, *NUMBERS)
        self.call(program, CALLS)
        # A block that is not full is written after a second or two.
        support.wait_until(lambda: len(self.shown()[0]) == CALLS, 'the file')
        program.send(f'hot_push {CALLS * 50}')
        before = os.stat(self.file).st_size
        support.wait_until(lambda: os.stat(self.file).st_size > before, 'more of the file')
        daemon.process.kill()
        daemon.process.communicate()
        daemon.directory.cleanup()
        self.assertEqual(program.result()['calls'], CALLS * 50)
        _, errors = verb.communicate(timeout=60)
        self.assertEqual(verb.returncode, 1, errors)
        items = [item for item in self.shown()[0] if 'probe' in item]
        self.assertEqual(self.is_unbroken(items[:CALLS]), CALLS)
        rest = [item['args'][0] for item in items[CALLS:]]
        self.assertTrue(rest == sorted(set(rest)))

    def test_is_whole_where_the_daemon_is_ended_at_once(self):
        program = self.program('hot')
        daemon = support.Daemon()
        verb = self.start('--socket', daemon.socket, 'record', HOT, '-p', str(program.pid), '-o',
                          self.file, *NUMBERS)
        self.call(program, CALLS)
        with contextlib.closing(daemon.connect()) as client:
            session, = client.result('session.list')['sessions']
            client.result('session.flush', session=session['name'])
        daemon.end()
        verb.communicate(timeout=60)
        self.assertEqual(self.is_unbroken(self.shown()[0]), CALLS)

    def test_a_descriptor_of_a_refused_request_is_nobody_elses(self):
        with contextlib.closing(self.daemon.connect()) as client:
            self.session(client)
            with open(self.file, 'w') as first, open(self.directory / 'other', 'w') as second:
                message = {'jsonrpc': '2.0', 'id': 98, 'method': 'record.start',
                           'params': {'session': 's', 'compress': 'yes'}}
                client.socket.sendmsg([json.dumps(message).encode() + b'\n'],
                                      [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                        array.array('i', [first.fileno()]))])
                self.assertIn('error', client.receive())
                self.record(client, second.fileno())
                support.wait_until(lambda: os.fstat(second.fileno()).st_size > 0, 'its header')
                self.assertEqual(os.fstat(first.fileno()).st_size, 0)

    def test_a_file_that_is_being_written_is_not_emptied(self):
        program = self.program('hot')
        verb = self.start(*self.through_daemon(), 'record', HOT, '-p', str(program.pid), '-o',
                          self.file, *NUMBERS)
        self.call(program, CALLS)
        second = self.daemon.run('record', HOT, '-p', str(program.pid), '-o', self.file)
        self.assertEqual(second.returncode, 1)
        self.assertIn('is being written', second.stderr)
        self.end(verb)
        self.assertEqual(self.is_unbroken(self.shown()[0]), CALLS)

    def test_what_never_comes_about_leaves_the_recording_that_was_there(self):
        self.recorded(self.through_daemon())
        before = pathlib.Path(self.file).read_bytes()
        pid = str(self.program('hot').pid)
        for words in (['-p', pid, '--do', 'event(nonsense)'], ['-p', pid, '--dry-run'],
                      ['-p', pid, '--do', 'event', '--rotate', '1'],
                      ['--', '/bin/true']):
            for engine in self.through_daemon(), ['--embedded']:
                with self.subTest(words=words, engine=engine):
                    done = support.run(*engine, 'record', HOT, '-o', self.file, *words)
                    self.assertEqual(done.returncode == 0, '--dry-run' in words, done.stderr)
                    self.assertEqual(pathlib.Path(self.file).read_bytes(), before)

    def test_another_takes_the_place_of_the_one_that_was_there(self):
        for _ in range(2):
            self.recorded(self.through_daemon())
            self.assertEqual(self.is_unbroken(self.shown()[0]), CALLS)

    def test_outlives_the_client(self):
        program = self.program('hot')
        verb = self.start(*self.through_daemon(), 'record', HOT, '-p', str(program.pid), '-o',
                          self.file, *NUMBERS)
        self.call(program, CALLS)
        verb.kill()
        verb.communicate()
        with contextlib.closing(self.daemon.connect()) as client:
            support.wait_until(lambda: client.result('daemon.status')['sessions'] == 0, 'its end')
        support.wait_until(lambda: len(self.shown()[0]) == CALLS, 'the file')
        self.assertEqual(self.is_unbroken(self.shown()[0]), CALLS)

    def test_a_full_disk_is_told_and_holds_up_nobody(self):
        disk = self.directory / 'disk'
        disk.mkdir()
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=256k', 'none', disk], check=True)
        self.addCleanup(subprocess.run, ['umount', disk], check=True)
        self.file = str(disk / 'out.tct')
        program = self.program('hot')
        # If a file is cut off, the last blocks of each CPU are missing: with one CPU these are at its end.
        os.sched_setaffinity(program.pid, {min(os.sched_getaffinity(0))})
        verb = self.start(*self.through_daemon(), 'record', HOT, '-p', str(program.pid), '-o',
                          self.file, *NUMBERS)
        self.call(program, 10 * CALLS)
        # The command ends on its own.
        _, errors = verb.communicate(timeout=60)
        self.assertEqual(verb.returncode, 1)
        self.assertIn('No space left on device', errors)
        self.call(program, CALLS)
        in_file, told = re.search(r'(\d+) events are in the file, (\d+) events? were lost', errors).groups()
        # After its session's end all losses are in the file; until then its end is unknown.
        support.wait_until(lambda: 'unknown' not in self.shown()[1], 'the end of the file')
        items, notes = self.shown()
        lost = sum(item['lost']['count'] for item in items if 'lost' in item)
        self.assertGreaterEqual(lost, int(told))
        events = self.is_unbroken([item for item in items if 'lost' not in item])
        self.assertEqual(events, int(in_file))
        self.assertGreater(events, 0)
        self.assertIn('its recording ended early: write the file: No space left on device', notes)
        self.assertIn(f'{events} events, {lost} lost\n', notes)
        report = support.run('--json', 'report', self.file)
        self.assertIn('ended early', report.stderr)
        self.assertEqual(json.loads(report.stdout)['dropped_ring'], lost)

    def test_a_recording_of_a_user_has_a_bound(self):
        self.end_daemon()
        config = self.directory / 'tracectld.json'
        config.write_text(json.dumps({'quota': {'recording-bytes': 1 << 20}}))
        self.daemon = support.Daemon('--config', str(config))
        os.chmod(self.daemon.directory.name, 0o755)
        os.chmod(self.daemon.socket, 0o666)
        with tempfile.TemporaryDirectory(dir='/var/tmp') as folder:
            os.chown(folder, 65534, 65534)
            tracectl, hot = shutil.copy(support.TRACECTL, folder), shutil.copy(support.target('hot'), folder)
            self.file = folder + '/out.tct'
            record = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', tracectl,
                      *self.through_daemon(), 'record', HOT, '-o', self.file]
            refused = subprocess.run([*record, '--rotate', '1M', '--keep', '2', '--', hot], stdin=subprocess.DEVNULL,
                                     capture_output=True, text=True, timeout=60)
            self.assertIn('recording-bytes', refused.stderr)
            done = subprocess.run([*record, '--strict', '--', hot], input=f'hot_push {50 * CALLS}\nexit\n',
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn('1048576 bytes', done.stderr)
            self.assertLessEqual(os.path.getsize(self.file), (1 << 20) + 512)
            items, notes = self.shown()
            self.assertGreater(len(items), 0)
            self.assertIn('quota.recording-bytes', notes)

    def test_whose_end_is_unknown_is_said_by_every_reader(self):
        self.recorded(self.through_daemon())
        whole = pathlib.Path(self.file).read_bytes()
        # Without its end, as if its writer had been killed.
        killed = self.directory / 'killed.tct'
        killed.write_bytes(whole[:-512])
        html, csv, chrome = (str(self.directory / name) for name in ('out.html', 'out.csv', 'out.json'))
        folder = str(self.directory / 'ctf')
        lines = support.run('--json', 'show', killed).stdout
        self.assertEqual(sum(says_unknown_end(json.loads(line)) for line in lines.splitlines()), 1)
        unknown = 'its end is unknown'
        for words, said in ((['show', killed], unknown), (['show', killed, '--graph'], unknown),
                            (['report', killed], unknown), (['report', killed, '--timeline'], unknown),
                            (['report', killed, '--do', 'count'], unknown),
                            (['report', killed, '--html', html], 'before its end, which is unknown'),
                            (['export', killed, '--to', 'csv', '-o', csv], 'before its end, which is unknown'),
                            (['export', killed, '--to', 'chrome', '-o', chrome], unknown),
                            (['export', killed, '--to', 'ctf', '-o', folder], unknown)):
            with self.subTest(words=words):
                done = support.run(*map(str, words))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(said, done.stderr)
                self.assertNotIn(' 0 lost\n', done.stderr)
        self.assertIn(unknown, support.run('show', killed).stdout)
        self.assertIn(unknown, support.run('report', '-', input=lines).stderr)
        for file in csv, chrome:
            self.assertIn('unknown_end', pathlib.Path(file).read_text())

    # ---- the protocol ----

    def session(self, client):
        return client.result('session.create', name='s')['name']

    def record(self, client, *files):
        message = json.dumps({'jsonrpc': '2.0', 'id': 99, 'method': 'record.start',
                              'params': {'session': 's'}}).encode() + b'\n'
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', files))] if files else []
        client.socket.sendmsg([message], rights)
        return client.receive()

    def test_refuses_files_that_it_cannot_write(self):
        with contextlib.closing(self.daemon.connect()) as client:
            self.session(client)
            self.assertIn('descriptor', self.record(client)['error']['message'])
            read, write = os.pipe()
            for fd in read, write:
                self.assertIn('no regular file', self.record(client, fd)['error']['message'])
                os.close(fd)
            with open(self.file, 'w') as file:
                file.write('something')
            with open(self.file) as file:
                self.assertIn('not open for writing',
                              self.record(client, file.fileno())['error']['message'])
            with open(self.file, 'a') as file:
                self.assertIn('O_APPEND', self.record(client, file.fileno())['error']['message'])
            self.assertEqual(os.path.getsize(self.file), len('something'))
            self.assertIn('nothing records', client.call('record.show', session='s')['error']['message'])
            self.assertEqual(client.call('record.stop', session='t')['error']['data']['field'],
                             'session')

    def test_a_user_does_not_fill_the_daemons_memory(self):
        os.chmod(self.daemon.directory.name, 0o755)
        os.chmod(self.daemon.socket, 0o666)
        as_user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
        ask = [sys.executable, '-c', MEMORY_USER, self.daemon.socket]
        disk = self.directory / 'disk'
        disk.mkdir()
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=256k', 'none', disk], check=True)
        self.addCleanup(subprocess.run, ['umount', disk], check=True)
        plain = tempfile.NamedTemporaryFile(dir='/var/tmp')
        self.addCleanup(plain.close)
        of_tmpfs, plain = disk / 'file', plain.name
        for who, may in (as_user, False), ([], True):
            for file, is_memory in ('memfd', True), (of_tmpfs, True), (plain, False):
                for method in 'record.start', 'record.dump':
                    with self.subTest(who=who, file=file, method=method):
                        with open(file if file != 'memfd' else os.devnull, 'w') as opened:
                            done = subprocess.run([*who, *ask, str(file), method], text=True, capture_output=True,
                                                  timeout=60, pass_fds=[opened.fileno()],
                                                  env={**os.environ, 'FILE': str(opened.fileno())})
                        self.assertEqual(done.returncode, 0, done.stderr)
                        answer = json.loads(done.stdout)
                        if is_memory and not may:
                            self.assertIn('is in memory', answer['error']['message'])
                            self.assertIn('/var/tmp', answer['error']['message'])
                        else:
                            self.assertIn('result', answer)

    def test_a_session_has_one_recording_at_a_time(self):
        with contextlib.closing(self.daemon.connect()) as client:
            self.session(client)
            with open(self.file, 'w') as file:
                self.assertEqual(self.record(client, file.fileno())['result']['state'], 'recording')
            with open(self.directory / 'other', 'w') as other:
                self.assertIn('already', self.record(client, other.fileno())['error']['message'])
                self.assertIn(client.result('record.stop', session='s')['state'],
                              ('ending', 'done'))
                support.wait_until(lambda: client.result('record.show', session='s')['state'] ==
                                   'done', 'the end')
                self.assertEqual(self.record(client, other.fileno())['result']['state'],
                                 'recording')
            client.result('session.delete', session='s')
            self.assertIn('error', client.call('record.show', session='s'))

    def test_descriptors_that_nobody_wants_end_the_connection(self):
        count = lambda: len(os.listdir(f'/proc/{self.daemon.process.pid}/fd'))
        with contextlib.closing(self.daemon.connect()) as first:
            first.result('hello')
            before = count()
        with open('/dev/null') as null, contextlib.closing(self.daemon.connect()) as client:
            for _ in range(129):
                client.socket.sendmsg([b' '], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                                array.array('i', [null.fileno()]))])
            self.assertIn('descriptors', client.receive()['error']['message'])
            self.assertIsNone(client.receive())
        support.wait_until(lambda: count() <= before, 'its descriptors to be closed')


class Sum(unittest.TestCase):
    """Conditions and sums for recordings, compared with results computed from their JSON lines."""

    FILE = str(CORPUS / 'v1-compressed.tct')

    def setUp(self):
        lines = support.run('--json', 'show', self.FILE).stdout.splitlines()
        self.items = [json.loads(line) for line in lines]

    def test_show_takes_what_the_condition_does(self):
        done = support.run('--json', 'show', self.FILE, '--when', 'arg0 % 3 == 1 && cpu == 0')
        self.assertEqual([json.loads(line) for line in done.stdout.splitlines()],
                         [item for item in self.items
                          if item['args'][0] % 3 == 1 and item['cpu'] == 0])

    def test_report_adds_up(self):
        done = support.run('--json', 'report', self.FILE, '--do', 'sum(arg0) by arg1', '--when',
                           'arg0 > 100')
        expected = {}
        for item in self.items:
            if item['args'][0] > 100:
                key = item['probe'], item['args'][1]
                expected[key] = expected.get(key, 0) + item['args'][0]
        rows = json.loads(done.stdout)['rows']
        self.assertEqual({(row['probe'], row['by']['arg1']): row['sum'] for row in rows}, expected)

    def test_report_counts_where_there_are_no_calls(self):
        rows = json.loads(support.run('--json', 'report', self.FILE).stdout)['rows']
        counts = {row['probe']: row['count'] for row in rows}
        self.assertEqual(counts, {probe: sum(item['probe'] == probe for item in self.items)
                                  for probe in counts})
        self.assertEqual(sum(counts.values()), len(self.items))

    def test_the_timeline_has_every_event(self):
        file = str(CORPUS / 'v1-calls.tct')
        done = json.loads(support.run('--json', 'report', file, '--timeline').stdout)
        items = [json.loads(line) for line in
                 support.run('--json', 'show', file).stdout.splitlines()]
        self.assertEqual({thread['tid']: sum(thread['counts']) for thread in done['threads']},
                         {tid: sum(item['tid'] == tid for item in items)
                          for tid in {item['tid'] for item in items}})
        self.assertEqual(done['first'], items[0]['ts'])
        text = support.run('report', file, '--timeline').stdout
        self.assertRegex(text, r'graph_tree +\d+ +\|[ .:\-=+*#%@]{60}\|')

    def test_what_was_not_recorded_is_refused(self):
        for words, expected in [(['--when', 'uid == 0'], 'not recorded'),
                                (['--when', 'arg0 ='], '=='), (['--do', 'event'], 'sums')]:
            done = support.run('report', self.FILE, *words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(expected, done.stderr)


class Read(RecordTest):
    """Tests without an engine. Every version of the format that ever existed has files in tests/recordings."""

    def setUp(self):
        unittest.TestCase.setUp(self)
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = directory.name + '/out.tct'

    def test_files_of_all_versions_are_read_as_ever(self):
        files = sorted(CORPUS.glob('*.tct'))
        self.assertTrue(any(file.name.startswith('v1') for file in files))
        for file in files:
            with self.subTest(file=file.name):
                done = support.run('--json', 'show', str(file))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, file.with_suffix('.jsonl').read_text())

    def test_why_a_file_was_written_is_told(self):
        file = str(CORPUS / 'v1-dump.tct')
        reason = 'v1-dump.tct: dumped because process 10931 (hot) was killed by SIGSEGV; it left no core\n'
        for words in [['show', file], ['report', file], ['report', file, '--timeline'],
                      ['export', file, '--to', 'csv', '-o', self.file]]:
            with self.subTest(words=words):
                self.assertIn(reason, support.run(*words).stderr)
                self.assertNotIn('dumped', support.run('-q', *words).stderr)

    def test_what_is_no_trace_file_is_refused(self):
        whole = (CORPUS / 'v1-calls.tct').read_bytes()
        for content, expected in [(b'', 'no trace file'), (b'{"ts":1}', 'no trace file'),
                                  (whole[:20], 'damaged'),
                                  (whole[:8] + b'\x02' + whole[9:], 'version 2')]:
            with self.subTest(expected=expected), open(self.file, 'wb') as file:
                file.write(content)
                file.flush()
                done = support.run('show', self.file)
                self.assertEqual(done.returncode, 1)
                self.assertIn(expected, done.stderr)
        for path, expected in [('/nowhere.tct', 'No such file'), ('/dev/null', 'no regular file')]:
            done = support.run('show', path)
            self.assertEqual(done.returncode, 1)
            self.assertIn(expected, done.stderr)

    def test_damage_is_told(self):
        whole = (CORPUS / 'v1-calls.tct').read_bytes()
        torn = bytearray(whole)
        torn[-10] ^= 1
        pathlib.Path(self.file).write_bytes(torn)
        _, errors = self.shown()
        self.assertRegex(errors, r'1 block with \d+ events? cannot be read')
        pathlib.Path(self.file).write_bytes(whole[:-10])
        _, errors = self.shown()
        self.assertIn('are incomplete: its writer', errors)


if __name__ == '__main__':
    unittest.main()
