#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What is left of the throughput of real servers while functions of theirs are counted, timed and graphed: Debian's redis
under redis-benchmark, PostgreSQL under pgbench, and nginx under ab. The functions are those that the server calls once a
request, so that N functions are N hits a request, or N calls. The same is done by bpftrace, and counting by perf.

    real.py [ROUNDS [FILE.svg]]      3 of each, at least 2; the picture is drawn into that file
"""

import contextlib
import html
import json
import math
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / 'tests/e2e'), str(ROOT / 'tests/support')]

import postgresql  # noqa: E402
import support  # noqa: E402

SECONDS = 2     # of load, for a value
SIZES = 1, 10, 100
LIMIT_S = 120
ONCE = 0.9, 1.1  # calls a request
BY_TRAMPOLINE = 'time by trampoline'  # and not as it chooses, which is safer: tracectl-returns(7)
TRACECTL = [support.TRACECTL, '--embedded']


def output(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=LIMIT_S, **options).stdout


class Server:
    """One that runs in `folder`, and whose program is at `path`."""

    is_one_thread = True  # serves all requests

    def __init__(self, folder):
        self.folder = folder
        self.process = self.begin()
        support.wait_until(self.answers, f'{self.name} to answer')

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(LIMIT_S)

    def serve(self, *words):
        return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd='/')


class Redis(Server):
    name, handler = 'redis', 'processCommand'
    path = '/usr/bin/redis-check-rdb'  # the same program, which looks at its name
    needs = path, '/usr/bin/redis-benchmark'

    def begin(self):
        self.socket = f'{self.folder}/socket'
        os.symlink(self.path, f'{self.folder}/redis-server')
        return self.serve(f'{self.folder}/redis-server', '--port', '0', '--unixsocket', self.socket, '--save', '',
                          '--dir', self.folder)

    def answers(self):
        return os.path.exists(self.socket)

    def throughput(self):
        requests = max(500, int(self.of(2000) * SECONDS))
        return self.of(requests)

    def of(self, requests):
        said = output('redis-benchmark', '-s', self.socket, '-t', 'get', '-n', str(requests), '-c', '20', '--csv')
        return float(said.splitlines()[-1].split(',')[1].strip('"'))


class PostgreSQL(Server):
    name, handler, path = 'postgres', 'PortalRun', postgresql.POSTGRES
    needs = path, postgresql.BIN + '/pgbench'
    is_one_thread = False

    def begin(self):
        user = pwd.getpwnam('postgres')
        os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.run('initdb', '--no-sync', '-D', self.folder + '/data')
        return self.serve(*postgresql.AS_POSTGRES, self.path, '-D', self.folder + '/data', '-k', self.folder, '-c',
                          'listen_addresses=')

    def run(self, program, *words):
        return output(*postgresql.AS_POSTGRES, f'{postgresql.BIN}/{program}', *words, cwd='/')

    def answers(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.run('pgbench', '-i', '-q', '-h', self.folder, 'postgres')
            return True
        return False

    def throughput(self):
        said = self.run('pgbench', '-S', '-n', '-T', str(SECONDS), '-c', '2', '-h', self.folder, 'postgres')
        return float(re.search(r'^tps = ([\d.]+)', said, re.M)[1])


NGINX_FOLDERS = 'client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'


class Nginx(Server):
    name, handler = 'nginx', 'ngx_http_process_request'
    needs = '/usr/bin/ab',

    @classmethod
    def unpack(cls, folder):
        """Its package would start a service."""
        output('apt-get', 'download', 'nginx', cwd=folder)
        [package] = pathlib.Path(folder).glob('nginx_*.deb')
        output('dpkg', '-x', str(package), folder)
        cls.path = f'{folder}/usr/sbin/nginx'

    def begin(self):
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.port = free.getsockname()[1]
        pathlib.Path(self.folder, 'index.html').write_text('<p>something small</p>\n', encoding='utf-8')
        pathlib.Path(self.folder, 'conf').write_text(f'''
            daemon off; master_process off; pid {self.folder}/pid; error_log {self.folder}/errors;
            events {{ }}
            http {{
                access_log off;
                {" ".join(f"{kind}_temp_path {self.folder}/{kind};" for kind in NGINX_FOLDERS)}
                server {{ listen 127.0.0.1:{self.port}; root {self.folder}; keepalive_requests 1000000000; }}
            }}''', encoding='utf-8')
        return self.serve(self.path, '-c', f'{self.folder}/conf')

    def answers(self):
        with contextlib.suppress(OSError):
            socket.create_connection(('127.0.0.1', self.port), 1).close()
            return True
        return False

    def throughput(self):
        said = output('ab', '-q', '-k', '-c', '10', '-t', str(SECONDS), '-n', '100000000',
                      f'http://127.0.0.1:{self.port}/index.html')
        return float(re.search(r'^Requests per second: +([\d.]+)', said, re.M)[1])


# ---- tracers ----

class Tracer:
    """A tracing command, from when its probes are armed until it is left; then it must have counted something."""

    def __init__(self, words, is_armed, has_counted):
        self.words, self.is_armed, self.has_counted = words, is_armed, has_counted
        self.said = ''

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while not self.is_armed(self.said):
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f'{self.words[0]} has ended: {self.said[-2000:]}')
            self.said += line
        self.rest = []
        self.reader = threading.Thread(target=lambda: self.rest.extend(self.process.stdout))
        self.reader.start()
        return self.said

    def __exit__(self, failed, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(LIMIT_S)
        self.reader.join()
        self.process.stdout.close()
        rest = ''.join(self.rest)
        if not failed and not self.has_counted(rest):
            raise RuntimeError(f'{self.words[0]} has counted nothing: {rest[-2000:]}')


def tracectl(verb, server, functions):
    chosen = ['-x', server.path, '--yes']
    if verb == 'graph':
        only = [word for one in functions for word in ('--only', f'u::{one}')]
        words = ['graph', f'u::{server.handler}', '--report', *only, *chosen]
    else:
        returns = ['--returns', 'trampoline'] if verb == BY_TRAMPOLINE else []
        words = [verb.split()[0], *(f'u::{one}' for one in functions), *returns, *chosen]
    return Tracer([*TRACECTL, *words], lambda said: '^C ends it' in said, lambda said: server.handler in said)


def bpftrace(verb, server, functions):
    at = lambda kind: ','.join(f'{kind}:{server.path}:{one}' for one in functions)
    script = f'{at("uprobe")} {{ @[probe] = count(); }}'
    if verb == 'time':
        # Keys that are texts of different lengths are refused.
        script = ''.join(f'uprobe:{server.path}:{one} {{ @t{i}[tid] = nsecs; }} uretprobe:{server.path}:{one} /@t{i}[tid]/ '
                         f'{{ @[{i}] = stats(nsecs - @t{i}[tid]); delete(@t{i}[tid]); }} '
                         for i, one in enumerate(functions))
    # An interval first fires after all probes are attached.
    script += ' interval:ms:100 /!@armed/ { @armed = 1; printf("armed\\n"); }'
    return Tracer(['bpftrace', '-B', 'line', '-e', script], lambda said: 'armed' in said, lambda said: '@[' in said)


# In a mount namespace of its own: perf mounts tracefs where there is none, for good.
PERF = ['unshare', '-m', 'sh', '-c', 'mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing; '
        'exec perf "$@"', 'perf']


@contextlib.contextmanager
def perf(_, server, functions):
    group = f'tracectl_bench_{os.getpid()}'
    try:
        for one in functions:
            output(*PERF, 'probe', '-q', '-x', server.path, '--add', f'{group}:{one}={one}')
        commands, answers = (os.pipe() for _ in range(2))
        with subprocess.Popen([*PERF, 'stat', '-a', '-x', ',', '-e', f'{group}:*', '-D', '-1', '--control',
                               f'fd:{commands[0]},{answers[1]}'], stderr=subprocess.PIPE, text=True,
                              pass_fds=[commands[0], answers[1]]) as counting:
            os.write(commands[1], b'enable\n')
            assert os.read(answers[0], 16).startswith(b'ack'), 'perf does not count'
            yield ''
            counting.send_signal(signal.SIGINT)
            _, said = counting.communicate(timeout=LIMIT_S)
        counts = [line.split(',')[0] for line in said.splitlines() if group in line]
        if len(counts) != len(functions) or not all(int(count) for count in counts):
            raise RuntimeError(f'perf has counted nothing: {said}')
    finally:
        subprocess.run([*PERF, 'probe', '-q', '--del', f'{group}:*'], check=False, capture_output=True)


# ---- measuring ----

def called_once(server):
    """The functions that are called once a request, the handler first."""
    words = [*TRACECTL, '--json', 'count', 'u::*', '-x', server.path, '--yes', '--partial', '--for', '60s']
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as counting:
        while '^C ends it' not in (line := counting.stderr.readline()):
            assert line, 'count has ended'
        server.throughput()
        counting.send_signal(signal.SIGINT)
        said, _ = counting.communicate(timeout=LIMIT_S)
    counts = {row['probe'].rsplit(':', 1)[1]: row['count'] for row in json.loads(said)['rows']}
    requests = counts[server.handler]
    once = sorted((abs(count / requests - 1), name) for name, count in counts.items()
                  if ONCE[0] < count / requests < ONCE[1] and re.fullmatch(r'\w+', name))
    names = [server.handler] + [name for _, name in once if name != server.handler]
    return that_can_be_timed(server, names[:SIZES[-1]])


def that_can_be_timed(server, functions):
    """Those of which no call is refused, in their order."""
    done = subprocess.run([*TRACECTL, 'time', *(f'u::{one}' for one in functions), '-x', server.path, '--yes', '--partial',
                           '--for', '0s'], check=True, capture_output=True, text=True, timeout=LIMIT_S)
    refused = set(re.findall(r'^not armed: uprobe:[^:]+:(\w+):', done.stderr, re.M))
    return [one for one in functions if one not in refused]


class Measured:
    """What one way has left of the throughput, and how much longer a request then takes in us, in each round; and what it
    says before that a hit takes, in us."""

    def __init__(self):
        self.shares, self.added_us, self.estimate_us = [], [], None

    def add(self, plain, traced, said):
        self.shares.append(traced / plain)
        self.added_us.append(1e6 / traced - 1e6 / plain)
        if estimate := re.search(r'about ([\d.]+) (ns|us|ms) a (?:call|hit)', said or ''):
            self.estimate_us = float(estimate[1]) * {'ns': 1e-3, 'us': 1, 'ms': 1e3}[estimate[2]]


def in_turn(server, ways, rounds):
    measured = {way: Measured() for way in ways}
    for _ in range(rounds):
        for way, armed in ways.items():
            plain = server.throughput()
            with armed() as said:
                measured[way].add(plain, server.throughput(), said)
    return measured


# If one thread serves all requests, one after the other, what is added to each is what the probes take; unless the client
# is what is slow, as it is of an untraced server.
def beside_estimate(server, ours, functions):
    if not server.is_one_thread or not ours.estimate_us or statistics.median(ours.shares) > 0.5:
        return ''
    return f'{ours.estimate_us:5.1f}  {spread([us / functions for us in ours.added_us])}'


def spread(values):
    if not values:
        return ''
    first, median, third = statistics.quantiles(values, n=4)
    return f'{median:.2f} ({first:.2f}-{third:.2f})'


def ways_of(verb, server, functions):
    ways = {'tracectl': lambda: tracectl(verb, server, functions)}
    # With more returns bpftrace takes minutes to end.
    if (verb == 'count' or verb == 'time' and len(functions) <= 10) and shutil.which('bpftrace'):
        ways['bpftrace'] = lambda: bpftrace(verb, server, functions)
    if verb == 'count' and len(functions) <= 10 and shutil.which('perf'):
        ways['perf'] = lambda: perf(verb, server, functions)
    return ways


def measure(kind, rounds):
    """(verb, number of functions, tracer) -> the shares of the throughput."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        server = kind(folder)
        try:
            functions = called_once(server)
            for verb in 'count', 'time', BY_TRAMPOLINE, 'graph':
                for size in SIZES:
                    chosen = functions[:size]
                    measured = in_turn(server, ways_of(verb, server, chosen), rounds)
                    shares = {way: one.shares for way, one in measured.items()}
                    found |= {(verb, len(chosen), way): values for way, values in shares.items()}
                    name = f'{server.name}, {verb} {len(chosen)} function{"s" * (len(chosen) > 1)}'
                    columns = ' '.join(f'{spread(shares.get(way)):20}' for way in ('tracectl', 'bpftrace', 'perf'))
                    beside = beside_estimate(server, measured['tracectl'], len(chosen))
                    print(f'{name:46} {columns} {beside}'.rstrip(), flush=True)
                    if len(chosen) < size:
                        break
        finally:
            server.end()
    return found


# ---- the picture ----

COLOURS = {('count', 'tracectl'): '#1f77b4', ('time', 'tracectl'): '#2ca02c', ('graph', 'tracectl'): '#9467bd',
           (BY_TRAMPOLINE, 'tracectl'): '#17becf',
           ('count', 'bpftrace'): '#ff7f0e', ('time', 'bpftrace'): '#d62728', ('count', 'perf'): '#7f7f7f'}
WIDTH, HEIGHT, MARGIN = 300, 260, 45


def picture_of(all_found):
    """A panel for each server: the share of its throughput by the number of functions."""
    parts = []
    for i, (name, found) in enumerate(all_found.items()):
        left = MARGIN + i * (WIDTH + MARGIN)
        x = lambda size: left + math.log(size) / math.log(SIZES[-1]) * WIDTH
        y = lambda share: MARGIN + (1 - min(share, 1)) * HEIGHT
        parts.append(f'<text x="{left}" y="{MARGIN - 15}" font-weight="bold">{html.escape(name)}</text>')
        for share in 0, 0.25, 0.5, 0.75, 1:
            parts.append(f'<path d="M{left} {y(share)}h{WIDTH}" stroke="#ddd"/>'
                         f'<text x="{left - 6}" y="{y(share) + 4}" text-anchor="end">{share:g}</text>')
        for size in SIZES:
            parts.append(f'<text x="{x(size)}" y="{MARGIN + HEIGHT + 18}" text-anchor="middle">{size}</text>')
        for (verb, way), colour in COLOURS.items():
            points = sorted((x(size), y(statistics.median(values))) for (of, size, by), values in found.items()
                            if (of, by) == (verb, way))
            dashes = '' if way == 'tracectl' else ' stroke-dasharray="5 4"'
            parts.append(f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}" fill="none" stroke="{colour}" '
                         f'stroke-width="2"{dashes}/>')
            parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
    width, below = MARGIN + len(all_found) * (WIDTH + MARGIN), MARGIN + HEIGHT + 45
    for i, ((verb, way), colour) in enumerate(COLOURS.items()):
        parts.append(f'<circle cx="{MARGIN + i * 150}" cy="{below}" r="5" fill="{colour}"/>'
                     f'<text x="{MARGIN + i * 150 + 10}" y="{below + 4}">{verb}, {way}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {below + 20}" font-family="sans-serif" '
            f'font-size="12" role="img"><title>The share of the throughput that is left, by the number of functions</title>'
            f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n')


def main():
    if os.geteuid() != 0:
        print('real: arming probes needs root')
        return
    rounds = int(sys.argv[1]) if sys.argv[1:] else 3
    print(f'{"share of the throughput, median (quartiles)":46} {"tracectl":20} {"bpftrace":20} {"perf":20} '
          'us a call: estimate, took')
    all_found = {}
    with tempfile.TemporaryDirectory() as unpacked:
        for kind in Redis, PostgreSQL, Nginx:
            if missing := [path for path in kind.needs if not shutil.which(path)]:
                print(f'{kind.name}: not measured, {missing[0]} is not there')
                continue
            if kind is Nginx:
                Nginx.unpack(unpacked)
            all_found[kind.name] = measure(kind, rounds)
    if sys.argv[2:]:
        pathlib.Path(sys.argv[2]).write_text(picture_of(all_found), encoding='utf-8')


if __name__ == '__main__':
    main()
