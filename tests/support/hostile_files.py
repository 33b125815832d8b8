# SPDX-License-Identifier: BSD-2-Clause
"""Files that attack their readers: each is a small ELF program for x86-64 with one thing driven to an extreme.
Large files are mostly holes."""

import lzma
import os
import re
import struct
import subprocess
import tempfile
import zlib

CODE = 0x1000           # address and offset of the code
CODE_BYTES = 0x100000
PROGBITS, SYMTAB, STRTAB, NOTE = 1, 2, 3, 7
ALLOC_EXEC, COMPRESSED = 0x6, 0x800
FUNC = 0x12             # a global function


def uleb(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Section:
    def __init__(self, name, kind, data=b'', flags=0, size=None, link=0, entry=0, address=0):
        self.name, self.kind, self.data, self.flags = name, kind, data, flags
        self.size = len(data) if size is None else size  # if greater than the data, a hole follows them
        self.link, self.entry, self.address = link, entry, address


def symbol(name, value=CODE, size=16, info=FUNC, section=1):
    return struct.pack('<IBBHQQ', name, info, 0, section, value, size)


def write_program(path, sections=(), code=b'\x90\xc3', phdrs=None, damage=None):
    """A program whose code is at CODE, with these sections after .text, which is number 1. `damage` may change
    the header, a dict, before it is written."""
    sections = [Section('', 0), Section('.text', PROGBITS, code, ALLOC_EXEC, CODE_BYTES,
                                        address=CODE), *sections]
    names = b'\0'
    name_at = []
    for section in [*sections, Section('.shstrtab', STRTAB)]:
        name_at.append(len(names))
        names += section.name.encode() + b'\0'
    sections.append(Section('.shstrtab', STRTAB, names))
    with open(path, 'wb') as file:
        at = CODE + CODE_BYTES
        headers = b''
        for i, section in enumerate(sections):
            offset = CODE if i == 1 else at
            file.seek(offset)
            file.write(section.data)
            headers += struct.pack('<IIQQQQIIQQ', name_at[i] if i else 0, section.kind,
                                   section.flags, section.address, offset if i else 0,
                                   section.size, section.link, 0, 1, section.entry)
            if i > 1:
                at = offset + section.size + 15 & ~15
        header = {'shoff': at, 'shnum': len(sections), 'shstrndx': len(sections) - 1,
                  'phnum': 1, 'phoff': 64, 'shentsize': 64, 'phentsize': 56}
        if damage:
            damage(header)
        file.seek(at)
        file.write(headers)
        file.seek(0)
        file.write(b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack(
            '<HHIQQQIHHHHHH', 3, 62, 1, CODE, header['phoff'], header['shoff'], 0, 64,
            header['phentsize'], header['phnum'], header['shentsize'], header['shnum'],
            header['shstrndx']))
        file.seek(64)
        file.write(phdrs or struct.pack('<IIQQQQQQ', 1, 5, 0, 0, 0, CODE + CODE_BYTES,
                                        CODE + CODE_BYTES, 0x1000))
    os.chmod(path, 0o755)


def with_symbols(symbols, names, *more):
    """The sections .symtab and .strtab, with numbers 2 and 3."""
    return [Section('.symtab', SYMTAB, symbols, link=3, entry=24), Section('.strtab', STRTAB, names),
            *more]


def one_function(*more):
    return with_symbols(symbol(0, 0, 0, 0, 0) + symbol(1, CODE, 16), b'\0victim\0', *more)


# ---- DWARF ----

ABBREV_NEST = (uleb(1) + uleb(0x11) + b'\1' + uleb(0x11) + uleb(0x01) + uleb(0x12) + uleb(0x07) +
               b'\0\0' +                                       # a unit with low_pc and high_pc
               uleb(2) + uleb(0x0b) + b'\1' + b'\0\0' +        # a lexical block with children
               uleb(3) + uleb(0x2e) + b'\0' + uleb(0x11) + uleb(0x01) + uleb(0x12) + uleb(0x07) +
               uleb(0x49) + uleb(0x13) + b'\0\0' +             # a subprogram with a type
               uleb(4) + uleb(0x16) + b'\0' + uleb(0x49) + uleb(0x13) + b'\0\0' +  # a typedef
               uleb(5) + uleb(0x2e) + b'\1' + uleb(0x11) + uleb(0x01) + uleb(0x12) + uleb(0x07) +
               b'\0\0' +                                       # a subprogram with children
               uleb(6) + uleb(0x05) + b'\0' + uleb(0x49) + uleb(0x13) + b'\0\0' +  # a parameter
               b'\0')


def unit(dies):
    body = struct.pack('<HIB', 4, 0, 8) + uleb(1) + struct.pack('<QQ', CODE, CODE_BYTES) + dies
    return struct.pack('<I', len(body)) + body


def function_with_parameters(types):
    """A subprogram at CODE with a parameter of each type, by offsets in the unit."""
    dies = uleb(5) + struct.pack('<QQ', CODE, 16)
    for place in types:
        dies += uleb(6) + struct.pack('<I', place)
    return dies + b'\0'


def with_dwarf(info, abbrev=ABBREV_NEST, **options):
    return one_function(Section('.debug_info', PROGBITS, info, **options),
                        Section('.debug_abbrev', PROGBITS, abbrev))


def deep_nesting(path):
    write_program(path, with_dwarf(unit(uleb(2) * 2_000_000)))


def type_cycle(path):
    # The two typedefs refer to each other.
    first = 11 + 17
    dies = uleb(4) + struct.pack('<I', first + 5) + uleb(4) + struct.pack('<I', first)
    write_program(path, with_dwarf(unit(dies + function_with_parameters([first] * 64) + b'\0')))


def type_of_itself(path):
    first = 11 + 17
    dies = uleb(4) + struct.pack('<I', first)
    write_program(path, with_dwarf(unit(dies + function_with_parameters([first]) + b'\0')))


def many_abbreviations(path):
    abbrev = b''.join(uleb(i) + uleb(0x2e) + b'\0\0\0' for i in range(1, 300_000)) + b'\0'
    write_program(path, with_dwarf(unit(uleb(299_999) * 1_000_000), abbrev))


def endless_abbreviation(path):
    abbrev = uleb(1) + uleb(0x11) + b'\1' + (uleb(0x49) + uleb(0x16)) * 5_000_000
    write_program(path, with_dwarf(unit(uleb(1) * 100_000), abbrev))


def indirect_forms(path):
    # DW_FORM_indirect that refers to DW_FORM_indirect, again and again.
    abbrev = uleb(1) + uleb(0x11) + b'\1' + uleb(0x49) + uleb(0x16) + b'\0\0' + b'\0'
    info = struct.pack('<HIB', 4, 0, 8) + uleb(1) + uleb(0x16) * 4_000_000
    write_program(path, with_dwarf(struct.pack('<I', len(info)) + info, abbrev))


def many_units(path):
    write_program(path, with_dwarf(unit(b'\0') * 1_000_000))


def many_functions_described(path):
    die = uleb(3) + struct.pack('<QQI', CODE, 16, 0)
    write_program(path, with_dwarf(unit(die * 1_000_000)))


def debug_info_of_a_hole(path):
    write_program(path, with_dwarf(unit(b''), size=1 << 30))


def compressed(data, said, kind=1):
    return struct.pack('<IIQQ', kind, 0, said, 1) + data


def zip_bomb(path):
    packed = zlib.compress(bytes(1 << 28), 9)
    write_program(path, with_dwarf(compressed(packed, 1 << 28), flags=COMPRESSED))


def zip_bomb_that_lies(path):
    packed = zlib.compress(bytes(1 << 28), 9)
    write_program(path, with_dwarf(compressed(packed, 1 << 12), flags=COMPRESSED))


def zip_of_exabytes(path):
    write_program(path, with_dwarf(compressed(b'x' * 64, 1 << 60), flags=COMPRESSED))


# ---- symbols ----

def many_symbols(path):
    """Ten million, mostly in a hole."""
    table = symbol(0, 0, 0, 0, 0) + symbol(1) * 100_000
    write_program(path, [Section('.symtab', SYMTAB, table, size=10_000_000 * 24, link=3, entry=24),
                         Section('.strtab', STRTAB, b'\0victim\0')])


def more_functions_than_memory(path):
    """As many as a reader looks at, each with a name of 4 kB: 40 GB, twenty times the memory that a reader may
    have, so that even the fastest machine cannot read it."""
    write_program(path, with_symbols(symbol(1) * 10_000_000, b'\0' + b'v' * 4096 + b'\0'))


def names_of_gigabytes(path):
    write_program(path, [Section('.symtab', SYMTAB, symbol(1) * 10, link=3, entry=24),
                         Section('.strtab', STRTAB, b'\0victim\0', size=8 << 30)])


def one_long_name(path):
    write_program(path, with_symbols(symbol(1) * 10_000, b'\0' + b'a' * (16 << 20) + b'\0'))


def names_that_demangle_to_much(path):
    inner = b'St4pairI'
    name = b'_Z1f' + inner * 4000 + b'iiE' * 4000
    squared = b'_Z1fSt4pairIiiE' + b''.join(b'S_I' for _ in range(3000))
    write_program(path, with_symbols(symbol(1) * 50 + symbol(2 + len(name)) * 50,
                                     b'\0' + name + b'\0' + squared + b'\0'))


def endless_functions(path):
    """Each has its own name and covers all of the code: reading them does not end."""
    count = 300_000
    names, table = bytearray(b'\0'), bytearray()
    for i in range(count):
        table += symbol(len(names), CODE + i % 1024, CODE_BYTES)
        names += b'f%d\0' % i
    # Jumps in all directions, so that following the control flow is expensive.
    code = b''.join(b'\x0f\x84' + struct.pack('<i', 64 * ((i * 7919) % 4096 - 2048))
                    for i in range(CODE_BYTES // 6))
    write_program(path, with_symbols(bytes(table), bytes(names)), code=code)


def symbols_without_names(path):
    write_program(path, with_symbols(symbol(0xFFFFFFFF) * 100_000, b'\0'))


def names_elsewhere(path):
    write_program(path, [Section('.symtab', SYMTAB, symbol(1) * 10, link=2, entry=24)])


# ---- headers ----

def overlapping(path):
    def damage(header):
        header['shoff'] = header['phoff'] = 0
    write_program(path, one_function(), damage=damage)


def headers_behind_the_end(path):
    def damage(header):
        header['shoff'] = 1 << 62
    write_program(path, one_function(), damage=damage)


def count_in_first_section(path):
    def damage(header):
        header['shnum'] = 0
    write_program(path, one_function(), damage=damage)


def many_segments(path):
    segment = struct.pack('<IIQQQQQQ', 1, 5, 0, 0, 0, 1 << 20, 1 << 20, 0x1000)

    def damage(header):
        header['phnum'] = 17_000
        header['phoff'] = CODE + (1 << 14)
    write_program(path, one_function(), damage=damage, code=bytes(1 << 14) + segment * 17_000)


def segment_around_everything(path):
    segment = struct.pack('<IIQQQQQQ', 1, 5, 0, 0xFFFFFFFFFFFFF000, 0, CODE, (1 << 64) - 1, 0x1000)
    write_program(path, one_function(), phdrs=segment)


# ---- notes ----

def note(owner_bytes, data_bytes, body, kind=3):
    return struct.pack('<III', owner_bytes, data_bytes, kind) + body


def notes(*data, **options):
    return one_function(Section('.note.stapsdt', NOTE, b''.join(data), **options),
                        Section('.stapsdt.base', PROGBITS, b'\0'))


def stapsdt(location, texts):
    data = struct.pack('<QQQ', location, 0, 0) + texts
    return note(8, len(data), b'stapsdt\0' + data + bytes(-len(data) % 4))


def note_sizes(path):
    write_program(path, notes(note(0xFFFFFFFF, 0xFFFFFFFF, b'stapsdt\0' + bytes(64)),
                              note(8, 0x7FFFFFFF, b'stapsdt\0' + bytes(64))))


def notes_of_a_hole(path):
    write_program(path, notes(stapsdt(CODE, b'p\0n\0\0'), size=4 << 30))


def many_notes(path):
    write_program(path, notes(*[stapsdt(CODE + i % 256, b'p\0n%d\0\0' % i) for i in range(15_000)]))


def long_arguments(path):
    arguments = b' '.join([b'-8@%rax'] * 50_000)
    write_program(path, notes(stapsdt(CODE, b'p\0n\0' + arguments + b'\0')))


# ---- the rest ----

def debug_data_bomb(path):
    write_program(path, one_function(
        Section('.gnu_debugdata', PROGBITS, lzma.compress(bytes(1 << 27), preset=0))))


def unwind_table_of_overlaps(path):
    cie = struct.pack('<IIB', 20, 0, 1) + b'zR\0' + b'\1\x78\x10\1\x1b' + bytes(8)
    frames = bytearray(cie[:24])
    for i in range(400_000):
        frames += struct.pack('<IIiI', 16, len(frames) + 4, 0x10, 0xFFFFF) + bytes(4)
    write_program(path, one_function(Section('.eh_frame', PROGBITS, bytes(frames) + bytes(4),
                                             flags=2, address=0x200000)))


def debug_link_to_a_secret(path):
    link = b'../../etc/shadow\0'
    write_program(path, one_function(Section('.gnu_debuglink', PROGBITS,
                                             link + bytes(-len(link) % 4 + 4))))


ALL = [deep_nesting, type_cycle, type_of_itself, many_abbreviations, endless_abbreviation,
       indirect_forms, many_units, many_functions_described, debug_info_of_a_hole, zip_bomb,
       zip_bomb_that_lies, zip_of_exabytes, many_symbols, names_of_gigabytes, one_long_name,
       names_that_demangle_to_much, symbols_without_names, names_elsewhere, overlapping,
       headers_behind_the_end, count_in_first_section, many_segments, segment_around_everything,
       note_sizes, notes_of_a_hole, many_notes, long_arguments, debug_data_bomb,
       unwind_table_of_overlaps, debug_link_to_a_secret]


# ---- programs that run ----
# Each changes a program in place; the code and data that it loads stay the same.

def with_sections(path, **sections):
    """Adds or replaces these sections; __ stands for a dot."""
    words = ['objcopy']
    with tempfile.TemporaryDirectory() as folder:
        for name, data in sections.items():
            name = name.replace('__', '.')
            file = f'{folder}/{name}'
            with open(file, 'wb') as out:
                out.write(data)
            words += [f'--remove-section={name}', f'--add-section={name}={file}']
        subprocess.run([*words, path], check=True)


def everywhere(dies):
    """A unit that claims to describe all code."""
    body = struct.pack('<HIB', 4, 0, 8) + uleb(1) + struct.pack('<QQ', 0, 1 << 46) + dies
    return struct.pack('<I', len(body)) + body


def nests_deeply(path):
    with_sections(path, __debug_info=everywhere(uleb(2) * 2_000_000), __debug_abbrev=ABBREV_NEST)


def describes_a_million_functions(path):
    die = uleb(5) + struct.pack('<QQ', 0, 1 << 46)
    with_sections(path, __debug_info=everywhere(die * 1_000_000), __debug_abbrev=ABBREV_NEST)


def has_a_million_units(path):
    with_sections(path, __debug_info=everywhere(b'\0') * 1_000_000, __debug_abbrev=ABBREV_NEST)


def has_endless_abbreviations(path):
    abbrev = uleb(1) + uleb(0x11) + b'\1' + (uleb(0x49) + uleb(0x16)) * 5_000_000
    with_sections(path, __debug_info=everywhere(uleb(1) * 100_000), __debug_abbrev=abbrev)


def has_lines_of_anything(path):
    with_sections(path, __debug_line=bytes(range(256)) * 4096)


def packs_a_bomb(path):
    with_sections(path, __gnu_debugdata=lzma.compress(bytes(1 << 27), preset=0))


def wants_a_secret(path):
    link = b'../../etc/shadow\0'
    with_sections(path, __gnu_debuglink=link + bytes(-len(link) % 4 + 4))


def damaged(path, section, change):
    """Changes the bytes of a loaded section in place."""
    said = subprocess.run(['readelf', '-SW', path], check=True, capture_output=True, text=True).stdout
    fields = re.search(rf'\s{re.escape(section)}\s+\S+\s+(\S+)\s+(\S+)\s+(\S+)', said)
    offset, size = int(fields[2], 16), int(fields[3], 16)
    with open(path, 'r+b') as file:
        file.seek(offset)
        data = change(file.read(size))
        assert len(data) == size
        file.seek(offset)
        file.write(data)


def has_unwind_tables_of_anything(path):
    damaged(path, '.eh_frame', lambda data: bytes((i * 151 + 7) & 0xFF for i in range(len(data))))


def has_a_huge_unwind_entry(path):
    damaged(path, '.eh_frame', lambda data: b'\xff' * 4 + b'\x7f' * 8 + data[12:])


def lies_about_where_unwind_entries_are(path):
    damaged(path, '.eh_frame_hdr', lambda data: data[:4] + b'\xff' * (len(data) - 4))


PROGRAMS = [nests_deeply, describes_a_million_functions, has_a_million_units, has_endless_abbreviations,
            has_lines_of_anything, packs_a_bomb, wants_a_secret, has_unwind_tables_of_anything,
            has_a_huge_unwind_entry, lies_about_where_unwind_entries_are]
