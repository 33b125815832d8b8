# SPDX-License-Identifier: BSD-2-Clause
"""Finds cgroups."""

import pathlib


def mount_of(controller):
    """The root of the hierarchy in which a new group can limit what this controller counts, and its version of
    cgroups; None if there is none."""
    for line in pathlib.Path('/proc/self/mountinfo').read_text().splitlines():
        fields = line.split()
        kind, root = fields[fields.index('-') + 1], pathlib.Path(fields[4])
        if kind == 'cgroup' and controller in fields[-1].split(','):
            return root, 1
        control = root / 'cgroup.subtree_control'
        if kind == 'cgroup2' and control.exists() and controller in control.read_text().split():
            return root, 2
    return None


def mount_of_v2():
    """The root of version 2; None if it is not mounted."""
    for line in pathlib.Path('/proc/self/mountinfo').read_text().splitlines():
        fields = line.split()
        if fields[fields.index('-') + 1] == 'cgroup2' and fields[3] == '/':
            return pathlib.Path(fields[4])
    return None
