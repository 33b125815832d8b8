# SPDX-License-Identifier: BSD-2-Clause
"""The client with a daemon that always has more to send than the client can read."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

import support

SO_SNDBUFFORCE = 32  # <asm-generic/socket.h>; Python has no name for it

EVENT = {'ts': 1, 'wall': '2026-01-01T00:00:00.000000000Z', 'epoch': 1, 'session': 's', 'cpu': 0,
         'pid': 1, 'tid': 1, 'comm': 'c', 'probe': 'uprobe:/p:f', 'kind': 'hit', 'args': []}
STAGED = {'settings': 1, 'probes': 1, 'sites': 1, 'refused': [], 'notes': []}
COMMITTED = {'epoch': 1, 'probes': 1, 'sites': 1, 'added': 1, 'updated': 0, 'removed': 0, 'kernel_bytes': 0, 'private_bytes': 0,
             'refused': [], 'notes': [],
             'lingering': 0, 'skew_ns': [],
             'phases_us': {'stage': 0, 'arm': 0, 'wait': 0, 'switch': 0, 'disarm': 0}}
ANSWERS = {
    'session.create': {'name': 's', 'named': False, 'saved': False, 'paused': False, 'triggered_by': [],
                       'settings': [], 'followed': [], 'not_resumed': [], 'epoch': 0, 'probes': 0,
                       'sites': 0, 'hits': 0, 'filtered': 0, 'silenced': 0, 'lost': 0, 'marks_lost': 0},
    'session.prove': {'needed': False, 'proven': [], 'unproven': {'processes': 0, 'hits': 0}, 'wanted': []},
    'stage.set': STAGED, 'stage.remove': STAGED, 'session.subscribe': {}, 'session.flush': {'ts': 1},
    'stage.commit': COMMITTED,
    'session.read': {'rows': [], 'epoch': 1, 'total_hits': 0, 'total_filtered': 0, 'total_silenced': 0,
                     'dropped_ring': 0, 'dropped_keys': 0},
}
ANSWERS['session.show'] = ANSWERS['session.create']


class Flood:
    """Answers like a daemon, and sends events without a pause from the commit to stage.remove."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.lines = (json.dumps({'jsonrpc': '2.0', 'method': 'event', 'params': EVENT})
                      + '\n').encode() * 2000
        self.flooding = threading.Event()
        self.methods = []
        self.sent = 0  # times `lines`; much more than a socket holds
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        peer, _ = self.listener.accept()
        # Large enough that data is ready even while this side waits for the CPU.
        peer.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 16 << 20)
        whole_lines = threading.Lock()
        flood = threading.Thread(target=self.flood, args=(peer, whole_lines), daemon=True)
        flood.start()
        try:
            for line in peer.makefile('r'):
                call = json.loads(line)
                self.methods.append(call['method'])
                if call['method'] == 'stage.remove':
                    self.flooding.clear()
                answer = {'jsonrpc': '2.0', 'id': call['id'], 'result': ANSWERS[call['method']]}
                with whole_lines:
                    peer.sendall(json.dumps(answer).encode() + b'\n')
                if call['method'] == 'stage.commit' and 'stage.remove' not in self.methods:
                    self.flooding.set()
        except ConnectionError:
            pass

    def flood(self, peer, whole_lines):
        try:
            while self.flooding.wait(60):
                with whole_lines:
                    peer.sendall(self.lines)
                self.sent += 1
        except OSError:
            pass


@support.needs_root
class Busy(unittest.TestCase):
    def trace(self, *options):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        path = directory.name + '/s'
        self.server = Flood(path)
        self.addCleanup(self.server.listener.close)
        process = subprocess.Popen(
            [support.TRACECTL, '--socket', path, 'trace', 'u::f', '-p', str(os.getpid()), *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def check(self, process, status):
        _, said = process.communicate(timeout=20)
        self.assertEqual(process.returncode, status, said)
        self.assertIn('stage.remove', self.server.methods)
        self.assertIn(' lost', said)

    def test_a_time_ends_the_trace_all_the_same(self):
        self.check(self.trace('--for', '100ms'), 0)

    def test_an_interrupt_ends_the_trace_all_the_same(self):
        process = self.trace()
        self.assertIn('tracing', process.stderr.readline())
        support.wait_until(lambda: self.server.sent > 40, 'the client to be busy', 20)
        process.send_signal(signal.SIGINT)
        self.check(process, 130)


if __name__ == '__main__':
    unittest.main()
