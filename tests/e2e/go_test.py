# SPDX-License-Identifier: BSD-2-Clause
"""Go programs, compared with what the traced program counts (tests/targets/goroutines.go)."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import support

SOURCE = pathlib.Path(__file__).parent.parent / 'targets' / 'goroutines.go'


def function_of(row):
    return row['probe'].split(':', 2)[2].removeprefix('main.')


@support.needs_root
@unittest.skipUnless(shutil.which('go'), 'needs Go')
class GoPrograms(support.DaemonTest):
    one_daemon = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        os.chmod(cls.folder, 0o755)
        cls.program = cls.built('goroutines')

    @classmethod
    def built(cls, name, *options):
        path = cls.folder / name
        environment = {'PATH': os.environ['PATH'], 'HOME': str(cls.folder), 'GO111MODULE': 'off'}
        subprocess.run(['go', 'build', *options, '-o', str(path), str(SOURCE)], env=environment, check=True, timeout=300)
        return path

    def traced(self, *words, program=None):
        """The program's report, and the output of tracectl without it."""
        done = self.daemon.run(*words, '--', str(program or self.program), input='go\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        report = re.search(r'\{"\(\*Account\)\.Add".*?\}\}\n', done.stdout).group()
        return json.loads(report), done.stdout.replace(report, '')

    def rows(self, *words, program=None):
        said, printed = self.traced('--json', *words, program=program)
        return said, {function_of(row): row for row in json.loads(printed)['rows']}

    def refused(self, *words):
        done = self.daemon.run(*words, '-x', str(self.program), '--dry-run')
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr

    def test_each_call_is_counted_once_although_stacks_grow(self):
        said, rows = self.rows('count', 'u::main.*')
        for function, truth in said.items():
            self.assertEqual(rows[function]['count'], truth['calls'], function)

    def test_calls_follow_their_goroutine(self):
        said, rows = self.rows('time', 'u::main.*')
        for function, truth in said.items():
            row = rows[function]
            self.assertEqual(row['count'], truth['returns'], function)
            self.assertEqual(row.get('unwound', 0), truth['calls'] - truth['returns'], function)
            self.assertLessEqual(row['self'], row['sum'])

    def test_a_goroutine_changes_its_thread_within_a_call(self):
        _, printed = self.traced('--json', 'trace', 'u::main.move', '--do', 'event, return')
        events = [json.loads(line) for line in printed.splitlines() if line.startswith('{"') and '"kind"' in line]
        self.assertEqual([event['kind'] for event in events], ['hit', 'return'] * 5)
        for hit, end in zip(events[::2], events[1::2]):
            self.assertNotEqual(hit['tid'], end['tid'])
            self.assertLess(end['duration'], end['ts'] - hit['ts'] + 1000000)

    def test_names_match_as_they_are_written(self):
        for name in '(*Account).Add', 'Max[go.shape.int_0]':
            said, rows = self.rows('count', f'u::main.{name}')
            self.assertEqual({function: row['count'] for function, row in rows.items()}, {name: said[name]['calls']})
        _, rows = self.rows('count', 'u::main.(*Acc*).*')
        self.assertEqual(set(rows), {'(*Account).Add'})

    def test_functions_of_a_stripped_program_have_their_names(self):
        for name, *options in (['stripped', '-ldflags=-s -w'], ['pie', '-buildmode=pie'],
                               ['stripped_pie', '-buildmode=pie', '-ldflags=-s -w']):
            said, rows = self.rows('time', 'u::main.fib', 'u::main.(*Account).Add', 'u::main.throw', 'u::main.deep',
                                   program=self.built(name, *options))
            self.assertEqual(len(rows), 4, name)
            for function, row in rows.items():
                self.assertEqual(row['count'], said[function]['returns'], (name, function))

    def test_arguments_and_results_are_by_go_s_convention(self):
        _, printed = self.traced('trace', '-q', 'u::main.(*Account).Add', 'u::main.Max*', 'u::main.half',
                                 'u::main.split', '--do', 'event, return')
        def told(function):
            return re.findall(re.escape(f':main.{function}(') + r'(.*?)(?: after .*)?$', printed, re.MULTILINE)
        texts, total, add = ['', 'one', 'two words'], 0, []
        for i in range(10):
            text = texts[i % 3]
            total += i
            add += [f'n={i}, name="{text}", arg3={len(text)})', f') = {total + len(text)}']
        self.assertEqual([re.sub(r'^a=0x[0-9a-f]+, ', '', line) for line in told('(*Account).Add')], add)
        self.assertEqual(told('Max[go.shape.int_0]'),
                         [line for i in range(10) for line in (f'a={i}, b=5)', f') = {max(i, 5)}')])
        self.assertEqual(told('half'), [line for i in range(10) for line in (
            f'of=?, n={i})', ') = ? (float64 in a vector register)')])
        self.assertEqual(told('split'), [line for i in range(10) for line in (
            f'n={i})', ') = ? (int and other results, more than an event has room for)')])

    def test_without_debug_information_arguments_are_registers(self):
        _, printed = self.traced('--json', 'count', 'u::main.(*Account).Add', '--by', 'arg1, arg3',
                                 program=self.built('registers', '-ldflags=-s -w'))
        self.assertEqual({(row['by']['arg1'], row['by']['arg3']) for row in json.loads(printed)['rows']},
                         {(i, [0, 3, 9][i % 3]) for i in range(10)})

    def test_what_is_not_right_is_refused_with_the_reason(self):
        for words, why in (
                (('time', 'u::main.fib', '--returns', 'trampoline'), 'would be killed by a return trampoline'),
                (('graph', 'u::main.fib'), 'goroutines change their threads'),
                (('offcpu', 'u::main.fib'), 'goroutines leave theirs when they wait'),
                (('time', 'u::runtime.memmove'), "it is in Go's assembly"),
                (('count', 'u::runtime.(*gcControllerState).memoryLimitHeapGoal'), 'its entry is within a loop'),
                (('trace', 'u::main.(*Account).Add', '--when', 'str(arg.name) == "one"'), 'no 0 at its end')):
            with self.subTest(words=words):
                self.assertIn(why, self.refused(*words))

    def test_the_caller_is_known_at_the_entry_and_at_the_end(self):
        client = self.daemon.connect()
        self.addCleanup(client.close)
        for action in 'count by caller', 'time by caller':
            with subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
                # Popen() returns from the execve on, before the program is mapped.
                maps = pathlib.Path(f'/proc/{program.pid}/maps')
                support.wait_until(lambda: re.search(rf' r-xp .* {self.program}$', maps.read_text(), re.M), 'the program')
                name = action.split()[0]
                client.result('session.create', name=name)
                client.result('stage.set', session=name, patterns=['u::main.(*Account).Add'],
                              target={'pids': [program.pid]}, do=action)
                client.result('stage.commit', session=name)
                program.stdin.write('go\n')
                program.stdin.flush()
                program.stdout.readline()
                row, = client.result('session.read', session=name)['rows']
                program.stdin.write('\n')
            self.assertEqual((row['caller']['function'], row['count']), ('main.main', 10))


if __name__ == '__main__':
    unittest.main()
