# SPDX-License-Identifier: BSD-2-Clause
"""Within gdb: writes the values of variables at addresses of a program's code, each time that these are reached.

GDB_PLAN names a JSON file: the program's input, where the answer goes, and by address (before the program is loaded)
pairs of a key and names of variables."""

import json
import os

import gdb

LOADED_AT = 0x555555554000  # of programs that can be loaded anywhere, without randomization

plan = json.load(open(os.environ['GDB_PLAN'], encoding='utf-8'))
seen = {}


def value_of(name, address, frame):
    """As an integer, or None if gdb has none."""
    block = gdb.block_for_pc(address)
    while block is not None:
        for symbol in block:
            if symbol.name != name:
                continue
            try:
                value = symbol.value(frame)
                return None if value.is_optimized_out else int(value)
            except gdb.error:
                return None
        block = None if block.function else block.superblock
    return None


class Place(gdb.Breakpoint):
    def __init__(self, address, asked):
        super().__init__(f'*{address:#x}', internal=True)
        self.address, self.asked = address, asked

    def stop(self):
        frame = gdb.newest_frame()
        for key, names in self.asked:
            seen.setdefault(key, []).append([value_of(name, self.address, frame) for name in names])
        return False


for setting in 'disable-randomization on', 'confirm off', 'pagination off', 'startup-with-shell on':
    gdb.execute('set ' + setting)
gdb.execute(f'starti < {plan["input"]} > /dev/null')
for offset, asked in plan['places'].items():
    Place(LOADED_AT + int(offset), asked)
gdb.execute('continue')
with open(plan['output'], 'w', encoding='utf-8') as output:
    json.dump(seen, output)
