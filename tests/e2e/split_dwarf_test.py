# SPDX-License-Identifier: BSD-2-Clause
"""Programs that were compiled with -gsplit-dwarf show what the same source shows with plain debug information."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import support

SOURCE = r'''
enum size { SMALL, LARGE = 7 };
struct pair { int x, y; };
static volatile int seen;

__attribute__((noinline)) void counted(int n, struct pair *of) { seen += n + of->x; }
static inline __attribute__((always_inline)) void inlined(int n, struct pair *of) { counted(n + 1, of); seen++; }

/* Not exported: where a compiler may have dropped parameters, only their locations say that it did not. */
__attribute__((noinline)) static int local(struct pair *of, int extra) {
  inlined(extra, of);
  return of->x + extra;
}

__attribute__((noinline)) int sell(enum size size, const char *name, struct pair *of) {
  return local(of, (int)size) + name[0];
}

__attribute__((noinline)) _Bool is_large(unsigned char n) { return n > 6; }

int main(int argc, char **argv) {
  (void)argv;
  struct pair pair = {1, argc};
  return sell(LARGE, "tea", &pair) + is_large(7) != 8 + 't' + 1;
}
'''
FUNCTIONS = ('u::counted', 'u::local', 'u::sell', 'u::is_large')
# A cache of objects gives ones that name the directory of an earlier compilation.
ENVIRONMENT = {**os.environ, 'CCACHE_DISABLE': '1'}
BUILDS = [(compiler, version) for compiler in ('gcc', 'clang') for version in (4, 5)]


@support.needs_root
class SplitDwarf(support.DaemonTest):
    one_daemon = True

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name).resolve()
        self.directory.chmod(0o755)

    def built(self, compiler, version, *split):
        """A program in a folder of its own, and its units in another that is the compiler's."""
        base = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
        base.chmod(0o755)
        compiled, installed = base / 'compiled', base / 'bin'
        compiled.mkdir()
        installed.mkdir()
        (compiled / 'shop.c').write_text(SOURCE)
        words = [compiler, '-O2', f'-gdwarf-{version}', *split]
        subprocess.run([*words, '-c', 'shop.c', '-o', 'shop.o'], cwd=compiled, check=True, env=ENVIRONMENT)
        subprocess.run([compiler, 'shop.o', '-o', '../bin/shop'], cwd=compiled, check=True, env=ENVIRONMENT)
        self.assertEqual((compiled / 'shop.dwo').exists(), bool(split))
        return installed / 'shop', compiled

    def shown(self, program, what='return', engine=None):
        """The functions with their arguments, results and stacks; addresses and times are left out."""
        done = support.run(*(engine or ['--socket', self.daemon.socket]), 'trace', '--do', what,
                           *FUNCTIONS, '--', str(program))
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stdout.replace(str(program), 'PROGRAM').replace(str(program.parent.parent), '')
        text = re.sub(r'^.*?uprobe:', '', text, flags=re.M)
        text = re.sub(r'0x[0-9a-f]+', 'ADDRESS', text)
        return re.sub(r' after .*$', '', text, flags=re.M)

    def check_same(self, wanted, program, **how):
        for engine in None, ['--embedded']:
            with self.subTest(engine=engine, program=str(program), **how):
                self.assertEqual(self.shown(program, engine=engine), wanted)

    def test_units_are_found_where_they_were_compiled_beside_the_program_and_in_a_package(self):
        for compiler, version in BUILDS:
            with self.subTest(compiler=compiler, version=version):
                wanted = self.shown(self.built(compiler, version)[0])
                self.assertIn('sell(size=LARGE, name=ADDRESS, of=ADDRESS)', wanted)
                self.assertIn('local(of=ADDRESS, extra=7)', wanted)
                self.assertIn('is_large() = true', wanted)
                program, compiled = self.built(compiler, version, '-gsplit-dwarf')
                self.check_same(wanted, program, place='compiled')
                packages = self.packages(program, compiled, version)
                beside = pathlib.Path(shutil.move(compiled / 'shop.dwo', program.parent / 'shop.dwo'))
                self.check_same(wanted, program, place='beside')
                beside.unlink()
                for package in packages:
                    shutil.copy(package, f'{program}.dwp')
                    self.check_same(wanted, program, place=package)

    def packages(self, program, compiled, version):
        """By both tools, where GNU's knows the version."""
        tools = ['llvm-dwp'] if version == 5 else ['llvm-dwp', 'dwp']
        tools = [tool for tool in tools if shutil.which(tool)]  # Debian 13 has no GNU dwp
        self.assertTrue(tools)
        for tool in tools:
            subprocess.run([tool, '-e', program, '-o', f'{program}.of-{tool}'], cwd=compiled, check=True, env=ENVIRONMENT)
        return [f'{program}.of-{tool}' for tool in tools]

    def test_inlined_calls_and_lines_are_shown_in_stacks(self):
        for compiler, version in BUILDS:
            with self.subTest(compiler=compiler, version=version):
                wanted = self.shown(self.built(compiler, version)[0], 'stack')
                self.assertRegex(wanted, r'inlined .* \[inlined\]')
                program, _ = self.built(compiler, version, '-gsplit-dwarf')
                for engine in None, ['--embedded']:
                    with self.subTest(engine=engine):
                        self.assertEqual(self.shown(program, 'stack', engine=engine), wanted)

    def test_the_units_of_another_build_are_not_used(self):
        for compiler, version in BUILDS:
            with self.subTest(compiler=compiler, version=version):
                program, compiled = self.built(compiler, version, '-gsplit-dwarf')
                (compiled / 'shop.c').write_text(SOURCE.replace('LARGE = 7', 'HUGE = 7').replace('LARGE', 'HUGE'))
                subprocess.run([compiler, '-O2', f'-gdwarf-{version}', '-gsplit-dwarf', '-c', 'shop.c', '-o', 'other.o'],
                               cwd=compiled, check=True, env=ENVIRONMENT)
                for unit in 'shop.dwo', 'other.dwo':
                    self.assertTrue((compiled / unit).exists())
                shutil.move(compiled / 'other.dwo', compiled / 'shop.dwo')
                self.assertRegex(self.shown(program), r'sell\((arg0=)?7, ')
