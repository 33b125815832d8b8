# SPDX-License-Identifier: BSD-2-Clause
"""Runs a target program with the process id of one that has ended."""

import ctypes
import os
import signal
import struct

import support

CLONE3 = 435


class Impostor(support.Program):
    """Runs a command with this process id, which must be free (clone3(2) with set_tid)."""

    def __init__(self, number, *command):
        child_reads, we_write = os.pipe()
        we_read, child_writes = os.pipe()
        numbers = ctypes.c_int32(number)
        # struct clone_args: exit_signal is its fifth member, set_tid and set_tid_size the ninth and tenth.
        arguments = struct.pack('11Q', 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(numbers), 1, 0)
        # PyDLL holds the interpreter's lock, so that the child has it, too.
        child = ctypes.PyDLL(None, use_errno=True).syscall(CLONE3, arguments, len(arguments))
        if child == 0:
            try:
                os.dup2(child_reads, 0)
                os.dup2(child_writes, 1)
                os.execvp(command[0], command)
            finally:
                os._exit(127)
        os.close(child_reads)
        os.close(child_writes)
        assert child == number, os.strerror(ctypes.get_errno())
        self.number = number
        self.to, self.said = os.fdopen(we_write, 'w'), os.fdopen(we_read)
        line = self.said.readline()
        assert line.startswith('ready'), line

    @property
    def pid(self):
        return self.number

    def send(self, line):
        self.to.write(line + '\n')
        self.to.flush()

    def readline(self):
        return self.said.readline()

    def end(self):
        os.kill(self.number, signal.SIGKILL)
        os.waitpid(self.number, 0)
        self.to.close()
        self.said.close()
