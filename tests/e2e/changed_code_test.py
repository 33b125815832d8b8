# SPDX-License-Identifier: BSD-2-Clause
"""A process that has changed its own copy of a function's code: there, a breakpoint would be in the middle of
code that nobody has decoded. It is refused in this process and for all processes; the others can be traced."""

import re
import subprocess
import unittest

import support
from support import target

COUNTERS = target('counters')
ROUNDS, FUNCTIONS, CHANGED = 20, 10, 'f0003'
AS_GOOD = bytes.fromhex('eb03 0f1f00')  # a jump over itself, for the 5-byte nop at each function's beginning


def address_of(pid, function):
    symbols = subprocess.run(['nm', COUNTERS], check=True, capture_output=True, text=True).stdout
    value = int(re.search(rf'^(\w+) T {function}$', symbols, re.M)[1], 16)
    with open(f'/proc/{pid}/maps') as maps:
        return value + next(int(line.partition('-')[0], 16) for line in maps if COUNTERS in line)


def change(pid, function):
    with open(f'/proc/{pid}/mem', 'r+b', buffering=0) as memory:
        memory.seek(address_of(pid, function))
        memory.write(AS_GOOD)


@support.needs_root
class ChangedCode(support.DaemonTest):
    def setUp(self):
        super().setUp()
        self.as_in_file, self.changed = (
            self.program('counters', '1', str(ROUNDS), str(FUNCTIONS)) for _ in range(2))
        change(self.changed.pid, CHANGED)
        self.of_change = self.differs(self.changed)
        self.assertGreater(self.of_change, 0)
        self.daemon.json('session', 'new', 's')

    @staticmethod
    def differs(program):
        return support.text_differs(program.pid, COUNTERS)

    def stage(self, *where):
        self.daemon.json('stage', 's', 'set', f'uprobe:{COUNTERS}:f000*', *where, '--do', 'count by pid')

    def check_refused(self):
        failed = self.daemon.run('commit', 's', '--strict')
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn('runs other code here than the file has', failed.stderr)
        self.assertIn(f'{COUNTERS}:{CHANGED}', failed.stderr)
        self.assertIn(str(self.changed.pid), failed.stderr)
        self.assertNotIn('f0004', failed.stderr)
        self.assertEqual((self.differs(self.as_in_file), self.differs(self.changed)), (0, self.of_change))

    def check_counted(self, *programs, functions):
        """These processes have this many calls of these functions, and the programs work as before."""
        for program in self.as_in_file, self.changed:
            program.send('go')
            said = program.result()
            self.assertEqual(said['total'], ROUNDS * FUNCTIONS)
        rows = [(row['by']['pid'], row['probe'].rsplit(':', 1)[1], row['count'])
                for row in self.daemon.json('read', 's')['rows']]
        self.assertEqual(sorted(rows), sorted((program.pid, function, ROUNDS)
                                              for program in programs for function in functions))

    def test_is_refused_in_its_process_and_the_rest_of_it_can_be_armed(self):
        self.stage('-p', str(self.changed.pid))
        self.check_refused()
        self.daemon.json('commit', 's')
        self.check_counted(self.changed, functions=self.but_changed())

    def test_is_refused_for_all_by_the_process_that_has_it(self):
        self.stage('-a')
        self.check_refused()
        self.daemon.json('commit', 's')
        self.check_counted(self.as_in_file, self.changed, functions=self.but_changed())

    def test_is_nobodys_business_in_another_process(self):
        self.stage('-p', str(self.as_in_file.pid))
        self.daemon.json('commit', 's')
        self.check_counted(self.as_in_file, functions=[*self.but_changed(), CHANGED])

    @staticmethod
    def but_changed():
        return [f'f{n:04}' for n in range(FUNCTIONS) if f'f{n:04}' != CHANGED]


if __name__ == '__main__':
    unittest.main()
