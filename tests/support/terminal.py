# SPDX-License-Identifier: BSD-2-Clause
"""Commands at a terminal."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import tty


def said_at_terminal(command, typed='', lines=0, **options):
    """What the command writes to a terminal at which this is typed. Without `lines` its size is unknown."""
    primary, secondary = pty.openpty()
    tty.setraw(secondary)  # so that it keeps control characters for the command
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack('4H', lines, 80 if lines else 0, 0, 0))
    with subprocess.Popen(command, stdin=secondary, stdout=secondary, stderr=secondary,
                          start_new_session=True, **options,
                          preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) as begun:
        os.close(secondary)
        os.write(primary, typed.encode())
        at_last = threading.Timer(60, begun.kill)
        at_last.start()
        said = b''
        with contextlib.suppress(OSError):  # EIO: nobody has the terminal open any more
            while block := os.read(primary, 65536):
                said += block
        at_last.cancel()
        os.close(primary)
    return said.decode()
