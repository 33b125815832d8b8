# SPDX-License-Identifier: BSD-2-Clause
"""Probes that a program makes at run time, compared with what the program knows of itself, readelf and
bpftrace."""

import contextlib
import json
import os
import pathlib
import random
import re
import select
import shutil
import subprocess
import tempfile
import unittest

import support
from discovery_test import notes, offset_of, segments

NAME = 'runtime_probes'
PROBES = 'usdt:*usdt-rt*:rt:*'
OWN = ('plain', 'types', 'twelve', 'dashed__name')
NUMBERED = 951
MADE = len(OWN) + NUMBERED + 1


def images(pid):
    """(start, end, offset) of the code of each image that a process maps."""
    found = []
    for line in pathlib.Path(f'/proc/{pid}/maps').read_text().splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and 'usdt-rt' in fields[5] and 'x' in fields[1]:
            start, end = (int(part, 16) for part in fields[0].split('-'))
            found.append((start, end, int(fields[2], 16)))
    return found


def file_of(pid, image):
    return f'/proc/{pid}/map_files/{image[0]:x}-{image[1]:x}'


def changed_bytes(pid):
    """How many bytes of the images' code differ from their files."""
    changed = 0
    with open(f'/proc/{pid}/mem', 'rb') as memory:
        for image in images(pid):
            memory.seek(image[0])
            with open(file_of(pid, image), 'rb') as file:
                file.seek(image[2])
                there = file.read(image[1] - image[0])
            changed += sum(a != b for a, b in zip(memory.read(len(there)), there))
    return changed


def short(counts):
    """Without the common part of the names."""
    return {name.split(':')[-1]: count for name, count in counts.items()}


def hits(read):
    return {name: count for name, count in
            short({row['probe']: row['count'] for row in read['rows']}).items() if count}


@support.needs_root
class RuntimeProbes(support.DaemonTest):
    one_daemon = True

    def ask(self, program, line):
        program.send(line)
        return program.result()

    def arm(self, program, *words, pattern=PROBES, session='s'):
        self.daemon.json('session', 'new', session)
        self.daemon.json('stage', session, 'set', pattern, '-p', str(program.pid), '--do', *words)
        return self.daemon.json('commit', session)

    def check_as_before(self, program):
        self.assertEqual(self.ask(program, 'state')['raised'], 0)
        self.assertEqual(changed_bytes(program.pid), 0)

    def test_listed_as_readelf_has_them(self):
        program = self.program(NAME)
        image, = images(program.pid)
        with tempfile.NamedTemporaryFile() as copy:
            shutil.copy(file_of(program.pid, image), copy.name)
            rows = segments(copy.name)
            expected = {name: (offset_of(rows, location), offset_of(rows, semaphore), arguments)
                        for _, name, location, semaphore, arguments in notes(copy.name)}
        self.assertEqual(len(expected), MADE)
        reply = self.daemon.json('list', PROBES, '-p', str(program.pid))
        self.assertEqual(reply['refused'], [])
        found = {}
        for probe in reply['probes']:
            site, = probe['sites']
            found[probe['probe']] = (site['offset'], site['semaphore'],
                                     [argument['place'] for argument in probe['args']])
        self.assertEqual(short(found), expected)
        self.assertEqual({name.rsplit(':', 1)[0] for name in found}, {'usdt:/memfd:usdt-rt:rt'})

    def test_the_listed_name_is_a_pattern(self):
        program = self.program(NAME)
        for pattern in ('usdt:/memfd:usdt-rt:rt:dashed__name', 'usdt:*:rt:dashed-name'):
            reply = self.daemon.json('list', pattern, '-p', str(program.pid))
            self.assertEqual([probe['probe'] for probe in reply['probes']],
                             ['usdt:/memfd:usdt-rt:rt:dashed__name'])

    def test_a_file_in_memory_is_that_of_a_process(self):
        program = self.program(NAME)
        reply = self.daemon.json('list', PROBES, '-x', support.target(NAME))
        self.assertEqual(reply['total_sites'], MADE)
        for words in ((), ('-a',)):
            refused = self.daemon.run('list', 'usdt:/memfd:usdt-rt:rt:*', *words)
            self.assertEqual(refused.returncode, 2, refused.stdout)
            self.assertIn('choose the processes that have it mapped', refused.stderr)

    def test_names_and_types(self):
        program = self.program(NAME)
        reply = self.daemon.json('list', 'usdt:*usdt-rt*:rt:types', '-p', str(program.pid))
        found = [(argument['name'], argument['declared_type'])
                 for argument in reply['probes'][0]['args']]
        integers = [(f'{letter}{bits}', f'{prefix}int{bits}_t')
                    for bits in (8, 16, 32, 64) for letter, prefix in (('i', ''), ('u', 'u'))]
        self.assertEqual(found, [*integers, ('pointer', 'void*'), ('text', 'const char*'),
                                 ('no_text', 'const char*'), ('arg11', 'uint64_t')])

    def test_arguments(self):
        program = self.program(NAME)
        self.arm(program, 'event', pattern='usdt:*usdt-rt*:rt:t*')
        client = self.daemon.connect()
        self.addCleanup(client.close)
        client.result('session.subscribe', session='s')
        truth = self.ask(program, 'fire 2')
        client.result('session.flush', session='s')
        events = [note['params'] for note in client.notifications if 'args' in note['params']]
        values = {}
        for event in events:
            values.setdefault(event['probe'].split(':')[-1], []).append(event['args'])
        self.assertEqual(values['twelve'],
                         [[1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12]] * 2)
        integers = [-2**7, 2**8 - 1, -2**15, 2**16 - 1, -2**31, 2**32 - 1, -2**63, 2**64 - 1,
                    truth['pointer']]
        self.assertEqual([row[:9] for row in values['types']], [integers] * 2)
        self.assertEqual([row[9:] for row in values['types']],
                         [['runtime', None, 0], ['runtime', None, 1]])

    def test_counts_are_the_program_s_own(self):
        program = self.program(NAME)
        committed = self.arm(program, 'count')
        self.assertEqual(committed['sites'], MADE)
        self.assertEqual(self.ask(program, 'state')['raised'], MADE)
        truth = self.ask(program, 'fire 1000')
        del truth['pointer']
        self.assertEqual(truth, dict.fromkeys(OWN, 1000))
        self.assertEqual(hits(self.daemon.json('read', 's')), truth)
        self.daemon.json('session', 'delete', 's')
        self.check_as_before(program)
        self.assertEqual(set(self.ask(program, 'fire 10').values()) & set(range(1, 1000)), set())

    def test_numbered_probes(self):
        program = self.program(NAME)
        self.arm(program, 'count', pattern='usdt:*usdt-rt*:rt:user_trace-n*')
        truth = self.ask(program, f'numbered 5000 {random.getrandbits(32)}')
        self.assertEqual(sum(truth.values()), 5000)
        self.assertGreater(len(truth), 900)
        self.assertEqual(hits(self.daemon.json('read', 's')),
                         {f'user_trace__n{number}': count for number, count in truth.items()})
        self.daemon.json('session', 'delete', 's')
        self.check_as_before(program)

    def test_what_dyntrace_leaves_out_is_zero_or_empty(self):
        program = self.program(NAME)
        values = ('event(str(arg0), str(arg1), arg2, arg3, arg4, arg5, '
                  'str(arg6), str(arg7), str(arg8), str(arg9))')
        self.arm(program, values, pattern='usdt:*usdt-rt*:rt:user_trace-n*')
        client = self.daemon.connect()
        self.addCleanup(client.close)
        client.result('session.subscribe', session='s')
        self.ask(program, 'numbered 300 7')
        client.result('session.flush', session='s')
        events = [note['params'] for note in client.notifications if 'args' in note['params']]
        self.assertEqual(len(events), 300)
        for event in events:
            number = int(event['probe'].rsplit('n', 1)[1])
            integers = [i + 1 if i < number % 5 else 0 for i in range(4)]
            texts = [str(i + 1) if i < number % 3 else '' for i in range(4)]
            self.assertEqual(event['args'],
                             ['<0.32.0>', 'tag' if number % 2 else '', *integers, *texts])

    def test_bpftrace_sees_and_counts_them(self):
        program = self.program(NAME)
        listed = subprocess.run(['bpftrace', '-p', str(program.pid), '-l', 'usdt:*'],
                                capture_output=True, text=True, check=True).stdout
        self.assertEqual(len(re.findall(r':rt:', listed)), MADE)
        # Each round begins with the argument 0, which is not counted: the first one shows that bpftrace is
        # attached.
        script = ('usdt:*:rt:dashed__name '
                  '{ if (arg0 == 0) { printf("armed\\n"); } else { @sum = sum(arg0); @hits = count(); } }')
        with subprocess.Popen(['bpftrace', '-p', str(program.pid), '-e', script], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as witness:
            try:
                self.assertTrue(any('Attaching' in line
                                    for line in iter(witness.stdout.readline, '')))
                support.wait_until(lambda: self.ask(program, 'fire 1') and
                                   select.select([witness.stdout], [], [], 0)[0], 'bpftrace')
                self.assertEqual(self.ask(program, 'fire 101')['dashed__name'], 101)
                program.send('exit')  # it ends with its target
                said = witness.communicate(timeout=60)[0]
            finally:
                witness.kill()
        self.assertIn('armed\n', said)
        self.assertIn('@hits: 100\n', said)
        self.assertIn(f'@sum: {100 * 101 // 2}\n', said)

    def test_later_probes(self):
        """New probes do not disturb armed ones, and can be used at once."""
        program = self.program(NAME)
        self.arm(program, 'count', pattern='usdt:*usdt-rt*:rt:plain')
        self.assertEqual(self.ask(program, 'more late'), {'loaded': 0, 'errno': 0})
        self.ask(program, 'fire 10')
        self.arm(program, 'count', pattern='usdt:*usdt-rt*:rt:late', session='late')
        self.assertEqual(self.ask(program, 'again 20')['hits'], 20)
        self.ask(program, 'fire 10')
        self.assertEqual(hits(self.daemon.json('read', 's')), {'plain': 20})
        self.assertEqual(hits(self.daemon.json('read', 'late')), {'late': 20})

    def test_removed_while_armed_and_fired(self):
        program = self.program(NAME)
        self.ask(program, 'spin')
        for round_number in range(5):
            session = f's{round_number}'
            self.arm(program, 'count', pattern='usdt:*usdt-rt*:rt:*', session=session)
            before = self.daemon.json('read', session)
            support.wait_until(lambda: self.daemon.json('read', session) != before, 'hits')
            self.assertEqual(self.ask(program, 'remove'), {'removed': 0})
            self.assertEqual(self.ask(program, 'state'), {'raised': 0, 'images': 0})
            for pattern, status, said in ((PROBES, 6, 'nothing that process'),
                                          ('usdt:*:rt:*', 5, 'no USDT probe matches')):
                listed = self.daemon.run('list', pattern, '-p', str(program.pid))
                self.assertEqual(listed.returncode, status, listed.stdout)
                self.assertIn(said, listed.stderr)
            self.daemon.json('session', 'delete', session)
            self.assertEqual(self.ask(program, 'make'), {'loaded': 0, 'errno': 0})
        self.ask(program, 'stop')
        self.assertIsNone(program.process.poll())

    def test_a_child_has_them(self):
        program = self.program(NAME)
        child = self.ask(program, 'fork 50')['pid']
        program_of_child = type('Child', (), {'pid': child})
        self.arm(program_of_child, 'count', pattern='usdt:*usdt-rt*:rt:plain')
        program.send('go')
        self.assertEqual(program.result()['plain'], 50)
        self.assertEqual(hits(self.daemon.json('read', 's')), {'plain': 50})
        program.send('end')
        self.assertEqual(self.ask(program, 'state')['raised'], 0)

    def test_a_child_of_an_armed_parent(self):
        program = self.program(NAME)
        self.arm(program, 'count', pattern='usdt:*usdt-rt*:rt:twelve')
        self.ask(program, 'fork 50')
        program.send('go')
        self.assertEqual(program.result()['twelve'], 50)
        program.send('end')
        self.assertEqual(self.ask(program, 'fire 30')['twelve'], 30)
        self.assertEqual(hits(self.daemon.json('read', 's')), {'twelve': 30})

    def test_children_may_add_while_a_thread_of_the_parent_does(self):
        program = self.program(NAME)
        self.assertEqual(self.ask(program, 'children 200'), {'failed': 0})

    def test_an_image_cannot_be_written_to(self):
        program = self.program(NAME)
        images_open = [link for link in pathlib.Path(f'/proc/{program.pid}/fd').iterdir()
                       if 'usdt-rt' in os.readlink(link)]
        self.assertEqual(len(images_open), 1)
        with open(images_open[0], 'r+b', buffering=0) as file:
            self.assertRaises(PermissionError, file.write, b'x')
            self.assertRaises(PermissionError, file.truncate, 10)

    def test_without_memfd_or_code_there_are_no_probes(self):
        for what in ('memfd', 'code'):
            with self.subTest(forbidden=what):
                program = self.program(NAME, 'later')
                self.assertEqual(self.ask(program, f'forbid {what}'), {'errno': 0})
                self.assertEqual(self.ask(program, 'make'), {'loaded': -1, 'errno': 13})
                self.assertEqual(sum(self.ask(program, 'fire 10')[name] for name in OWN), 0)
                self.assertEqual(self.ask(program, 'numbered 10 1'), {})
                self.assertEqual(self.ask(program, 'remove'), {'removed': 0})
                self.assertEqual(self.ask(program, 'state'), {'raised': 0, 'images': 0})

    def test_where_nothing_may_be_both_written_and_run(self):
        program = self.program(NAME, 'later')
        self.assertEqual(self.ask(program, 'forbid write'), {'errno': 0})
        self.assertEqual(self.ask(program, 'make'), {'loaded': 0, 'errno': 0})
        self.arm(program, 'count', pattern='usdt:*usdt-rt*:rt:plain')
        self.ask(program, 'fire 10')
        self.assertEqual(hits(self.daemon.json('read', 's')), {'plain': 10})
        self.assertEqual(self.ask(program, 'remove'), {'removed': 0})
        self.assertEqual(self.ask(program, 'state')['images'], 0)

    @contextlib.contextmanager
    def in_directory(self):
        with tempfile.TemporaryDirectory() as directory:
            os.environ['TRACECTL_USDT_DIRECTORY'] = directory
            try:
                yield pathlib.Path(directory)
            finally:
                del os.environ['TRACECTL_USDT_DIRECTORY']

    def test_a_file_is_traced_in_all_that_share_it(self):
        with self.in_directory() as directory:
            programs = [self.program(NAME) for _ in range(2)]
            file, = directory.iterdir()
            self.assertRegex(file.name, r'^usdt-rt\.[0-9a-f]{32}\.so$')
            self.assertEqual(file.stat().st_mode & 0o777, 0o444)
            self.daemon.json('session', 'new', 's')
            self.daemon.json('stage', 's', 'set', f'usdt:{file}:rt:plain', '-a', '--do', 'count')
            self.daemon.json('commit', 's')
            programs.append(self.program(NAME))  # and in later processes
            for number, program in enumerate(programs):
                self.assertEqual(self.ask(program, f'fire {number + 1}')['plain'], number + 1)
            self.assertEqual(hits(self.daemon.json('read', 's')), {'plain': 6})
            self.assertEqual(self.ask(programs[0], 'remove'), {'removed': 0})
            self.assertEqual(self.ask(programs[0], 'state'), {'raised': 0, 'images': 0})
            self.assertEqual(self.ask(programs[1], 'fire 4')['plain'], 4)
            self.assertEqual(hits(self.daemon.json('read', 's')), {'plain': 10})
            bpftrace = subprocess.run(['bpftrace', '-l', f'usdt:{file}:rt:*'], capture_output=True,
                                      text=True, check=True).stdout
            self.assertEqual(len(bpftrace.splitlines()), MADE)

    def test_a_file_that_is_not_the_image_is_not_used(self):
        with self.in_directory() as directory:
            self.program(NAME)
            file, = directory.iterdir()
            for put in (b'', file.read_bytes()[:-1], file.read_bytes() + b'x'):
                file.unlink()
                file.write_bytes(put)
                self.program(NAME)
                again, = directory.iterdir()
                self.assertGreater(again.stat().st_size, 1000)
                self.assertNotEqual(again.read_bytes(), put)
            file.chmod(0o666)
            self.program(NAME)
            self.assertEqual(file.stat().st_mode & 0o777, 0o444)

    def test_where_no_file_can_be_put_it_is_in_memory(self):
        with self.in_directory() as directory:
            os.environ['TRACECTL_USDT_DIRECTORY'] = str(directory / 'not-there')
            program = self.program(NAME)
            self.assertEqual(len(images(program.pid)), 1)
            self.assertEqual(list(directory.iterdir()), [])


@support.runs_alone('a program fires each 100 ms, and is traced for 500 ms')
@support.needs_root
class Manual(support.DaemonTest):
    """The unchanged examples of tracectl_runtime(3)."""

    def example(self, first):
        text = (support.ROOT / 'docs/man/tracectl_runtime.3').read_text()
        found, = (part for part in re.findall(r'^\.Bd -literal\n(.*?)^\.Ed', text, re.M | re.S)
                  if part.startswith(first))
        return found.replace('\\e', '\\')

    def trace(self, pattern, process):
        """The arguments of the first event."""
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        support.wait_until(lambda: '/memfd:usdt-' in
                           pathlib.Path(f'/proc/{process.pid}/maps').read_text(), 'probes')
        done = self.daemon.run('--json', 'trace', pattern, '-p', str(process.pid), '--for', '500ms')
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[0])

    def test_c(self):
        with tempfile.TemporaryDirectory() as directory:
            source = pathlib.Path(directory, 'shop.c')
            source.write_text(self.example('#include <stdio.h>'))
            subprocess.run(['cc', '-Wall', '-Wextra', '-Werror', '-Iusdt/include', '-o',
                            directory + '/shop', source, '.build/libtracectl-usdt.a'],
                           cwd=support.ROOT, check=True)
            event = self.trace('usdt:*usdt-shop*:shop:order-placed',
                               subprocess.Popen([directory + '/shop']))
        self.assertEqual(event['probe'], 'usdt:/memfd:usdt-shop:shop:order__placed')
        self.assertEqual(event['args'][0], 'Smith')
        self.assertGreater(event['args'][1], 0)

    def test_python(self):
        process = subprocess.Popen(['/usr/bin/python3', '-c', self.example('import ctypes')],
                                   stdout=subprocess.DEVNULL,
                                   env={**os.environ, 'LD_LIBRARY_PATH': str(support.BUILD)})
        event = self.trace('usdt:*usdt-script*:script:began', process)
        self.assertEqual(len(event['args']), 1)
        self.assertLess(event['args'][0], 100)


if __name__ == '__main__':
    unittest.main()
