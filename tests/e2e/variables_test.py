# SPDX-License-Identifier: BSD-2-Clause
"""Variables at lines, compared with what the programs record there (tests/targets/variables.c, variables_cxx.cpp)."""

import collections
import itertools
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import service_manager
import support

EXPRESSIONS = re.compile(r' *// (var\..*)')


def lines_of(name):
    """By number, the expressions of a source's lines."""
    lines = pathlib.Path(support.ROOT, 'tests/targets', name).read_text(encoding='utf-8').splitlines()
    found = ((number, EXPRESSIONS.fullmatch(line)) for number, line in enumerate(lines, 2))
    return {number: match[1].split(', ') for number, match in found if match}


C, CXX = lines_of('variables.c'), lines_of('variables_cxx.cpp')


class VariableTest(support.DaemonTest):
    one_daemon = True
    numbers = itertools.count()  # of sessions

    def events(self, program, settings):
        """Of a run of the program, the patterns that are refused, with the reason, and the program's report."""
        client, session, refused = self.daemon.connect(), f's{next(self.numbers)}', {}
        self.daemon.json('session', 'new', session)
        for pattern, action in settings.items():
            done = self.daemon.run('stage', session, 'set', pattern, '-p', str(program.pid), '--do', action)
            if done.returncode:
                refused[pattern] = done.stderr
        self.daemon.json('commit', session)
        client.result('session.subscribe', session=session)
        program.send('go')
        truth = program.result()
        client.result('session.flush', session=session)
        client.close()
        return [one['params'] for one in client.notifications if one['method'] == 'event'], refused, truth

    def compare(self, name, source, lines):
        """Returns how many values were compared, and by line why there are none."""
        settings = {f'u:@{source}:{line}': f'event({", ".join(paths)})' for line, paths in lines.items()}
        events, refused, truth = self.events(self.program(name), settings)
        refused = {int(pattern.rpartition(':')[2]): why for pattern, why in refused.items()}
        compared = 0
        for line, paths in lines.items():
            if line in refused:
                continue
            seen = [event['args'] for event in events if event['probe'].endswith(f':{line}')]
            expected = [values[:len(paths)] for values in truth.get(str(line), [])]
            self.assertEqual(seen, expected, (name, line, paths))
            compared += len(seen) * len(paths)
        return compared, refused


@support.needs_root
class Variables(VariableTest):
    # Of an aligned frame it is not proven where it is.
    def test_have_the_values_that_the_program_has(self):
        for name, source, lines, at_least in (('variables', 'variables.c', C, 230),
                                              ('variables_clang', 'variables.c', C, 230),
                                              ('variables_cxx', 'variables_cxx.cpp', CXX, 60),
                                              ('variables_cxx_clang', 'variables_cxx.cpp', CXX, 60)):
            compared, refused = self.compare(name, source, lines)
            self.assertGreater(compared, at_least, name)
            self.assertLess(len(refused), 2, name)
            for why in refused.values():
                self.assertIn('it is not proven that the frame is complete here', why)

    # The lines are entered once in each execution, except one that clang has compiled to two pieces.
    def test_have_these_values_or_none_in_optimised_code(self):
        in_one_piece = {line: paths for line, paths in C.items() if paths != ['var.sum', 'var.calls', 'var.total']}
        for name, source, lines, at_least in (('variables_o2', 'variables.c', C, 190),
                                              ('variables_dwarf4', 'variables.c', C, 190),
                                              ('variables_clang_o2', 'variables.c', in_one_piece, 160),
                                              ('variables_cxx_o2', 'variables_cxx.cpp', CXX, 50)):
            compared, refused = self.compare(name, source, lines)
            self.assertGreater(compared, at_least, name)
            self.assertLess(len(refused), 6, name)

    def test_that_are_optimised_out_are_refused_with_lines_that_have_them(self):
        at = next(line for line, paths in C.items() if paths == ['var.sum', 'var.calls', 'var.total'])
        said = self.daemon.run('count', f'@variables.c:{at}', '--when', 'var.sum > 3', '--',
                               support.target('variables_o2'))
        self.assertNotEqual(said.returncode, 0)
        self.assertRegex(said.stderr, rf'"sum" cannot be read at variables.c:{at}: it is optimised out here; '
                                      r'it can at lines \d+, \d+ and \d+\n  var.sum > 3\n      \^')

    def test_decide_conditions_and_are_keys_and_sums(self):
        at = next(line for line, paths in C.items() if paths[0] == 'var.i' and 'var.before' in paths)
        for name in 'variables', 'variables_o2':
            program = self.program(name)
            session = f's{next(self.numbers)}'
            self.daemon.json('session', 'new', session)
            self.daemon.json('stage', session, 'set', f'u:@variables.c:{at}', '-p', str(program.pid), '--when',
                             'var.i > 0 && var.rounds != 2', '--do', 'sum(var.sum - var.before) by var.i')
            self.daemon.json('commit', session)
            program.send('go')
            executed = [call for call in program.result()[str(at)] if call[0] > 0 and call[3] != 2]
            rows = self.daemon.json('read', session)['rows']
            sums = {i: sum(call[1] - call[2] for call in executed if call[0] == i) for i, *_ in executed}
            self.assertEqual({row['by']['var.i']: row['sum'] for row in rows if 'sum' in row}, sums, name)

    def test_are_listed_with_their_types_and_fields(self):
        at = next(line for line, paths in CXX.items() if 'var.this->size_' in paths)
        listed = self.daemon.json('list', '--types', f'{support.target("variables_cxx")}@variables_cxx.cpp:{at}')
        [probe] = listed['probes']
        variables = {one['name']: one for one in probe['args'] if one['name'].startswith('var.')}
        self.assertEqual({name: (one['type'], one['readable']) for name, one in variables.items()},
                         {'var.this': ('u64', True), 'var.by': ('s32', True), 'var.before': ('s64', True)})
        self.assertIn('var.this->size_', [field['path'] for field in variables['var.this']['fields']])


INTEGERS = 'integer', 'enumeration', 'character', 'boolean'
MOST_VALUES = 4  # of an event: what a register has takes room, too


@support.needs_root
class GdbsVariables(VariableTest):
    def integers_of(self, path, source):
        """By probe, the offsets of its sites, and the names of variables; not of those that the line assigns, which
        may have no value yet."""
        lines = pathlib.Path(support.ROOT, 'tests/targets', source).read_text(encoding='utf-8').splitlines()
        listed = self.daemon.json('list', '--types', f'uprobe:{path}@{source}:*')
        found = {}
        for probe in listed['probes']:
            names = [one['name'].removeprefix('var.') for one in probe['args']
                     if one['name'].startswith('var.') and one['readable'] and one['kind'] in INTEGERS]
            line = lines[int(probe['probe'].rpartition(':')[2]) - 1]
            names = [name for name in names if f' {name} = ' not in line]
            if line.strip() == 'RECORD(i, sum, calls, 0);':  # gdb takes what is declared in a later line
                continue
            runs_untraced = 'main@' in probe['probe']  # also what initializes before it
            if names and not runs_untraced:
                found[probe['probe']] = [site['offset'] for site in probe['sites']], names[:MOST_VALUES]
        return found

    def by_gdb(self, path, asked):
        with tempfile.TemporaryDirectory() as folder:
            places = collections.defaultdict(list)
            for probe, (offsets, names) in asked.items():
                for offset in offsets:
                    places[offset].append([probe, names])
            plan = {'input': f'{folder}/input', 'output': f'{folder}/output', 'places': places}
            pathlib.Path(folder, 'input').write_text('go\nexit\n', encoding='utf-8')
            pathlib.Path(folder, 'plan').write_text(json.dumps(plan), encoding='utf-8')
            script = pathlib.Path(support.ROOT, 'tests/support/gdb_values.py')
            subprocess.run(['gdb', '-nx', '-batch', '-x', script, path], check=True, capture_output=True,
                           env=os.environ | {'GDB_PLAN': f'{folder}/plan'})
            return json.loads(pathlib.Path(folder, 'output').read_text(encoding='utf-8'))

    # In these files a byte of code is at the offset of its address.
    def test_are_the_same(self):
        for name, source, at_least in (('variables_o2', 'variables.c', 1500),
                                       ('variables_clang_o2', 'variables.c', 1500),
                                       ('variables_cxx_o2', 'variables_cxx.cpp', 200)):
            path = support.target(name)
            asked = self.integers_of(path, source)
            settings = {probe: f'event({", ".join("var." + one for one in names)})'
                        for probe, (_, names) in asked.items()}
            events, refused, _ = self.events(self.program(name), settings)
            self.assertEqual(refused, {}, name)
            seen = collections.defaultdict(list)
            for event in events:
                seen[event['probe']].append(event['args'])
            truth = self.by_gdb(path, asked)
            compared = 0
            for probe in asked:
                for ours, theirs in zip(seen[probe], truth.get(probe, []), strict=True):
                    pairs = [pair for pair in zip(ours, theirs, strict=True) if None not in pair]
                    self.assertEqual([one for one, _ in pairs], [other for _, other in pairs], (name, probe))
                    compared += len(pairs)
            self.assertGreater(compared, at_least, name)


@support.needs_root
class SavedVariables(unittest.TestCase):
    def test_go_on_when_the_daemon_is_restarted(self):
        at = next(line for line, paths in C.items() if 'var.before' in paths)
        with tempfile.TemporaryDirectory() as folder:
            service = service_manager.Service('--sessions', folder)
            self.addCleanup(service.end)
            service.start()
            program = support.Program(support.target('variables_o2'))
            self.addCleanup(program.end)
            service.json('session', 'new', 'kept', '--saved')
            service.json('stage', 'kept', 'set', f'u:@variables.c:{at}', '-p', str(program.pid), '--do',
                         'count by var.i')
            service.json('commit', 'kept')
            service.restart()
            program.send('go')
            executed = collections.Counter(call[0] for call in program.result()[str(at)])
            rows = service.json('read', 'kept')['rows']
            self.assertEqual({row['by']['var.i']: row['count'] for row in rows if row.get('by')}, executed)
