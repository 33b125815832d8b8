# SPDX-License-Identifier: BSD-2-Clause
"""After its sessions are deleted, the daemon holds as much as before them.

GROWTH_SESSIONS=60: how many sessions; `make soak-growth` makes 10,000.
"""

import collections
import os
import pathlib
import shutil
import tempfile
import unittest

import support

SESSIONS = int(os.environ.get('GROWTH_SESSIONS', '60'))
WARM_UP = 24   # sessions that fill caches and the allocator
MOST_GROWTH_KB = 4096  # anonymous memory for all sessions together; the variation of the allocator itself
CALLS = 20
# One of each kind in turn: a target's first hits, reads of its memory, and the daemon's records of it.
KINDS = ('count', 'event', 'event, stack', 'count by stack', 'time', 'count by str(arg0)', 'graph', 'hist(arg0)')


def kind_of(link):
    """The kind of a descriptor, without its number."""
    return 'file' if link.startswith('/') else link.partition(':[')[0]


@support.needs_root
class Growth(support.DaemonTest):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.daemon.take_log()
        self.proc = pathlib.Path(f'/proc/{self.daemon.process.pid}')

    def descriptors(self):
        """By kind; a link, a map, a program and a process are each a kind."""
        kinds = collections.Counter()
        for descriptor in (self.proc / 'fd').iterdir():
            try:
                kinds[kind_of(os.readlink(descriptor))] += 1
            except FileNotFoundError:
                pass  # closed in the meantime
        return kinds

    def status(self):
        return dict(line.split(':\t', 1) for line in (self.proc / 'status').read_text().splitlines())

    def held(self):
        """What the daemon holds while only `self.client` is connected."""
        clients = lambda: self.client.result('daemon.status')['clients']
        support.wait_until(lambda: clients() == 1, 'the others to be gone')
        stats = self.client.result('daemon.stats')
        status = self.client.result('daemon.status')
        children = (self.proc / f'task/{self.proc.name}/children').read_text().split()
        return {'descriptors': self.descriptors(), 'threads': self.status()['Threads'],
                'children': len(children), 'mappings': len((self.proc / 'maps').read_text().splitlines()),
                'slots': stats['slots_used'], 'hooks': stats['hooks_used'], 'rings': stats['rings_open'],
                'sites': status['sites'], 'links': status['links'], 'sessions': status['sessions']}

    def anonymous_kb(self):
        return int(self.status()['RssAnon'].split()[0])

    def run_session(self, number):
        """Traces its own program, which ends before or after its session."""
        path = f'{self.folder.name}/hot{number}'
        shutil.copy(support.target('hot'), path)
        program = support.Program(path)
        client = self.daemon.connect()
        session = client.result('session.create')['name']
        client.result('stage.set', session=session, patterns=['uprobe::hot_push'], target={'pids': [program.pid]},
                      do=KINDS[number % len(KINDS)])
        client.result('session.subscribe', session=session)
        client.result('stage.commit', session=session)
        program.send(f'hot_push {CALLS}')
        program.result()
        client.result('session.flush', session=session)
        if number % 2:
            program.end()
        client.result('session.read', session=session)
        if number % 3:
            client.result('session.delete', session=session)
        client.close()  # which also deletes the session
        program.end()
        os.unlink(path)

    def test_what_sessions_took_is_given_back(self):
        self.client = self.daemon.connect()
        self.addCleanup(self.client.close)
        for number in range(WARM_UP):
            self.run_session(number)
        before, memory_before = self.held(), self.anonymous_kb()
        for number in range(SESSIONS):
            self.run_session(number)
        after, memory_after = self.held(), self.anonymous_kb()
        print(f'{SESSIONS} sessions: {sum(before["descriptors"].values())} descriptors before, '
              f'{sum(after["descriptors"].values())} after; {memory_before} KiB before, {memory_after} after')
        self.assertEqual(before, after)
        self.assertLess(memory_after - memory_before, MOST_GROWTH_KB)


if __name__ == '__main__':
    unittest.main()
