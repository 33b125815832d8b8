# SPDX-License-Identifier: BSD-2-Clause
"""Fields by name, compared with what the programs print of themselves (tests/targets/fields.c, fields_cxx.cpp)."""

import itertools
import pathlib
import re
import tempfile
import unittest

import support

MOST_VALUES = 12  # of one event


def chunks(values):
    return [values[at:at + MOST_VALUES] for at in range(0, len(values), MOST_VALUES)]


class FieldTest(support.DaemonTest):
    one_daemon = True
    numbers = itertools.count()  # of sessions

    def staged(self, program, pattern, action, *options):
        session = f's{next(self.numbers)}'
        self.daemon.json('session', 'new', session)
        self.daemon.json('stage', session, 'set', pattern, '-p', str(program.pid), '--do', action, *options)
        self.daemon.json('commit', session)
        return session

    def report(self, name):
        program = self.program(name)
        program.send('go')
        return program.result()

    def events(self, name, function, action):
        """Of a run of the program, and its report."""
        program = self.program(name)
        session = self.staged(program, f'u::{function}', action)
        client = self.daemon.connect()
        client.result('session.subscribe', session=session)
        program.send('go')
        truth = program.result()
        client.result('session.flush', session=session)
        client.close()
        return truth, [one['params'] for one in client.notifications if one['method'] == 'event']

    def rows(self, name, function, action, *options):
        """Of a run of the program, and its report."""
        program = self.program(name)
        session = self.staged(program, f'u::{function}', action, *options)
        program.send('go')
        return program.result(), self.daemon.json('read', session)

    def check_all(self, name, functions):
        for function, short in functions.items():
            for paths in chunks(list(self.report(name)[short][0])):
                truth, events = self.events(name, function, f'event({", ".join(paths)})')
                self.assertEqual([event['args'] for event in events],
                                 [[call[path] for path in paths] for call in truth[short]], (name, paths))


@support.needs_root
class Fields(FieldTest):
    # The second of the requests has no next one: what would be read there has no value.
    def test_have_the_values_that_the_program_has(self):
        for name in 'fields', 'fields_dwarf4', 'fields_clang':
            self.check_all(name, {'handle': 'handle', 'elements': 'elements'})

    def test_of_casts_have_the_values_that_the_program_has(self):
        for name in 'fields', 'fields_dwarf4', 'fields_clang':
            self.check_all(name, {'erased': 'erased'})
        for name in 'fields_cxx', 'fields_cxx_clang':
            self.check_all(name, {'shop::erase': 'erase'})

    def test_of_results_have_the_values_that_the_program_has(self):
        for name in 'fields', 'fields_clang':
            self.check_all(name, {'made': 'made', 'filled': 'filled'})
        truth, read = self.rows('fields', 'made', 'count by arg.request->id', '--when', 'retval->state == RUNNING')
        self.assertEqual([row['by']['arg.request->id'] for row in read['rows']],
                         [call['retval->id'] for call in truth['made']])

    def test_of_cxx_are_those_of_bases_and_references_too(self):
        for name in 'fields_cxx', 'fields_cxx_clang':
            self.check_all(name, {'shop::Cart::add': 'add', 'shop::take': 'take', 'shop::move': 'move'})

    def test_of_more_kinds_have_the_values_that_the_program_has(self):
        for name in 'fields_more', 'fields_more_dwarf4', 'fields_more_clang', 'fields_more_clang_o0':
            self.check_all(name, {'see': 'see', 'scalars': 'scalars'})
        for when, hits in (('arg.more->paints[2] == BLUE', 1), ('arg.more->seen == BLUE', 1),
                           ('arg.more->size == LARGE', 2), ('arg.more->paints[0] != RED', 0)):
            _, read = self.rows('fields_more', 'see', 'count', '--when', when)
            self.assertEqual(2 - read['total_filtered'], hits, when)

    def test_decide_conditions(self):
        for when, holds in (('arg.request->id == 31', lambda call: call['arg.request->id'] == 31),
                            ('arg.request->delta < 0', lambda call: call['arg.request->delta'] < 0),
                            ('str(arg.request->uri.text) =~ "/la*"',
                             lambda call: call['str(arg.request->uri.text)'].startswith('/la')),
                            ('arg.request->state == RUNNING', lambda call: call['arg.request->state'] == 7),
                            ('arg.request->level < HIGH', lambda call: call['arg.request->level'] < 5),
                            ('arg.request->next->id != 99', lambda call: call['arg.request->next->id'] is not None)):
            truth, read = self.rows('fields', 'handle', 'count', '--when', when)
            self.assertEqual((read['total_hits'], read['total_filtered']),
                             (2, sum(not holds(call) for call in truth['handle'])), when)

    def test_are_keys_and_sums(self):
        key, value = 'str(arg.request->uri.text)', 'arg.request->list[3].weight'
        truth, read = self.rows('fields', 'handle', f'sum({value}) by {key}, max({value}) by {key}')
        self.assertEqual({row['by'][key]: (row['of'], row['sum'], row['max']) for row in read['rows']},
                         {call[key]: (value, call[value], call[value]) for call in truth['handle']})
        truth, read = self.rows('fields', 'handle', 'hist(arg.request->grade)')
        self.assertEqual([call['arg.request->grade'] for call in truth['handle']], [100, -100])
        self.assertEqual(read['rows'][0]['hist'], [{'max': -1, 'count': 1}, {'min': 64, 'max': 127, 'count': 1}])

    # Both calls begin with the same request.
    def test_are_the_keys_of_latencies(self):
        key = 'arg.request->id'
        program = self.program('fields')
        session = self.staged(program, 'u::made', f'count by {key}', '--from', 'u::handle', '--by', key)
        program.send('go')
        truth = program.result()
        rows = self.daemon.json('read', session)['rows']
        self.assertEqual([(row['by'][key], row['count']) for row in rows],
                         [(call['retval->id'], 1) for call in truth['made']])


@support.needs_root
class Lists(FieldTest):
    """`list --types`: what it lists can be written, and has the values that the program has."""

    def listed(self, name, function, *options):
        pattern = f'uprobe:{support.target(name)}:{function}'
        return self.daemon.json('list', '--types', *options, pattern)['probes'][0]['args']

    def test_have_paths_that_expressions_read(self):
        for name, function, short in (('fields', 'handle', 'handle'), ('fields_clang', 'handle', 'handle'),
                                      ('fields_cxx', 'shop::Cart::add', 'add')):
            fields = {field['path']: field for argument in self.listed(name, function, '--levels', '3')
                      for field in argument['fields']}
            readable = [path for path, field in fields.items() if not field.get('why_not')]
            compared = 0
            for paths in chunks(readable):
                truth, events = self.events(name, function, f'event({", ".join(paths)})')
                for call, event in zip(truth[short], events, strict=True):
                    for path, value in zip(paths, event['args'], strict=True):
                        if path in call:
                            self.assertEqual(value, call[path], (name, path))
                            compared += 1
            self.assertGreater(compared, 4, name)

    def test_say_what_cannot_be_read(self):
        request, number = self.listed('fields', 'handle')
        fields = {field['path']: field for field in request['fields']}
        self.assertEqual(number['fields'], [])
        self.assertEqual((fields['arg.request->id']['type'], fields['arg.request->uri']['declared_type']),
                         ('u8:5', 'const struct uri'))
        self.assertEqual(fields['arg.request->ratio']['type'], 'f64')
        self.assertIn('name one of its fields', fields['arg.request->uri']['why_not'])

    def test_are_lines_for_people(self):
        pattern = f'uprobe:{support.target("fields")}:handle'
        said = self.daemon.run('list', '--types', pattern).stdout
        self.assertRegex(said, r'handle\n  request  struct request \*, u64\n    arg\.request->id +unsigned int, u8:5\n')
        self.assertRegex(said, r'\n  n  int, s32\n$')
        self.assertNotIn('uri.len', said)
        self.assertIn('arg.request->uri.len', self.daemon.run('list', '--types', '--levels', '2', pattern).stdout)

    def test_have_few_levels(self):
        client = self.daemon.connect()
        for levels in 0, 5:
            answer = client.call('probe.list', patterns=[f'uprobe:{support.target("fields")}:handle'], types=levels)
            self.assertIn('types lists fields 1 to 4 levels deep', answer['error']['message'])
        client.close()


@support.needs_root
class Refusals(support.DaemonTest):
    one_daemon = True

    def refusal(self, *words):
        done = self.daemon.run(*words, '--', support.target('fields'))
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_of_an_unknown_field_name_the_nearest_with_a_caret(self):
        when = 'arg.n > 0 && arg.request->urgnt == 1'
        said = self.refusal('count', 'u::handle', '--when', when)
        self.assertIn('struct request has no field "urgnt": it has id, delta, wide', said)
        self.assertIn('did you mean "urgent"?', said)
        self.assertIn(f'\n  {when}\n  {" " * when.index("urgnt")}^\n', said)

    def test_of_floats_as_integers_say_where_they_can_be(self):
        for words in (['--when', 'arg.request->ratio > 1'], ['--by', 'arg.request->ratio'],
                      ['--when', 'arg.request->ratio + 1 == 2'], ['--when', 'u8(arg.request->ratio) == 1']):
            self.assertIn('this is a float, not an integer: it can be a value of an event',
                          self.refusal('count', 'u::handle', *words))

    def test_of_a_cast_name_what_the_unit_has(self):
        when = '((struct requst *)arg.context)->id == 1'
        said = self.refusal('count', 'u::erased', '--when', when)
        self.assertIn('there is no type "struct requst" where this function was compiled', said)
        self.assertIn(f'\n  {when}\n  {" " * when.index("(struct")}^\n', said)

    # As an argument that one of the functions does not have.
    def test_name_the_function_without_the_field(self):
        said = self.refusal('count', 'u::elements', 'u::handle', '--by', 'arg0->weight')
        self.assertIn(':handle: struct request has no field "weight"', said)

    def test_without_debug_information_say_where_fields_come_from(self):
        with tempfile.TemporaryDirectory() as folder:
            bare = str(pathlib.Path(folder).resolve() / 'fields')
            support.subprocess.run(['objcopy', '--strip-debug', support.target('fields'), bare], check=True)
            done = self.daemon.run('count', 'u::handle', '--by', 'arg0->id', '--', bare)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('the fields of arg0 are not known here: they are in the debug information', done.stderr)


if __name__ == '__main__':
    unittest.main()


ENTRY = re.compile(r'<(\d+)><([0-9a-f]+)>: Abbrev Number: (\d+) \((DW_TAG_\w+)\)')


@support.needs_root
class DamagedUnits(FieldTest):
    def damaged(self, name, unit, folder):
        """A copy of the program with an entry of a kind that there is not, the last of that unit."""
        text = support.subprocess.run(['readelf', '--debug-dump=info', support.target(name)], check=True,
                                      capture_output=True, text=True).stdout
        part = next(part for part in text.split('Compilation Unit @')[1:] if f'{unit}\n' in part.split('<1>')[0])
        entries = [match.groups() for match in ENTRY.finditer(part)]
        last = int(next(at for level, at, _, tag in reversed(entries) if level == '1' and 'base' not in tag), 16)
        sections = support.subprocess.run(['readelf', '-SW', support.target(name)], check=True, capture_output=True,
                                          text=True).stdout
        start = int(re.search(r' \.debug_info +PROGBITS +\w+ (\w+)', sections)[1], 16)
        data = bytearray(pathlib.Path(support.target(name)).read_bytes())
        data[start + last] = 0x7f
        path = pathlib.Path(folder).resolve() / name
        path.write_bytes(data)
        path.chmod(0o755)
        return path

    def test_are_left_out_and_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.damaged('declared', 'tests/targets/declared_unit.inc', folder)
            said = self.daemon.json('list', '--types', f'uprobe:{path}:second_unit')
            [note] = said['notes']
            self.assertIn('the debug information of tests/targets/declared_unit.inc is damaged, and left out', note)
            self.assertNotIn('fields', said['probes'][0]['args'][0])
            whole = self.daemon.json('list', '--types', f'uprobe:{path}:unit_in_c')
            self.assertEqual(whole['notes'], [])
            self.assertIn('arg.s->id', [field['path'] for field in whole['probes'][0]['args'][0]['fields']])
            done = self.daemon.run('count', f'uprobe:{path}:second_unit', '--when', 'arg0->id == 1', '--', path)
            self.assertNotEqual(done.returncode, 0)
