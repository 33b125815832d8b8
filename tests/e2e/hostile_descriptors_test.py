# SPDX-License-Identifier: BSD-2-Clause
"""Descriptors that attack whoever reads or closes them, or drops them unread: the effect on the daemon and on
its other clients."""

import contextlib
import ctypes
import os
import pathlib
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

import fuse
import support
from support import DaemonTest, needs_root, wait_until

HELD_UP_S = 1  # at most, for a client because of another's descriptors
A_STRANGER, ANOTHER = 54321, 54322
CONNECTIONS = 64  # at most, for a user
SETGROUPS, SETRESUID, SETRESGID = 116, 117, 119  # x86-64; the system calls change only their thread


def connect_as(user, path):
    """A client connected as this user."""
    made = []

    def connect():
        libc = ctypes.CDLL(None, use_errno=True)
        for call in (SETGROUPS, 0, None), (SETRESGID, user, user, user), (SETRESUID, user, user, user):
            assert libc.syscall(*call) == 0, os.strerror(ctypes.get_errno())
        made.append(support.Client(path))
    thread = threading.Thread(target=connect)
    thread.start()
    thread.join()
    return made[0]


def close(descriptor):
    """Also if the file system has ended, which is an error."""
    with contextlib.suppress(OSError):
        os.close(descriptor)


@needs_root
@support.runs_alone('measures how long others wait')
class HostileDescriptors(DaemonTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.daemon.directory.name, 0o755)
        os.chmod(self.daemon.socket, 0o666)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def connect_as(self, user):
        client = connect_as(user, self.daemon.socket)
        self.addCleanup(client.close)
        return client

    def give(self, client, descriptor, path):
        message = {'jsonrpc': '2.0', 'id': 1, 'method': 'probe.list',
                   'params': {'patterns': [f'uprobe:{path}:*'], 'files': [str(path)]}}
        socket.send_fds(client.socket, [support.line_of(message)], [descriptor])

    @contextlib.contextmanager
    def lingering_socket(self):
        """The descriptor of a TCP socket whose close waits for an hour for the peer to read. Its last owner
        waits: the daemon handles it after it is closed here."""
        with socket.create_server(('127.0.0.1', 0)) as server:
            lingers = socket.create_connection(server.getsockname())
            peer, _ = server.accept()
        self.addCleanup(peer.close)
        lingers.setblocking(False)
        try:
            while True:
                lingers.send(bytes(1 << 16))
        except BlockingIOError:
            pass
        lingers.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 3600))
        self.daemon.process.send_signal(signal.SIGSTOP)
        yield lingers.fileno()
        lingers.close()
        self.daemon.process.send_signal(signal.SIGCONT)

    def file_of_fuse(self, **options):
        served = fuse.OneFile(self.folder, **options)
        self.addCleanup(served.end)  # which also ends the waits
        descriptor = os.open(served.path, os.O_RDONLY)
        self.addCleanup(close, descriptor)
        return served, descriptor

    def check_others_are_served(self, *users):
        for client in [self.daemon.connect(), *(self.connect_as(user) for user in users)]:
            began = time.monotonic()
            client.result('daemon.status')
            self.assertLess(time.monotonic() - began, HELD_UP_S)
            client.close()

    def test_a_file_of_fuse_is_refused(self):
        served, descriptor = self.file_of_fuse()
        for user in 0, A_STRANGER:
            client = self.daemon.connect() if user == 0 else self.connect_as(user)
            self.give(client, descriptor, served.path)
            answer = client.receive()
            self.assertEqual('on a FUSE file system' in str(answer), user != 0, answer)
            client.close()

    def test_one_whose_process_does_not_answer_holds_up_who_gave_it(self):
        for kept_s in 0, 3600:  # the kernel's cache decides the first question: the file's attributes, or the file system
            with self.subTest(kept_s=kept_s):
                served, descriptor = self.file_of_fuse(attributes_kept_s=kept_s)
                client = self.connect_as(A_STRANGER)
                served.stand_still()
                self.give(client, descriptor, served.path)
                wait_until(lambda: served.unanswered, 'somebody to look at it')
                self.check_others_are_served(A_STRANGER, ANOTHER)
                self.assertIn('are still waited for', client.receive()['error']['message'])
                self.check_others_are_served(A_STRANGER, ANOTHER)
                served.end()

    def test_a_socket_that_lingers_is_refused_and_holds_up_nobody(self):
        client = self.connect_as(A_STRANGER)
        with self.lingering_socket() as descriptor:
            self.give(client, descriptor, '/x')
        self.check_others_are_served(ANOTHER)
        self.assertIn('are still waited for', client.receive()['error']['message'])

    def test_nor_does_one_that_nobody_takes(self):
        for connections in 1, CONNECTIONS + 1:  # the last one is refused, unread
            with self.subTest(connections=connections):
                clients = [self.connect_as(A_STRANGER) for _ in range(connections - 1)]
                self.check_others_are_served()
                with self.lingering_socket() as descriptor:
                    last = self.connect_as(A_STRANGER)
                    socket.send_fds(last.socket, [b'{'], [descriptor])
                    last.close()
                self.check_others_are_served(ANOTHER)
                for client in clients:
                    client.close()

    def test_a_recording_goes_to_no_socket_and_no_file_of_fuse(self):
        _, of_fuse = self.file_of_fuse()
        listening = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(listening.close)
        for kind, descriptor, why in (('fuse', of_fuse, 'on a FUSE file system'),
                                      ('listening', listening.fileno(), 'not of a regular file'),
                                      ('its own', None, 'not of a regular file')):
            for method in 'record.start', 'record.dump':
                with self.subTest(kind, method=method):
                    client = self.connect_as(A_STRANGER)
                    client.result('session.create', recorder={'bytes': 1 << 20})
                    name, = [one['name'] for one in client.result('session.list')['sessions']]
                    message = {'jsonrpc': '2.0', 'id': 9, 'method': method, 'params': {'session': name}}
                    fd = client.socket.fileno() if descriptor is None else descriptor
                    socket.send_fds(client.socket, [support.line_of(message)], [fd])
                    self.check_others_are_served(ANOTHER)
                    self.assertIn(why, str(client.receive()))
                    client.close()

    def test_what_a_user_leaves_unread_behind_one_that_waits_counts(self):
        with self.lingering_socket() as descriptor:
            self.give(self.connect_as(A_STRANGER), descriptor, '/x')
        with open('/dev/null', 'rb') as null:
            for _ in range(CONNECTIONS):
                client = self.connect_as(A_STRANGER)
                with contextlib.suppress(BrokenPipeError):  # a connection that is refused
                    self.give(client, null.fileno(), '/dev/null')
                client.close()
        self.assertIsNone(self.connect_as(A_STRANGER).receive())
        self.check_others_are_served(ANOTHER)

    # ---- connections that are passed on ----

    def test_a_connection_has_the_rights_of_who_connected(self):
        """It does not matter who uses it."""
        roots = self.daemon.connect()
        self.addCleanup(roots.close)
        roots.result('session.create', name='of-root')
        child, parent = socket.socketpair()
        pid = os.fork()
        if pid == 0:  # root, using a stranger's connection
            _, (passed, *_), _, _ = socket.recv_fds(child, 1, 1)
            connection = socket.socket(fileno=passed)
            request = {'jsonrpc': '2.0', 'id': 1, 'method': 'session.show', 'params': {'session': 'of-root'}}
            connection.sendall(support.line_of(request))
            os._exit(0)
        strangers = self.connect_as(A_STRANGER)
        socket.send_fds(parent, [b'x'], [strangers.socket.fileno()])
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.assertEqual(strangers.receive()['error']['data']['code'], 'denied')
        child.close()
        parent.close()

    def test_two_processes_on_one_connection_get_whole_answers(self):
        client = self.connect_as(A_STRANGER)
        each = 200
        ask = lambda first: [client.send(support.line_of({'jsonrpc': '2.0', 'id': number, 'method': 'hello'}))
                             for number in range(first, first + each)]
        pid = os.fork()
        if pid == 0:
            ask(each)
            os._exit(0)
        ask(0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        answers = [client.receive() for _ in range(2 * each)]
        self.assertEqual(sorted(answer['id'] for answer in answers), list(range(2 * each)))
        self.assertTrue(all('result' in answer for answer in answers))

    # ---- processes that have mapped files of FUSE ----

    def test_code_that_fuse_serves_is_not_looked_into_for_its_user(self):
        served, descriptor = self.file_of_fuse(attributes_kept_s=3600)
        maps = ('import mmap, sys, time; '
                'm = mmap.mmap(int(sys.argv[1]), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC); '
                'print("ready", flush=True); time.sleep(1000)')
        program = subprocess.Popen(
            ['setpriv', f'--reuid={A_STRANGER}', f'--regid={A_STRANGER}', '--clear-groups', '--inh-caps=-all',
             '--bounding-set=-all', '/usr/bin/python3', '-c', maps, str(descriptor)], pass_fds=[descriptor],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        self.addCleanup(served.end)  # earlier, because otherwise it never ends
        self.assertEqual(program.stdout.readline(), 'ready\n')
        served.stand_still()
        client = self.connect_as(A_STRANGER)
        memory = os.open(f'/proc/{program.pid}/mem', os.O_RDONLY)
        self.addCleanup(os.close, memory)
        message = {'jsonrpc': '2.0', 'id': 1, 'method': 'probe.list',
                   'params': {'patterns': [f'uprobe:{served.path}:*'], 'target': {'pids': [program.pid]}, 'proofs': 1}}
        socket.send_fds(client.socket, [support.line_of(message)], [memory])
        self.check_others_are_served(A_STRANGER, ANOTHER)
        self.assertIn('on a FUSE file system in process', client.receive()['error']['message'])
        # Not for root either, unless it has named that process
        root = self.daemon.connect()
        self.addCleanup(root.close)
        hot = support.target('hot')
        found = root.result('probe.list', patterns=[f'uprobe:{hot}:hot_push'], target={'all': True})
        self.assertEqual(found['total_sites'], 1)
        self.check_others_are_served(ANOTHER)


if __name__ == '__main__':
    unittest.main()
