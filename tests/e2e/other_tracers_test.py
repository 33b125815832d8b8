# SPDX-License-Identifier: BSD-2-Clause
"""The daemon, an embedded engine and bpftrace at the same sites of one process: each counts the calls while it
was there, and none disturbs the others when it ends."""

import itertools
import json
import pathlib
import re
import signal
import struct
import subprocess
import unittest

import support
from support import target, wait_until

PATH, CALLS = target('hot_usdt'), 100
FUNCTION, PROBE = 'by_sdt', 'hot:sdt'  # the probe is in the function, guarded by a semaphore
SITES = 2
EPOLL_WAIT = '232 '  # x86-64


class OfDaemon:
    def __init__(self, daemon, pid):
        self.daemon = daemon
        daemon.json('session', 'new', 's')
        daemon.json('stage', 's', 'set', f'u::{FUNCTION}', f'U::{PROBE}', '-p', str(pid), '--do', 'count')
        daemon.json('commit', 's')

    def leave(self):
        rows = self.daemon.json('read', 's')['rows']
        self.daemon.json('session', 'delete', 's')
        return sorted(row['count'] for row in rows)

    def end(self):
        self.daemon.json('session', 'delete', 's')


class Embedded:
    def __init__(self, _, pid):
        self.process = subprocess.Popen(
            [support.TRACECTL, '--embedded', '--json', 'count', f'u::{FUNCTION}', f'U::{PROBE}', '-p', str(pid)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert any('^C ends it' in line for line in self.process.stderr), 'it did not begin'

    def leave(self):
        self.process.send_signal(signal.SIGINT)
        out, errors = self.process.communicate(timeout=60)
        assert self.process.returncode == 130, errors
        return sorted(row['count'] for row in json.loads(out)['rows'])

    def end(self):
        self.process.kill()
        self.process.communicate()


class BpfTrace(Embedded):
    def __init__(self, _, pid):
        script = f'uprobe:{PATH}:{FUNCTION} {{ @f = count(); }} usdt:{PATH}:{PROBE} {{ @p = count(); }}'
        self.process = subprocess.Popen(['bpftrace', '-p', str(pid), '-e', script], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert any('Attaching' in line for line in iter(self.process.stdout.readline, '')), 'it did not begin'
        # It waits when it has attached.
        call = pathlib.Path(f'/proc/{self.process.pid}/syscall')
        wait_until(lambda: call.read_text().startswith(EPOLL_WAIT), 'bpftrace')

    def leave(self):
        self.process.send_signal(signal.SIGINT)
        out, _ = self.process.communicate(timeout=60)
        return sorted(map(int, re.findall(r'^@[fp]: (\d+)$', out, re.M)))


def semaphore_of(pid):
    """1 while anybody has armed the probe: the kernel counts a site once, for any number of users."""
    symbols = subprocess.run(['nm', PATH], capture_output=True, text=True, check=True).stdout
    address, = (int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(' hot_sdt_semaphore'))
    with open(f'/proc/{pid}/maps', encoding='utf-8') as maps, open(f'/proc/{pid}/mem', 'rb') as memory:
        base = min(int(line.split('-')[0], 16) for line in maps if PATH in line)
        memory.seek(base + address)
        return struct.unpack('<H', memory.read(2))[0]


@support.needs_root
class OtherTracers(support.DaemonTest):
    def call(self):
        self.traced.send(f'{FUNCTION} {CALLS}')
        self.assertEqual(self.traced.result()['calls'], CALLS)

    def check_order(self, leaving):
        joining = leaving[1:] + leaving[:1]
        there = {}
        try:
            for kind in joining:
                there[kind] = kind(self.daemon, self.traced.pid)
                self.assertEqual(semaphore_of(self.traced.pid), 1)
                self.call()
            for number, kind in enumerate(leaving, 1):
                self.call()
                calls = (len(joining) - joining.index(kind) + number) * CALLS
                self.assertEqual(there.pop(kind).leave(), [calls] * SITES, kind)
                self.assertEqual(semaphore_of(self.traced.pid), 1 if there else 0)
        finally:
            for tracer in there.values():
                tracer.end()
        self.assertEqual(support.text_differs(self.traced.pid, PATH), 0)

    def test_each_counts_what_was_called_whichever_leaves_first(self):
        self.traced = self.program('hot_usdt')
        for leaving in itertools.permutations((OfDaemon, Embedded, BpfTrace)):
            with self.subTest(leaving=[kind.__name__ for kind in leaving]):
                self.check_order(list(leaving))


if __name__ == '__main__':
    unittest.main()
