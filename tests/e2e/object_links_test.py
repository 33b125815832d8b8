# SPDX-License-Identifier: BSD-2-Clause
"""An OBJECT that is a symbolic link, or lies below one, is its file."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import support

LIBRARY = 'int linked_one(int x) { return x + 1; }\n'
PROGRAM = ('int linked_one(int); int puts(const char *); int getchar(void);\n'
           'int main(void) { puts("ready"); while (getchar() > 0) linked_one(1); return 0; }\n')
CALLS = 3


@support.needs_root
class ObjectLinks(support.DaemonTest):
    one_daemon = True

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.here = pathlib.Path(directory.name).resolve()
        self.here.chmod(0o755)
        (self.here / 'real').mkdir()
        (self.here / 'below').symlink_to('real')

    def build(self, name, source, *options, to='real'):
        path = self.here / to / name
        subprocess.run(['gcc', '-O1', '-fno-inline', '-x', 'c', '-', '-x', 'none', '-o', path, *options],
                       input=source, text=True, check=True, cwd=self.here)
        return path

    def build_both(self):
        """The program finds its library by a relative path; the library's own name is longer."""
        self.build('liblinked.so.1.2.3', LIBRARY, '-shared', '-fPIC')
        (self.here / 'real/liblinked.so.1').symlink_to('liblinked.so.1.2.3')
        return self.build('program', PROGRAM, './below/liblinked.so.1')

    def hits(self, pattern, *target, **options):
        done = self.daemon.run('--json', 'count', pattern, *target, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = support.json.loads(done.stdout[done.stdout.index('{"'):])['rows']
        return {row['probe']: row['count'] for row in rows}

    def of_command(self, pattern, program):
        return self.hits(pattern, '--', program, cwd=self.here, input='x' * CALLS)

    def test_of_a_command(self):
        program = self.build_both()
        library = self.here / 'real/liblinked.so.1.2.3'
        (self.here / 'link').symlink_to('real/program')
        for start in program, self.here / 'link':
            for name in (self.here / 'link', self.here / 'below/program', './link', './below/../real/program'):
                self.assertEqual(self.of_command(f'u:{name}:main', start), {f'uprobe:{program}:main': 1}, name)
            for name in (self.here / 'below/liblinked.so.1', './below/liblinked.so.1', 'liblinked.so.1',
                         'liblinked.so.*'):
                self.assertEqual(self.of_command(f'u:{name}:linked_one', start),
                                 {f'uprobe:{library}:linked_one': CALLS}, name)

    def test_of_all_that_run_it(self):
        program = self.build_both()
        (self.here / 'link').symlink_to('real/program')
        with self.tracing(f'u:{self.here}/link:main', '-x', str(self.here / 'link')) as tracing:
            subprocess.run([program], cwd=self.here, input=b'x', stdout=subprocess.DEVNULL, check=True)
            tracing.send_signal(support.signal.SIGINT)
            self.assertIn('1 hit\n', tracing.communicate(timeout=60)[0])

    def tracing(self, *words):
        tracing = subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, 'count', *words],
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(tracing.kill)
        self.assertIn('tracing 1 probe', tracing.stderr.readline())
        return tracing

    def test_as_a_process_in_another_root_sees_it(self):
        (self.here / 'real/bin').mkdir()
        shutil.copy2(support.target('loads_static'), self.here / 'real/bin/static')
        (self.here / 'real/link').symlink_to('/bin/static')
        program = support.Program('/usr/sbin/chroot', str(self.here / 'real'), '/link')
        self.addCleanup(program.end)
        for name in '/link', '/bin/static', str(self.here / 'below/bin/static'):
            found = self.daemon.json('list', f'u:{name}:main', '-p', str(program.pid))['probes']
            self.assertEqual([probe['probe'] for probe in found],
                             [f'uprobe:{self.here}/real/bin/static:main'], name)
        # Of the same name in our root.
        self.assertFalse(os.path.exists('/link'))
        self.assertNotEqual(self.daemon.run('list', 'u:/bin/true:main', '-p', str(program.pid)).returncode, 0)


if __name__ == '__main__':
    support.unittest.main()
