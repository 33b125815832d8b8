# SPDX-License-Identifier: BSD-2-Clause
"""Objects that are texts, as std::string, compared with what the programs print of themselves (tests/targets/text_fields.h)."""

import pathlib
import unittest

import support
from fields_test import FieldTest

SOURCE = 'tests/targets/text_fields.h'
PROGRAMS = ('text_fields', 'text_fields_o0', 'text_fields_clang', 'text_fields_libcxx', 'text_fields_libcxx_o2',
            'text_fields_libcxx_alternate', 'text_fields_libcxx_named', 'text_fields_libcxx_named_alternate')
FUNCTIONS = 'by_value', 'by_reference', 'by_pointer', 'member', 'view', 'seen', 'made'


def line_of_local():
    lines = pathlib.Path(support.ROOT, SOURCE).read_text(encoding='utf-8').splitlines()
    return next(number for number, line in enumerate(lines, 1) if '// LOCAL' in line)


@support.needs_root
class Texts(FieldTest):
    def test_have_the_bytes_that_the_program_has(self):
        for name in PROGRAMS:
            self.check_all(name, {f'texts::{function}': function for function in FUNCTIONS})

    def test_of_variables_have_them_too(self):
        for name in 'text_fields_o0', 'text_fields_libcxx', 'text_fields_libcxx_named_alternate':
            program, paths = self.program(name), ['var.text', '*var.pointer']
            session = self.staged(program, f'u:@text_fields.h:{line_of_local()}', f'event({", ".join(paths)})')
            client = self.daemon.connect()
            client.result('session.subscribe', session=session)
            program.send('go')
            truth = program.result()
            client.result('session.flush', session=session)
            client.close()
            seen = [one['params']['args'] for one in client.notifications if one['method'] == 'event']
            self.assertEqual(seen, [[call[path] for path in paths] for call in truth['local']], name)

    def test_decide_conditions(self):
        for name in 'text_fields', 'text_fields_libcxx', 'text_fields_libcxx_alternate', 'text_fields_libcxx_named':
            for function, path in (('by_value', 'arg.name'), ('member', 'arg.same.name'),
                                   ('seen', 'arg.view'), ('made', 'retval')):
                for text in 'ABCDE', 'ABCDEFGHIJKLMNOPQRSTUVWX':
                    truth, read = self.rows(name, f'texts::{function}', 'count', '--when', f'{path} == "{text}"')
                    equal = sum(call[path] == text for call in truth[function])
                    self.assertEqual((equal, read['rows'][0]['count']), (1, 1), (name, path, text))
        truth, read = self.rows('text_fields', 'texts::by_value', 'count', '--when', 'arg.name =~ "ABC*W"')
        self.assertEqual(read['rows'][0]['count'], 1)
        truth, read = self.rows('text_fields', 'texts::by_value', 'count', '--when', '"" != arg.name && arg.n == 3')
        self.assertEqual(read['rows'][0]['count'], len(truth['by_value']) - 1)

    def test_are_keys(self):
        for name in 'text_fields', 'text_fields_libcxx_o2':
            truth, read = self.rows(name, 'texts::by_reference', 'count by arg.name')
            self.assertEqual(sorted(row['by']['arg.name'] for row in read['rows']),
                             sorted({call['arg.name'] for call in truth['by_reference']}))

    def test_are_the_keys_of_latencies(self):
        program = self.program('text_fields')
        session = self.staged(program, 'u::texts::made', 'count by arg.name', '--from', 'u::texts::by_reference', '--by',
                              'arg.name')
        program.send('go')
        truth = program.result()
        rows = self.daemon.json('read', session)['rows']
        self.assertEqual(sum(row['count'] for row in rows), len(truth['made']))

    def test_are_listed(self):
        def listed(name, function):
            pattern = f'uprobe:{support.target(name)}:texts::{function}'
            said = self.daemon.json('list', '--types', '--levels', '2', pattern)['probes'][0]
            parts = said['args'] + ([said['result']] if 'result' in said else [])
            return {field['path']: field['type'] for part in parts for field in part.get('fields', [])}
        for name in 'text_fields', 'text_fields_clang', 'text_fields_libcxx', 'text_fields_libcxx_named':
            self.assertEqual(listed(name, 'by_value'), {'arg.name': 'text'})
            self.assertEqual(listed(name, 'by_pointer')['*arg.name'], 'text')
            self.assertEqual(listed(name, 'made'), {'arg.name': 'text', 'retval': 'text'})
            fields = listed(name, 'member')
            self.assertEqual({path for path, kind in fields.items() if kind == 'text'},
                             {'arg.request->name', 'arg.request->view', '*arg.request->other', 'arg.same.name',
                              'arg.same.view', '*arg.same.other', 'arg.request->self->name', 'arg.request->self->view',
                              'arg.same.self->name', 'arg.same.self->view'})
            self.assertEqual(fields['arg.request->id'], 's32')


@support.needs_root
class Refusals(support.DaemonTest):
    one_daemon = True

    def refusal(self, name, *words):
        done = self.daemon.run(*words, '--', support.target(name))
        self.assertNotEqual(done.returncode, 0, words)
        return done.stderr

    # A byte behind another layout is no length.
    def test_of_strings_that_are_not_understood_say_why(self):
        for name, path, why in (('odd', 'arg.old', 'a string of the old kind of libstdc++'),
                                ('odd', 'arg.named', 'not those of a known library'),
                                ('wide', 'arg.wide', 'of other characters than char'),
                                ('wide', 'arg.wider', 'of other characters than char'),
                                ('wide', 'arg.view', 'not those of a known library, or not of char')):
            for words in ['--by', path], ['--when', f'{path} == "x"']:
                self.assertIn(why, self.refusal(f'text_fields_{name}', 'count', f'u::{name}', *words))

    def test_of_what_is_a_text_and_no_number_have_a_caret(self):
        said = self.refusal('text_fields', 'count', 'u::texts::member', '--when', 'arg.request->name > 5')
        self.assertIn('this is a text, not an integer', said)
        said = self.refusal('text_fields', 'count', 'u::texts::member', '--when', 'arg.request->id == "x"')
        self.assertIn('this is an integer, compared with a string', said)


if __name__ == '__main__':
    unittest.main()
