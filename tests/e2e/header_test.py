# SPDX-License-Identifier: BSD-2-Clause
"""<tracectl/usdt.h> and <tracectl/tag.h> with several compilers; other tools read the results."""

import itertools
import os
import pathlib
import re
import subprocess
import tempfile
import textwrap
import unittest

import support

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / 'usdt/include'

# Two files and a shared library that pass the same probes, one of them in an inline function of a header.
PROBES = '''
#pragma once
#include <tracectl/tag.h>
#include <tracectl/usdt.h>
#ifdef __cplusplus
#include <string_view>
#define TEXT std::string_view
#else
#define TEXT const char*
#endif
enum paint { RED, BLUE };
TRACECTL_PROBE_DECLARE(shop, opened);
TRACECTL_PROBE_DECLARE(shop, placed, (TEXT, customer), (int, items), (enum paint, paint),
                       (unsigned char, flag));
TRACECTL_PROBE_DECLARE(shop, many, (int, a), (long, b), (short, c), (signed char, d), (unsigned, e),
                       (unsigned long, f), (const char*, g), (void*, h), (int, i), (int, j), (int, k),
                       (int, l));
static inline int place(int items) {
  TRACECTL_PROBE(shop, placed, "Ada", items, BLUE, 7);
  return items * 2;
}
int other(int);
int library(int);
'''
MAIN = '''
#include <probes.h>
int main(void) {
  int sum = 0;
  tracectl_tag_put("main");
  TRACECTL_PROBE(shop, opened);
  for (int i = 0; i < 10; ++i) sum += place(i) + other(i) + library(i);
  return sum == 10 + 225 ? 0 : 1;
}
'''
OTHER = '''
#include <probes.h>
int other(int n) {
  TRACECTL_PROBE(shop, many, n, 2L, 3, 4, 5u, 6ul, "seven", &n, 9, 10, 11, 12);
  if (TRACECTL_PROBE_ENABLED(shop, opened)) TRACECTL_PROBE(shop, opened);
  struct tracectl_tag before = tracectl_tag_spread();
  tracectl_tag_put("other");
  tracectl_tag_restore(&before);
  return place(n) + 1;
}
'''
LIBRARY = '''
#include <probes.h>
int library(int n) {
  place(n);
  TRACECTL_PROBE_INLINE(shop, inlined, n, "text");
  return n + (tracectl_tag_get()[0] != 0);
}
'''
REGISTERS = ['%rdi', '%rsi', '%rdx', '%rcx', '%r8', '%r9', '8(%rsp)', '16(%rsp)', '24(%rsp)',
             '32(%rsp)', '40(%rsp)', '48(%rsp)']


def at_entry(*sizes):
    return ' '.join(f'{size}@{place}' for size, place in zip(sizes, REGISTERS))


MANY = at_entry(-4, -8, -2, -1, 4, 8, 8, 8, -4, -4, -4, -4)


def placed(is_cxx):
    return at_entry(8, 8, -4, 4, 1) if is_cxx else at_entry(8, -4, 4, 1)


def probes_of(path):
    """The probes according to readelf: (provider, name, arguments, has a semaphore) of each site."""
    text = subprocess.run(['readelf', '-n', path], capture_output=True, text=True).stdout
    found = re.findall(r'Provider: (\S+)\n\s+Name: (\S+)\n\s+Location: \S+, Base: \S+, '
                       r'Semaphore: (\S+)\n\s+Arguments: ?(.*)', text)
    return sorted((provider, name, args.strip(), int(semaphore, 16) != 0)
                  for provider, name, semaphore, args in found)


class Shop:
    """The files above in a directory, and a compiler's output for them."""

    def __init__(self, directory, compiler, is_cxx):
        self.directory, self.compiler, self.is_cxx = directory, compiler, is_cxx
        self.suffix = 'cpp' if is_cxx else 'c'
        self.write('probes.h', PROBES)
        for name, text in (('main', MAIN), ('other', OTHER), ('library', LIBRARY)):
            self.write(f'{name}.{self.suffix}', text)

    def write(self, name, text):
        pathlib.Path(self.directory, name).write_text(text)

    def compile(self, *words):
        standard = ['-std=gnu++17'] if self.is_cxx else []
        return subprocess.run([self.compiler, *standard, '-I', INCLUDE, '-I', '.', '-Wall', '-Wextra',
                               '-Werror', *words],
                              cwd=self.directory, capture_output=True, text=True)

    def sources(self, *names):
        return [f'{name}.{self.suffix}' for name in names]


class Builds(unittest.TestCase):
    def built(self, shop, *words):
        done = shop.compile(*words)
        self.assertEqual(done.returncode, 0, f'{shop.compiler} {words}: {done.stderr}')

    def check(self, shop, path, names):
        expected = {'opened': ('shop', 'opened', '', True),
                    'placed': ('shop', 'placed', placed(shop.is_cxx), True),
                    'many': ('shop', 'many', self.many(shop), True)}
        found = [one for one in probes_of(path) if one[0] == 'shop']  # -static adds others
        self.assertEqual([one for one in found if one[1] != 'inlined'],
                         sorted(expected[name] for name in names))
        return [one for one in found if one[1] == 'inlined']

    @staticmethod
    def many(_shop):
        return MANY

    def in_one_file(self, compiler, is_cxx, *words):
        with tempfile.TemporaryDirectory() as directory:
            shop = Shop(directory, compiler, is_cxx)
            self.built(shop, *words, *shop.sources('main', 'other', 'library'), '-o', 'shop')
            path = directory + '/shop'
            inlined = self.check(shop, path, ['opened', 'placed', 'many'])
            self.assertEqual(len(inlined), 1, words)
            self.assertFalse(inlined[0][3])
            self.assertEqual(subprocess.run([path], cwd=directory).returncode, 0, words)

    def with_library(self, compiler, is_cxx, *words):
        with tempfile.TemporaryDirectory() as directory:
            shop = Shop(directory, compiler, is_cxx)
            self.built(shop, *words, '-fPIC', '-shared', *shop.sources('library'), '-o', 'libshop.so')
            self.built(shop, *words, *shop.sources('main', 'other'), './libshop.so', '-o', 'shop')
            self.check(shop, directory + '/libshop.so', ['placed'])
            self.assertEqual(self.check(shop, directory + '/shop', ['opened', 'placed', 'many']), [])
            self.assertEqual(subprocess.run(['./shop'], cwd=directory).returncode, 0, words)

    def test_at_every_level_and_by_every_standard(self):
        c = [('gcc', 'c11'), ('gcc', 'gnu17'), ('clang', 'c11'), ('clang', 'c2x')]
        cxx = [('g++', 'c++17'), ('g++', 'c++23'), ('clang++', 'c++17'), ('clang++', 'c++2b')]
        levels = ['-O0', '-O1', '-O2', '-O3', '-Os']
        for number, level in enumerate(levels):
            for compiler, standard in (c[number % 2::2] + cxx[number % 2::2]):
                with self.subTest(compiler=compiler, level=level, standard=standard):
                    self.in_one_file(compiler, '+' in compiler, level, '-pedantic',
                                     f'-std={standard}')

    def test_however_they_are_linked(self):
        ways = [['-static'], ['-no-pie', '-fno-pie'], ['-fno-plt', '-fPIC'], ['-flto'],
                ['-ffunction-sections', '-Wl,--gc-sections'], ['-fno-asynchronous-unwind-tables'],
                ['-fomit-frame-pointer', '-fcf-protection=full'], ['-g3', '-pg']]
        for compiler, way in itertools.product(['gcc', 'clang', 'g++', 'clang++'], ways):
            lld = ['-fuse-ld=lld'] if way == ['-flto'] and 'clang' in compiler else []
            with self.subTest(compiler=compiler, way=way):
                self.in_one_file(compiler, '+' in compiler, '-O2', *way, *lld)
        self.in_one_file('gcc', False, '-O2', '-masm=intel')

    def test_in_a_shared_library(self):
        for compiler in ('gcc', 'clang', 'g++', 'clang++'):
            for way in (['-O2'], ['-O0', '-fno-plt'], ['-O2', '-Wl,-z,now', '-fvisibility=hidden']):
                with self.subTest(compiler=compiler, way=way):
                    self.with_library(compiler, '+' in compiler, *way,
                                      *(['-fvisibility=default'] if 'hidden' in way[-1] else []))

    def test_what_is_spread_has_no_bytes_of_the_stack(self):
        text = '''#include <tracectl/tag.h>
            #include <unistd.h>
            int main(void) {
              struct tracectl_tag tag = tracectl_tag_spread();
              return write(1, &tag, sizeof tag) != sizeof tag;
            }'''
        for compiler, level in itertools.product(('gcc', 'clang', 'g++', 'clang++'), ('-O0', '-O2')):
            with self.subTest(compiler=compiler, level=level), \
                    tempfile.TemporaryDirectory() as directory:
                shop = Shop(directory, compiler, '+' in compiler)
                shop.write(f'spread.{shop.suffix}', text)
                self.built(shop, level, *shop.sources('spread'), '-o', 'spread')
                done = subprocess.run(['valgrind', '-q', '--error-exitcode=9', directory + '/spread'],
                                      capture_output=True)
                self.assertEqual((done.returncode, done.stdout), (0, bytes(32)), done.stderr)

    def test_in_assembly(self):
        text = '''#include <tracectl/usdt.h>
            .globl main
            main:
            mov $7, %edi
            tracectl_probe shop, assembled, "-4@%edi 8@8(%rsp)"
            tracectl_probe shop, bare, ""
            xor %eax, %eax
            ret
            .section .note.GNU-stack, "", @progbits\n'''
        for compiler in ('gcc', 'clang'):
            with tempfile.TemporaryDirectory() as directory:
                shop = Shop(directory, compiler, False)
                shop.write('main.S', text)
                self.built(shop, 'main.S', '-o', 'shop')
                self.assertEqual(probes_of(directory + '/shop'),
                                 [('shop', 'assembled', '-4@%edi 8@8(%rsp)', False),
                                  ('shop', 'bare', '', False)])
                self.assertEqual(subprocess.run([directory + '/shop']).returncode, 0)

    def test_on_aarch64(self):
        expected = ' '.join(f'{size}@{place}' for size, place in zip(
            (-4, -8, -2, -1, 4, 8, 8, 8, -4, -4, -4, -4),
            ['x0', 'x1', 'x2', 'x3', 'x4', 'x5', 'x6', 'x7', '[sp]', '[sp, 8]', '[sp, 16]',
             '[sp, 24]']))
        for compiler in (['clang', '--target=aarch64-linux-gnu'], ['aarch64-linux-gnu-gcc']):
            with tempfile.TemporaryDirectory() as directory:
                shop = Shop(directory, compiler[0], False)
                self.built(shop, *compiler[1:], '-O2', '-c', 'other.c', '-o', 'other.o')
                many = [one for one in probes_of(directory + '/other.o') if one[1] == 'many']
                self.assertEqual([one[2] for one in many], [expected])


class Mistakes(unittest.TestCase):
    """Code that must not compile, both in C and in C++."""

    USES = {'TRACECTL_PROBE(a, b, t);': 'too few',
            'TRACECTL_PROBE(a, b, t, 1, 2);': 'too many',
            'TRACECTL_PROBE(a, b, ip, 1);': 'another pointer',
            'TRACECTL_PROBE(a, b, t, t);': 'a pointer for an integer',
            'TRACECTL_PROBE(a, b, 5, 1);': 'an integer for a pointer',
            'TRACECTL_PROBE(a, b, t, st);': 'a structure',
            'TRACECTL_PROBE(a, c, t);': 'undeclared',
            'TRACECTL_PROBE_INLINE(a, c, d);': 'a double',
            'TRACECTL_PROBE_INLINE(a, c, st);': 'a structure in line'}
    DECLARATIONS = ['(double, d)', '(struct S, s)', '(__int128, i)',
                    ', '.join(f'(int, a{i})' for i in range(13))]

    def compiles(self, compiler, text):
        suffix, standard = ('.cpp', 'c++17') if '+' in compiler else ('.c', 'c11')
        with tempfile.NamedTemporaryFile('w', suffix=suffix) as file:
            file.write('#include <tracectl/usdt.h>\nstruct S { int x; };\n' + text)
            file.flush()
            return subprocess.run([compiler, f'-std={standard}', '-I', INCLUDE, '-c', file.name, '-o',
                                   '/dev/null'], capture_output=True).returncode == 0

    def test_in_a_use_are_errors(self):
        text = '''TRACECTL_PROBE_DECLARE(a, b, (const char*, s), (int, n));
                  void f(double d, struct S st, int* ip, const char* t) {{
                    (void)d; (void)st; (void)ip; (void)t; {} }}'''
        for compiler in ('gcc', 'clang', 'g++', 'clang++'):
            self.assertTrue(self.compiles(compiler, text.format('TRACECTL_PROBE(a, b, t, 1);')))
            for use, what in self.USES.items():
                self.assertFalse(self.compiles(compiler, text.format(use)), f'{compiler}: {what}')

    def test_in_a_declaration_are_errors_where_it_is_used(self):
        text = '''TRACECTL_PROBE_DECLARE(a, b, {});
                  void f(void) {{ (void)TRACECTL_PROBE_ENABLED(a, b); }}'''
        for compiler in ('gcc', 'clang', 'g++', 'clang++'):
            self.assertTrue(self.compiles(compiler, text.format('(int, a)')))
            for declaration in self.DECLARATIONS:
                self.assertFalse(self.compiles(compiler, text.format(declaration)),
                                 f'{compiler}: {declaration}')


GDB = ['gdb', '-nx', '-batch', '-ex', 'set startup-with-shell off', '-ex', 'info probes stap typed',
       '-ex', 'break -probe-stap typed:query__start', '-ex', 'run', '-ex',
       r'printf "gdb: %s, %d\n", (char*)$_probe_arg0, $_probe_arg1']
QUERY = 'SELECT "x"\tFROM t'


@support.needs_root
class OtherTools(support.DaemonTest):
    TARGETS = ['typed', 'typed_cxx_clang']

    def test_bpftrace_counts_the_hits_that_we_count(self):
        for number, name in enumerate(self.TARGETS):
            if number:
                self.daemon.json('session', 'delete', 's')
            printed, read, said = self.beside_bpftrace(
                'usdt:PATH:typed:query__start { @[str(arg0), arg1] = count(); }', 1, name, '5',
                setting=('usdt::typed:query__start', '--do', 'count by str(arg0), arg1'))
            self.assertEqual(said['probes']['query__start']['hits'], 5)
            ours = {(row['by']['str(arg0)'], row['by']['arg1']): row['count']
                    for row in read['rows']}
            theirs = {(query, int(rows)): int(count) for query, rows, count in
                      re.findall(r'^@\[(.*), (\d+)\]: (\d+)$', printed, re.M)}
            self.assertEqual(ours, {(QUERY, rows): 1 for rows in range(5)})
            self.assertEqual(len(theirs), 5, printed)
            self.assertEqual(theirs, ours)

    def test_a_stripped_program_has_its_probes_still(self):
        """Without symbols, its code shows that a site is a function."""
        with tempfile.TemporaryDirectory() as directory:
            path = directory + '/stripped'
            subprocess.run(['strip', '-o', path, support.target('typed')], check=True)
            program = support.Program(path, '5')
            self.addCleanup(program.end)
            self.daemon.json('session', 'new', 's')
            self.daemon.json('stage', 's', 'set', '-p', str(program.pid), 'usdt::typed:query__start',
                             '--do', 'count by arg.rows')
            self.daemon.json('commit', 's')
            program.send('go')
            program.result()
            rows = self.daemon.json('read', 's')['rows']
            self.assertEqual(sorted(row['by']['arg.rows'] for row in rows), [0, 1, 2, 3, 4])

    def test_gdb_stops_there_and_reads_the_arguments(self):
        for name in self.TARGETS:
            path = support.target(name)
            done = subprocess.run([*GDB, '--args', path, '3'], input='go\nexit\n', text=True,
                                  capture_output=True)
            listed = re.findall(r'stap\s+typed\s+(\S+)', done.stdout)
            self.assertEqual(sorted(set(listed)), sorted({one[1] for one in probes_of(path)}))
            self.assertIn(f'gdb: {QUERY}, 0', done.stdout)

    def test_perf_records_them(self):
        """In its own mount namespace, in which tracefs is mounted."""
        for name in self.TARGETS:
            path = support.target(name)
            with tempfile.TemporaryDirectory() as home:
                perf = f'perf --buildid-dir {home}/ids'
                script = f'''set -e
                    mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing
                    {perf} buildid-cache --add {path}
                    {perf} probe -q sdt_typed:query__start
                    trap "{perf} probe -q -d 'sdt_typed:*'" EXIT
                    printf 'go\\nexit\\n' | {perf} record -q -o {home}/data -e sdt_typed:query__start {path} 3
                    {perf} script -i {home}/data'''
                done = subprocess.run(['unshare', '-m', 'sh', '-c', script], capture_output=True,
                                      text=True, env={**os.environ, 'HOME': home})
            hits = re.findall(r'sdt_typed:query__start: \S+ arg1=\d+ arg2=(\d+)', done.stdout)
            self.assertEqual(hits, ['0', '1', '2'], done.stderr)


class Examples(support.DaemonTest):
    """The examples of the manuals, unchanged, print what the manuals say."""

    def test_of_probes(self):
        self.run_those_of('tracectl_probe.3')

    def test_of_tags(self):
        self.run_those_of('tracectl_tag.3')

    def run_those_of(self, name):
        page = subprocess.run(['mandoc', '-Tascii', '-Owidth=1000', support.ROOT / 'docs/man' / name],
                              check=True, capture_output=True, text=True).stdout
        page = re.search(r'^EXAMPLES\n(.*?)^SEE', re.sub('.\b', '', page), re.M | re.S)[1]
        page = textwrap.dedent(page)
        program, commands = page.split('Built and traced:')
        with tempfile.TemporaryDirectory() as directory:
            pathlib.Path(directory, 'shop.c').write_text(program)
            build, orders, *traces = re.findall(r'^\$ (.*)\n((?:[^$].*\n)*)', commands, re.M)
            subprocess.run(build[0].replace('cc', f'cc -I {INCLUDE}'), shell=True, check=True,
                           cwd=directory)
            subprocess.run(orders[0], shell=True, check=True, cwd=directory)
            self.assertEqual(len(traces), 2)
            for command, said in traces:
                command = f'{support.TRACECTL} --socket {self.daemon.socket}' + command[8:]
                done = subprocess.run(command, shell=True, cwd=directory, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(self.constant(done.stdout), self.constant(said))

    @staticmethod
    def constant(text):
        """Without times, CPU numbers, process ids and directories; in any order."""
        text = re.sub(r'\d+\.\d{9} +\d+ +\d+ +\d+', 'WHEN', text)
        return sorted(re.sub(r' +', ' ', re.sub(r'(usdt|uprobe):/.*?/shop:', r'\1:shop:', line)).strip()
                      for line in text.splitlines() if line.strip())


if __name__ == '__main__':
    unittest.main()
