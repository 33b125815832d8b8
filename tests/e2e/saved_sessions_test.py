# SPDX-License-Identifier: BSD-2-Clause
"""Sessions that begin with the daemon: the files in its directory."""

import json
import pathlib
import tempfile
import unittest

import support
from support import target

CALLS = 100
HOT = target('hot')


@support.needs_root
class SavedSessions(support.DaemonTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.addCleanup(self.end_daemon)
        self.daemon = support.Daemon('--sessions', folder.name)

    def begin_again(self):
        """Starts the daemon with the directory's current contents; returns its log until it listened."""
        self.assertEqual(self.daemon.end()[0], 0)
        self.daemon = support.Daemon('--sessions', str(self.folder), listens=False)
        said = []
        while not said or 'listening' not in said[-1]:
            said.append(self.daemon.process.stderr.readline())
        return ''.join(said[:-1])

    def write(self, name, text):
        (self.folder / f'{name}.json').write_text(text, encoding='utf-8')

    def save(self, name):
        saved = self.daemon.run('session', 'save', name)
        self.assertEqual(saved.returncode, 0, saved.stderr)
        self.write(name, saved.stdout)

    def call(self):
        program = self.program('hot')
        program.send(f'hot_push {CALLS}')
        program.result()

    def count(self, name):
        return sum(row['count'] for row in self.daemon.json('read', name)['rows'])

    def test_what_was_saved_begins_with_the_next_daemon(self):
        self.daemon.json('session', 'new', 's', '--budget', '50')
        self.daemon.json('stage', 's', 'set', 'uprobe::hot_push', '-x', HOT, '--do',
                         'count by pid', '--when', 'arg0 >= 10')
        self.daemon.json('commit', 's')
        before = self.daemon.json('session', 'show', 's')
        self.save('s')
        self.assertRegex(self.begin_again(), r'commit session=s .* probes=1 sites=1')
        after = self.daemon.json('session', 'show', 's')
        for part in 'settings', 'budget', 'sites':
            self.assertEqual(after[part], before[part])
        self.call()
        self.assertEqual(self.count('s'), CALLS - 10)

    def test_types_that_were_given_are_saved(self):
        self.daemon.json('session', 'new', 's')
        self.daemon.json('stage', 's', 'set', 'usdt::erlang:process-spawn', '-x', support.target('erlang_vm'), '--types',
                         str(support.ROOT / 'tests/targets/erlang_vm.d'))
        self.daemon.json('commit', 's')
        before = self.daemon.json('session', 'show', 's')
        self.assertEqual(len(before['settings'][0]['types'][0]['arguments']), 4)
        self.save('s')
        self.begin_again()
        self.assertEqual(self.daemon.json('session', 'show', 's')['settings'], before['settings'])

    def test_a_recorder_and_a_trigger_of_another_are_saved(self):
        self.daemon.json('session', 'new', 'z', '--recorder', '1M', '--dump-on', 'crash')
        self.daemon.json('session', 'new', 'a')
        call = ['uprobe::hot_push', '-x', HOT, '--do']
        self.daemon.json('stage', 'z', 'set', *call, 'event(arg0)')
        self.daemon.json('stage', 'a', 'set', *call, 'trigger(z)')
        for name in 'z', 'a':
            self.daemon.json('commit', name)
            self.save(name)
        self.begin_again()
        kept = self.daemon.json('session', 'show', 'z')['recorder']
        self.assertEqual((kept['bound'], kept['dump_on']['crash']), ({'bytes': 1 << 20}, True))
        self.assertEqual(self.daemon.json('session', 'show', 'z')['triggered_by'], ['a'])

    def test_what_is_wrong_is_told_with_its_place_and_the_others_begin(self):
        good = {'pattern': 'uprobe::hot_push', 'scope': 'local', 'do': 'count',
                'target': {'executables': [HOT]}}
        self.write('good', json.dumps({'settings': [good]}))
        self.write('cut', '{"settings": [\n')
        self.write('odd', json.dumps({'settings': [{**good, 'doo': 'count'}]}))
        self.write('no name', json.dumps({'settings': [good]}))
        self.write('gone', json.dumps({'settings': [{**good, 'target': {'executables': ['/no']}}]}))
        self.write('nothing', json.dumps({'settings': []}))
        said = self.begin_again()
        for expected in (f'{self.folder}/cut.json: line 2, column 1: this is not JSON',
                         f'{self.folder}/odd.json: settings[0].doo: unknown field',
                         f'{self.folder}/no name.json: a session\'s name has',
                         f'{self.folder}/gone.json: cannot open /no'):
            self.assertIn(expected, said)
        names = [session['name'] for session in self.daemon.json('session', 'list')['sessions']]
        self.assertEqual(names, ['gone', 'good', 'nothing'])
        self.call()
        self.assertEqual(self.count('good'), CALLS)

    def test_settings_of_numbered_processes_are_not_saved(self):
        program = self.program('hot')
        self.daemon.json('session', 'new', 's')
        self.daemon.json('stage', 's', 'set', 'uprobe::hot_push', '-p', str(program.pid))
        self.daemon.json('commit', 's')
        refused = self.daemon.run('session', 'save', 's')
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn('is for processes by their numbers', refused.stderr)


if __name__ == '__main__':
    unittest.main()
