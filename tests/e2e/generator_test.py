# SPDX-License-Identifier: BSD-2-Clause
"""tracectl-usdt in builds of programs whose probes are in DTrace provider files."""

import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import support

GENERATOR = support.TRACECTL_USDT
INCLUDE = support.ROOT / 'usdt/include'
COMPILERS = (('gcc', 'c'), ('clang', 'c'), ('g++', 'cpp'), ('clang++', 'cpp'))

DATABASE = '''
/* What a database tells. */
provider database {
	probe query__start(char *);        /* what will run */
	probe query__done(char *query, uint64_t rows, bool failed);
	probe idle();
};

#pragma D attributes Evolving/Evolving/Common provider database provider
'''
PROGRAM = '''
#include <database.h>
#include <stdio.h>
int main(int argc, char **argv) {
  (void)argv;
  for (;;) {
    if (argc == 1) puts("ready"), fflush(stdout);
    int c = argc == 1 ? getchar() : EOF;
    if (c == EOF) return 0;
    DATABASE_IDLE();
    DATABASE_QUERY_START("SELECT 1");
    if (DATABASE_QUERY_DONE_ENABLED()) DATABASE_QUERY_DONE("SELECT 1", 7, c == 'x');
  }
}
'''

# In the styles of programs with such files.
POSTGRESQL_STYLE = '''
#define Xid unsigned int
#define LockMode int
#define bool unsigned char
provider store {
	probe transaction__start(Xid);
	probe lock__wait__start(unsigned int, unsigned int, Xid, LockMode);
	probe sort__done(bool, long);
	probe query__parse__start(const char *);
	probe query__plan__start();
};
'''
ERLANG_STYLE = '''
/*
 * Two underscores are a hyphen in the probe's name.
 */
provider beam {
    /**
     * @param sender the sender's name; it isn't always a pid
     */
    probe message__send(char *sender, char *receiver, uint32_t size,
                        int label, int64_t previous);
    probe process__exit_signal(char *sender, char *receiver, char *reason);
    probe user_trace__i4s4(char *proc, char *user_tag, int i1, int i2, int i3, int i4,
                           char *s1, char *s2, char *s3, char *s4);
};
'''
RUBY_STYLE = '''
#include <vm_options.h>
provider gem {
  /* gem:::method-entry(classname, methodname, filename, lineno); */
  probe method__entry(const char *classname, const char *methodname, const char *file, int line);
  probe raise(const char *classname);
  probe gc__mark__begin();
#if COLLECT
  probe insn(const char *name);
#endif
};
#pragma D attributes Stable/Evolving/Common provider gem provider
'''
LIBVIRT_STYLE = '''provider virt {
	# file: src/util/event's.c
	# prefix: event
	probe event_add(int watch, void *cb, void *opaque, pid_t pid, const char *class);
};
'''
HOTSPOT_STYLE = '''
provider vm {
  probe class__loaded(char* class_name, uintptr_t len, void* loader, bool is_shared);
  probe vm__init__begin();
};
'''
NODE_STYLE = '''
typedef struct { int dummy; } node_connection_t;
typedef struct { int dummy; } node_info_t;
provider js {
	probe net__stream__end(node_connection_t *c) :
	    (node_info_t *c);
};
'''
XSERVER_STYLE = '''
typedef const uint8_t *const_uint8_p;
typedef const double *const_double_p;
provider display {
	probe request__start(string, uint8_t, uint16_t, int, void *);
	probe client__auth(int, string, pid_t, zoneid_t);
	probe input__event(int, int, uint32_t, const_uint8_p, const_double_p);
};
'''
STYLES = {'store': POSTGRESQL_STYLE, 'beam': ERLANG_STYLE, 'gem': RUBY_STYLE,
          'virt': LIBVIRT_STYLE, 'vm': HOTSPOT_STYLE, 'js': NODE_STYLE, 'display': XSERVER_STYLE}


class GeneratorTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def run_in_folder(self, *words, **options):
        return subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True,
                              text=True, timeout=120, **options)

    def generate(self, *words):
        done = self.run_in_folder(GENERATOR, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ''), words)
        return done.stdout

    def compile(self, compiler, *words):
        standard = '-std=c++17' if '++' in compiler else '-std=c11'
        return self.run_in_folder(compiler, standard, '-I', INCLUDE, '-I', '.', '-Wall', '-Wextra',
                                  '-Wpedantic', '-Werror', *words)

    def built(self, compiler, *words):
        done = self.compile(compiler, *words)
        self.assertEqual(done.returncode, 0, f'{compiler} {words}:\n{done.stderr[:2000]}')

    def database(self):
        self.write('database.d', DATABASE)
        self.generate('-h', '-s', 'database.d')


def macros(header):
    return set(re.findall(r'^#define (\w+)\(', header, re.M))


class Headers(GeneratorTest):
    def test_each_probe_is_there_as_readelf_sees_it(self):
        self.database()
        for compiler, suffix in COMPILERS:
            with self.subTest(compiler=compiler):
                self.write(f'main.{suffix}', PROGRAM)
                self.built(compiler, '-O2', f'main.{suffix}', '-o', 'program')
                self.assertEqual(self.run_in_folder('./program', 'end').returncode, 0)
                notes = self.run_in_folder('readelf', '-n', 'program').stdout
                found = re.findall(r'Provider: (\S+)\n\s+Name: (\S+)\n.*Semaphore: 0x0*[1-9a-f].*\n'
                                   r'\s+Arguments: ?(.*)', notes)
                self.assertEqual(sorted((provider, name, len(arguments.split()))
                                        for provider, name, arguments in found),
                                 [('database', 'idle', 0), ('database', 'query__done', 3),
                                  ('database', 'query__start', 1)])

    def test_types_and_names_of_arguments_are_in_the_file(self):
        self.database()
        for compiler, suffix in COMPILERS:
            with self.subTest(compiler=compiler):
                self.write(f'main.{suffix}', PROGRAM)
                self.built(compiler, f'main.{suffix}', '-o', 'program')
                text = self.run_in_folder('readelf', '-p', '.note.tracectl', 'program').stdout
                strings = re.findall(r'^  \[ *[0-9a-f]+\]  (.*)', text, re.M)
                self.assertIn('const char*', strings)
                for name in ('arg0', 'query', 'rows', 'failed', 'uint64_t'):
                    self.assertIn(name, strings)

    def test_wrong_types_and_counts_are_errors(self):
        self.database()
        wrong = ('DATABASE_QUERY_START(7)', 'DATABASE_QUERY_START()',
                 'DATABASE_QUERY_START("a", "b")', 'DATABASE_IDLE(1)',
                 'DATABASE_QUERY_DONE("a", "7", 1)', 'DATABASE_QUERY_DONE("a", 7)',
                 'DATABASE_QUERY_STARTED("a")', 'DATABASE_QUERY_START_ENABLED(1)')
        good = ('DATABASE_QUERY_START("a")', 'DATABASE_QUERY_START(text)', 'DATABASE_IDLE()',
                'DATABASE_QUERY_DONE(text, 7, false)', '(void)DATABASE_QUERY_START_ENABLED()')
        for compiler, suffix in COMPILERS:
            for statement in good + wrong:
                with self.subTest(compiler=compiler, statement=statement):
                    self.write(f'a.{suffix}', '#include "database.h"\nvoid f(char *text) {\n'
                                              f'  (void)text;\n  {statement};\n}}\n')
                    done = self.compile(compiler, '-fsyntax-only', f'a.{suffix}')
                    self.assertEqual(done.returncode == 0, statement in good, done.stderr[:2000])

    def test_a_header_is_included_twice_beside_others_and_where_c_is_said_to_follow(self):
        self.write('one.d', 'provider shop { probe a(struct cart *); };')
        self.write('two.d', 'provider shop { probe b(struct cart *, FILE *); };')
        for name in ('one', 'two'):
            self.generate('-h', '-s', f'{name}.d')
        text = ('struct cart { int items; };\n#ifdef __cplusplus\nextern "C" {\n#endif\n'
                '#include "one.h"\n#include "two.h"\n#include "one.h"\n'
                '#ifdef __cplusplus\n}\n#endif\n'
                'void f(struct cart *c) { SHOP_A(c); SHOP_B(c, stdout); }\n')
        for compiler, suffix in COMPILERS:
            self.write(f'a.{suffix}', text)
            self.built(compiler, '-c', f'a.{suffix}')

    def test_the_program_has_its_own_definitions_of_what_the_file_declares(self):
        self.write('js.d', NODE_STYLE + 'struct cart { int a; }; enum paint { RED };\n'
                                        'provider shop { probe a(struct cart *, enum paint); };')
        self.generate('-h', '-s', 'js.d')
        text = ('#include "js.h"\ntypedef struct { long real; } node_connection_t;\n'
                'struct cart { int items; long more; };\nenum paint { RED, BLUE };\n'
                'void f(node_connection_t *n, struct cart *c) {\n'
                '  JS_NET_STREAM_END(n);\n  SHOP_A(c, BLUE);\n}\n')
        for compiler, suffix in COMPILERS:
            self.write(f'a.{suffix}', text)
            self.built(compiler, '-c', f'a.{suffix}')


class Styles(GeneratorTest):
    """Provider files in the styles of various programs."""

    def setUp(self):
        super().setUp()
        self.write('vm_options.h', '#define COLLECT 1\ntypedef unsigned long word;\n')
        for name, text in STYLES.items():
            self.write(f'{name}.d', text)

    # As in the build of its program: some use -C.
    def options(self, name):
        return ['-C', '-I.'] if name in ('store', 'beam', 'gem') else []

    def test_their_headers_stand_alone(self):
        for name in STYLES:
            self.generate('-h', *self.options(name), '-s', f'{name}.d')
            for compiler, suffix in COMPILERS:
                with self.subTest(style=name, compiler=compiler):
                    self.write(f'a.{suffix}', f'#include "{name}.h"\n')
                    self.built(compiler, '-fsyntax-only', f'a.{suffix}')

    def test_their_macros_are_those_that_dtrace_makes(self):
        for name in STYLES:
            with self.subTest(style=name):
                options = ['-h', *self.options(name), '-s', f'{name}.d', '-o']
                self.generate(*options, 'ours.h')
                done = self.run_in_folder('dtrace', *options, 'theirs.h', stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 0, done.stderr)
                ours = macros((self.folder / 'ours.h').read_text())
                self.assertTrue(ours)
                self.assertEqual(ours, macros((self.folder / 'theirs.h').read_text()))

    def test_the_preprocessor_runs_as_it_is_told(self):
        self.write('vm_options.h', '#ifdef WITH\n#define COLLECT NUMBER\n#endif\n')
        told = ('-C', '-h', '-s', 'gem.d', '-I', '.', '-o', '-')
        self.assertNotIn('GEM_INSN', self.generate(*told))
        self.assertIn('GEM_INSN(', self.generate('-DWITH', '-D', 'NUMBER=1', *told))
        self.assertNotIn('GEM_INSN', self.generate('-DWITH', '-DNUMBER=0', *told))
        self.assertNotIn('GEM_INSN', self.generate('-DNUMBER=1', '-DWITH', '-UWITH', *told))
        done = self.run_in_folder(GENERATOR, *told, env={**os.environ, 'CC': 'clang -DWITH=1 -DNUMBER=1'})
        self.assertIn('GEM_INSN(', done.stdout)


class Steps(GeneratorTest):
    """The steps of build systems."""

    def test_a_makefile_written_for_dtrace_works(self):
        self.write('database.d', DATABASE)
        self.write('main.c', PROGRAM)
        self.write('other.c', '#include "database.h"\nvoid other(void) { DATABASE_IDLE(); }\n')
        self.write('Makefile', f'''
CFLAGS = -I. -I{INCLUDE} -fcf-protection=full
program: main.o other.o probes.o
	$(CC) $^ -o $@
probes.o: database.d main.o other.o
	$(DTRACE) -64 -C -G -s database.d -o $@ main.o other.o
main.o other.o: database.h
database.h: database.d
	$(DTRACE) -C -h -s $< -o $@
''')
        done = self.run_in_folder('make', f'DTRACE={GENERATOR}')
        self.assertEqual((done.returncode, done.stderr), (0, ''), done.stdout)
        self.assertEqual(self.run_in_folder('./program', 'end').returncode, 0)

    def test_the_object_is_empty_and_changes_nothing(self):
        self.write('database.d', DATABASE)
        self.generate('-G', '-s', 'database.d')
        self.write('a.c', 'int f(void) { return 1; }\n')
        self.built('gcc', '-c', '-fcf-protection=full', 'a.c')
        self.assertEqual(self.run_in_folder('nm', 'database.o').stdout, '')
        for linker in ('ld', 'ld.lld'):
            with self.subTest(linker=linker):
                done = self.run_in_folder(linker, '-shared', '--fatal-warnings', '-z',
                                          'cet-report=error', 'a.o', 'database.o', '-o', 'a.so')
                self.assertEqual((done.returncode, done.stderr), (0, ''))
                notes = self.run_in_folder('readelf', '-nW', 'a.so').stdout
                self.assertIn('IBT, SHSTK', notes)
                segments = self.run_in_folder('readelf', '-lW', 'a.so').stdout
                self.assertRegex(segments, r'GNU_STACK .* RW ')
        done = self.run_in_folder('ld', '-r', 'a.o', 'database.o', '-o', 'b.o')
        self.assertEqual((done.returncode, done.stderr), (0, ''))

    # As the builds of Erlang/OTP, Python and PostgreSQL change the output of dtrace -h.
    def test_headers_may_be_changed_by_sed(self):
        small = (r'/^#define[ \t]*DATABASE_[A-Z0-9_]*(.*)/y/ABCDEFGHIJKLMNOPQRSTUVWXYZ/'
                 'abcdefghijklmnopqrstuvwxyz/')
        for script, prefix, case in ((small, 'database', str.lower),
                                     ('s/DATABASE_/MyTrace_/', 'MyTrace', str),
                                     ('s/DATABASE_/TRACE_DATABASE_/g', 'TRACE_DATABASE', str)):
            with self.subTest(script=script):
                self.database()
                self.assertEqual(self.run_in_folder('sed', '-i', script, 'database.h').returncode, 0)
                calls = [prefix + case(name) for name in ('_QUERY_START("a")', '_IDLE()')]
                test = prefix + case('_IDLE_ENABLED()')
                self.write('a.c', '#include "database.h"\nvoid f(void) {\n'
                                  f'  {calls[0]};\n  if ({test}) {calls[1]};\n}}\n')
                self.built('gcc', '-c', 'a.c')

    def test_what_is_made_is_named_after_the_file_and_stands_here(self):
        (self.folder / 'src').mkdir()
        self.write('src/shop.d', 'provider shop { probe a; };')
        self.generate('-h', '-s', 'src/shop.d')
        self.generate('-G', '-s', 'src/shop.d', 'a.o')
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ['shop.h', 'shop.o', 'src'])


class Errors(GeneratorTest):
    def refused(self, *words):
        done = self.run_in_folder(GENERATOR, *words)
        self.assertEqual(done.stdout, '')
        return done.returncode, done.stderr

    def test_a_bad_file_is_told_as_compilers_tell_it(self):
        self.write('bad.d', 'provider shop {\n\tprobe sold(char *who, double price);\n};\n')
        for step in ('-h', '-G'):
            self.assertEqual(self.refused(step, '-s', 'bad.d'),
                             (1, 'bad.d:2:24: error: a probe takes no floating-point numbers; pass '
                                 'it as an integer, or a pointer to it\n'
                                 '  \tprobe sold(char *who, double price);\n'
                                 '  \t                      ^\n'))
        self.assertEqual([path.name for path in self.folder.iterdir()], ['bad.d'])

    def test_a_place_is_that_before_the_preprocessor(self):
        self.write('lines.h', 'int a;\nint b;\n')
        self.write('bad.d', '#include "lines.h"\n#define T int\n\nprovider shop { probe a(T t; };\n')
        status, text = self.refused('-C', '-h', '-s', 'bad.d')
        self.assertEqual(status, 1)
        self.assertRegex(text, r'^bad\.d:4:\d+: error: expected "," or "\)"')

    @unittest.mock.patch.dict(os.environ)
    def test_what_cannot_be_read_or_written_is_said(self):
        os.environ.pop('CC', None)
        self.write('shop.d', 'provider shop { probe a; };')
        self.write('bad.d', '#include "none.h"\n')
        for words, message in (
                (('-h', '-s', 'none.d'), 'tracectl-usdt: cannot open none.d: No such file'),
                (('-h', '-s', '.'), 'tracectl-usdt: cannot read .: Is a directory'),
                (('-h', '-s', 'shop.d', '-o', 'none/x.h'),
                 'tracectl-usdt: cannot write none/x.h: No such file'),
                (('-h', '-C', '-s', 'bad.d'), 'tracectl-usdt: cc -E failed')):
            with self.subTest(words=words):
                status, text = self.refused(*words)
                self.assertEqual(status, 1)
                self.assertIn(message, text)

    def test_half_a_header_is_not_left_behind(self):
        self.write('shop.d', 'provider shop { probe a; };')
        limit = 'import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (9, 9)); '
        done = self.run_in_folder(sys.executable, '-c', limit + 'os.execv(sys.argv[1], sys.argv[1:])',
                                  GENERATOR, '-h', '-s', 'shop.d')
        self.assertEqual((done.returncode, done.stderr),
                         (1, 'tracectl-usdt: cannot write shop.h: File too large\n'))
        self.assertEqual([path.name for path in self.folder.iterdir()], ['shop.d'])

    # On its own device: on failure the machine's would be lost.
    @support.needs_root
    def test_a_device_that_takes_nothing_stays(self):
        self.write('shop.d', 'provider shop { probe a; };')
        full = self.folder / 'full'
        os.mknod(full, stat.S_IFCHR | 0o600, os.makedev(1, 7))
        status, text = self.refused('-h', '-s', 'shop.d', '-o', 'full')
        self.assertEqual(status, 1)
        self.assertIn('tracectl-usdt: cannot write full: ', text)
        self.assertTrue(full.is_char_device())

    def test_bad_usage_is_2(self):
        for words in ((), ('-s', 'x.d'), ('-h',), ('-h', '-G', '-s', 'x.d'), ('-h', '-s'),
                      ('-h', '-n', '-s', 'x.d')):
            with self.subTest(words=words):
                status, text = self.refused(*words)
                self.assertEqual(status, 2)
                self.assertRegex(text, r'^tracectl-usdt: .*; see tracectl-usdt --help\n$')


@support.needs_root
class Traced(GeneratorTest):
    def test_events_show_what_the_provider_file_declares_without_debug_info(self):
        self.database()
        for compiler, suffix in COMPILERS:
            with self.subTest(compiler=compiler):
                self.write(f'main.{suffix}', PROGRAM)
                self.built(compiler, '-O2', '-s', f'main.{suffix}', '-o', 'program')
                program = str(self.folder / 'program')
                done = support.run('--embedded', 'trace', f'usdt:{program}:database:*', '--',
                                   program, input='ax')
                self.assertEqual(done.returncode, 0, done.stderr)
                events = re.findall(r'database:(\S+?)\((.*)\)', done.stdout)
                once = [('idle', ''), ('query__start', 'arg0="SELECT 1"')]
                self.assertEqual(events, [
                    *once, ('query__done', 'query="SELECT 1", rows=7, failed=false'),
                    *once, ('query__done', 'query="SELECT 1", rows=7, failed=true')])


if __name__ == '__main__':
    unittest.main()
