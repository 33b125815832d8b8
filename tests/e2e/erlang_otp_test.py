# SPDX-License-Identifier: BSD-2-Clause
"""Erlang/OTP as it is, with its own probes: runs the recipes on it, and compares the results with what an Erlang
program (tests/targets/erlang_work.erl) knows of itself."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

import cgroups
import otp
import support

SOURCE = support.ROOT / 'tests/targets/erlang_work.erl'
ROUNDS = 20
LACKING = ['erlang-links', 'erlang-names', 'erlang-activity']


def rests_of(pid):
    """Of each thread: whether it sleeps, and how often it has gone to sleep."""
    rests = []
    for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
        status = (task / 'status').read_text()
        rests.append((re.search(r'^State:\s+(\w)', status, re.M)[1], re.search(r'^voluntary_\D+(\d+)', status, re.M)[1]))
    return sorted(rests)


def wait_until_idle(pid):
    """The virtual machine goes on for a while after the last output."""
    seen = [None]

    def is_idle():
        seen.append(rests_of(pid))
        return seen[-1] == seen[-2] and {state for state, _ in seen[-1]} == {'S'}

    support.wait_until(is_idle, 'the virtual machine to be idle')


def short(row):
    return row['probe'].split(':')[-1]


@support.needs_root
class OtpTest(support.DaemonTest):
    one_daemon = True

    @classmethod
    def setUpClass(cls):
        cls.otp = otp.otp()
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.otp.compile(SOURCE, cls.directory.name)
        super().setUpClass()

    def command(self):
        return [str(self.otp.erl), '-noshell', '-pa', self.directory.name, '-s', 'erlang_work', 'main', str(ROUNDS)]

    def work(self):
        """The program, which waits for `go`."""
        program = support.Program(*self.command())
        self.addCleanup(program.end)
        self.assertEqual(program.says_pid, str(program.pid))
        return program

    def started(self, *words):
        process = subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertTrue(any('^C' in line for line in process.stderr), words)
        return process

    def traced(self, *words):
        """What the program knows, and the lines that tracectl prints."""
        program = self.work()
        process = self.started('--json', *words, '-p', str(program.pid))
        program.send('go')
        truth = program.result()
        wait_until_idle(program.pid)
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said)
        program.send('exit')
        program.process.wait(timeout=60)
        return truth, [json.loads(line) for line in printed.splitlines()]

    def table(self, *words):
        truth, (read,) = self.traced(*words)
        self.assertEqual((read['dropped_ring'], read['dropped_keys']), (0, 0))
        return truth, read

    def recipe(self, name, *more):
        return self.table('recipe', 'run', 'erlang-' + name, *more)


class Recipes(OtpTest):
    def test_calls(self):
        truth, read = self.recipe('calls')
        found = {(short(row), row['by']['str(arg1)']): row['count'] for row in read['rows']}
        locally, globally = 'local__function__entry', 'global__function__entry'
        self.assertEqual({key: count for key, count in found.items() if 'erlang_work:' in key[1] and '-' not in key[1]}, {
            (globally, 'erlang_work:plain/1'): ROUNDS, (locally, 'erlang_work:plain/1'): truth['plain'] - ROUNDS,
            (globally, 'erlang_work:through/1'): ROUNDS, (locally, 'erlang_work:deep/2'): truth['down'],
            (locally, 'erlang_work:around/2'): truth['around'], (locally, 'erlang_work:fails/1'): truth['failed'],
            (locally, 'erlang_work:round/2'): ROUNDS,
            # A function that is applied, as the first of each process, hits both.
            (globally, 'erlang_work:worker/2'): ROUNDS, (locally, 'erlang_work:worker/2'): ROUNDS})
        # A BIF is counted once for each call.
        self.assertEqual([count for (_, function), count in found.items() if function == 'erlang:put/2'],
                         [truth['puts']])

    def test_call_times(self):
        truth, read = self.recipe('call-times')
        rows = {(short(row), row['by']['str(arg1)']): row for row in read['rows'] if row['count']}
        returned = {function: row for (probe, function), row in rows.items() if probe == 'function__return'}
        plain = returned['erlang_work:plain/1']
        self.assertEqual(plain['count'], truth['plain'])
        self.assertLessEqual(truth['inner_ns'], plain['sum'])
        self.assertLessEqual(plain['sum'], truth['outer_ns'])
        # Of calls of a function by itself the innermost is timed, of calls in its place the last.
        self.assertEqual(returned['erlang_work:deep/2']['count'], ROUNDS)
        self.assertEqual(returned['erlang_work:around/2']['count'], ROUNDS)
        # These never return.
        self.assertNotIn('erlang_work:through/1', returned)
        self.assertNotIn('erlang_work:fails/1', returned)
        self.assertEqual(rows['bif__return', 'erlang:put/2']['count'], truth['puts'])
        functions, native = read['latencies']
        self.assertEqual(functions['matched'],
                         sum(row['count'] for row in returned.values()))
        for latency in functions, native:
            self.assertEqual(latency['started'], latency['matched'] + latency['overwritten'] + latency['open'])
            self.assertEqual((latency['unread'], latency['dropped']), (0, 0))

    def test_spawns(self):
        truth, read = self.recipe('spawns')
        self.assertEqual({row['by']['str(arg1)']: row['count'] for row in read['rows']},
                         {'erlang_work:worker/2': truth['normal'] + truth['stopped']})

    def test_lives(self):
        truth, read = self.recipe('lives')
        self.assertEqual({row['by']['str(arg1)']: row['count'] for row in read['rows'] if row['count']},
                         {'normal': truth['normal'], 'stopped': truth['stopped']})
        self.assertLessEqual(truth['inner_ns'], sum(row['sum'] for row in read['rows']))

    def test_messages(self):
        truth, read = self.recipe('messages')
        sent = [row for row in read['rows'] if short(row) == 'message__send'
                and row['by']['str(arg1)'] == truth['main'] and row['sum'] == 3]  # {done, Pid} with its header
        self.assertEqual(sum(row['count'] for row in sent), truth['sent'])
        queued = sum(row['count'] for row in read['rows'] if short(row) == 'message__queued'
                     and row['by']['str(arg0)'] == truth['main'])
        # Also the monitors' messages, and those of input and output.
        self.assertGreaterEqual(queued, truth['sent'] + truth['normal'] + truth['stopped'])

    def test_scheduling(self):
        truth, read = self.recipe('scheduling')
        waits = [row for row in read['rows'] if short(row) == 'process__scheduled']
        # Each call of plain/1 waits.
        self.assertGreaterEqual(sum(row['count'] for row in waits), truth['plain'])
        self.assertLessEqual(truth['plain'] * 1_000_000, sum(row['sum'] for row in waits))

    def test_garbage_collections(self):
        truth, read = self.recipe('gc')
        major = [row for row in read['rows'] if short(row) == 'gc_major__end']
        self.assertGreaterEqual(sum(row['count'] for row in major), truth['collected'])
        [latency] = read['latencies']
        self.assertEqual((latency['matched'], latency['open']), (latency['started'], 0))

    def test_words_of_garbage_collections(self):
        truth, read = self.recipe('gc-words')
        for probe in 'gc_major__start', 'gc_major__end':
            self.assertGreaterEqual(sum(row['count'] for row in read['rows'] if short(row) == probe), truth['collected'])

    def test_those_that_the_machine_has_no_probes_for_say_so(self):
        program = self.work()
        for name in LACKING:
            with self.subTest(recipe=name):
                done = self.daemon.run('recipe', 'run', name, '-p', str(program.pid))
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertIn(f'{name} needs an Erlang virtual machine of your own', done.stderr)

    def test_the_columns_are_those_of_its_own_arguments(self):
        program = self.work()
        process = self.started('recipe', 'run', 'erlang-spawns', '-p', str(program.pid))
        program.send('go')
        program.result()
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=60)
        self.assertEqual(printed.split()[:3], ['FUNCTION', 'COUNT', 'PROBE'])

    def test_the_machine_is_traced_from_its_first_instruction_though_a_script_starts_it(self):
        done = self.daemon.run('--json', 'count', 'usdt::erlang:process-spawn', '--by', 'str(arg0), str(arg1)', '-x',
                               str(self.otp.beam), '--', *self.command(), input='go\nexit\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        _, _, truth, read = done.stdout.splitlines()
        spawned = [(row['by']['str(arg0)'], row['by']['str(arg1)']) for row in json.loads(read)['rows']]
        self.assertEqual(min(spawned), ('<0.0.0>', 'erl_init:start/2'))
        self.assertEqual(sum(function == 'erlang_work:worker/2' for _, function in spawned),
                         sum(json.loads(truth)[reason] for reason in ('normal', 'stopped')))

    def test_its_provider_file_has_the_types(self):
        truth, events = self.traced('trace', 'usdt::erlang:process-spawn', '--types', str(self.otp.provider_file),
                                    '--when', 'str(arg.mfa) == "erlang_work:worker/2"')
        self.assertEqual(len(events), truth['normal'] + truth['stopped'])
        for event in events:
            process, function = event['args']
            self.assertRegex(process, r'^<0\.\d+\.0>$')
            self.assertEqual(function, 'erlang_work:worker/2')

    def test_a_file_says_which_commands_fit_before_it_runs(self):
        done = self.daemon.run('recipe', 'run', 'erlang-spawns', '--dry-run', '-x', str(self.otp.beam))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_machine_of_which_nothing_is_known_yet_is_refused(self):
        group = cgroups.mount_of_v2() / f'tracectl-test-{os.getpid()}-otp'
        group.mkdir()
        self.addCleanup(group.rmdir)
        done = self.daemon.run('recipe', 'run', 'erlang-spawns', '--cgroup', str(group))
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn('nothing in the target has usdt::erlang:process-spawn yet', done.stderr)
        self.assertIn('-x', done.stderr)


if __name__ == '__main__':
    unittest.main()
