# SPDX-License-Identifier: BSD-2-Clause
"""What is shown of results, wherever values are shown, compared with what tests/targets/returned.c got."""
import json
import pathlib
import re
import tempfile
import unittest

import support

OF_DOUBLE = 'double in xmm0, which no probe sees'
OF_PAIR = '{a = 27, b = 2}'
PATTERNS = ['u::of_s32', 'u::of_large', 'u::of_nothing', 'u::of_double', 'u::of_pair']
ADDRESS = '0x[0-9a-f]+'


def endings_of(text):
    """The text after the call, without the duration, by function."""
    return dict(re.findall(r':(of_\w+)\([^()]*\)( .*) after [\d.]+ \w+$', text, re.M))


@support.needs_root
class Results(support.DaemonTest):
    one_daemon = True

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def traced(self, target, verb, *words, engine=None):
        """Returns what the program said and what the verb printed."""
        program = self.program(*target.split())
        patterns = PATTERNS if target == 'returned' else ['u::of_s64']
        tracing = support.subprocess.Popen(
            [support.TRACECTL, *(engine or ['--socket', self.daemon.socket]), verb, *patterns, '-p',
             str(program.pid), *words], text=True, stdout=support.subprocess.PIPE,
            stderr=support.subprocess.PIPE)
        self.addCleanup(tracing.communicate)
        line = tracing.stderr.readline()
        self.assertRegex(line, '(tracing|recording) ')
        program.send('go')
        said = program.result()
        program.send('exit')
        printed, _ = tracing.communicate(timeout=60)
        return said, printed

    def test_are_told_from_the_register_in_text(self):
        for engine in None, ['--embedded']:
            with self.subTest(engine=engine):
                said, text = self.traced('returned', 'trace', '--do', 'return', engine=engine)
                endings = endings_of(text)
                self.assertEqual(endings.pop('of_large'), f" = {said['of_large']['retval']:#x}")
                self.assertEqual(endings, {'of_s32': ' = -27', 'of_nothing': ' returned',
                                           'of_double': f' = ? ({OF_DOUBLE})',
                                           'of_pair': f' = {OF_PAIR}'})
                said, text = self.traced('returned_plain plain', 'trace', '--do', 'return', engine=engine)
                self.assertEqual(endings_of(text), {'of_s64': f" rax={said['of_s64']['retval']}"})

    def test_are_told_from_the_register_in_graphs(self):
        _, text = self.traced('returned', 'graph', '--results')
        self.assertRegex(text, fr'\bof_large\(\) = {ADDRESS};')
        for line in ('of_s32() = -27;', 'of_nothing();', f'of_double() = ? ({OF_DOUBLE});',
                     f'of_pair() = {OF_PAIR};'):
            self.assertIn(f'|  {line}\n', text)

    def test_are_told_from_the_register_in_json(self):
        said, text = self.traced('returned', 'trace', '--do', 'return', '--json')
        self.check_json(said, text)

    def check_json(self, said, text):
        events = [json.loads(line) for line in text.splitlines()]
        shown = {event['probe'].split(':')[-1]: {name: event[name] for name in ('retval', 'retval_is')
                                                 if name in event}
                 for event in events if event.get('kind') == 'return'}
        self.assertEqual(shown, {name: said[name] for name in shown})
        self.assertEqual(len(shown), len(PATTERNS))

    def test_are_told_from_the_register_in_recordings_and_exports(self):
        file = self.directory + '/out.tct'
        said, _ = self.traced('returned', 'record', '-o', file, '--do', 'return')
        self.check_json(said, support.run('--json', 'show', file).stdout)
        endings = endings_of(support.run('show', file).stdout)
        self.assertEqual(endings['of_double'], f' = ? ({OF_DOUBLE})')
        self.assertEqual(endings['of_nothing'], ' returned')
        self.assertEqual(endings['of_pair'], f' = {OF_PAIR}')
        self.check_chrome(file)
        self.assertEqual(support.run('report', file, '--html', self.directory + '/out.html').returncode, 0)

    def check_chrome(self, file):
        support.run('export', file, '--to', 'chrome', '-o', self.directory + '/out.json')
        trace = json.loads(pathlib.Path(self.directory, 'out.json').read_text())
        results = {event['name'].split(':')[-1]: event['args'].get('result')
                   for event in trace['traceEvents'] if event.get('cat') == 'call'}
        self.assertRegex(results.pop('of_large'), ADDRESS)
        self.assertEqual(results, {'of_s32': '-27', 'of_nothing': None, 'of_double': f'? ({OF_DOUBLE})',
                                   'of_pair': OF_PAIR})

    def test_that_are_in_no_integer_register_are_refused(self):
        program = self.program('returned')
        for action, function, reason in (('count by retval', 'of_double', f'returns {OF_DOUBLE}'),
                                         ('sum(retval)', 'of_nothing', 'returns nothing'),
                                         ('count, hist(retval)', 'of_pair', 'returns struct pair in rax and rdx')):
            with self.subTest(function=function):
                done = self.daemon.run('trace', f'u::{function}', '-p', str(program.pid), '--do', action)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(reason, done.stderr)
        done = self.daemon.run('trace', 'u::of_double', '-p', str(program.pid), '--when', 'retval > 1')
        self.assertIn(f'returns {OF_DOUBLE}', done.stderr)
        program.send('exit')


if __name__ == '__main__':
    unittest.main()
