# SPDX-License-Identifier: BSD-2-Clause
"""Runs of tests/targets/graph_tree.cpp under `tracectl graph`."""

import pathlib
import subprocess
import tempfile

import graph_truth
import support
from support import target

THREADS, ROUNDS = 4, 1000
EMBEDDED = ['--embedded']
PAUSE_US = 6000  # after each round, so that no event is lost


class TreeTest:
    """One run of the program, in its own directory."""

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def tree(self, rounds, pause_us=0):
        program = support.Program(target('graph_tree'), str(THREADS), str(rounds),
                                  str(self.directory / 'log'), str(pause_us))
        self.addCleanup(program.end)
        return program

    def truth(self):
        return graph_truth.from_log((self.directory / 'log').read_text())


class GraphRuns(TreeTest, support.DaemonTest):
    def graph(self, program, functions, *options, engine=None):
        """The output of `tracectl graph` for a run of the program, and the program's own report."""
        printed, said, errors = self.ran(program, functions, *options, engine=engine)
        self.assertIn(' 0 lost', errors)
        return printed, said

    def sums(self, program, functions, *options, engine=None):
        """The same without streaming."""
        printed, said, errors = self.ran(program, functions, *options, engine=engine)
        self.assertNotIn('note', errors)
        return printed, said

    def ran(self, program, functions, *options, engine=None):
        printed = self.directory / 'printed'
        with printed.open('w') as file, subprocess.Popen(
                [support.TRACECTL, *(engine or ['--socket', self.daemon.socket]), 'graph',
                 *functions, '-p', str(program.pid), *options],
                text=True, stdout=file, stderr=subprocess.PIPE) as verb:
            try:
                support.wait_until(lambda: 'tracing' in verb.stderr.readline(), 'the graph')
                program.send('go')
                said = program.result()
                program.send('exit')
                _, errors = verb.communicate(timeout=120)
            finally:
                verb.kill()
        self.assertEqual(verb.returncode, 0, errors)
        return printed, said, errors

    def held_against_the_truth(self, seen):
        found = graph_truth.differences(self.truth(), seen)
        self.assertEqual(len(found), 0, '\n'.join(found[:3]))
