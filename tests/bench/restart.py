#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""How long nobody reads the rings when the daemon is restarted with this many armed sites: from SIGTERM until
the next daemon has answered a subscriber, which does not wait for the end of the old one and asks at once.

    restart.py [RUNS]      9 of them, at least 2
"""

import os
import pathlib
import signal
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / 'tests/e2e'), str(ROOT / 'tests/support')]

import rows  # noqa: E402
import service_manager  # noqa: E402
import support  # noqa: E402

# For the functions m00000 to m09999.
PATTERNS = {1: 'm00000', 100: 'm000[0-9][0-9]', 1000: 'm00[0-9][0-9][0-9]'}


def restart_s(service):
    """The whole time, and its part after the end of the previous daemon."""
    began = time.monotonic()
    service.finish(signal.SIGTERM)
    ended = time.monotonic()
    service.launch()
    client = service.connect()
    client.result('session.subscribe', session='s')
    read = time.monotonic()
    client.close()
    return read - began, read - ended


def measure(sites, pattern, runs):
    program = support.Program(support.target('many'))
    service = service_manager.Service()
    try:
        service.start()
        service.json('session', 'new', 's', '--saved')
        service.json('stage', 's', 'set', f'uprobe::{pattern}', '-p', str(program.pid), '--do', 'event')
        committed = service.json('commit', 's')
        assert committed['sites'] == sites, committed
        times = [restart_s(service) for _ in range(runs)]
        shown = service.json('session', 'show', 's')
        assert 'gap' not in shown and shown['sites'] == sites, shown
    finally:
        service.end()
        program.end()
    word = 'site' if sites == 1 else 'sites'
    rows.row(f'nobody reads over a restart, {sites:,} {word}, ms', [all_s for all_s, _ in times])
    rows.row('  of it after the end of the daemon before, ms', [rest_s for _, rest_s in times])


def main():
    if os.geteuid() != 0:
        print('restart: arming probes needs root')
        return
    runs = int(sys.argv[1]) if sys.argv[1:] else 9
    rows.heading()
    for sites, pattern in PATTERNS.items():
        measure(sites, pattern, runs)


if __name__ == '__main__':
    main()
