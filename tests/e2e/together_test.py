# SPDX-License-Identifier: BSD-2-Clause
"""Many clients at once: commits that queue and share switches, clients that die, pauses of all sessions."""

import json
import os
import signal
import unittest

import support
from support import target

CLIENTS = 8


def line(method, **params):
    return json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': method,
                       'params': params}).encode() + b'\n'


@support.needs_root
class Together(support.DaemonTest):
    def setUp(self):
        super().setUp()
        self.traced = self.program('counters', '2', '0', '100')
        self.here = {'pids': [self.traced.pid]}
        self.client = self.daemon.connect()
        self.addCleanup(self.client.close)

    def staged_client(self, name, pattern='u::f00*'):
        client = self.daemon.connect()
        self.addCleanup(client.close)
        client.result('session.create', name=name)
        client.result('stage.set', session=name, patterns=[pattern], target=self.here, do='count')
        return client

    def total(self):
        self.traced.send('stop')
        return self.traced.result()['total']

    def hits(self, name):
        return self.client.result('session.read', session=name)['total_hits']

    def test_commits_that_come_while_one_is_done_share_a_switch(self):
        clients = [self.staged_client(f's{i}') for i in range(CLIENTS)]
        self.traced.send('go')
        # While the daemon is stopped: when it continues, all requests have arrived.
        pid = self.client.result('daemon.status')['pid']
        os.kill(pid, signal.SIGSTOP)
        try:
            for i, client in enumerate(clients):
                client.send(line('stage.commit', session=f's{i}'))
        finally:
            os.kill(pid, signal.SIGCONT)
        epochs = [client.receive()['result']['epoch'] for client in clients]
        self.assertLess(len(set(epochs)), CLIENTS)
        paused = self.client.result('session.pause')
        self.assertEqual(paused['sessions'], CLIENTS)
        for epoch in set(epochs):  # sessions of the same switch have equal counts
            counted = {self.hits(f's{i}') for i, one in enumerate(epochs) if one == epoch}
            self.assertEqual(len(counted), 1)
        self.client.result('session.resume')
        self.total()

    def test_one_that_fails_takes_no_other_with_it(self):
        clients = [self.staged_client(f's{i}') for i in range(3)]
        pid = self.client.result('daemon.status')['pid']
        os.kill(pid, signal.SIGSTOP)
        try:
            for name, client in zip(('s0', 'nobody', 's2'), clients):
                client.send(line('stage.commit', session=name))
        finally:
            os.kill(pid, signal.SIGCONT)
        answers = [client.receive() for client in clients]
        self.assertEqual(answers[0]['result']['sites'], 100)
        self.assertEqual(answers[1]['error']['data']['code'], 'not_found')
        self.assertEqual(answers[2]['result']['sites'], 100)

    def test_a_client_that_dies_before_its_commit_leaves_the_old_settings(self):
        keeper = self.staged_client('kept')
        keeper.result('stage.commit', session='kept')
        self.traced.send('go')
        pid = self.client.result('daemon.status')['pid']
        for _ in range(5):
            dying = self.daemon.connect()
            dying.result('stage.set', session='kept', patterns=['u::f01*'], target=self.here)
            os.kill(pid, signal.SIGSTOP)
            try:
                dying.send(line('stage.commit', session='kept')[:-10])  # half a line
                dying.close()
            finally:
                os.kill(pid, signal.SIGCONT)
        shown = self.client.result('session.show', session='kept')
        self.assertEqual([s['pattern'] for s in shown['settings']], ['uprobe::f00*'])
        self.assertEqual(len(shown['draft']), 2)
        self.client.result('stage.abort', session='kept')
        again = self.client.result('stage.commit', session='kept')  # no lock is left
        self.assertEqual(again['added'] + again['updated'] + again['removed'], 0)
        total = self.total()
        self.assertEqual(self.hits('kept'), total)

    def test_requests_behind_a_commit_are_answered_behind_it(self):
        client = self.staged_client('s')
        client.send(line('stage.commit', session='s') + line('session.show', session='s'))
        self.assertEqual(client.receive()['result']['added'], 100)
        self.assertEqual(client.receive()['result']['sites'], 100)

    def test_the_verbs_pause_resume_and_restart(self):
        self.staged_client('s').result('stage.commit', session='s')
        self.assertTrue(self.daemon.json('pause', 's')['sites'])
        self.assertTrue(self.daemon.json('session', 'show', 's')['paused'])
        self.traced.send('go')
        self.assertEqual(self.daemon.json('read', 's')['total_hits'], 0)
        self.assertEqual(self.daemon.json('pause', '--all')['sessions'], 0)
        self.assertEqual(self.daemon.json('resume', '--all')['sessions'], 1)
        support.wait_until(lambda: self.hits('s') > 0, 'hits')
        self.daemon.json('restart', 's')
        info = self.daemon.json('info', 'u::f0000', '--generations')['settings'][0]
        self.assertEqual([g['sites'] for g in info['generations']], [1, 1])
        self.assertEqual(info['scope'], 'local')
        self.total()


@support.needs_root
class Linger(unittest.TestCase):
    def test_sites_stay_for_their_time_and_no_longer(self):
        daemon = support.Daemon('--linger', '1.5')
        self.addCleanup(daemon.end)
        program = support.Program(target('counters'), '1', '1')
        self.addCleanup(program.end)
        daemon.json('session', 'new', 's')
        daemon.json('stage', 's', 'set', 'u::f00*', '-p', str(program.pid), '--do', 'count')
        daemon.json('commit', 's')
        daemon.json('stage', 's', 'remove', 'u::f00*')
        self.assertEqual(daemon.json('commit', 's')['lingering'], 100)
        self.assertGreater(support.text_differs(program.pid, target('counters')), 0)
        support.wait_until(lambda: daemon.json('status')['sites'] == 0, 'the end of the time')
        self.assertEqual(support.text_differs(program.pid, target('counters')), 0)


if __name__ == '__main__':
    unittest.main()
