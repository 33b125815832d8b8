# SPDX-License-Identifier: BSD-2-Clause
"""What OBJECT and PATTERN may be where no process is chosen, or nothing but a process; probes by their addresses."""

import os
import re
import shutil
import signal
import subprocess
import tempfile

import support
from support import target

NO_MATCH, REFUSED = 5, 7
LIBM = os.path.realpath('/usr/lib/x86_64-linux-gnu/libm.so.6')


@support.needs_root
class Objects(support.DaemonTest):
    one_daemon = True

    def listed(self, *words):
        return {probe['probe'] for probe in self.daemon.json('list', *words)['probes']}

    def copy(self, name, directory, as_name):
        return shutil.copy(target(name), os.path.join(directory, as_name))

    def directory(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        return os.path.realpath(made.name)

    def test_a_glob_of_paths(self):
        directory = self.directory()
        for name in 'one.bin', 'two.bin', 'three.other':
            self.copy('forker', directory, name)
        self.assertEqual(self.listed(f'u:{directory}/*.bin:work'),
                         {f'uprobe:{directory}/{name}.bin:work' for name in ('one', 'two')})
        self.copy('hot', directory, 'zero.bin')
        self.assertEqual(len(self.listed(f'u:{directory}/*.bin:work')), 2)  # where one has no such function
        done = self.daemon.run('list', f'u:{directory}/*.bin:wrok')
        self.assertEqual(done.returncode, NO_MATCH)
        self.assertIn('nor the like in 2 other files', done.stderr)

    def test_a_path_is_taken_literally_if_it_is_there(self):
        directory = self.directory()
        literal = self.copy('forker', directory, '*.bin')
        self.copy('forker', directory, 'one.bin')
        self.assertEqual(self.listed(f'u:{literal}:work'), {f'uprobe:{literal}:work'})

    def test_a_short_name_of_a_library(self):
        for name in 'libm', 'libm.so.6', 'libm.so*':
            self.assertEqual(self.listed(f'u:{name}:feraiseexcept'), {f'uprobe:{LIBM}:feraiseexcept'})

    def test_the_name_of_a_program(self):
        directory = self.directory()
        path = self.copy('forker', directory, 'only_in_path')
        done = self.daemon.run('list', 'u:only_in_path:work', env=os.environ | {'PATH': directory})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('uprobe:only_in_path:work ', done.stdout)

    def test_all_that_a_target_has(self):
        program = self.program('hot_usdt')
        listed = self.listed('-p', str(program.pid))
        path = target('hot_usdt')
        self.assertLessEqual({f'usdt:{path}:hot:sdt', f'uprobe:{path}:main'}, listed)
        done = self.daemon.run('list')
        self.assertEqual(done.returncode, 2)
        self.assertIn('a target whose probes are listed', done.stderr)

    def test_a_name_stands_for_the_files_that_processes_map(self):
        path = self.copy('hot_usdt', self.directory(), 'mapped_here')
        program = support.Program(path)
        self.addCleanup(program.end)
        command = [support.TRACECTL, '--socket', self.daemon.socket, 'count', 'usdt:mapped_*:hot:*', '-a']
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as counting:
            self.assertIn('tracing 3 probes', counting.stderr.readline())
            program.send('by_sdt 100')
            program.result()
            counting.send_signal(signal.SIGINT)
            counted = counting.communicate(timeout=60)[0]
        self.assertRegex(counted, r'100  usdt:mapped_here:hot:sdt')
        done = self.daemon.run('count', 'usdt:mapped_*:hot:none', '-a')
        self.assertEqual(done.returncode, NO_MATCH, done.stderr)

    def counted(self, *words):
        counted = self.daemon.json('count', *words, '--', target('forker'), 'child', '3')
        return {row['probe']: row['count'] for row in counted['rows']}

    def test_functions_by_their_names(self):
        own = {f'uprobe:{target("forker")}:work': 3}
        for pattern in 'work', 'wor?', 'forker:work', target('forker') + ':work':
            self.assertEqual(self.counted(pattern), own)

    def test_a_bare_name_is_of_a_library_if_the_program_has_no_such_function(self):
        counted = self.counted('strtoull')
        self.assertRegex(' '.join(counted), r'^uprobe:/\S*/libc\.so\.6:strtoull$')
        self.assertGreater(sum(counted.values()), 0)
        self.assertEqual(self.counted('libc:strtoull'), counted)
        said = self.daemon.run('count', 'strlen', '--', target('forker'), 'child', '3').stderr
        self.assertRegex(said, r'strlen is armed in each file that has it; name one as OBJECT:strlen: /.*libc\.so\.6')

    def test_a_name_of_cxx_fits_without_parameters(self):
        path = target('shop')
        for pattern in 'shop::depth', 'u::shop::depth', f'{path}:shop::dep?h':
            counted = self.daemon.json('count', pattern, '--', path)
            self.assertEqual([row['probe'] for row in counted['rows']], [f'uprobe:{path}:_ZN4shop5depthEi'])

    def test_a_bare_name_that_nothing_has(self):
        done = self.daemon.run('count', 'wrok', '--', target('forker'), 'child', '3')
        self.assertEqual(done.returncode, NO_MATCH)
        self.assertIn('did you mean "work"', done.stderr)
        done = self.daemon.run('count', 'strtouull', '--', target('forker'), 'child', '3')
        self.assertEqual(done.returncode, NO_MATCH)
        self.assertIn('libc.so.6: did you mean "strtoull"', done.stderr)

    def address_of(self, path, function):
        symbols = subprocess.run(['nm', path], capture_output=True, text=True, check=True).stdout
        return int(re.search(rf'^([0-9a-f]+) [Tt] {function}$', symbols, re.M)[1], 16)

    def test_an_address(self):
        path = target('forker')
        begin = self.address_of(path, 'work')
        counted = self.daemon.json('count', f'u::{begin:#x}', '--', path, 'child', '3')
        self.assertEqual([(row['probe'], row['count']) for row in counted['rows']], [(f'uprobe:{path}:work', 3)])
        self.assertEqual(counted, self.daemon.json('count', f'u:{path}:{begin:#x}', '--', path, 'child', '3') |
                         {'epoch': counted['epoch']})

    def test_an_address_at_which_nothing_can_be(self):
        path = target('forker')
        begin = self.address_of(path, 'main')
        boundaries = {int(line.split(':')[0], 16) for line in subprocess.run(
            ['objdump', '-d', '--no-show-raw-insn', path], capture_output=True, text=True,
            check=True).stdout.splitlines() if re.match(r' +[0-9a-f]+:\t', line)}
        inside = next(address for address in range(begin, begin + 100) if address not in boundaries)
        done = self.daemon.run('count', f'u::{inside:#x}', '--', path)
        self.assertEqual(done.returncode, REFUSED, done.stderr)
        self.assertIn('no instruction starts at', done.stderr)
        done = self.daemon.run('count', 'u::0x10', '--', path)
        self.assertEqual(done.returncode, REFUSED, done.stderr)
        self.assertIn('no function that the file names contains this address', done.stderr)
