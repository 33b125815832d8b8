# SPDX-License-Identifier: BSD-2-Clause
"""graph shows the calls that uftrace records of the same program, call by call."""

import re
import subprocess
import tempfile

import support
from support import target

ROUNDS = 20


def calls(text):
    """The lines of calls, from the outermost on, without what stands before and after them."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r' */\*.*', '', line)
        if re.search(r'(\(\)[;{ ]*|})$', line):
            lines.append(line.rstrip())
    return lines


@support.needs_root
class BesideUftrace(support.DaemonTest):
    def replayed(self, program, *options):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run(['uftrace', 'record', '--no-pager', '-P', '.', *options, '-d', directory, program],
                           check=True, capture_output=True, timeout=60)
            return subprocess.run(['uftrace', 'replay', '--no-pager', '-d', directory, '-f', 'none',
                                   '-F', 'shop::round_of'], check=True, capture_output=True, text=True,
                                  timeout=60).stdout

    def graphed(self, program, *options):
        done = self.daemon.run('graph', *options, '--', program)
        self.assertEqual(done.returncode, 0, done.stderr)
        return '\n'.join(line.partition('|  ')[2] for line in done.stdout.splitlines())

    def test_the_calls_are_the_same(self):
        program = target('shop')
        seen = calls(self.graphed(program, 'u::shop::round_of*', '--only', 'u::shop::*'))
        self.assertEqual(seen, calls(self.replayed(program, '--no-libcall')))
        self.assertEqual(seen.count('shop::round_of() {'), ROUNDS)
        self.assertEqual(sum('shop::Dear::tax()' in line for line in seen), ROUNDS)

    def test_calls_of_libraries_are_the_same(self):
        program = target('shop')
        seen = calls(self.graphed(program, 'u::shop::*', '--imports'))
        self.assertEqual(seen, calls(self.replayed(program)))
        self.assertEqual(sum('  getenv();' in line for line in seen), ROUNDS)
