#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The time for the page of a recording of a million events: to write it, and to open it in headless Chromium,
from the navigation until it is drawn completely.

    page.py [RUNS]      5 of them, at least 2
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / 'tests/e2e')]

import browser  # noqa: E402
import rows  # noqa: E402
import support  # noqa: E402

EVENTS = 1_000_000
MOST_MS = 3000  # until a page is drawn
ROUNDS = 4000  # of each of two threads of graph_tree: some 130 events each, from 533,254 calls


def record(file, words, act):
    """Records what `act` makes a program do."""
    with tempfile.TemporaryDirectory() as directory:
        daemon = support.Daemon()
        verb = subprocess.Popen([support.TRACECTL, '--socket', daemon.socket, *words, '-o', file],
                                stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            line = verb.stderr.readline()
            assert 'tracing' in line, line
            act(directory)
            verb.send_signal(signal.SIGINT)
            verb.communicate()
        finally:
            verb.kill()
            verb.communicate()
            daemon.end()


def record_hits(file):
    program = support.Program(support.target('hot'))

    # In portions, so that none is lost on a slow machine.
    def act(_):
        for _ in range(20):
            program.send(f'hot_push {EVENTS // 20}')
            program.result()
            time.sleep(0.1)
    try:
        record(file, ['record', 'uprobe::hot_push', '-p', str(program.pid), '--do',
                      'event(arg0, arg1, arg2)'], act)
    finally:
        program.end()


def record_calls(file):
    log = tempfile.NamedTemporaryFile()
    program = support.Program(support.target('graph_tree'), '2', str(ROUNDS), log.name, '200')

    def act(_):
        program.send('go')
        program.result()
    try:
        record(file, ['graph', 'tree_root', '-p', str(program.pid)], act)
    finally:
        program.end()


def opening_s(page):
    with browser.started() as driver:
        browser.open_page(driver, page)
        return browser.marks(driver)['tracectl-ready'] / 1000


def writing_s(file, page):
    began = time.monotonic()
    done = support.run('report', file, '--html', page)
    assert done.returncode == 0, done.stderr
    assert ' 0 lost' in done.stderr, done.stderr
    return time.monotonic() - began


def measure(name, record_to, runs, directory):
    file, page = f'{directory}/{name}.tct', f'{directory}/{name}.html'
    record_to(file)
    rows.row(f'write the page of {name}, ms', [writing_s(file, page) for _ in range(runs)])
    rows.row(f'open the page of {name}, ms', [opening_s(page) for _ in range(runs)], MOST_MS)


def main():
    if os.geteuid() != 0:
        print('page: arming probes needs root')
        return
    runs = int(sys.argv[1]) if sys.argv[1:] else 5
    rows.heading()
    with tempfile.TemporaryDirectory() as directory:
        measure('1,000,000 hits', record_hits, runs, directory)
        measure('533,000 calls', record_calls, runs, directory)


if __name__ == '__main__':
    main()
