# SPDX-License-Identifier: BSD-2-Clause
"""Patterns that choose very many functions, or one function by very many names."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

import service_manager
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


@support.needs_root
class OverRestarts(unittest.TestCase):
    """A saved session of 100,000 sites. Most of their slots and counters are in chunks, which the next daemon takes
    over."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.service = service_manager.Service('--sessions', folder.name)
        self.addCleanup(self.service.end)
        self.service.start()
        self.program = support.Program(target('sites'))
        self.addCleanup(self.program.end)
        for name in 's', 't':  # of the second the hooks are in chunks, too
            self.service.json('session', 'new', name, '--saved')
            self.service.json('stage', name, 'set', 'u::s[0-9]*', '-p', str(self.program.pid), '--do', 'count')
            self.service.json('commit', name, '--yes')

    def call_every(self, step):
        self.program.send(f'call {step}')
        self.assertEqual(self.program.result()['calls'], 100_000 // step)

    def counts(self, name):
        return {row['probe'].rpartition(':')[2]: row['count'] for row in self.service.json('read', name)['rows']
                if row['count']}

    def chunks(self):
        """The size of their entries, by what the store has."""
        found = {}
        for name, fd in self.service.store:
            number = re.search(r'^map_id:\s*(\d+)$', pathlib.Path(f'/proc/self/fdinfo/{fd}').read_text(), re.M)
            if not number:
                continue
            shown = json.loads(subprocess.run(['bpftool', '-j', 'map', 'show', 'id', number[1]], check=True,
                                              capture_output=True, text=True).stdout)
            if shown['name'] == 'chunk':
                found[name, fd] = shown['bytes_value']
        return found

    def test_counts_go_on(self):
        self.call_every(50)
        self.service.restart(signal.SIGKILL)
        self.call_every(50)
        for name in 's', 't':
            self.assertEqual(self.counts(name), {f's{n}': 2 for n in range(50, 100_001, 50)})

    def test_without_one_of_the_chunks_all_begin_anew(self):
        sizes = set(self.chunks().values())
        self.assertEqual(len(sizes), 3)  # of a slot, a counter, a hook
        for size in sizes:
            with self.subTest(size=size):
                self.call_every(50)
                self.service.finish(signal.SIGKILL)
                lost = next(kept for kept, bytes_each in self.chunks().items() if bytes_each == size)
                self.service.store.remove(lost)
                os.close(lost[1])
                self.service.start()
                self.call_every(70)
                for name in 's', 't':
                    self.assertEqual(self.service.json('session', 'show', name)['not_resumed'], [])
                    self.assertEqual(self.counts(name), {f's{n}': 1 for n in range(70, 100_001, 70)})
        for name in 's', 't':
            self.service.json('session', 'delete', name)
        self.assertEqual(support.text_differs(self.program.pid, target('sites')), 0)
