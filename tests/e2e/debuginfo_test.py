# SPDX-License-Identifier: BSD-2-Clause
"""Debug information that users name with --debuginfo, and stacks without names. The expected names are those of
tests/targets/stacks.h and changes.c; build ids and symbols those of readelf and nm."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile

import service_manager
import stacks_test
import support
from support import target
from users import DENIED, WithUsers

CHAIN = ['main', 'work', 'outer', 'deep', 'leaf']  # middle is inlined


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def build_id_of(path):
    return re.search(r'Build ID: ([0-9a-f]+)', output('readelf', '-n', path))[1]


def symbols_of(path):
    """Addresses and sizes of functions, by name."""
    return {name: (int(address, 16), int(size, 16))
            for address, size, name in re.findall(r'^([0-9a-f]+) ([0-9a-f]+) [Tt] (\S+)$', output('nm', '-S', path), re.M)}


class WithProgram(support.DaemonTest):
    """A program without symbols, and its debug information in a directory that nothing looks in."""
    one_daemon = True

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.bare, self.debug = f'{self.folder}/bare', f'{self.folder}/kept/apart/bare.info'
        os.makedirs(f'{self.folder}/kept/apart')
        output('objcopy', '--only-keep-debug', target('stacks'), self.debug)
        output('objcopy', '--strip-all', target('stacks'), self.bare)

    def traced(self, path, *words, engine=None):
        """What a verb prints for a run of the program, and its maps."""
        with stacks_test.running(path, '3') as program:
            maps = pathlib.Path(f'/proc/{program.pid}/maps').read_text()
            engine = engine or ['--socket', self.daemon.socket]
            return stacks_test.printed_for(program, engine, *words), maps


@support.needs_root
class Debuginfo(WithProgram):
    def listed(self, *words):
        return support.run('--socket', self.daemon.socket, 'list', '--json', *words)

    def check_list(self, *words):
        done = self.listed(*words, f'uprobe:{self.bare}:deep')
        self.assertEqual(done.returncode, 0, done.stderr)
        [probe] = json.loads(done.stdout)['probes']
        self.assertEqual([(arg['name'], arg['type']) for arg in probe['args']], [('n', 'u64'), ('depth', 'u64')])

    def test_a_file_names_functions_and_parameters(self):
        self.assertEqual(self.listed(f'uprobe:{self.bare}:deep').returncode, 5)
        self.check_list('--debuginfo', self.debug)
        self.assertEqual(self.listed(f'uprobe:{self.bare}:deep').returncode, 5)  # it was for that request

    def test_a_file_names_no_function_where_the_program_has_none(self):
        """Its symbols may be anybody's: a probe within an instruction would damage the program."""
        address, size = symbols_of(target('stacks'))['deep']
        text = int(re.search(r' \.text +PROGBITS +([0-9a-f]+)', output('readelf', '-SW', target('stacks')))[1], 16)
        output('objcopy', '--add-symbol', f'shifted=.text:{address - text + 1:#x},function',
               '--add-symbol', f'behind=.text:{address - text + size:#x},function', target('stacks'),
               f'{self.folder}/forged')
        self.assertIn('shifted', output('nm', f'{self.folder}/forged'))
        self.check_list('--debuginfo', f'{self.folder}/forged')
        done = self.listed('--debuginfo', f'{self.folder}/forged', f'uprobe:{self.bare}:shifted')
        self.assertEqual(done.returncode, 5, done.stdout)
        all_of_it = json.loads(self.listed('--debuginfo', f'{self.folder}/forged', f'uprobe:{self.bare}:*').stdout)
        names = {probe['probe'].rpartition(':')[2] for probe in all_of_it['probes']}
        self.assertIn('deep', names)
        self.assertNotIn('shifted', names)

    def test_an_unstripped_build_does_so_too(self):
        self.check_list('--debuginfo', target('stacks'))

    def test_a_directory_is_searched_by_build_id(self):
        build_id = build_id_of(self.bare)
        folder = self.folder / 'store' / '.build-id' / build_id[:2]
        folder.mkdir(parents=True)
        os.rename(self.debug, folder / f'{build_id[2:]}.debug')
        self.check_list('--debuginfo', f'{self.folder}/kept', '--debuginfo', f'{self.folder}/store')

    def test_parameters_types_and_stacks_of_events(self):
        for engine in (['--socket', self.daemon.socket], ['--embedded']):
            with self.subTest(engine=engine):
                said, _ = self.traced(self.bare, 'trace', 'u::leaf', '--do', 'event, stack', '--debuginfo',
                                      self.debug, engine=engine)
                self.assertRegex(said, r'leaf\(n=1\)')
                self.assertRegex(said, r'deep\+0x[0-9a-f]+ \(bare\) stacks\.h:\d+')
                self.assertRegex(said, r'middle \(bare\) stacks\.h:\d+ \[inlined\]')

    def test_frames_are_those_of_the_program_with_symbols(self):
        words = 'trace', 'u::leaf', '--do', 'limit(1), stack'
        frames = lambda said: re.findall(r'^ {8}(\S.*)$', said.replace('(bare)', '(stacks)'), re.M)
        [wanted, found] = [frames(self.traced(path, *words, *more)[0])
                           for path, *more in ((target('stacks'),), (self.bare, '--debuginfo', self.debug))]
        self.assertTrue([frame for frame in wanted if frame.startswith('main+0x')])
        # The entry of the program has no debug information.
        self.assertEqual([frame for frame in found if '[inlined]' in frame or '.h:' in frame],
                         [frame for frame in wanted if '[inlined]' in frame or '.h:' in frame])

    def test_rows_have_the_names(self):
        said, _ = self.traced(self.bare, 'count', 'u::leaf', '--folded', '--debuginfo', self.debug)
        self.assertRegex(said, 'main;work;outer;middle;deep;leaf 3')

    def test_the_information_of_another_program_is_refused(self):
        wrong = target('counters')
        program = support.Program(self.bare, '3', '1')
        self.addCleanup(program.end)
        for path in target('stacks'), self.bare:
            of_process = ['u::deep', '-p', str(program.pid)]
            for verb in ['list', f'uprobe:{path}:deep'], ['list', *of_process], ['trace', *of_process]:
                done = support.run('--socket', self.daemon.socket, *verb, '--debuginfo', wrong)
                self.assertEqual(done.returncode, 2, done.stderr)
                for said in wrong, build_id_of(wrong), build_id_of(path):
                    self.assertIn(said, done.stderr)

    def test_the_information_of_what_is_only_in_stacks_is_taken(self):
        """The pattern names the C library alone."""
        said, _ = self.traced(self.bare, 'trace', 'u:libc.so*:fflush', '--do', 'limit(1), stack', '--debuginfo', self.debug)
        self.assertRegex(said, r'main\+0x[0-9a-f]+ \(bare\) stacks\.h:\d+')

    def test_the_daemon_believes_no_build_id(self):
        """A client may say that a file belongs to another."""
        path, wrong = target('stacks'), target('counters')
        client = self.daemon.connect()
        self.addCleanup(client.close)
        request = {'jsonrpc': '2.0', 'id': 1, 'method': 'probe.list',
                   'params': {'patterns': [f'uprobe:{path}:deep'], 'files': [path],
                              'debug_files': [{'path': wrong, 'build_id': build_id_of(path)}]}}
        with open(path, 'rb') as program, open(wrong, 'rb') as other:
            socket.send_fds(client.socket, [support.line_of(request)], [program.fileno(), other.fileno()])
        message = client.receive()['error']['message']
        for said in wrong, build_id_of(wrong), path, build_id_of(path):
            self.assertIn(said, message)


    def test_recordings_are_shown_with_it(self):
        file = f'{self.folder}/out.tct'
        self.traced(self.bare, 'record', 'u:libc.so*:fflush', '--do', 'stack', '-o', file)
        main = r'main\+0x[0-9a-f]+ \(bare\) stacks\.h:\d+'
        self.assertNotRegex(support.run('show', file).stdout, main)
        self.assertRegex(support.run('show', file, '--debuginfo', self.debug).stdout, main)
        self.assertIn(f'{build_id_of(self.bare)}+0x', support.run('show', file, '--stack-format', 'build-id').stdout)

    def test_a_saved_session_has_it_after_a_restart(self):
        service = service_manager.Service('--sessions', str(self.folder))
        self.addCleanup(service.end)
        service.start()
        program = support.Program(self.bare, '3', '1')
        self.addCleanup(program.end)
        chosen = '-p', str(program.pid), '--do', 'count by arg.n'
        service.json('session', 'new', 's', '--saved')
        service.json('stage', 's', 'set', 'u::leaf', *chosen, '--debuginfo', self.debug)
        service.json('commit', 's')
        os.unlink(self.debug)  # the daemon has it open
        service.finish(signal.SIGKILL)
        service.forget_what_is_armed()  # the next one has to find the function again
        service.start()
        self.assertEqual(service.json('session', 'show', 's')['not_resumed'], [])
        program.send('go')
        program.result()
        rows = service.json('read', 's')['rows']
        self.assertEqual(sorted((row['by']['arg.n'], row['count']) for row in rows), [(1, 1), (2, 1), (3, 1)])


@support.needs_root
class StackFormats(WithProgram):
    def frames(self, *words):
        said, maps = self.traced(target('stacks'), '--json', *words)
        return [json.loads(line)['stack'] for line in said.splitlines() if '"stack"' in line], maps

    def names(self, addresses):
        """Of the functions of the program, outermost first. A return address belongs to the call before it."""
        symbols = symbols_of(target('stacks'))
        found = [name for at, address in enumerate(addresses) for name, (start, size) in symbols.items()
                 if start <= address - (at > 0) < start + size]
        return found[::-1]

    def check(self, addresses):
        names = self.names(addresses)
        self.assertEqual(names[names.index('main'):], CHAIN)

    @staticmethod
    def base_of(maps):
        return int(re.search(rf'^([0-9a-f]+)-\S+ \S+ 00000000 .*{target("stacks")}$', maps, re.M)[1], 16)

    def test_raw_addresses_are_in_the_functions(self):
        said, maps = self.traced(target('stacks'), 'trace', 'u::leaf', '--do', 'limit(1), stack', '--stack-format', 'raw')
        addresses = [int(line, 16) for line in re.findall(r'^ +(0x[0-9a-f]+)$', said, re.M)]
        self.check([address - self.base_of(maps) for address in addresses])
        [stack, *_], maps = self.frames('trace', 'u::leaf', '--do', 'stack', '--stack-format', 'raw')
        self.assertEqual({key for frame in stack for key in frame} - {'size_bytes'}, {'address', 'inlined'})
        self.check([frame['address'] - self.base_of(maps) for frame in stack])

    def test_build_ids_are_those_of_readelf(self):
        for words in (['trace', 'u::leaf', '--do', 'limit(1), stack'], ['count', 'u::leaf', '--by', 'stack']):
            with self.subTest(words=words):
                said, _ = self.traced(target('stacks'), *words, '--stack-format', 'build-id')
                ours = re.findall(rf'\b{build_id_of(target("stacks"))}\+0x([0-9a-f]+)\b', said)
                self.check([int(offset, 16) for offset in ours])
        [stack, *_], _ = self.frames('trace', 'u::leaf', '--do', 'stack', '--stack-format', 'build-id')
        self.assertEqual({key for frame in stack for key in frame} - {'size_bytes'}, {'build_id', 'offset', 'inlined'})
        self.check([frame['offset'] for frame in stack if frame['build_id'] == build_id_of(target('stacks'))])

    def test_folded_lines_have_them(self):
        for words in (['trace', 'u::leaf'], ['count', 'u::leaf']):
            with self.subTest(words=words):
                said, _ = self.traced(target('stacks'), *words, '--folded', '--stack-format', 'build-id')
                [line] = said.splitlines()
                ours = [frame.split('+') for frame in line.rsplit(' ', 1)[0].split(';') if '+' in frame]
                self.check([int(offset, 16) for build_id, offset in reversed(ours)
                            if build_id == build_id_of(target('stacks'))])

    def test_what_is_not_known_is_said(self):
        output('objcopy', '--remove-section=.note.gnu.build-id', target('stacks'), self.bare)
        said, _ = self.traced(self.bare, 'trace', 'u::leaf', '--do', 'limit(1), stack', '--stack-format', 'build-id')
        self.assertRegex(said, r'(?m)^ +\?$')

    def test_other_formats_are_refused(self):
        done = support.run('trace', 'u::leaf', '--stack-format', 'hex')
        self.assertEqual(done.returncode, 2)
        self.assertIn('symbols, raw or build-id', done.stderr)


@support.needs_root
class OfUsers(WithUsers):
    def setUp(self):
        run = self.container.run
        run('mkdir', '-p', '/srv/apart')
        run('install', '-m', '644', support.target('changes'), '/srv/apart/changes.info')
        output('objcopy', '--strip-all', support.target('changes'), str(self.container.path('/opt/bare')))

    def list(self):
        return self.tracectl(self.alice, 'list', 'uprobe:/opt/bare:changes_step', '--debuginfo', '/srv/apart/changes.info')

    def test_one_may_use_what_one_may_read(self):
        done = self.list()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('number', done.stdout)
        self.container.run('chmod', '600', '/srv/apart/changes.info')
        refused = self.list()
        self.assertEqual(refused.returncode, DENIED, refused.stderr)
        self.assertIn('/srv/apart/changes.info', refused.stderr)
        self.assertNotIn('number', refused.stdout)
