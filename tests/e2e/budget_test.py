# SPDX-License-Identifier: BSD-2-Clause
"""Budgets: probes that cost more are left out and reported. The program calls one function as fast as it can,
and others (tests/targets/busy.c)."""

import json
import os
import signal
import subprocess
import unittest

import jsonschema

import support
from support import target

FUNCTIONS = 'busy_hot', 'busy_below', 'busy_cool', 'busy_slow'
SMALL = '5'  # percent: much less than busy_hot costs, and much more than the others
TOLD = r'tracectl: left out: uprobe:\S*:busy_hot: [\d,]{5,} hits a second cost [\d.]+ % of a CPU, ' \
       r'the budget is 5 %'


def counts(rows):
    return {row['probe'].rsplit(':', 1)[1]: row['count'] for row in rows}


@support.needs_root
@support.runs_alone('measures what hits take of a processor')
class Budget(support.DaemonTest):
    def setUp(self):
        super().setUp()
        self.busy = self.program('busy')
        self.engines = ['--embedded'], ['--socket', self.daemon.socket]

    def patterns(self, *functions):
        return [f'u::{function}' for function in functions] + ['-p', str(self.busy.pid)]

    def start(self, *words):
        """A command that is tracing already."""
        command = subprocess.Popen([support.TRACECTL, *words], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(command.kill)
        while not command.stderr.readline().startswith('tracing'):
            self.assertIsNone(command.poll())
        return command

    def until_told(self, command):
        """Its standard error up to the line about a probe that was left out."""
        line = command.stderr.readline()
        self.assertRegex(line, TOLD)

    def end(self, command):
        command.send_signal(signal.SIGINT)
        printed, errors = command.communicate(timeout=60)
        self.assertEqual(command.returncode, 130, errors)
        return printed, errors

    def stop(self):
        self.busy.send('stop')
        return self.busy.result()

    def conforms(self, document, name):
        schema = json.loads((support.BUILD / 'protocol.schema.json').read_text())
        jsonschema.validate(document, {'$ref': f'#/$defs/{name}', '$defs': schema['$defs']})

    def count(self, engine):
        command = self.start(*engine, '--json', 'count', *self.patterns(*FUNCTIONS), '--budget', SMALL)
        self.busy.send('go')
        self.until_told(command)
        said = self.stop()
        printed, _ = self.end(command)
        return json.loads(printed), said

    def check_count(self, engine):
        reply, said = self.count(engine)
        self.conforms(reply, 'session.read.reply')
        counted = counts(reply['rows'])
        for function in FUNCTIONS[1:]:
            self.assertEqual(counted[function], said[function])
        self.assertLess(0, counted['busy_hot'])
        self.assertLess(counted['busy_hot'], said['busy_hot'])
        left_out, = reply['left_out']
        self.assertTrue(left_out['probe'].endswith(':busy_hot'))
        self.assertEqual((left_out['class'], left_out['budget'], left_out['others']), ('normal', 5, 0))
        self.assertGreater(left_out['percent'], 5)

    def test_what_costs_more_is_left_out_by_the_daemon(self):
        self.check_count(['--socket', self.daemon.socket])

    def test_what_costs_more_is_left_out_by_an_embedded_engine(self):
        self.check_count(['--embedded'])

    def test_where_nothing_is_left_the_command_fails_and_prints_what_was_counted(self):
        self.busy.send('go')
        for engine in self.engines:
            with self.subTest(engine=engine):
                done = support.run(*engine, 'count', *self.patterns('busy_hot'), '--budget', SMALL)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, TOLD)
                self.assertIn('nothing is left to trace within a budget of 5 %', done.stderr)
                self.assertRegex(done.stdout, r'(?m)^ *\d{4,}  uprobe:\S*:busy_hot$')
                self.assertEqual(support.text_differs(self.busy.pid, target('busy')), 0)

    def test_it_is_told_in_the_stream(self):
        self.busy.send('go')
        for engine in self.engines:
            with self.subTest(engine=engine):
                done = support.run(*engine, '--json', 'trace', *self.patterns('busy_hot', 'busy_cool'), '--do',
                                   'sample(10000), event', '--for', '2', '--budget', SMALL)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stderr, TOLD)
                lines = [json.loads(line) for line in done.stdout.splitlines()]
                told, = (line['left_out'] for line in lines if 'left_out' in line)
                self.conforms(told, 'left_out')
                self.assertTrue(told['probe'].endswith(':busy_hot'))

    def test_a_command_without_one_leaves_nothing_out(self):
        self.busy.send('go')
        reply = self.daemon.json('count', *self.patterns(*FUNCTIONS), '--for', '1')
        self.assertNotIn('left_out', reply)
        self.assertGreater(counts(reply['rows'])['busy_hot'], 20_000)

    def test_a_session_keeps_it_while_nobody_looks(self):
        self.daemon.json('session', 'new', 's', '--budget', SMALL)
        self.daemon.json('stage', 's', 'set', *self.patterns(*FUNCTIONS), '--do', 'count')
        self.daemon.json('commit', 's')
        armed = support.text_differs(self.busy.pid, target('busy'))
        self.busy.send('go')
        support.wait_until(lambda: support.text_differs(self.busy.pid, target('busy')) < armed,
                           'the hot function to be left out')
        support.wait_until(lambda: self.daemon.json('session', 'show', 's')['left_out'], 'its telling')
        shown = self.daemon.json('session', 'show', 's')
        self.conforms(shown, 'session.show.reply')
        self.assertEqual((shown['budget'], shown['probes']), (5, 3))
        self.assertRegex(self.daemon.run('session', 'show', 's').stdout,
                         r'its hits may cost 5 % of a CPU\nleft out: uprobe:\S*:busy_hot: ')
        client = self.daemon.connect()
        self.addCleanup(client.close)
        reply = client.result('session.budget', session='s')
        self.conforms(reply, 'session.budget.reply')
        self.assertEqual((reply['budget'], reply['probes'], len(reply['left_out'])), (5, 3, 1))
        self.assertEqual(client.result('session.budget', session=client.result('session.create')['name']),
                         {'percent': 0, 'probes': 0, 'left_out': []})

    def test_watching_a_session_tells_of_it(self):
        self.daemon.json('session', 'new', 's', '--budget', SMALL)
        self.daemon.json('stage', 's', 'set', *self.patterns('busy_hot'), '--do', 'count')
        self.daemon.json('stage', 's', 'set', *self.patterns('busy_cool'))
        self.daemon.json('commit', 's')
        watching = subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, 'watch', 's'],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watching.kill)
        self.busy.send('go')
        self.until_told(watching)
        self.end(watching)

    def test_a_recipe_has_one_too(self):
        self.busy.send('go')
        done = self.daemon.run('recipe', 'run', 'hottest-functions', '-p', str(self.busy.pid), '--for', '2',
                               '--budget', SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, TOLD)

    def test_one_that_makes_no_sense_is_refused(self):
        for budget in '0', '-5', 'much':
            done = self.daemon.run('count', *self.patterns('busy_hot'), '--budget', budget)
            self.assertEqual(done.returncode, 2, done.stderr)
        done = self.daemon.run('session', 'new', 's', '--budget', str(100 * os.cpu_count() + 1))
        self.assertEqual(done.returncode, 2)
        self.assertIn(f'at most {100 * os.cpu_count()}', done.stderr)
        client = self.daemon.connect()
        self.addCleanup(client.close)
        answer = client.call('session.create', budget=-1)
        self.assertEqual((answer['error']['data']['code'], answer['error']['data']['field']),
                         ('invalid', 'budget'))


if __name__ == '__main__':
    unittest.main()
