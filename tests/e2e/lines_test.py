# SPDX-License-Identifier: BSD-2-Clause
"""Lines of source, compared with what the programs count themselves (tests/targets/lines.c) and with readelf."""

import collections
import json
import pathlib
import subprocess
import tempfile
import unittest

import line_places
import service_manager
import support

SOURCE = pathlib.Path(support.ROOT, 'tests/targets/lines.c').read_text(encoding='utf-8').splitlines()
PROGRAMS = 'lines', 'lines_o2', 'lines_dwarf4', 'lines_clang'


def line_with(text):
    return next(number for number, line in enumerate(SOURCE, 1) if text in line)


def counts_of(rows):
    """By source file and line, summed over the functions that have code of it."""
    counts = collections.Counter()
    for row in rows:
        counts[line_places.key_of(row['probe'])] += row['count']
    return counts


def truth_of(result):
    return {(file, int(line)): count for file, lines in result.items() for line, count in lines.items()}


@support.needs_root
class Lines(support.DaemonTest):
    one_daemon = True

    def commit(self, session, pid, *patterns, action='count'):
        self.daemon.json('session', 'new', session)
        self.daemon.json('stage', session, 'set', *patterns, '-p', str(pid), '--do', action)
        return self.daemon.json('commit', session)

    def test_are_counted_as_often_as_the_program_executes_them(self):
        for name in PROGRAMS:
            program = self.program(name, '1000')
            self.commit(name, program.pid, 'u:@lines*:*')
            program.send('go')
            truth = truth_of(program.result())
            counts = counts_of(self.daemon.json('read', name)['rows'])
            self.assertGreater(len(truth), 10)
            self.assertEqual({line: counts[line] for line in truth}, truth, name)

    def test_count_alone_what_they_count_among_others(self):
        program = self.program('lines_o2', '100')
        lines = line_with('// FIRST'), line_with('// IN A LOOP')
        self.commit('alone', program.pid, *(f'u:@lines.c:{line}' for line in lines))
        program.send('go')
        truth = truth_of(program.result())
        counts = counts_of(self.daemon.json('read', 'alone')['rows'])
        self.assertEqual(counts, {('lines.c', line): truth['lines.c', line] for line in lines})

    def test_that_a_macro_made_into_several_functions_have_a_place_in_each(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'pair.c').write_text(
                '#define PAIR(n) int get_##n(void) { return 1; } int set_##n(void) { return 2; }\n'
                'PAIR(a)\n'
                'extern int same(void) __attribute__((alias("get_a")));\n'
                'int main(void) { return get_a() + set_a() + same(); }\n', encoding='utf-8')
            for flags in ['-O0'], ['-O2']:
                subprocess.run(['cc', '-g', *flags, '-o', 'pair', 'pair.c'], cwd=folder, check=True)
                listed = support.run('--embedded', 'list', f'{folder}/pair@pair.c:2', '--json')
                named = {probe['probe'].split(':')[2].partition('@')[0] for probe in json.loads(listed.stdout)['probes']}
                self.assertEqual(len(named), 2, listed.stdout)
                for name in 'get_a', 'set_a', 'same':
                    listed = support.run('--embedded', 'list', f'{folder}/pair:{name}@pair.c:2', '--json')
                    [probe] = json.loads(listed.stdout)['probes']
                    self.assertTrue(probe['probe'].startswith(f'uprobe:{folder}/pair:{name}@'), listed.stdout)

    def test_are_switched_atomically(self):
        program = self.program('lines', '1000')
        first, other = (f'u:@lines.c:{line_with(text)}' for text in ('// FIRST', '// IN A LOOP'))
        self.commit('switched', program.pid, first)
        self.daemon.json('stage', 'switched', 'set', other, '-p', str(program.pid), '--do', 'count')
        self.daemon.json('stage', 'switched', 'remove', first)
        summary = self.daemon.json('commit', 'switched')
        self.assertEqual((summary['probes'], summary['added'], summary['removed']), (1, 1, 1))
        program.send('go')
        truth = truth_of(program.result())
        rows = [row for row in self.daemon.json('read', 'switched')['rows'] if row['count']]
        self.assertEqual(counts_of(rows), {('lines.c', line_with('// IN A LOOP')):
                                           truth['lines.c', line_with('// IN A LOOP')]})

    def test_stream_events_with_their_names(self):
        program = self.program('lines', '10')
        self.commit('streamed', program.pid, f'u:@lines.c:{line_with("// FIRST")}', action='event(tid), stack')
        client = self.daemon.connect()
        client.result('session.subscribe', session='streamed')
        program.send('go')
        program.result()
        client.result('session.flush', session='streamed')
        client.close()
        events = [one['params'] for one in client.notifications if one['method'] == 'event']
        self.assertEqual(len(events), 10)
        self.assertEqual({line_places.key_of(event['probe']) for event in events}, {('lines.c', line_with('// FIRST'))})

    def test_are_listed_by_a_name_that_a_pattern_takes(self):
        path = support.target('lines')
        listed = self.daemon.json('list', f'uprobe:{path}@lines.c:*')
        self.assertEqual(listed['refused'], [])
        for probe in listed['probes'][::7]:
            again = self.daemon.json('list', probe['probe'])
            self.assertEqual([one['probe'] for one in again['probes']], [probe['probe']])
        text = self.daemon.run('list', f'{path}@lines.c:{line_with("// FIRST")}').stdout
        self.assertIn(f'uprobe:lines:branches@lines.c:{line_with("// FIRST")}', text)

    def refusal(self, *words):
        done = self.daemon.run(*words, '--', support.target('lines_o2'))
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_that_were_removed_are_refused_with_the_nearest(self):
        removed = line_with('// REMOVED')
        said = self.refusal('count', f'@lines.c:{removed}')
        self.assertIn(f'no code at line {removed}', said)
        self.assertIn(f'and {line_with("switch (n % 4)")}', said)

    def test_have_no_returns(self):
        at = f'@lines.c:{line_with("// FIRST")}'
        for verb in 'time', 'graph':
            self.assertIn('is no function, but a line: it has no return', self.refusal(verb, at), verb)
        self.assertIn('a line has no return', self.refusal('count', f'ur:{at}'))


@support.needs_root
class SavedLines(unittest.TestCase):
    def test_go_on_when_the_daemon_is_restarted(self):
        with tempfile.TemporaryDirectory() as folder:
            service = service_manager.Service('--sessions', folder)
            self.addCleanup(service.end)
            service.start()
            program = support.Program(support.target('lines_o2'), '100')
            self.addCleanup(program.end)
            service.json('session', 'new', 'kept', '--saved')
            service.json('stage', 'kept', 'set', 'u:@lines.h:*', '-p', str(program.pid), '--do', 'count')
            service.json('commit', 'kept')
            service.restart()
            program.send('go')
            truth = {line: count for line, count in truth_of(program.result()).items() if line[0] == 'lines.h'}
            counts = counts_of(service.json('read', 'kept')['rows'])
            self.assertEqual({line: counts[line] for line in truth}, truth)


class Places(unittest.TestCase):
    def test_are_those_of_readelf(self):
        for name in *PROGRAMS, 'fields_clang', 'fields_cxx':
            chosen, wrong, refused = line_places.compare([support.TRACECTL, '--embedded'], support.target(name), 100, 1)
            self.assertGreater(len(chosen), 20)
            self.assertEqual((wrong, refused), ([], 0), name)
