# SPDX-License-Identifier: BSD-2-Clause
"""Patterns that choose very many functions, or one function by very many names."""

import json

import support
from support import target

REFUSED = 7


@support.needs_root
class LargeSets(support.DaemonTest):
    one_daemon = True

    def count(self, *words):
        done = self.daemon.run('--json', 'count', *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), done.stderr

    def test_names_of_one_function_are_one_probe(self):
        large = target('large')
        counted, said = self.count('u::same*', '--', large)
        self.assertEqual([(row['probe'], row['count']) for row in counted['rows']],
                         [(f'uprobe:{large}:same', 7)])
        self.assertEqual(counted['total_hits'], 7)
        self.assertIn('same_0 as same', said)
        self.assertIn('and 96 more', said)

    def test_names_that_settings_of_their_own_choose_stay(self):
        large = target('large')
        counted, _ = self.count('u::same_1*', 'u::same_7', '--', large)
        self.assertEqual({row['probe']: row['count'] for row in counted['rows']},
                         {f'uprobe:{large}:same_1': 7, f'uprobe:{large}:same_7': 7})

    def test_a_later_setting_of_all_names_replaces_an_earlier_one_of_some(self):
        large = target('large')
        run = self.daemon.run
        for words in (['session', 'new', 's'], ['stage', 's', 'set', 'u::same_1*', '-x', large],
                      ['stage', 's', 'set', 'u::same*', '-x', large, '--do', 'count'],
                      ['commit', 's']):
            done = run(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
        info = self.daemon.json('info', f'uprobe:{large}:same*')
        self.assertEqual([one['do'] for one in info['settings']], ['count'])

    def test_many_sites_want_consent(self):
        large = target('large')
        done = self.daemon.run('count', 'u::part_*', '--', large)
        self.assertEqual((done.returncode, done.stdout), (REFUSED, ''), done.stderr)
        self.assertRegex(done.stderr, r'10001 sites would be armed, more than 10000\. '
                         r'They take about 4688 KiB of kernel memory, and (20|24|28) KiB of code')
        self.assertIn('--yes', done.stderr)
        counted, _ = self.count('u::part_*', '--yes', '--', large)
        self.assertEqual([(row['probe'], row['count']) for row in counted['rows'] if row['count']],
                         [(f'uprobe:{large}:part_10000', 1)])

    def test_more_sites_than_the_table_has_at_the_start(self):
        sites = target('sites')
        before = self.daemon.json('status')['memory_bytes']
        counted, _ = self.count('u::s[0-9]*', '--yes', '--', sites, '50')
        rows = {row['probe'].rpartition(':')[2]: row['count'] for row in counted['rows']}
        self.assertEqual(len(rows), 100000)
        self.assertEqual({name for name, count in rows.items() if count},
                         {f's{n}' for n in range(50, 100001, 50)})
        self.assertEqual(set(rows.values()), {0, 1})
        # A chunk of slots is part of the daemon's memory; it stays.
        self.assertGreater(self.daemon.json('status')['memory_bytes'], before + (8 << 20))

    def test_more_sites_than_the_table_has_at_the_start_without_a_daemon(self):
        done = support.run('--embedded', '--json', 'count', 'u::s[0-9]*', '--yes', '--', target('sites'), '50')
        self.assertEqual(done.returncode, 0, done.stderr)
        hit = [row for row in json.loads(done.stdout)['rows'] if row['count']]
        self.assertEqual((len(hit), {row['count'] for row in hit}), (2000, {1}))

    def test_a_draft_of_many_sites_wants_consent(self):
        large = target('large')
        run = self.daemon.run
        for words in (['session', 'new', 'many'],
                      ['stage', 'many', 'set', 'u::part_*', '-x', large, '--do', 'count']):
            self.assertEqual(run(*words).returncode, 0)
        dry = run('commit', 'many', '--dry-run')
        self.assertEqual(dry.returncode, 0, dry.stderr)
        self.assertIn('of kernel memory', dry.stdout)
        self.assertEqual(run('commit', 'many').returncode, REFUSED)
        self.assertEqual(self.daemon.json('status')['sites'], 0)
        committed = self.daemon.json('commit', 'many', '--yes')
        self.assertEqual(committed['added'], 10001)
        # What is armed already wants no consent again.
        self.assertEqual(run('stage', 'many', 'set', 'u::same', '-x', large).returncode, 0)
        self.assertEqual(run('commit', 'many').returncode, 0)
        self.assertEqual(run('session', 'delete', 'many').returncode, 0)
