# SPDX-License-Identifier: BSD-2-Clause
"""The places of lines by `readelf --debug-dump=decodedline` (binutils), to compare with those that tracectl has.

    PYTHONPATH=tests/support python3 -m line_places PROGRAM [LINES [SEED]]

compares LINES random lines of the program, 1,000 by default, and ends with 1 if one of them differs."""

import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys

ROW = re.compile(r'^(?P<file>\S.*?) +(?P<line>\d+|-) +(?P<address>0x[0-9a-f]+|0)(?: +(?P<view>\d+))?(?: +(?P<statement>x))?\s*$')
HEADING = re.compile(r'^(?:CU: )?(?P<path>\S.*?):(?:\[\+\+\])?$')
AT_ONCE = 50  # patterns


def code_ranges(path):
    """Of sections with code: what a linker has removed begins in none of them."""
    listed = subprocess.run(['readelf', '-W', '-S', path], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        found = re.match(r'\s*\[ *\d+\] \S+ +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) \S+ +\S*X\S* ', line)
        if found:
            begin, size = (int(number, 16) for number in found.groups())
            yield range(begin, begin + size)


def function_starts(path):
    listed = subprocess.run(['readelf', '-W', '-s', path], capture_output=True, text=True, check=True).stdout
    return {int(address, 16) for address in re.findall(r'^ *\d+: ([0-9a-f]+) +\S+ (?:FUNC|IFUNC) ', listed, re.MULTILINE)}


def load_address(path):
    """What is to be added to an offset in the file, by the first segment with code."""
    listed = subprocess.run(['readelf', '-W', '-l', path], capture_output=True, text=True, check=True).stdout
    return [(int(offset, 16), int(address, 16), int(size, 16)) for offset, address, size in
            re.findall(r'^ +LOAD +(\S+) (\S+) \S+ (\S+) ', listed, re.MULTILINE)]


def address_of(offset, segments):
    for begin, address, size in segments:
        if begin <= offset < begin + size:
            return offset - begin + address
    raise ValueError(offset)


def places_of(path, debug_file=None):
    """By name of the source file and line: the addresses. A place is the first row of an unbroken run of the line's rows
    that begins a statement; rows of line 0 belong to the run around them, and a run ends where a function begins."""
    dumped = subprocess.run(['readelf', '-W', '--debug-dump=decodedline', debug_file or path],
                            capture_output=True, text=True, check=True, errors='replace').stdout
    code, starts = list(code_ranges(path)), function_starts(path)
    places = collections.defaultdict(set)
    heading, run, has_place, removed = None, None, False, None
    for text in dumped.splitlines():
        row = ROW.match(text)
        if not row:
            found = HEADING.match(text)
            heading = found['path'] if found else heading
            continue
        address = int(row['address'], 16)
        if removed is None:
            removed = not any(address in one for one in code)
        if row['line'] == '-':
            run, removed = None, None
            continue
        line = int(row['line'])
        if line == 0 or removed:
            continue
        # Headings say where the file is, and files of one name follow each other under headings.
        key = os.path.normpath(heading) if heading else row['file'], line
        if key != run or address in starts:
            run, has_place = key, False
        if row['statement'] and not has_place:
            has_place = True
            places[pathlib.PurePath(row['file']).name, line].add(address)
    return places


def found_by(tracectl, path, lines):
    """The same for these lines, by `tracectl list`: the addresses, each with the distance to the cheaper instruction that
    got the probe of a function's entry; and the refused ones."""
    places, refused = collections.defaultdict(dict), collections.defaultdict(set)
    segments = load_address(path)
    for at in range(0, len(lines), AT_ONCE):
        patterns = [f'uprobe:{path}@{file}:{line}' for file, line in lines[at:at + AT_ONCE]]
        done = subprocess.run([*tracectl, '--json', 'list', *patterns], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        reply = json.loads(done.stdout)
        for probe in reply['probes']:
            for site in probe['sites']:
                address = address_of(site['offset'], segments) - site['moved_bytes']
                places[key_of(probe['probe'])][address] = site['moved_bytes']
        for one in reply['refused']:
            refused[key_of(one['probe'])].add(address_of(one['offset'], segments))
    return places, refused


def key_of(probe):
    path, line = probe.rpartition('@')[2].rsplit(':', 1)
    return pathlib.PurePath(path).name, int(line)


def without_passed(addresses, found):
    """Without those that a probe for a function's entry has after it up to where it sits: they are reached together."""
    return {one for one in addresses if not any(begin < one <= begin + moved for begin, moved in found.items())}


def compare(tracectl, path, count, seed, debug_file=None):
    """Returns the lines, those that differ with both answers, and how many places were refused."""
    truth = places_of(path, debug_file)
    lines = sorted(truth)
    chosen = random.Random(seed).sample(lines, min(count, len(lines)))
    found, refused = found_by(tracectl, path, chosen)
    wrong = [(line, sorted(truth[line]), sorted(found[line].keys() | refused[line]))
             for line in chosen if without_passed(truth[line], found[line]) != found[line].keys() | refused[line]]
    return chosen, wrong, sum(map(len, refused.values()))


def main(path, count='1000', seed='1'):
    tracectl = os.environ.get('TRACECTL', str(pathlib.Path(__file__).parents[2] / '.build/tracectl'))
    chosen, wrong, refused = compare([tracectl], os.path.realpath(path), int(count), int(seed))
    for (file, line), truth, found in wrong:
        print(f'{file}:{line}: readelf {[hex(one) for one in truth]}, tracectl {[hex(one) for one in found]}')
    print(f'{len(chosen)} lines, {len(wrong)} wrong, {refused} places refused')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
