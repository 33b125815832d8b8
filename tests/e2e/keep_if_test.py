# SPDX-License-Identifier: BSD-2-Clause
"""`--keep-if`: exactly the matching trees of those that the traced program reports."""

import json
import unittest

import graph_truth
import support
from graph_runs import EMBEDDED, PAUSE_US, ROUNDS, THREADS, GraphRuns


def seed(thread, round_):
    """The root's argument, as the program computes it."""
    return ((thread + round_ * THREADS) * 2654435761 % 2**32) >> 12


@support.needs_root
class KeepIf(GraphRuns):
    one_daemon = True

    def matching(self, said, matches):
        """The true trees with matching seeds."""
        truth = self.truth()
        return {one['tid']: [tree for round_, tree in enumerate(truth[one['tid']])
                             if matches(seed(thread, round_))]
                for thread, one in enumerate(said['threads'])}

    def is_kept(self, seen, said, matches):
        expected = self.matching(said, matches)
        self.assertGreater(sum(map(len, expected.values())), 0)
        found = graph_truth.differences({tid: trees for tid, trees in expected.items() if trees},
                                        seen)
        self.assertEqual(len(found), 0, '\n'.join(found[:3]))

    def test_all_is_kept_where_all_match(self):
        printed, said = self.graph(self.tree(ROUNDS, PAUSE_US), ['tree_root'], '--json', '--keep-if',
                                   'duration >= 0', engine=EMBEDDED)
        with printed.open() as lines:
            self.is_kept(graph_truth.from_json(lines), said, lambda _: True)

    def test_text_is_of_what_matches(self):
        for engine in EMBEDDED, ['--socket', self.daemon.socket]:
            printed, said = self.graph(self.tree(100, PAUSE_US), ['tree_root'], '--keep-if',
                                       'arg0 % 5 == 2', engine=engine)
            with printed.open() as lines:
                self.is_kept(graph_truth.from_text(lines), said, lambda number: number % 5 == 2)

    def test_probes_within_are_kept_with_their_call(self):
        printed, said = self.graph(self.tree(50, PAUSE_US), ['tree_root'], '--beside',
                                   'usdt::tree:mark', '--keep-if', 'arg0 % 5 == 2', engine=EMBEDDED)
        with printed.open() as lines:
            found = graph_truth.differences(
                {tid: trees for tid, trees in
                 self.matching(said, lambda number: number % 5 == 2).items() if trees},
                graph_truth.from_text(lines), marks=True)
        self.assertEqual(len(found), 0, '\n'.join(found[:3]))

    def test_one_call_of_thousands_at_full_speed_is_found(self):
        """If the others were streamed, many events would be lost."""
        sought = seed(2, ROUNDS // 2)
        printed, said = self.graph(self.tree(ROUNDS), ['tree_root'], '--json', '--keep-if',
                                   f'arg0 == {sought}')
        with printed.open() as lines:
            self.is_kept(graph_truth.from_json(lines), said, lambda number: number == sought)

    def test_a_recording_of_it_is_in_the_order_of_time(self):
        recording = self.directory / 'kept.tct'
        printed, said, _ = self.ran(self.tree(ROUNDS), ['tree_root'], '-o', str(recording), '--keep-if',
                                   'arg0 % 50 == 2', engine=EMBEDDED)
        self.assertIn(' 0 lost', printed.read_text())
        shown = support.run('--json', 'show', str(recording))
        self.assertEqual(shown.returncode, 0, shown.stderr)
        times = [json.loads(line)['ts'] for line in shown.stdout.splitlines()]
        self.assertEqual(times, sorted(times))
        self.is_kept(graph_truth.from_json(shown.stdout.splitlines()), said,
                     lambda number: number % 50 == 2)

    def test_it_can_be_staged_and_is_shown(self):
        self.daemon.run('session', 'new', 'slow')
        program = self.tree(1)
        staged = self.daemon.run('stage', 'slow', 'set', 'uprobe::tree_root', '-p', str(program.pid), '--do',
                                 'graph', '--keep-if', 'thrown || duration>1000000', '--explain')
        self.assertIn('keep: if thrown || duration > 1000000', staged.stdout)
        self.daemon.run('commit', 'slow')
        shown = json.loads(self.daemon.run('--json', 'session', 'show', 'slow').stdout)
        self.assertEqual(shown['settings'][0]['graph']['keep_if'], 'thrown || duration > 1000000')

    def test_what_makes_no_sense_is_refused(self):
        program = self.tree(1)
        for options, why in (
                (['--keep-if', 'duratoin > 1'], 'unknown name "duratoin"'),
                (['--keep-if', 'stack_bytes > 1'], 'stack_bytes is known where a call begins'),
                (['--keep-if', 'arg7 > 1'], 'only the first 6 arguments are kept'),
                (['--keep-if', 'duration > 1', '--report'], 'excludes')):
            done = support.run('--embedded', 'graph', 'tree_root', '-p', str(program.pid), *options)
            self.assertIn(done.returncode, (1, 2), options)
            self.assertIn(why, done.stderr)
        self.daemon.run('session', 'new', 'sums')
        done = support.run('--socket', self.daemon.socket, 'stage', 'sums', 'set', 'uprobe::tree_root', '-p',
                           str(program.pid), '--do', 'graph, time by path', '--keep-if', 'thrown')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('keep_if does not apply to sums', done.stderr)


if __name__ == '__main__':
    unittest.main()
