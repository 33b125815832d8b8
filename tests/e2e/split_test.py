# SPDX-License-Identifier: BSD-2-Clause
"""Durations split into running, runnable and blocked. The expected times are those that the program tells
(tests/targets/blocks.c).

The kernel of some machines does not show each switch to the programs: of some hundred, one away from a thread of the
machine's own management. A call in which that happened is not split, so only the others are compared."""

import json
import re

import offcpu_test
import support

FUNCTIONS = 'u::blocks_outer', 'u::blocks_read', 'u::blocks_left', 'u::blocks_hidden', 'u::blocks_burn'
PARTS = 'running', 'runnable', 'blocked'


def name_of(probe):
    return probe.rpartition(':')[2]


@support.needs_root
class Split(offcpu_test.Blocks):
    def check_known(self, ns, place, said, unsplit):
        """Of so many calls the parts are not known; the others are as the program tells."""
        self.assertLess(unsplit, said['rounds'])
        self.assertLessEqual(ns, said[place]['most'])
        if not unsplit:
            self.assertGreaterEqual(ns, said[place]['least'])

    def check_runnable(self, ns, said, unsplit):
        """The kernel's clock of the scheduler and ours are read a little apart at each switch."""
        self.assertLess(ns, said['burn']['most'] * 1.1)
        if not unsplit:
            self.assertGreater(ns, said['burn']['least'] * 0.9)

    def rows(self, *words):
        printed, said = self.printed(*words, '--json')
        rows = {name_of(row['probe']): {'unsplit': 0, **row} for row in json.loads(printed)['rows']}
        for row in rows.values():
            parts = sum(row[part] for part in PARTS)
            self.assertEqual(row['sum'], parts) if not row['unsplit'] else self.assertLess(parts, row['sum'])
        return rows, said

    def check_rows(self, rows, said):
        for place in offcpu_test.PLACES:
            self.assertEqual(rows[place]['count'], said['rounds'])
            self.check_known(rows[place]['blocked'], place, said, rows[place]['unsplit'])
        self.assertEqual(rows['blocks_burn']['blocked'], 0)
        self.check_runnable(rows['blocks_burn']['runnable'], said, rows['blocks_burn']['unsplit'])
        outer = rows['blocks_outer']
        self.assertLessEqual(outer['blocked'], sum(said[place]['most'] for place in offcpu_test.PLACES))
        if not outer['unsplit']:
            self.assertGreaterEqual(outer['blocked'], sum(rows[place]['blocked'] for place in offcpu_test.PLACES))
            self.assertGreaterEqual(outer['runnable'], rows['blocks_burn']['runnable'])

    def test_times_by_probes_at_the_exits(self):
        self.check_rows(*self.rows('time', '--split', *FUNCTIONS, '--returns', 'exits'))

    def test_times_by_trampoline(self):
        self.check_rows(*self.rows('time', '--split', *FUNCTIONS, '--returns', 'trampoline'))

    def test_calls_of_a_graph_are_split(self):
        printed, said = self.printed('graph', '--split', 'u::blocks_outer', '--json')
        events = [json.loads(line) for line in printed.splitlines()]
        for place in (*offcpu_test.PLACES, 'blocks_burn'):
            ends = [event for event in events if event['kind'] == 'return' and name_of(event['probe']) == place]
            known = [end for end in ends if 'blocked' in end]
            for end in known:
                self.assertLessEqual(end['blocked'] + end['runnable'], end['duration'])
            blocked = sum(end['blocked'] for end in known)
            if place == 'blocks_burn':
                self.assertEqual(blocked, 0)
            else:
                self.check_known(blocked, place, said, len(ends) - len(known))

    def test_a_graph_shows_the_parts_beside_the_calls(self):
        printed, _ = self.printed('graph', '--split', 'u::blocks_outer')
        self.assertRegex(printed, r'(?m)/\* (blocks_outer; )?blocked [\d.]+ us')
        self.assertRegex(printed, r'/\* runnable [\d.]+ us \*/')
        self.assertRegex(printed, r'waited_for_cpu\(\); /\* running \*/')

    def test_a_graph_is_summed_up_with_the_parts(self):
        printed, said = self.printed('graph', '--report', '--split', 'u::blocks_outer', '--json')
        functions = {one['name']: {'unsplit': 0, **one} for one in json.loads(printed)['functions']}
        for place in offcpu_test.PLACES:
            self.check_known(functions[place]['blocked_ns'], place, said, functions[place]['unsplit'])
        burn = functions['blocks_burn']
        self.check_runnable(burn['runnable_ns'], said, burn['unsplit'])

    def test_the_table_has_a_column_for_each_part(self):
        printed, _ = self.printed('time', '--split', 'u::blocks_burn')
        self.assertRegex(printed, r'CALLS +TOTAL +SELF +RUNNING +RUNNABLE +BLOCKED ')
        self.assertRegex(printed, r'(?m)^ +5 .* 0 ns .*blocks_burn$')

    def test_a_condition_takes_calls_that_were_blocked(self):
        printed, said = self.printed('count', 'u::blocks_read', 'u::blocks_burn', '--when', 'blocked >= 1ms', '--json')
        counts = {name_of(row['probe']): row['count'] for row in json.loads(printed)['rows'] if row['count']}
        self.assertEqual(list(counts), ['blocks_read'])
        self.assertLessEqual(counts['blocks_read'], said['rounds'])

    def test_a_latency_within_a_thread_is_split(self):
        rows, said = self.rows('latency', '--from', 'u::blocks_read', '--to', 'u::blocks_burn', '--split')
        row = rows['blocks_burn']
        self.check_known(row['blocked'], 'blocks_read', said, row['unsplit'])

    def test_a_latency_between_threads_is_not(self):
        printed, _ = self.printed('latency', '--from', 'u::blocks_read', '--to', 'u::blocks_wake', '--by', 'pid',
                                  '--split', '--json')
        row, = json.loads(printed)['rows']
        self.assertEqual(row['unsplit'], row['count'])
        self.assertEqual([row[part] for part in PARTS], [0, 0, 0])

    def test_is_refused_where_nothing_has_a_duration(self):
        done = self.daemon.run('trace', 'u::blocks_read', '--do', 'split', '-x', support.target('blocks'), '--for', '0s')
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, re.escape('split shows the parts of durations'))
