# SPDX-License-Identifier: BSD-2-Clause
"""Where threads are blocked within calls, on the command line. The expected times are those that the program tells
(tests/targets/blocks.c); kernel tests compare them for each way in which a call can end (blocked_test)."""

import json
import pathlib
import re

import stacks_test
import support
from support import target

PLACES = 'blocks_read', 'blocks_left', 'blocks_hidden'


def place_in(functions):
    """The function that blocks_outer has called."""
    return functions[functions.index('blocks_outer') - 1]


def tracepoints_of(pid):
    """Those at which the process has programs."""
    names = set()
    for info in pathlib.Path(f'/proc/{pid}/fdinfo').iterdir():
        try:
            names |= set(re.findall(r'^tp_name:\s*(\S+)', info.read_text(), re.M))
        except FileNotFoundError:
            pass
    return names


class Blocks(support.DaemonTest):
    def printed(self, *words):
        """What the verb prints of a program, and what the program says."""
        program = support.Program(target('blocks'), '5')
        self.addCleanup(program.end)
        said = {}

        def result():
            said.update(support.Program.result(program))

        program.result = result
        return stacks_test.printed_for(program, ['--socket', self.daemon.socket], *words), said

    def check(self, ns, place, said):
        self.assertGreaterEqual(ns, said[place]['least'])
        self.assertLessEqual(ns, said[place]['most'])


@support.needs_root
class OffCpu(Blocks):
    def test_json_has_the_sums_by_stack(self):
        printed, said = self.printed('offcpu', 'u::blocks_outer', '--json')
        found = {}
        for row in json.loads(printed)['rows']:
            self.assertEqual((row['of'], row['count']), ('block', said['rounds']))
            self.assertEqual(row['probe'], f'uprobe:{target("blocks")}:blocks_outer')
            self.assertLessEqual(row['max'], row['sum'])
            found[place_in([frame['function'] for frame in row['stack']])] = row['sum']
        self.assertEqual(sorted(found), sorted(PLACES))
        for place in PLACES:
            self.check(found[place], place, said)

    def test_the_table_has_times_and_the_longest_come_first(self):
        printed, said = self.printed('offcpu', 'u::blocks_read', 'u::blocks_left')
        self.assertRegex(printed, r'STACK +COUNT +TOTAL +AVG +MAX +PROBE\n')
        rows = re.findall(r'^#\d+ +(\d+) +([\d.]+) (\w+) .*:(\w+)$', printed, re.M)
        self.assertEqual(sorted(row[3] for row in rows), ['blocks_left', 'blocks_read'])
        unit = {'us': 1e3, 'ms': 1e6, 's': 1e9}
        totals = [float(number) * unit[name] for _, number, name, _ in rows]
        self.assertEqual(totals, sorted(totals, reverse=True))
        self.assertEqual({int(row[0]) for row in rows}, {said['rounds']})

    def test_folded_stacks_have_nanoseconds(self):
        printed, said = self.printed('offcpu', 'u::blocks_outer', '--folded')
        found = stacks_test.folded(printed)
        self.assertEqual(len(found), len(PLACES))
        for stack, ns in found.items():
            self.check(ns, place_in(stack[::-1]), said)

    def test_the_programs_in_the_scheduler_are_there_only_while_a_session_wants_them(self):
        program = self.program('blocks')
        wanted = {'sched_switch', 'sched_wakeup'}
        before = tracepoints_of(self.daemon.process.pid)
        self.assertFalse(before & wanted)
        for name in 's', 't':
            self.daemon.json('session', 'new', name)
            self.daemon.json('stage', name, 'set', 'u::blocks_read', '-p', str(program.pid), '--do', 'sum(block)')
            self.daemon.json('commit', name)
            self.assertEqual(tracepoints_of(self.daemon.process.pid) & wanted, wanted)
        self.daemon.json('session', 'delete', 's')
        self.assertEqual(tracepoints_of(self.daemon.process.pid) & wanted, wanted)
        self.daemon.json('session', 'delete', 't')
        self.assertFalse(tracepoints_of(self.daemon.process.pid) & wanted)
