# SPDX-License-Identifier: BSD-2-Clause
"""Within gdb: compares fields (tests/bench/fields.cpp) with the places and sizes that gdb has of them.

GDB_FIELDS names a JSON file: the fields, and where the answer goes, a list of [field, what gdb has] for those that
differ, and how many were compared."""

import json
import os
import re

import gdb

STEP = re.compile(r'(->|\.)(\w+)|\[(\d+)\]')
POINTERS = gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF
STRUCTS = gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION


class Unknown(Exception):
    """What gdb does not know."""


def member(kind, name):
    """The type, the first bit and the number of bits of a bit field, from the start of the type."""
    fields = kind.fields()
    for field in fields:
        if not field.is_base_class and field.name == name and hasattr(field, 'bitpos'):
            return field.type, field.bitpos, field.bitsize
    for field in fields:
        if not hasattr(field, 'bitpos') or not (field.is_base_class or not field.name):
            continue
        inner = field.type.strip_typedefs()
        if inner.code in STRUCTS:
            found = member(inner, name)
            if found:
                return found[0], field.bitpos + found[1], found[2]
    return None


class Walk:
    """From the value of an argument: `offsets` as tracectl has them, in bits."""

    def __init__(self, kind):
        self.kind, self.offsets, self.bits = kind, [], 0
        if kind.strip_typedefs().code in STRUCTS:  # by its address
            self.offsets.append(0)

    def follow(self):
        self.kind = self.kind.strip_typedefs().target()
        self.offsets.append(0)

    def plain(self):
        while self.kind.strip_typedefs().code in POINTERS[1:]:
            self.follow()
        return self.kind.strip_typedefs()

    def take(self, sign, name, index):
        kind = self.plain()
        if sign == '->' or (index is not None and kind.code == gdb.TYPE_CODE_PTR):
            self.follow()
            kind = self.kind.strip_typedefs()
        elif index is not None:
            self.kind = kind.target()
        if index is not None:
            self.offsets[-1] += 8 * self.kind.sizeof * int(index)
            return
        found = member(kind, name)
        if not found:
            raise Unknown(f'{kind} has no {name}')
        self.kind, self.bits = found[0], found[2]
        self.offsets[-1] += found[1]


def expected(field, function):
    parameters = function.type.fields()
    kind = function.type.target() if field['base'] == 'retval' else parameters[int(field['base'])].type
    path, walk = field['path'], Walk(kind)
    stars = len(path) - len(path.lstrip('*'))
    steps = list(STEP.finditer(path[stars + len(re.match(r'\**(arg\.\w+|arg\d+|retval)', path)[0]) - stars:]))
    for step in steps:
        walk.take(*step.groups())
    for _ in range(stars):
        walk.take(None, None, '0')
    kind = walk.plain()
    return walk, kind


def has_same(field, walk, kind):
    if field['is_address']:
        return [8 * one for one in field['offsets']] == walk.offsets
    ours = [8 * one for one in field['offsets']]
    if walk.bits:
        ours[-1] += field['first_bit']
        return ours == walk.offsets and field['bit_count'] == walk.bits
    if kind.code == gdb.TYPE_CODE_INT and field['is_signed'] != kind.is_signed:
        return False
    return ours == walk.offsets and field['size'] == kind.sizeof and field['bit_count'] == 0


def function_of(name):
    found = gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name)
    if not found:
        block = gdb.block_for_pc(int(gdb.parse_and_eval(f"(unsigned long)&'{name}'")))
        found = block and block.function
    if not found or found.type.code != gdb.TYPE_CODE_FUNC:
        raise Unknown(f'no function {name}')
    return found


with open(os.environ['GDB_FIELDS'], encoding='utf-8') as text:
    plan = json.load(text)
differing, compared, unknown = [], 0, 0
for one in plan['fields']:
    try:
        place, type_here = expected(one, function_of(one['function']))
    except (gdb.error, Unknown, IndexError, RuntimeError) as error:
        unknown += 1
        if unknown < 6:
            print('gdb does not know', one['function'], one['path'], error)
        continue
    compared += 1
    if not has_same(one, place, type_here):
        differing.append([one, f'{place.offsets} bits, {place.bits} of a bit field, {type_here.sizeof} bytes'])
with open(plan['output'], 'w', encoding='utf-8') as output:
    json.dump({'differing': differing, 'compared': compared, 'unknown': unknown}, output)
