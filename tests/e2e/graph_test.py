# SPDX-License-Identifier: BSD-2-Clause
"""Compares graphs of calls, as JSON lines and as text, with the traced program's own report of each call
(tests/targets/graph_tree.cpp)."""

import json
import subprocess
import unittest

import jsonschema

import graph_truth
import support
from graph_runs import EMBEDDED, PAUSE_US, ROUNDS, THREADS, GraphRuns, TreeTest
from graph_truth import Readers  # the import runs their tests, too
from support import target

FUNCTIONS = {'root'} | {f'{number:02}' for number in range(30)}


class Truth(TreeTest, unittest.TestCase):
    def test_tells_trees_that_have_everything(self):
        program = self.tree(100)
        program.send('go')
        said = {thread['tid']: thread for thread in program.result()['threads']}
        truth = self.truth()
        self.assertEqual(truth.keys(), said.keys())
        self.assertEqual(len(truth), THREADS)
        for tid, trees in truth.items():
            self.assertEqual(len(trees), 100)
            measures = [graph_truth.measure(tree) for tree in trees]
            for of_all in 'calls', 'unwound', 'marks':
                self.assertEqual(sum(getattr(one, of_all) for one in measures), said[tid][of_all])
                self.assertGreater(said[tid][of_all], 0)
            self.assertEqual(max(one.depth for one in measures), 8)
            self.assertEqual(set().union(*(one.functions for one in measures)), FUNCTIONS)
            text = ' '.join(trees)
            # Unwound, and then another call from the frame to which it came back.
            for thrown in r'02\(08\(09\([^!]*\)!\)!10\(', r'20\(21\([^!]*\)!\)!10\(':
                self.assertRegex(text, thrown)
            self.assertIn(')>14(', text)


@support.needs_root
class Graph(GraphRuns):
    one_daemon = True

    def test_json_is_what_was_called(self):
        program = self.tree(ROUNDS, PAUSE_US)
        printed, said = self.graph(program, ['tree_root'], '--json', engine=EMBEDDED)
        with printed.open() as lines:
            self.held_against_the_truth(graph_truth.from_json(lines))
        with printed.open() as lines:
            self.assertEqual(graph_truth.checksums(lines),
                             {thread['tid']: thread['checksum'] for thread in said['threads']})

    def test_text_is_what_was_called(self):
        printed, _ = self.graph(self.tree(ROUNDS, PAUSE_US), ['tree_root'], engine=EMBEDDED)
        with printed.open() as lines:
            self.held_against_the_truth(graph_truth.from_text(lines))

    def test_text_of_the_daemon_is_what_was_called(self):
        printed, _ = self.graph(self.tree(20, 2 * PAUSE_US), ['tree_root'])
        with printed.open() as lines:
            self.held_against_the_truth(graph_truth.from_text(lines))

    def test_probes_are_shown_where_they_fire(self):
        printed, _ = self.graph(self.tree(20, 2 * PAUSE_US), ['tree_root'], '--beside',
                                'usdt::tree:mark')
        with printed.open() as lines:
            found = graph_truth.differences(self.truth(), graph_truth.from_text(lines), marks=True)
        self.assertEqual(len(found), 0, '\n'.join(found[:3]))

    def deep(self, depth, *options):
        program = self.program('graph_deep', str(depth))
        printed, _ = self.graph(program, ['deep', 'deep_land', 'deep_jump'], *options,
                                engine=EMBEDDED)
        expected = {program.pid: [
            'deep(' * (depth + 1) + ')' * (depth + 1),
            'deep_land(' + 'deep_jump(' * (depth + 1) + ')!' * (depth + 1) + 'deep())']}
        return printed, expected

    def test_calls_may_be_nested_ten_thousand_deep(self):
        for depth in 63, 64, 65, 10000:
            with self.subTest(depth=depth):
                printed, expected = self.deep(depth, '--json')
                with printed.open() as lines:
                    self.assertTrue(graph_truth.from_json(lines) == expected)

    def test_deep_calls_are_summed_up(self):
        program = self.program('graph_deep', '10000')
        printed, _ = self.sums(program, ['deep'], '--report')
        heading, row = printed.read_text().splitlines()
        # Where the probes took most of the time a column says so.
        self.assertEqual(heading.removesuffix('PROBES').split(), ['FUNCTION', 'CALLS', 'TOTAL', 'SELF', 'AVG', 'MIN', 'P50', 'P90', 'P99', 'MAX'])
        self.assertEqual(row.split()[:2], ['deep', '10002'])

    def test_calls_are_summed_up_by_those_around_them(self):
        printed, said = self.sums(self.tree(ROUNDS), ['tree_root'], '--tree')
        _, *rows = printed.read_text().splitlines()
        summed_up = graph_truth.ways_from_text(rows)
        self.assertEqual(summed_up, graph_truth.ways(self.truth()))
        self.assertEqual(sum(summed_up.values()), sum(one['calls'] for one in said['threads']))

    def grown(self, engine, *words, send, end):
        """The notes of a growing graph, up to its end, and the lines of functions then. `send` and `end` drive
        its program; if that is the graph's own command they get the command."""
        printed, notes = self.directory / 'printed', self.directory / 'notes'

        def is_told(*names):
            return all(name in notes.read_text() for name in names)
        with printed.open('w') as file, notes.open('w') as errors, subprocess.Popen(
                [support.TRACECTL, *engine, 'graph', 'grow_root', '--grow', *words], text=True,
                stdin=subprocess.PIPE, stdout=file, stderr=errors) as verb:
            try:
                support.wait_until(lambda: is_told('tracing'), 'the graph')
                send(verb, 'go')
                support.wait_until(lambda: is_told('plugin_inner', 'grow_e', 'abs'),
                                   'notes of what it has grown by')
                at = printed.stat().st_size
                support.wait_until(lambda: printed.stat().st_size > at + 100_000, 'more calls')
                send(verb, 'stop')
                end(verb)
                verb.wait(timeout=120)
            finally:
                verb.kill()
        self.assertEqual(verb.returncode, 0)
        return notes.read_text(), printed.read_text()

    def grown_of(self, program, engine, *words, at_go=lambda: None):
        def send(_, line):
            if line == 'go':
                at_go()
            program.send(line)

        def end(_):
            program.result()
            program.send('exit')
        return self.grown(engine, '-p', str(program.pid), *words, send=send, end=end)

    def check_grown(self, notes, text):
        self.assertRegex(notes, r'note: grown by \d+ functions: .*plugin_inner')
        self.assertRegex(notes, r'note: not grown by abs: it is of the C library')
        self.assertNotIn('grows no more', notes)
        self.assertRegex(text, r'(?m)by_variable\(\) \{\n.*plugin_work\(\) \{\n.*plugin_inner\(\);')

    def grow_program(self):
        return self.program('grow', target('grow_plugin'), '2')

    def test_it_grows_by_what_it_sees(self):
        for engine in EMBEDDED, ['--socket', self.daemon.socket]:
            self.check_grown(*self.grown_of(self.grow_program(), engine))

    def test_it_grows_on_when_one_of_the_processes_has_ended(self):
        program, other = self.grow_program(), self.grow_program()
        engine = ['--socket', self.daemon.socket]
        self.check_grown(*self.grown_of(program, engine, '-p', str(other.pid), at_go=other.end))

    def test_it_grows_by_what_a_command_calls(self):
        def send(verb, line):
            verb.stdin.write(line + '\n')
            verb.stdin.flush()
        self.check_grown(*self.grown(EMBEDDED, '--', target('grow'), target('grow_plugin'), '2', send=send,
                                     end=lambda verb: send(verb, 'exit')))

    def recorded(self, name, rounds):
        recording = self.directory / name
        printed, said = self.graph(self.tree(rounds, 2 * PAUSE_US), ['tree_root'], '--json')
        printed.rename(recording)
        return recording, said

    def report(self, *words):
        done = support.run('report', *map(str, words))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_a_recording_is_summed_up(self):
        recording, said = self.recorded('one', 20)
        calls = sum(thread['calls'] for thread in said['threads'])
        _, *rows = self.report(recording).stdout.splitlines()
        self.assertEqual(sum(int(row.split()[1]) for row in rows), calls)
        _, *nodes = self.report(recording, '--tree').stdout.splitlines()
        self.assertRegex(nodes[0], r'100\.0 % +tree_root$')
        folded = dict(line.rsplit(' ', 1) for line in
                      self.report(recording, '--folded').stdout.splitlines())
        with recording.open() as lines:
            root_ns = sum(event['duration'] for event in map(json.loads, lines)
                          if event['kind'] == 'return' and event['depth'] == 0)
        self.assertEqual(sum(map(int, folded.values())), root_ns)

    def held_against_the_schema(self, name, document):
        schema = json.loads((support.BUILD / 'protocol.schema.json').read_text())
        jsonschema.validate(document, {'$ref': f'#/$defs/{name}', '$defs': schema['$defs']})

    def test_sums_of_a_recording_are_json(self):
        recording, said = self.recorded('one', 20)
        sums = json.loads(self.report(recording, '--json').stdout)
        self.held_against_the_schema('call_sums', sums)
        calls = sum(thread['calls'] for thread in said['threads'])
        self.assertEqual(sum(function['calls'] for function in sums['functions']), calls)
        self.assertEqual(sums['lost'], 0)
        sums = json.loads(self.report(recording, '--json', '--tree').stdout)
        self.held_against_the_schema('call_sums', sums)
        tree = sums['tree']
        self.assertEqual((tree[0]['name'], tree[0]['depth']), ('tree_root', 0))
        self.assertEqual(sum(place['calls'] for place in tree), calls)
        for place in tree:
            children = [tree[child] for child in place['children']]
            self.assertTrue(all(child['depth'] == place['depth'] + 1 for child in children))
            self.assertEqual(place['total_ns'] - sum(child['total_ns'] for child in children),
                             place['self_ns'])

    def test_sums_are_json_at_the_end_of_a_graph(self):
        program = self.tree(20, 2 * PAUSE_US)
        printed, said = self.sums(program, ['tree_root'], '--json', '--report')
        sums = json.loads(printed.read_text())
        self.held_against_the_schema('call_sums', sums)
        self.assertEqual(sum(function['calls'] for function in sums['functions']),
                         sum(thread['calls'] for thread in said['threads']))

    def test_folded_sums_are_no_json(self):
        done = support.run('--json', 'report', '/dev/null', '--folded')
        self.assertEqual(done.returncode, 2)
        self.assertIn('with --json take --tree', done.stderr)

    def test_two_recordings_are_compared(self):
        (before, _), (after, _) = self.recorded('before', 10), self.recorded('after', 20)
        compared = self.report(after, '--against', before).stdout
        self.assertRegex(compared, r'(?m)^tree_root +40 +80 ')
        changes = json.loads(self.report(after, '--against', before, '--json').stdout)
        self.held_against_the_schema('call_changes', changes)
        root = next(one for one in changes['functions'] if one['name'] == 'tree_root')
        self.assertEqual((root['before']['calls'], root['after']['calls']), (40, 80))
        self.assertEqual(root['change']['self_ns'],
                         root['after']['self_ns'] - root['before']['self_ns'])

    def test_a_recording_that_was_cut_off_is_read_up_to_there(self):
        recording, _ = self.recorded('one', 10)
        text = recording.read_text()
        # Never at the end of a line.
        recording.write_text(text[:text.index('\n', len(text) // 2) - 5])
        self.assertIn('its last line is cut off', self.report(recording).stderr)

    def test_what_is_no_recording_is_refused(self):
        recording = self.directory / 'none'
        for text, why in (('', 'has no calls'), ('x\n{}\n', 'none is no recording: tracectl record and graph -o write those'),
                          ('x\n{"ts":1}\n', 'none:2: ')):
            recording.write_text(text)
            done = support.run('report', str(recording))
            self.assertEqual(done.returncode, 1)
            self.assertIn(why, done.stderr)

    def test_deep_calls_are_text(self):
        printed, expected = self.deep(200)
        with printed.open() as lines:
            self.assertTrue(graph_truth.from_text(lines) == expected)


if __name__ == '__main__':
    unittest.main()
