# SPDX-License-Identifier: BSD-2-Clause
"""Stacks on the command line: counted in the kernel and from events, compared with bpftrace, and with debug
files from a server. The expected calls are those of the program's source (tests/targets/stacks.h)."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

import support
from support import target

CALLS = 200
CHAIN = ['main', 'work', 'outer', 'middle', 'deep', 'leaf']


def folded(text):
    """The input of a flame graph: count by functions, the outermost first."""
    found = {}
    for line in text.splitlines():
        stack, count = line.rsplit(' ', 1)
        found[tuple(stack.split(';'))] = int(count)
    return found


def free_port():
    """One that the kernel gives to no other program by itself: it is not in net.ipv4.ip_local_port_range."""
    for port in range(20000 + os.getpid() % 10000, 32768):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(('127.0.0.1', port))
            return port
    raise AssertionError('no port is free')


class Server:
    """debuginfod for the debug files of a directory."""

    def __init__(self, folder, work):
        port = free_port()
        self.url = f'http://127.0.0.1:{port}'
        self.process = subprocess.Popen(
            ['debuginfod', '-p', str(port), '-d', f'{work}/index.sqlite', '-F', folder],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, 'DEBUGINFOD_URLS': ''})

    def has(self, build_id):
        try:
            with urllib.request.urlopen(f'{self.url}/buildid/{build_id}/debuginfo') as reply:
                return reply.status == 200
        except (urllib.error.URLError, ConnectionError):
            return False

    def end(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def running(path, calls):
    program = support.Program(path, calls, '1')
    try:
        yield program
    finally:
        program.end()


def printed_for(program, engine, *words, **environment):
    """What a verb prints of a program that makes its calls and ends."""
    with subprocess.Popen([support.TRACECTL, *engine, *words, '-p', str(program.pid)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, 'DEBUGINFOD_URLS': '', **environment}) as verb:
        assert 'tracing' in (said := verb.stderr.readline()), said
        program.send('go')
        program.result()
        program.send('exit')
        printed, errors = verb.communicate(timeout=60)
    assert verb.returncode == 0, errors
    return printed


@support.needs_root
class Stacks(support.DaemonTest):
    def counted(self, path, *options, **environment):
        """The results of a verb for a run of the program."""
        with running(path, str(CALLS)) as program:
            return printed_for(program, ['--socket', self.daemon.socket], *options, **environment)

    def test_folded_counts_are_the_calls(self):
        found = folded(self.counted(target('stacks'), 'count', 'uprobe::leaf', '--folded'))
        [(stack, count)] = found.items()
        # The C library's frames outside of main have no frame pointers.
        self.assertEqual(list(stack[stack.index('main'):]), CHAIN)
        self.assertEqual(count, CALLS)

    def test_without_deepest_all_are_counted(self):
        said = self.counted(target('stacks'), 'stacks', 'uprobe::leaf', 'uprobe::outer')
        self.assertEqual(folded(self.counted(target('stacks'), 'stacks', 'uprobe::leaf', '--folded')),
                         folded(self.counted(target('stacks'), 'count', 'uprobe::leaf', '--folded')))
        self.assertEqual(said, self.counted(target('stacks'), 'count', 'uprobe::leaf', 'uprobe::outer', '--by', 'stack'))
        for name in CHAIN:
            self.assertIn(name, said)

    def test_folded_events_are_the_calls(self):
        for name in ('stacks', 'stacks_no_fp'):
            found = folded(self.counted(target(name), 'trace', 'uprobe::leaf', '--folded'))
            [(stack, count)] = found.items()
            self.assertEqual(stack[0], '_start')
            self.assertEqual(list(stack[stack.index('main'):]), CHAIN)
            self.assertEqual(count, CALLS)

    def test_a_command_that_ends_at_once_has_names(self):
        """Its maps are mostly read too late: one of ten commands would show it."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'short.c').write_text(
                '__attribute__((noinline)) void inner(void) { __asm__ volatile(""); }\n'
                '__attribute__((noinline)) void outer(void) { inner(); __asm__ volatile(""); }\n'
                'int main(void) { outer(); }\n')
            subprocess.run(['cc', '-O1', '-g', '-fno-omit-frame-pointer', 'short.c', '-o', 'short'], cwd=folder, check=True)
            for engine in (['--socket', self.daemon.socket], ['--embedded']) * 5:
                for words in ['trace', 'u::inner', '--do', 'stack'], ['count', 'u::inner', '--by', 'stack']:
                    with self.subTest(engine=engine, words=words):
                        done = support.run(*engine, *words, '--', f'{folder}/short')
                        self.assertEqual(done.returncode, 0, done.stderr)
                        frames = re.findall(r'^ +(\w+)\+0x[0-9a-f]+ \((\S+)\)', done.stdout, re.M)
                        self.assertEqual(frames[:3], [(name, 'short') for name in ('inner', 'outer', 'main')],
                                         done.stdout)

    def test_callers_are_a_column(self):
        said = self.counted(target('stacks_no_fp'), 'count', 'uprobe::leaf', 'uprobe::outer', '--by',
                            'caller')
        self.assertRegex(said, r'CALLER +COUNT  PROBE\n')
        self.assertRegex(said, rf'deep\+0x[0-9a-f]+ \(stacks_no_fp\) stacks\.h:\d+ +{CALLS} ')
        self.assertRegex(said, rf'work\+0x[0-9a-f]+ \(stacks_no_fp\) stacks\.h:\d+ +{CALLS} ')

    def test_bpftrace_counts_the_same_stacks(self):
        script = 'uprobe:PATH:leaf /pid == PID/ { @s[ustack] = count(); }'
        said, read, _ = self.beside_bpftrace(script, 1, 'stacks', str(CALLS), '1',
                                             setting=('uprobe::leaf', '--do', 'count by stack'))
        [(frames, count)] = re.findall(r'@s\[\n(.*?)\n\]: (\d+)', said, re.S)
        theirs = [int(address, 16) for address in frames.split()]
        [row] = [row for row in read['rows'] if 'stack' in row]
        ours = [frame['offset'] for frame in row['stack']
                if not frame['inlined'] and frame.get('module') == target('stacks')]
        # If the program has ended, bpftrace prints addresses.
        distances = [address - theirs[0] + ours[0] for address in theirs]
        self.assertEqual(int(count), row['count'])
        self.assertEqual(len(ours), len(CHAIN) - 1)  # middle is inlined
        # bpftrace can miss the caller of a function that has not set up its frame yet.
        self.assertIn(ours, (distances[:len(ours)], ours[:2] + distances[1:len(ours) - 1]))

    @unittest.skipUnless(shutil.which('debuginfod'), 'no debuginfod')
    def test_debug_files_come_from_a_server(self):
        with tempfile.TemporaryDirectory() as folder:
            path, work = f'{folder}/bare', f'{folder}/work'
            os.mkdir(work)
            os.mkdir(f'{folder}/debug')
            debug = f'{folder}/debug/bare.debug'
            subprocess.run(['objcopy', '--only-keep-debug', target('stacks'), debug], check=True)
            subprocess.run(['objcopy', '--strip-debug', target('stacks'), path], check=True)
            notes = subprocess.run(['readelf', '-n', path], capture_output=True, text=True, check=True)
            build_id = re.search(r'Build ID: ([0-9a-f]+)', notes.stdout)[1]
            cache = {'DEBUGINFOD_CACHE_PATH': f'{work}/cache'}
            verbs = (('trace', 'uprobe::leaf', '--do', 'limit(1), stack'),
                     ('count', 'uprobe::leaf', '--by', 'stack'),
                     ('count', 'uprobe::leaf', '--by', 'caller'))
            server = Server(f'{folder}/debug', work)
            try:
                support.wait_until(lambda: server.has(build_id), 'the server to know the file')
                for verb in verbs:
                    without = self.counted(path, *verb, **cache)
                    self.assertNotIn('stacks.h:', without)
                    self.assertIn('deep+0x', without)
                    having = self.counted(path, *verb, **cache, DEBUGINFOD_URLS=server.url)
                    self.assertRegex(having, r'deep\+0x[0-9a-f]+ \(bare\) stacks\.h:\d+')
                    if 'caller' not in verb:
                        self.assertRegex(having, r'middle \(bare\) stacks\.h:\d+ \[inlined\]')
            finally:
                server.end()


@support.needs_root
class DeepestStacks(support.DaemonTest):
    """The program's frames are those of tests/targets/deep_stacks.c, which knows their sizes."""

    def deepest(self, *options, levels='8'):
        """The verb's output for a run, and the program's report."""
        program = self.program('deep_stacks', '3', levels)
        with subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, *options, 'stacks',
                               '--deepest', 'uprobe::hit', '-p', str(program.pid)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, 'DEBUGINFOD_URLS': ''}) as verb:
            self.assertIn('tracing', verb.stderr.readline())
            program.send('go')
            told = program.result()['threads']
            program.send('exit')
            said, errors = verb.communicate(timeout=60)
        self.assertEqual(verb.returncode, 0, errors)
        return said, told

    def tables(self, text):
        """By thread: the bytes in use, the rows of frames, and the text after them."""
        found = {}
        for part in re.split('^thread ', text, flags=re.M)[1:]:
            head, titles, *rows = part.strip().splitlines()
            tid, bytes_in_use = re.fullmatch(r'(\d+) \(deep_stacks\) of process \d+: (\d+) bytes',
                                             head).groups()
            self.assertEqual(titles.split(), ['DEPTH', 'SIZE', 'FUNCTION'])
            frames = [re.fullmatch(r' *(\d+) +(\d*) +(\w+)\+0x\w+ \(.*', row) for row in rows]
            found[int(tid)] = (int(bytes_in_use), [match.groups() for match in frames if match],
                               [row for row, match in zip(rows, frames) if not match])
        return found

    def test_each_frame_takes_what_the_program_says(self):
        said, told = self.deepest()
        tables = self.tables(said)
        self.assertEqual(set(tables), {thread['tid'] for thread in told})
        order = [bytes_in_use for bytes_in_use, _, _ in tables.values()]
        self.assertEqual(order, sorted(order, reverse=True))
        for thread in told:
            bytes_in_use, frames, rest = tables[thread['tid']]
            self.assertEqual(bytes_in_use, thread['bytes'])
            depth = bytes_in_use
            for (name, size), frame in zip(thread['frames'], frames):
                self.assertEqual(frame, (str(depth), str(size), name))
                depth -= size
            self.assertGreater(len(frames), len(thread['frames']))
            self.assertEqual([row for row in rest if 'inlined' not in row], [])

    def test_what_was_not_copied_is_said(self):
        said, told = self.deepest(levels='60')
        for thread in told:
            bytes_in_use, frames, rest = self.tables(said)[thread['tid']]
            self.assertEqual(bytes_in_use, thread['bytes'])
            known = [int(size) for _, size, _ in frames if size]
            self.assertEqual(known, [size for _, size in thread['frames']][:len(known)])
            self.assertIn(f'({bytes_in_use - sum(known)} bytes further out', rest[-1])

    def test_json_has_them_too(self):
        said, told = self.deepest('--json')
        last = {}
        for line in said.splitlines():
            event = json.loads(line)
            last[event['tid']] = event
        for thread in told:
            event = last[thread['tid']]
            self.assertEqual(event['args'], [thread['bytes']])
            frames = [(frame['function'], frame.get('size_bytes')) for frame in event['stack']
                      if not frame['inlined']]
            self.assertEqual([list(frame) for frame in frames[:len(thread['frames'])]],
                             thread['frames'])

    def test_the_deepest_are_known_at_the_end_only(self):
        for option in ('--interval', '1s'), ('--folded',):
            done = self.daemon.run('stacks', 'uprobe::hit', '-p', '1', '--deepest', *option)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f'leave {option[0]} away', done.stderr)


@support.needs_root
class OfOthersFiles(support.DaemonTest):
    """Programs of a user who may not read their executable or its directory any more. The probed functions are
    in the C library, which everybody may read."""

    USER = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']

    def setUp(self):
        super().setUp()
        os.chmod(self.daemon.directory.name, 0o755)
        os.chmod(self.daemon.socket, 0o666)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        self.folder = f'{folder.name}/folder'
        os.mkdir(self.folder, 0o755)
        self.path = f'{self.folder}/victim'
        shutil.copy(target('stacks'), self.path)
        os.chmod(self.path, 0o755)

    def program(self):
        program = support.Program(*self.USER, self.path, '1', '1')
        self.addCleanup(program.end)
        return program

    def stack(self, who, program, *action):
        """The stack of one of the program's calls of the library, for the user `who`."""
        with open(f'/proc/{program.pid}/maps') as maps:
            library = re.search(r'(/\S*/libc\.so\.6)', maps.read())[1]
        with subprocess.Popen([*who, support.TRACECTL, '--socket', self.daemon.socket, '--json', *action,
                               '-p', str(program.pid), f'uprobe:{library}:backtrace'],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, 'DEBUGINFOD_URLS': ''}) as verb:
            self.addCleanup(verb.kill)
            # After notes about what cannot be read of the file.
            if not any('tracing ' in line for line in iter(verb.stderr.readline, '')):
                self.fail('nothing was armed')
            program.send('go')
            program.result()
            program.send('exit')
            said, errors = verb.communicate(timeout=60)
        self.assertEqual(verb.returncode, 0, errors)
        return said

    def seen(self, who, *action):
        program = self.program()
        self.restrict()
        try:
            return self.stack(who, program, *action)
        finally:
            self.allow()

    def check(self):
        """Whichever user asks first, because the contents of files are cached."""
        trace, callers, stacks = (('trace', '--do', 'event, stack'), ('count', '--by', 'caller'),
                                  ('count', '--by', 'stack'))
        for who, action in ((self.USER, trace), ([], trace), (self.USER, trace), ([], callers),
                            (self.USER, callers), (self.USER, stacks)):
            with self.subTest(action=action, who=who):
                said = self.seen(who, *action)
                self.assertIn(self.path, said)
                self.assertEqual('"function":"leaf"' in said, not who, said)
                self.assertEqual('stacks.h' in said, not who, said)
                if action == trace:
                    self.assertIn('"function":"backtrace"', said)

    def test_one_that_may_only_be_executed_is_not_named(self):
        self.restrict = lambda: os.chmod(self.path, 0o711)
        self.allow = lambda: os.chmod(self.path, 0o755)
        self.check()

    def test_one_in_a_closed_folder_is_not_named(self):
        self.restrict = lambda: os.chmod(self.folder, 0o700)
        self.allow = lambda: os.chmod(self.folder, 0o755)
        self.check()

    def test_ones_own_is_named(self):
        os.chown(self.path, 65534, 65534)
        self.restrict, self.allow = lambda: os.chmod(self.folder, 0o700), lambda: os.chmod(self.folder, 0o755)
        self.assertIn('"function":"leaf"', self.seen(self.USER, 'trace', '--do', 'event, stack'))

if __name__ == '__main__':
    unittest.main()
