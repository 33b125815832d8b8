# SPDX-License-Identifier: BSD-2-Clause
"""Returns on the command line, compared with what the traced program counts (tests/targets/calls.cpp) and with
bpftrace on the same run."""

import json
import re
import unittest

import support
from support import target


def function_of(row):
    return row['probe'].rsplit(':', 1)[1]


@support.needs_root
class Returns(support.DaemonTest):
    one_daemon = True

    def traced(self, *words, rounds='100'):
        """The program's report, and the output of tracectl."""
        done = self.daemon.run(*words, '--', target('calls'), rounds, input='go\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        said = done.stdout.index('done\n')
        end = done.stdout.index('\n', said + 5)
        return json.loads(done.stdout[said + 5:end]), done.stdout[:said] + done.stdout[end + 1:]

    def test_time_has_each_call_once(self):
        said, printed = self.traced('--json', 'time', 'u::calls_recurse', 'u::calls_throw')
        rows = {function_of(row): row for row in json.loads(printed.split('\n', 1)[1])['rows']}
        for function, row in rows.items():
            truth = said['functions'][function]
            self.assertEqual(row['count'], truth['returns'])
            self.assertEqual(row.get('unwound', 0), truth['unwound'])
            self.assertEqual(sum(bucket['count'] for bucket in row['hist']), row['count'])
            self.assertLessEqual(row['self'], row['sum'])

    def test_time_is_a_table_with_a_histogram(self):
        _, printed = self.traced('time', 'u::calls_throw')
        self.assertRegex(printed.split('\n')[1],  # the first line is the program's
                         r'^CALLS +TOTAL +SELF +AVG +MIN +P50 +P90 +P99 +MAX( +PROBES)? +UNWOUND +PROBE$')
        self.assertIn('duration at uprobe:', printed)

    def test_what_single_steps_take_is_said_before_arming(self):
        def planned(*verb):
            return *verb, '--dry-run', '--', target('burns'), '1'

        by_exits = planned('time', 'burns_outer', 'burns_stepped', '--returns', 'exits')
        self.assertRegex(self.daemon.run(*by_exits).stdout,
                         r'\nabout [\d.]+ us a call: 1 of 2 entries and 2 of 2 exits are single-stepped\n$')
        reply = self.daemon.json(*by_exits)
        self.assertEqual((reply['slow_sites'], reply['exits'], reply['slow_exits']), (1, 2, 2))
        self.assertRegex(self.daemon.run(*planned('count', 'burns_*')).stdout,
                         r'\nabout [\d.]+ us a hit: 1 of 4 entries are single-stepped\n$')
        self.assertNotIn('about', self.daemon.run(*planned('time', 'burns_outer', '--returns', 'trampoline')).stdout)

    def test_list_shows_what_followed_calls_take(self):
        listed = 'list', 'uprobe:*:burns_[os]*', '-x', target('burns')
        printed = self.daemon.run(*listed, '--returns', 'exits').stdout
        self.assertRegex(printed, r'^PROBE +CLASS +SITES +SEMAPHORE +RETURNS +ARGUMENTS\n')
        self.assertRegex(printed, r'burns_stepped +slow +1 +no +1 exit, 1 slow ')
        self.assertRegex(printed, r'; about [\d.]+ us a call: 1 of 2 entries and 2 of 2 exits are single-stepped\n$')
        by_trampoline = self.daemon.json(*listed, '--returns', 'trampoline')
        self.assertEqual({site['returns'] for probe in by_trampoline['probes'] for site in probe['sites']},
                         {'trampoline'})
        self.assertLess(by_trampoline['hit_ns'], self.daemon.json(*listed, '--returns', 'exits')['hit_ns'])
        self.assertNotIn('RETURNS', self.daemon.run(*listed).stdout)
        self.assertIn('auto, trampoline, exits', self.daemon.run(*listed, '--returns', 'exit').stderr)

    def test_a_return_is_an_event_with_its_value(self):
        program = self.program('calls', '2')
        client = self.daemon.connect()
        self.addCleanup(client.close)
        client.result('session.create', name='s')
        client.result('stage.set', session='s', patterns=['ur::calls_leaf'],
                      target={'pids': [program.pid]})
        client.result('session.subscribe', session='s')
        client.result('stage.commit', session='s')
        program.send('go')
        program.result()
        client.result('session.flush', session='s')
        events = [told['params'] for told in client.notifications if told['method'] == 'event']
        by_thread = {}
        for event in events:
            by_thread.setdefault(event['tid'], []).append(event)
        self.assertEqual(len(by_thread), 2)
        for of_thread in by_thread.values():
            self.assertEqual([event['kind'] for event in of_thread], ['hit', 'return'] * 2)
            self.assertEqual([event['args'] for event in of_thread], [[0], [], [1], []])
            self.assertEqual([event.get('retval') for event in of_thread], [None, -3, None, -1])
            for hit, returned in zip(of_thread[::2], of_thread[1::2]):
                self.assertLess(returned['duration'], returned['ts'] - hit['ts'] + 1000000)

    def test_a_condition_on_the_result_takes_the_call_with_its_arguments(self):
        _, printed = self.traced('trace', 'u::calls_leaf', '--when', 'retval == 17', '-q')
        lines = [line for line in printed.splitlines() if 'calls_leaf' in line]
        self.assertEqual(len(lines), 2)  # two threads
        for line in lines:
            self.assertIn('calls_leaf(a=10) = 17 after ', line)

    def test_what_cannot_be_followed_is_refused_with_the_reason(self):
        done = self.daemon.run('time', 'u::calls_leaf+1', '-x', target('calls'))
        self.assertNotEqual(done.returncode, 0)
        done = self.daemon.run('time', 'u::calls_leaf', '-x', target('calls'), '--returns', 'exit')
        self.assertEqual(done.returncode, 2)
        self.assertIn('did you mean "exits"?', done.stderr)

    def test_explain_tells_the_way_and_the_reason(self):
        program = self.program('calls', '0')
        self.daemon.json('session', 'new', 's')
        for function, way, reason in (('calls_leaf', 'trampoline', 'it calls nothing'),
                                      ('calls_throw', 'exits', 'it may be unwound')):
            spec = self.daemon.json('stage', 's', 'set', 'u::' + function, '-p', str(program.pid),
                                    '--do', 'time', '--explain')['spec']
            self.assertEqual((spec['returns'], spec['returns_because']), (way, reason))


@support.needs_root
class ReturnsInBpftrace(support.DaemonTest):
    SCRIPT = """uretprobe:PATH:calls_leaf /pid == PID/ { @[(int32)retval] = count(); }"""

    def test_are_the_same(self):
        said, read, _ = self.beside_bpftrace(
            self.SCRIPT, 1, 'calls', '50', setting=('u::calls_leaf', '--do', 'count by retval'))
        theirs = {int(value): int(count)
                  for value, count in re.findall(r'^@\[(-?\d+)\]: (\d+)$', said, re.M)}
        self.assertEqual({row['by']['retval']: row['count'] for row in read['rows']},
                         theirs)
        self.assertEqual(len(theirs), 50)


if __name__ == '__main__':
    unittest.main()
