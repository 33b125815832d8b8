# SPDX-License-Identifier: BSD-2-Clause
"""A file system with one file, `file`, that this process serves through /dev/fuse (linux/fuse.h), until it
stops answering: then requests block as long as the mount lasts."""

import ctypes
import os
import stat
import struct
import threading

ROOT, FILE = 1, 2  # inodes
SIZE = 4096
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, ACCESS, BATCH_FORGET = (
    1, 2, 3, 14, 15, 17, 18, 25, 26, 34, 42)
MS_NOSUID, MS_NODEV = 2, 4
MNT_FORCE, MNT_DETACH = 1, 2  # the first one ends blocked requests
KEPT_S = 1  # for this time the kernel caches attributes

libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def attributes(inode):
    mode = stat.S_IFDIR | 0o755 if inode == ROOT else stat.S_IFREG | 0o755
    size = 0 if inode == ROOT else SIZE
    return struct.pack('<6Q3I7I', inode, size, 8, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


class OneFile:
    def __init__(self, directory, attributes_kept_s=KEPT_S):
        self.directory = str(directory)
        self.path = self.directory + '/file'
        self.kept_s = attributes_kept_s
        self.answers = True
        self.has_ended = False
        self.unanswered = []  # operations requested since it stopped answering
        self.device = os.open('/dev/fuse', os.O_RDWR | os.O_CLOEXEC)
        options = f'fd={self.device},rootmode=40000,user_id=0,group_id=0,allow_other'
        check(libc.mount(b'standstill', self.directory.encode(), b'fuse', MS_NOSUID | MS_NODEV,
                         options.encode()))
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                request = os.read(self.device, 1 << 20)
            except OSError:  # unmounted
                return
            _, operation, unique, node = struct.unpack_from('<IIQQ', request)
            if operation in (FORGET, BATCH_FORGET):
                continue
            if self.answers:
                self.answer(operation, unique, node)
            else:
                self.unanswered.append(operation)

    def answer(self, operation, unique, node):
        error, body = 0, b''
        if operation == INIT:
            body = struct.pack('<4I2HII2HI2I6I', 7, 31, 65536, 0, 16, 12, 65536, 1, 0, 0, 0, 0, 0, *[0] * 6)[:64]
        elif operation == LOOKUP:
            body = struct.pack('<4Q2I', FILE, 0, self.kept_s, self.kept_s, 0, 0) + attributes(FILE)
        elif operation == GETATTR:
            body = struct.pack('<Q2I', self.kept_s, 0, 0) + attributes(node)
        elif operation == OPEN:
            body = struct.pack('<Q2I', 1, 0, 0)
        elif operation == READ:
            body = bytes(SIZE)
        elif operation == STATFS:
            body = struct.pack('<5Q3II6I', 1, 0, 0, 1, 0, 4096, 255, 4096, 0, *[0] * 6)
        elif operation not in (FLUSH, RELEASE, ACCESS):
            error = -38  # ENOSYS
        os.write(self.device, struct.pack('<IiQ', 16 + len(body), error, unique) + body)

    def stand_still(self):
        self.answers = False

    def end(self):
        if self.has_ended:
            return
        self.has_ended = True
        check(libc.umount2(self.directory.encode(), MNT_FORCE | MNT_DETACH))
        os.close(self.device)
        self.thread.join()
