# SPDX-License-Identifier: BSD-2-Clause
"""Acts like systemd 252 for a service that stores descriptors: a socket for its notifications, a store of
descriptors that outlives its processes, and a listening socket that each process gets."""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import tempfile
import threading
import unittest

import support

KCMP = 312  # x86-64
KCMP_FILE = 0
FIRST_FD = 3


def is_same_file(one, other):
    """Both descriptors refer to one open file description."""
    order = ctypes.CDLL(None, use_errno=True).syscall(KCMP, os.getpid(), os.getpid(), KCMP_FILE,
                                                      ctypes.c_ulong(one), ctypes.c_ulong(other))
    assert order >= 0, os.strerror(ctypes.get_errno())
    return order == 0


class Service(support.Daemon):
    """A tracectld that can be ended and started again, and its store."""

    def __init__(self, *options, program=support.TRACECTLD):
        self.options, self.program = options, program
        self.directory = tempfile.TemporaryDirectory()
        self.socket = self.directory.name + '/tracectl.sock'
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(self.socket)
        self.listening.listen(64)
        self.notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notices.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.notices.bind(self.directory.name + '/notify')
        self.log_file = open(self.directory.name + '/log', 'w+', encoding='utf-8')
        self.pid = None
        self.store = []  # names and descriptors, the latest first
        self.most = None  # limit, which its processes get at their start; further ones are dropped
        self.dropped = 0
        self.barriers = None  # a list: it gets the barriers, whose senders wait until they are closed
        self.ready = threading.Event()
        self.drained = threading.Event()
        self.reader = threading.Thread(target=self.read_notices, daemon=True)
        self.reader.start()

    # ---- notices ----

    def read_notices(self):
        size = socket.CMSG_SPACE(4) + socket.CMSG_SPACE(12)
        while True:
            data, parts, _, _ = self.notices.recvmsg(8192, size, socket.MSG_CMSG_CLOEXEC)
            fds, sender = [], None
            for _, kind, content in parts:
                if kind == socket.SCM_RIGHTS:
                    fds += struct.unpack(f'{len(content) // 4}i', content[:len(content) // 4 * 4])
                else:
                    sender = struct.unpack('3i', content)[0]
            if data == b'END':
                return
            if data == b'DRAINED':
                self.drained.set()
            elif sender == self.pid:
                self.take_notice(data.decode().splitlines(), fds)
            else:
                for fd in fds:
                    os.close(fd)

    def take_notice(self, lines, fds):
        name = next((line[len('FDNAME='):] for line in lines if line.startswith('FDNAME=')), 'stored')
        if 'FDSTOREREMOVE=1' in lines:
            for stored in [one for one in self.store if one[0] == name]:
                self.store.remove(stored)
                os.close(stored[1])
        elif 'FDSTORE=1' in lines:
            for fd in fds:
                if self.most is not None and len(self.store) >= self.most:
                    self.dropped += 1
                    os.close(fd)
                elif any(is_same_file(fd, kept) for _, kept in self.store):
                    os.close(fd)
                else:
                    self.store.insert(0, (name, fd))
        elif 'BARRIER=1' in lines and self.barriers is not None:
            self.barriers += fds
        elif 'BARRIER=1' in lines:  # the sender waits until it is closed
            for fd in fds:
                os.close(fd)
        if 'READY=1' in lines:
            self.ready.set()

    def tell_reader(self, word):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.connect(self.directory.name + '/notify')
            sender.send(word)

    # ---- processes ----

    def start(self):
        self.launch()
        support.wait_until(lambda: self.ready.is_set() or self.has_ended(), 'the service')
        assert self.ready.is_set(), self.log()

    def launch(self):
        """Starts it without waiting until it is ready."""
        given = [('tracectld.socket', self.listening.fileno()), *self.store]
        copies = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_FD + len(given)) for _, fd in given]
        actions = [(os.POSIX_SPAWN_DUP2, self.log_file.fileno(), fd) for fd in (1, 2)]
        actions += [(os.POSIX_SPAWN_DUP2, copy, FIRST_FD + i) for i, copy in enumerate(copies)]
        environment = {**os.environ, 'NOTIFY_SOCKET': self.directory.name + '/notify',
                       'LISTEN_FDS': str(len(given)),
                       'LISTEN_FDNAMES': ':'.join(name for name, _ in given)}
        if self.most is not None:
            environment['TRACECTLD_FDSTORE'] = str(self.most)
        self.ready.clear()
        self.pid = os.posix_spawn('/bin/sh', ['sh', '-c', 'LISTEN_PID=$$ exec "$@"', 'sh',
                                              self.program, *self.options],
                                  {**environment, 'LISTEN_PID': '0'}, file_actions=actions)
        for fd in copies:
            os.close(fd)

    def has_ended(self):
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def finish(self, number=signal.SIGTERM):
        """Ends the process by the signal; returns its status. Its notifications are handled first, as by
        systemd."""
        os.kill(self.pid, number)
        _, status = os.waitpid(self.pid, 0)
        self.drained.clear()
        self.tell_reader(b'DRAINED')
        assert self.drained.wait(60)
        self.pid = None
        return os.waitstatus_to_exitcode(status)

    def restart(self, number=signal.SIGTERM):
        status = self.finish(number)
        self.start()
        return status

    def stop(self):
        """Ends the service and its store."""
        status = self.finish()
        for _, fd in self.store:
            os.close(fd)
        self.store = []
        return status

    def forget_what_is_armed(self):
        """Leaves the store as for a daemon whose programs are different."""
        for one in [one for one in self.store if '.engine.' in one[0]]:
            self.store.remove(one)
            os.close(one[1])

    def log(self):
        self.log_file.flush()
        with open(self.log_file.name, encoding='utf-8') as log:
            return log.read()

    def names(self):
        return sorted(name for name, _ in self.store)

    def end(self):
        status = self.stop() if self.pid else 0
        self.tell_reader(b'END')
        self.reader.join()
        self.listening.close()
        self.notices.close()
        self.log_file.close()
        self.directory.cleanup()
        return status


class Saving(unittest.TestCase):
    """With a daemon whose saved sessions go on."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.daemon = Service('--sessions', folder.name)
        self.addCleanup(self.daemon.end)
        self.daemon.start()
        super().setUp()
