#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""How long it takes until something is traced: for a daemon to be ready, for a command without a daemon to arm its
first site and to end, and for the first commit that follows returns. Compared with bpftrace, in turn.

    begin.py [RUNS]      10 of each, at least 2
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / 'tests/e2e'), str(ROOT / 'tests/support')]

import rows  # noqa: E402
import support  # noqa: E402

FUNCTION = 'changes_step'
TARGET = support.target('changes')
LIMIT_S = 10


class Site:
    """The address of the target's function in its memory."""

    def __init__(self, program):
        symbols = subprocess.run(['nm', TARGET], capture_output=True, text=True, check=True).stdout.splitlines()
        [offset] = [int(line.split()[0], 16) for line in symbols if line.split()[-1] == FUNCTION]
        with open(f'/proc/{program.pid}/maps', encoding='ascii') as maps:
            base = min(int(line.partition('-')[0], 16) for line in maps if line.rstrip().endswith(TARGET))
        self.address = base + offset
        self.memory = os.open(f'/proc/{program.pid}/mem', os.O_RDONLY)
        self.original = self.read()

    def read(self):
        return os.pread(self.memory, 1, self.address)

    def wait_until(self, armed):
        end = time.monotonic() + LIMIT_S
        while (self.read() != self.original) != armed:
            assert time.monotonic() < end, f'the site is not {"armed" if armed else "disarmed"}'
        return time.monotonic()

    def close(self):
        os.close(self.memory)


def first_site_s(command, site):
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    armed = site.wait_until(True)
    process.terminate()
    try:
        process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()  # bpftrace sometimes hangs when it is ended during its start
        process.wait()
    site.wait_until(False)
    return armed - began


def whole_s(command):
    began = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - began


def ready_s():
    began = time.monotonic()
    daemon = support.Daemon()
    ready = time.monotonic()
    daemon.end()
    return ready - began


def first_returns_s(program):
    daemon = support.Daemon()
    try:
        daemon.json('session', 'new', 's')
        daemon.json('stage', 's', 'set', f'uprobe::{FUNCTION}', '-p', str(program.pid), '--do', 'time')
        began = time.monotonic()
        daemon.json('commit', 's')
        return time.monotonic() - began
    finally:
        daemon.end()


def in_turn(runs, *measures):
    """The times of each."""
    taken = [tuple(measure() for measure in measures) for _ in range(runs)]
    return list(zip(*taken))


def main():
    if os.geteuid() != 0:
        print('begin: arming probes needs root')
        return
    runs = int(sys.argv[1]) if sys.argv[1:] else 10
    program = support.Program(TARGET)
    site = Site(program)
    count = [support.TRACECTL, 'count', f'uprobe::{FUNCTION}', '-p', str(program.pid)]
    bpftrace = ['bpftrace', '-p', str(program.pid), '-e', f'uprobe:{TARGET}:{FUNCTION} {{ @ = count(); }}']
    measures = [lambda: first_site_s(count, site)]
    if shutil.which('bpftrace'):
        measures.append(lambda: first_site_s(bpftrace, site))
    try:
        rows.heading()
        ours, *tools = in_turn(runs, *measures)
        rows.row('count without a daemon, to its first site, ms', ours, 100)
        for tool in tools:
            rows.row('  bpftrace, the same, ms', tool)
        rows.row('count --for 0s without a daemon, all of it, ms',
                 [whole_s([*count, '--for', '0s']) for _ in range(runs)], 200)
        rows.row('a daemon to be ready, ms', [ready_s() for _ in range(runs)], 200)
        rows.row('the first commit that follows returns, ms', [first_returns_s(program) for _ in range(runs)], 250)
    finally:
        site.close()
        program.end()


if __name__ == '__main__':
    main()
