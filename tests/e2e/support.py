# SPDX-License-Identifier: BSD-2-Clause
"""Shared by the end-to-end tests: the built programs, a daemon on its own socket, targets."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / '.build'
TRACECTL = str(BUILD / 'tracectl')
TRACECTLD = str(BUILD / 'tracectld')
TRACECTL_USDT = str(BUILD / 'tracectl-usdt')


def target(name):
    """The path of a program to trace. Each process that runs tests beside others has a copy of its own: a probe in all
    processes of a file must not see those of another."""
    built = BUILD / 'targets' / name
    worker = os.environ.get('PYTEST_XDIST_WORKER')
    if not worker:
        return str(built)
    own = BUILD / 'side-by-side' / worker / 'targets' / name
    if not own.exists() or own.stat().st_mtime_ns != built.stat().st_mtime_ns:
        own.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(built, f'{own}.new')
        os.rename(f'{own}.new', own)
    return str(own)


def runs_alone(why):
    """Decorates tests that would see what others do at the same time."""
    def mark(tests):
        tests.runs_alone = why
        return tests
    return mark


def in_group(name):
    """Decorates classes of tests of which no two run at the same time."""
    def mark(tests):
        tests.group = name
        return tests
    return mark


def run(*words, **options):
    """Runs tracectl with these words; returns its exit status and output."""
    return subprocess.run([TRACECTL, *words], capture_output=True, text=True, timeout=120, **options)


def wait_until(condition, what, limit_s=60):
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f'waited {limit_s} s for {what}')
        time.sleep(0.01)


def wait_for_poll(pid):
    """Waits until a program is in poll(2), which must be its only wait: then it has finished its work."""
    call = pathlib.Path(f'/proc/{pid}/syscall')
    wait_until(lambda: call.read_text().startswith('7 '), f'{pid} to wait')


class Program:
    """A target program, controlled by its line protocol."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        line = self.process.stdout.readline()
        assert line.startswith('ready'), line
        self.says_pid = line.partition(' ')[2].strip()  # differs from ours in a container

    @property
    def pid(self):
        return self.process.pid

    def send(self, line):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()

    def readline(self):
        return self.process.stdout.readline()

    def result(self):
        while self.readline() != 'done\n':
            pass
        return json.loads(self.readline())

    def end(self):
        self.process.kill()
        self.process.communicate()


class Daemon:
    """tracectld on a private socket."""

    started = []  # by the test that runs, or its class: conftest.py shows the logs if the test fails

    def __init__(self, *options, program=TRACECTLD, first=(), socket_of=None, environment=None,
                 listens=True):
        """`first`: words of another program that executes it. `socket_of`: a daemon that has ended, whose
        socket it takes over. `listens`: it logs first that it listens; otherwise the caller reads its log."""
        self.directory = socket_of.directory if socket_of else tempfile.TemporaryDirectory()
        self.taking = None
        self.socket = self.directory.name + '/tracectl.sock'
        self.process = subprocess.Popen([program, *first, '--socket', self.socket, *options],
                                        stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})})
        self.rest = None  # of the log, once it has ended
        self.started.append(self)
        self.log = ''
        if listens:
            self.log = self.process.stderr.readline()
            assert 'listening' in self.log, self.log

    def run(self, *words, **options):
        return run('--socket', self.socket, *words, **options)

    def json(self, *words):
        done = self.run('--json', *words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def connect(self):
        return Client(self.socket)

    def take_log(self):
        """From now on reads the log as it comes: a daemon whose pipe is full would block."""
        self.taken = []
        self.taking = threading.Thread(target=lambda: self.taken.extend(self.process.stderr))
        self.taking.start()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        if self.taking:
            self.process.wait(60)
            self.taking.join()
            self.process.stderr.close()
            rest = ''.join(self.taken)
        else:
            _, rest = self.process.communicate(timeout=60)
        self.directory.cleanup()
        self.rest = rest
        return self.process.returncode, rest

    def said(self):
        """Its log so far. Of one that runs, what is read here is lost to who reads its log later."""
        if self.rest is not None:
            return self.log + self.rest
        if self.taking:
            return self.log + ''.join(self.taken)
        if self.process.stderr.closed:
            return self.log
        os.set_blocking(self.process.stderr.fileno(), False)
        try:
            return self.log + (self.process.stderr.buffer.read(1 << 20) or b'').decode(errors='replace')
        finally:
            os.set_blocking(self.process.stderr.fileno(), True)


class Output:
    """The output of a program in a file: one object per line, as they come."""

    def __init__(self, path):
        self.file = open(path, encoding='utf-8')
        self.rest = ''

    def take(self):
        *lines, self.rest = (self.rest + self.file.read()).split('\n')
        return [json.loads(line) for line in lines]

    def wait_for(self, calls, items=()):
        """Waits for this many events, delivered or reported as lost; returns both numbers. `items`: those taken
        before."""
        items = list(items)
        events = lambda: sum('probe' in item for item in items)
        lost = lambda: sum(item['lost']['count'] for item in items if 'lost' in item)
        def has_all():
            items.extend(self.take())
            return events() + lost() >= calls
        wait_until(has_all, f'{calls} calls')
        return events(), lost()


def line_of(message):
    return json.dumps(message).encode() + b'\n'


class Client:
    """A client of the protocol with only the standard library."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)  # waits if the daemon's queue is full
        self.socket.settimeout(60)
        self.lines = self.socket.makefile('r')
        self.last_id = 0
        self.notifications = []

    def send(self, data):
        self.socket.sendall(data)

    def receive(self):
        line = self.lines.readline()
        return json.loads(line) if line else None

    def call(self, method, **params):
        """The answer; notifications before it are added to `notifications`."""
        self.last_id += 1
        message = {'jsonrpc': '2.0', 'id': self.last_id, 'method': method, 'params': params}
        self.send(line_of(message))
        while True:
            answer = self.receive()
            assert answer is not None, 'the daemon closed the connection'
            if 'id' in answer:
                assert answer['id'] == self.last_id, answer
                return answer
            self.notifications.append(answer)

    def result(self, method, **params):
        answer = self.call(method, **params)
        assert 'result' in answer, answer
        return answer['result']

    def close(self):
        self.lines.close()
        self.socket.close()


class DaemonTest(unittest.TestCase):
    one_daemon = False  # serves all tests of the class, and is left empty by each of them; else each has its own

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.one_daemon:
            cls.daemon = Daemon()
            cls.addClassCleanup(cls.end_daemon_of_class)

    @classmethod
    def end_daemon_of_class(cls):
        status, log = cls.daemon.end()
        assert status == 0, log

    def setUp(self):
        if self.one_daemon:
            self.addCleanup(self.empty_daemon)
        else:
            self.daemon = Daemon()
            self.addCleanup(self.end_daemon)

    def empty_daemon(self):
        sessions = lambda: [session['name'] for session in self.daemon.json('session', 'list')['sessions']]
        for name in sessions():
            self.daemon.run('session', 'delete', name)  # if it is still there: it may be of a client that has gone
        wait_until(lambda: not sessions() and self.daemon.json('status')['sites'] == 0, 'the daemon to be empty')

    def end_daemon(self):
        status, log = self.daemon.end()
        self.assertEqual(status, 0, log)

    def program(self, name, *arguments):
        program = Program(target(name), *arguments)
        self.addCleanup(program.end)
        return program

    def beside_bpftrace(self, script, probes, name, *arguments, setting):
        """Runs a target with bpftrace and with a session of this setting; returns what bpftrace printed, the
        reply to `read`, and the program's report. In the script, which arms this many probes, PATH and PID
        stand for the program's own."""
        program = self.program(name, *arguments)
        script = script.replace('PATH', target(name)).replace('PID', str(program.pid))
        with subprocess.Popen(['bpftrace', '-p', str(program.pid), '-e', script], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as witness:
            try:
                # Without CAP_SYS_RESOURCE it first complains about a limit, and goes on.
                self.assertTrue(any('Attaching' in line
                                    for line in iter(witness.stdout.readline, '')))
                wait_until(lambda: text_differs(program.pid, target(name)) >= probes, 'bpftrace')
                self.daemon.json('session', 'new', 's')
                self.daemon.json('stage', 's', 'set', '-p', str(program.pid), *setting)
                self.daemon.json('commit', 's')
                program.send('go')
                truth = program.result()
                read = self.daemon.json('read', 's')
                # It ends with its target; a signal before its main loop would be lost.
                program.send('exit')
                return witness.communicate(timeout=60)[0], read, truth
            finally:
                witness.kill()


def text_differs(pid, path, path_here=None):
    """How many bytes of a process's code differ from its file, whose path may differ from that in the
    process."""
    differing = 0
    with open(f'/proc/{pid}/maps') as maps, open(f'/proc/{pid}/mem', 'rb') as memory, \
            open(path_here or path, 'rb') as file:
        for line in maps:
            fields = line.split()
            if len(fields) < 6 or fields[5] != path or 'x' not in fields[1]:
                continue
            start, end = (int(part, 16) for part in fields[0].split('-'))
            memory.seek(start)
            file.seek(int(fields[2], 16))
            there = file.read(end - start)
            differing += sum(a != b for a, b in zip(memory.read(len(there)), there))
    return differing


needs_root = unittest.skipUnless(os.geteuid() == 0, 'arming probes needs root')
