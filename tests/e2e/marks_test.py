# SPDX-License-Identifier: BSD-2-Clause
"""Tags, silence, triggers, children and cgroup names on the command line, compared with what the traced
programs have counted (tests/targets/rounds.cpp, forker.c)."""

import json
import unittest

import support
from support import target


@support.needs_root
class Marks(support.DaemonTest):
    one_daemon = True

    def stage(self, session, function, program, action, *options):
        self.daemon.json('stage', session, 'set', f'uprobe::{function}', '-p', str(program.pid),
                         '--do', action, *options)

    def session(self, name, program, *settings):
        self.daemon.json('session', 'new', name)
        for setting in settings:
            self.stage(name, setting[0], program, *setting[1:])
        self.daemon.json('commit', name)

    def run_program(self, program):
        program.send('go')
        return program.result()

    def test_rows_and_events_by_tag(self):
        program = self.program('rounds', '2', '200')
        self.session('s', program, ('slow', 'event, tag("slow")'), ('fast', 'event, tag("fast")'),
                     ('step', 'event, count by tag'))
        client = self.daemon.connect()
        client.result('session.subscribe', session='s')
        said = self.run_program(program)
        client.result('session.flush', session='s')
        rows = {row['by']['tag']: row['count'] for row in self.daemon.json('read', 's')['rows']
                if 'by' in row}
        self.assertEqual({tag: count for tag, count in rows.items() if tag},
                         {'slow': said['steps_slow'], 'fast': said['steps_fast']})
        events = [n['params'] for n in client.notifications if n['method'] == 'event']
        steps = [event for event in events if event['probe'].endswith(':step')]
        for tag in ('slow', 'fast'):
            self.assertEqual(sum(step.get('tag') == tag for step in steps), said[f'steps_{tag}'])
        self.assertEqual(sum('tag' not in step for step in steps), said['steps_before'])
        client.close()

    def test_trace_shows_tags(self):
        done = self.daemon.run('trace', 'uprobe::step', '--do', 'event, tag("seen")', '--',
                               target('rounds'), '1', '50', input='go\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in done.stdout.splitlines() if ':step(' in line]
        self.assertFalse(lines[0].endswith('tag="seen"'), lines[0])
        self.assertTrue(all(line.endswith(' tag="seen"') for line in lines[1:]), lines[1])

    def test_tags_that_a_program_puts_itself(self):
        """The probe that reports them is armed with the session, and its hits are not shown to the user."""
        program = self.program('tags', '2', '2', '100')
        self.session('s', program, ('handle', 'event'))
        info = self.daemon.json('info', 'usdt::tracectl:tag')['settings']
        self.assertEqual([one['do'] for one in info], ['tags'])
        client = self.daemon.connect()
        client.result('session.subscribe', session='s')
        said = self.run_program(program)
        client.result('session.flush', session='s')
        events = [n['params'] for n in client.notifications if n['method'] == 'event']
        self.assertEqual(sorted((e['args'][0], e['tag']) for e in events),
                         sorted((n, f'request {n}') for n in range(said['requests']) for _ in (1, 2)))
        self.assertEqual(self.daemon.json('session', 'show', 's')['hits'], len(events))
        self.assertGreater(self.daemon.json('info', 'usdt::tracectl:tag')['settings'][0]['hits'], 0)
        client.close()

    def test_silent_threads_are_told(self):
        program = self.program('rounds', '1', '200')
        self.session('s', program, ('slow', 'silent'), ('fast', 'silent(off)'), ('step', 'event, count'))
        said = self.run_program(program)
        read = self.daemon.json('read', 's')
        self.assertEqual(read['total_silenced'], said['steps_slow'])
        silenced = said['steps_slow']
        self.assertIn(f', {silenced} of silent threads not streamed\n', self.daemon.run('read', 's').stdout)
        self.assertIn(f', {silenced} of silent threads,',
                      self.daemon.run('session', 'show', 's').stdout)
        self.assertEqual(self.daemon.json('session', 'show', 's')['marks_lost'], 0)

    def test_a_trace_triggers_a_session_that_waits(self):
        program = self.program('rounds', '1', '300')
        self.daemon.json('session', 'new', 'waits')
        self.daemon.json('pause', 'waits')
        self.stage('waits', 'step', program, 'count')
        self.daemon.json('commit', 'waits')
        self.session('starts', program, ('begin_round', 'trigger(waits)', '--when', 'arg0 == 100'))
        self.session('stops', program,
                     ('begin_round', 'trigger("waits", off)', '--when', 'arg0 == 200'))
        show = self.daemon.json('session', 'show', 'waits')
        self.assertEqual((show['paused'], show['triggered_by']), (True, ['starts', 'stops']))
        self.assertIn('\ntriggered by starts, stops\n',
                      self.daemon.run('session', 'show', 'waits').stdout)
        said = self.run_program(program)
        self.assertEqual(self.daemon.json('read', 'waits')['rows'][0]['count'],
                         sum(said['steps_by_round'][100:200]))
        self.assertTrue(self.daemon.json('session', 'show', 'waits')['paused'])

    def test_a_trigger_without_its_session_is_refused(self):
        done = self.daemon.run('trace', 'uprobe::step', '--do', 'trigger(nobody)', '--',
                               target('rounds'), '1', '1', input='go\n')
        self.assertEqual(done.returncode, 1)
        self.assertIn('there is no session "nobody" to trigger; tracectl session new nobody makes one',
                      done.stderr)


@support.needs_root
class Children(support.DaemonTest):
    def counted(self, *options):
        done = self.daemon.run('--json', 'count', 'uprobe::work', '--by', 'pid', *options, '--',
                               target('forker'), 'fork', '10', '100', input='go\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        return [row['count'] for row in json.loads(done.stdout.splitlines()[-1])['rows']
                if row['count']]

    def test_are_followed_where_that_is_asked_for(self):
        self.assertEqual(self.counted(), [])
        self.assertEqual(self.counted('-f'), [100] * 10)
        self.assertEqual(self.counted('--first-child'), [100])

    def test_are_shown_with_the_setting(self):
        program = self.program('forker', 'fork', '1', '1')
        self.daemon.json('session', 'new', 's')
        self.daemon.json('stage', 's', 'set', 'uprobe::work', '-p', str(program.pid), '-f')
        show = self.daemon.json('session', 'show', 's')
        self.assertEqual(show['draft'][0]['target']['follow'], 'children')
        self.assertIn(f'-p {program.pid} -f', self.daemon.run('session', 'show', 's').stdout)
        refused = self.daemon.run('count', 'uprobe::work', '-x', target('forker'), '-f')
        self.assertEqual(refused.returncode, 2)
        self.assertIn('those that run an executable are followed always', refused.stderr)

    def test_by_unit_and_container(self):
        done = self.daemon.run('--json', 'count', 'uprobe::step', '--by', 'unit,container', '--',
                               target('rounds'), '1', '100', input='go\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        row = json.loads(done.stdout.splitlines()[-1])['rows'][0]
        with open('/proc/self/cgroup') as file:
            path = next(line.rstrip('\n').split(':', 2)[2] for line in file
                        if line.startswith('0::'))
        last = [part for part in path.split('/') if part.endswith(('.service', '.scope'))][-1:]
        self.assertEqual(row['by']['unit'], last[0] if last else path)
        self.assertIn('container', row['by'])


if __name__ == '__main__':
    unittest.main()
