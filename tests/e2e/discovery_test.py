# SPDX-License-Identifier: BSD-2-Clause
"""Compares the results of `tracectl list` with readelf and nm."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import support
from support import run, target

PYTHON = '/usr/bin/python3.11'
# By the name that is constant: its link has another target after each update.
RUBY = os.path.realpath('/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1')
POSTGRES = '/usr/lib/postgresql/15/bin/postgres'


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def listed(*words):
    done = run('--embedded', '--json', 'list', *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def segments(path):
    """(address, offset, size) of the loaded segments."""
    rows = []
    for line in output('readelf', '-lW', path).splitlines():
        fields = line.split()
        if fields and fields[0] == 'LOAD':
            rows.append((int(fields[2], 16), int(fields[1], 16), int(fields[4], 16)))
    return rows


def offset_of(rows, address):
    for start, offset, size in rows:
        if start <= address < start + size:
            return address - start + offset
    raise AssertionError(hex(address))


def notes(path):
    """(provider, name, location, semaphore, arguments) of each USDT note; addresses as linked."""
    text = output('readelf', '-nW', path)
    pattern = (r'Provider: (\S+)\s+Name: (\S+)\s+Location: (\S+), Base: (\S+), Semaphore: (\S+)'
               r'\s+Arguments: ?(.*)')
    base = re.search(r'\.stapsdt\.base\s+PROGBITS\s+(\S+)', output('readelf', '-SW', path))
    found = []
    for provider, name, location, noted, semaphore, arguments in re.findall(pattern, text):
        moved = int(base[1], 16) - int(noted, 16)
        semaphore = int(semaphore, 16)
        found.append((provider, name, int(location, 16) + moved,
                      semaphore + moved if semaphore else None, arguments.split()))
    return found


@support.needs_root
class Usdt(unittest.TestCase):
    def check(self, path):
        expected = {}
        rows = segments(path)
        for provider, name, location, semaphore, arguments in notes(path):
            place = (offset_of(rows, location), offset_of(rows, semaphore) if semaphore else None)
            expected.setdefault(f'usdt:{path}:{provider}:{name}', []).append((place, arguments))
        reply = listed(f'usdt:{path}:*:*')
        self.assertEqual(reply['refused'], [])
        found = {probe['probe']: probe for probe in reply['probes']}
        self.assertEqual(set(found), set(expected))
        self.assertEqual(reply['total_sites'], len(notes(path)))
        self.assertGreater(len(found), 5)
        for name, probe in found.items():
            places = [(site['offset'], site.get('semaphore')) for site in probe['sites']]
            self.assertEqual(sorted(places, key=str), sorted((p for p, _ in expected[name]), key=str))
            self.assertIn([arg['place'] for arg in probe['args']], [a for _, a in expected[name]])
            self.assertTrue(all(arg['readable'] for arg in probe['args']), probe)

    def test_python(self):
        self.check(PYTHON)

    def test_ruby(self):
        self.check(RUBY)

    def test_postgres(self):
        self.check(POSTGRES)


@support.needs_root
class Functions(unittest.TestCase):
    def check(self, path, *options, scope='--global'):
        # Code only: nm shows functions as T, W or t; data has other letters.
        kinds = 'TW' if scope == '--global' else 'TWt'
        expected = {re.sub('@.*', '', line.split()[2])
                    for line in output('nm', '--defined-only', *options, path).splitlines()
                    if len(line.split()) == 3 and line.split()[1] in kinds}
        reply = listed(f'uprobe:{path}:*', scope)
        found = {probe['probe'].split(':', 2)[2] for probe in reply['probes']}
        refused = {one['probe'].split(':', 2)[2] for one in reply['refused']}
        self.assertGreater(len(found), 100)
        # A symbol without a type (of hand-written assembly) is code for nm, but not a function for tracectl.
        functions = {line.split()[7].split('@')[0]
                     for line in output('readelf', '-sW', path).splitlines()
                     if len(line.split()) == 8 and line.split()[3] == 'FUNC'}
        # f.cold, the unlikely part of f, is never called.
        parts = {name for name in functions if name.split('.cold')[0] in functions - {name}}
        self.assertEqual(found | refused, (expected & functions) - parts)

    def test_python(self):
        self.check(PYTHON, '-D')

    def test_ruby(self):
        self.check(RUBY, '-D')

    def test_postgres(self):
        self.check(POSTGRES, '-D')

    def test_every_symbol_of_a_program_that_has_them_all(self):
        self.check(target('counters'), scope='--local')

    def test_demangled_names_are_matched_where_the_pattern_looks_like_one(self):
        path = target('cxx_names')
        demangled = output('nm', '-C', '--defined-only', path)
        names = {probe['demangled'] for probe in listed(f'uprobe:{path}:*::*')['probes']}
        self.assertTrue(names)
        for name in names:
            self.assertIn(name, demangled)


@support.needs_root
class DebugFiles(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.whole = target('refused')
        self.stripped = f'{self.directory}/stripped'

    def good_functions(self):
        reply = listed(f'uprobe:{self.stripped}:good_*')
        return [probe['probe'].rsplit(':', 1)[1] for probe in reply['probes']]

    def test_a_stripped_program_names_its_functions_through_its_debug_link(self):
        debug = f'{self.directory}/refused.debug'
        output('objcopy', '--only-keep-debug', self.whole, debug)
        output('objcopy', '--strip-all', f'--add-gnu-debuglink={debug}', self.whole, self.stripped)
        self.assertEqual(self.good_functions(), [f'good_{c}' for c in 'abcdefghij'])
        pathlib.Path(debug).write_bytes(b'another file')
        self.assertEqual(run('--embedded', 'list', f'uprobe:{self.stripped}:good_*').returncode, 5)

    def test_a_stripped_program_names_its_functions_through_its_gnu_debugdata(self):
        debug = f'{self.directory}/mini'
        output('objcopy', '--only-keep-debug', self.whole, debug)
        output('xz', '--keep', debug)
        output('objcopy', '--strip-all', f'--add-section=.gnu_debugdata={debug}.xz', self.whole,
               self.stripped)
        self.assertEqual(self.good_functions(), [f'good_{c}' for c in 'abcdefghij'])


class Entries(unittest.TestCase):
    def test_a_slow_entry_is_moved_where_that_changes_nothing(self):
        found = {}
        for probe in listed(f'uprobe:{target("entries")}:entry_*')['probes']:
            site, = probe['sites']
            found[probe['probe'].rsplit(':', 1)[1]] = (probe['class'], site['moved_bytes'])
        self.assertEqual(found, {'entry_endbr': ('normal', 4), 'entry_reads': ('normal', 9),
                                 'entry_loop': ('slow', 0), 'entry_writes': ('slow', 0)})


if __name__ == '__main__':
    unittest.main()
