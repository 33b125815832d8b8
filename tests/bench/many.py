#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What large sets of sites cost: the time to stage, commit, read and remove a count of that many functions, and the
daemon's memory while they are armed. Each function is called once, and each count is compared with that.

    many.py [RUNS]      3 of each, at least 2
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / 'tests/e2e'), str(ROOT / 'tests/support')]

import rows  # noqa: E402
import support  # noqa: E402

SITES = 10_000, 100_000, 500_000
LIMIT_S = 600


def built(sites, folder):
    program = f'{folder}/sites{sites}'
    subprocess.run(['cc', '-O1', '-no-pie', f'-DSITES={sites}', '-I', ROOT, ROOT / 'tests/targets/sites.c', '-o', program],
                   check=True)
    return program


def timed(daemon, *words):
    began = time.monotonic()
    done = subprocess.run([support.TRACECTL, '--socket', daemon.socket, '--json', *words], capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    return time.monotonic() - began, json.loads(done.stdout)


def calls_of(program):
    program.send('call 1')
    return program.result()['calls']


def one_run(path, sites):
    """The times to stage, commit, read and remove, and the memory."""
    daemon = support.Daemon()
    program = support.Program(path)
    try:
        before = daemon.json('status')['memory_bytes']
        timed(daemon, 'session', 'new', 's')
        stage_s, staged = timed(daemon, 'stage', 's', 'set', 'u::s[0-9]*', '-p', str(program.pid), '--do', 'count')
        assert staged['sites'] == sites, staged
        commit_s, _ = timed(daemon, 'commit', 's', '--yes')
        memory = daemon.json('status')['memory_bytes'] - before
        assert calls_of(program) == sites
        read_s, read = timed(daemon, 'read', 's')
        counted = [row['count'] for row in read['rows'] if row['count']]
        assert counted == [1] * sites, (len(counted), sum(counted))
        remove_s, _ = timed(daemon, 'session', 'delete', 's')
        return [stage_s, commit_s, read_s, remove_s], memory
    finally:
        program.end()
        daemon.end()


def main():
    if os.geteuid() != 0:
        print('many: arming probes needs root')
        return
    runs = int(sys.argv[1]) if sys.argv[1:] else 3
    rows.heading()
    with tempfile.TemporaryDirectory() as folder:
        for sites in SITES:
            path = built(sites, folder)
            measured = [one_run(path, sites) for _ in range(runs)]
            for name, times in zip(['stage', 'commit', 'read', 'remove'], zip(*(times for times, _ in measured))):
                rows.row(f'{name} {sites:,} sites, ms', times)
            print(f'  memory of the daemon, at most: {max(memory for _, memory in measured) / sites:.0f} bytes a site')


if __name__ == '__main__':
    main()
