# SPDX-License-Identifier: BSD-2-Clause
"""Names of C++ functions in what users see, and the order and the number of rows."""

import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import tempfile
import termios
import unittest

import support

EXPECTED = {'shop::orders::price(int)', 'shop::orders::price(double)', 'shop::orders::Cart::Cart',
            'shop::orders::Cart::add', 'shop::orders::Cart::size', 'shop::orders::Cart::operator+=',
            '(anonymous namespace)::hidden', 'twice<int>', 'twice<long>', 'plain'}
OURS = ('u::shop::orders::*', 'u::(anonymous*', 'u::twice<*', 'u::plain')


def on_terminal(columns, *words):
    """What is printed on a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    with subprocess.Popen([support.TRACECTL, *words], stdout=theirs, stderr=subprocess.DEVNULL) as running:
        os.close(theirs)
        shown = b''
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # the last writer has closed it
            pass
        os.close(ours)
        running.wait(timeout=60)
    return shown.decode().replace('\r\n', '\n')


class ShownNames(support.DaemonTest):
    def shown(self, verb, *words, **how):
        """Names in the rows of a table of what `cxx_names` does, without their kind and file."""
        program = self.program('cxx_names', '3')
        tracing = subprocess.Popen(
            [support.TRACECTL, '--socket', self.daemon.socket, verb, *OURS, '-p', str(program.pid), *words],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
        while 'tracing' not in (said := tracing.stderr.readline()):
            self.assertIn('tracectl: note: ', said)
        program.send('go')
        program.result()
        program.send('exit')
        return tracing.communicate(timeout=60)[0]

    def test_are_readable_in_tables(self):
        printed = self.shown('count')
        self.assertEqual(set(re.findall(r'^ +3  uprobe:cxx_names:(.*)$', printed, re.M)), EXPECTED, printed)
        self.assertNotIn(support.target('cxx_names'), printed)

    def test_are_linkage_names_if_wanted(self):
        printed = self.shown('count', '--mangled')
        self.assertIn('  uprobe:cxx_names:_ZN4shop6orders5priceEi\n', printed)
        self.assertNotIn('::price', printed)

    def test_are_readable_in_streams(self):
        printed = self.shown('trace')
        path = support.target('cxx_names')
        self.assertIn(f'uprobe:{path}:shop::orders::price(n=0)\n', printed)
        self.assertIn(f'uprobe:{path}:shop::orders::price(double)(n=?)\n', printed)
        self.assertNotIn(':_ZN4shop6orders5price', printed)

    def test_are_readable_in_exports(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = f'{folder}/out.tct'
            self.shown('record', '-o', trace)
            for flags, name in ([], 'shop::orders::price'), (['--mangled'], '_ZN4shop6orders5priceEi'):
                for kind in 'csv', 'ctf':
                    out = f'{folder}/{len(flags)}.{kind}'
                    done = support.run(*flags, 'export', trace, '--to', kind, '-o', out)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    text = pathlib.Path(out if kind == 'csv' else out + '/metadata').read_text()
                    self.assertIn(f'uprobe:{support.target("cxx_names")}:{name}', text)
                    self.assertEqual('_ZN4shop' in text, bool(flags))

    def test_are_in_json_beside_the_linkage_names(self):
        names = {'_ZN4shop6orders5priceEi': 'shop::orders::price(int)', 'plain': None}
        for verb in 'count', 'trace':
            printed = self.shown(verb, '--json')
            found = [json.loads(line) for line in printed.splitlines()]
            found = found[0]['rows'] if verb == 'count' else found
            of_probe = {one['probe'].split(':', 2)[2]: one.get('demangled') for one in found if 'probe' in one}
            self.assertEqual({name: of_probe[name] for name in names}, names, verb)
            self.assertEqual({one['probe'].split(':')[1] for one in found if 'probe' in one},
                             {support.target('cxx_names')})
        program = self.program('cxx_names')
        self.daemon.run('session', 'new', 's')
        self.daemon.run('stage', 's', 'set', 'u::shop::orders::price(int)', '-p', str(program.pid),
                        '--do', 'count')
        self.daemon.run('commit', 's')
        program.send('go')
        program.result()
        top = json.loads(self.daemon.run('--json', 'top', '--iterations', '1', '--interval', '10ms').stdout)
        info = self.daemon.json('info', 'shop::*')
        read = self.daemon.json('read', 's')
        for of, rows in (('top', top['rows']), ('info', info['settings']), ('read', read['rows'])):
            self.assertEqual([row['demangled'] for row in rows], ['shop::orders::price(int)'], of)
        self.assertIn('uprobe:cxx_names:shop::orders::price ', self.daemon.run('info', 'shop::*').stdout)
        self.assertIn('uprobe:cxx_names:shop::orders::price\n', self.daemon.run('read', 's').stdout)

    def test_rows_are_bounded_where_output_is_piped(self):
        words = 'list', 'u::f[0-9]*', '-x', support.target('counters')
        rows = lambda *more: self.daemon.run(*words, *more).stdout.count('\nuprobe:')
        all_rows = len(self.daemon.json(*words)['probes'])
        self.assertGreater(all_rows, 1000)
        self.assertEqual((rows(), rows('-n', 'all'), rows('-n', '7')), (1000, all_rows, 7))
        self.assertIn(f'\n{all_rows - 1000} more rows; -n all prints them\n', self.daemon.run(*words).stdout)

    def test_are_patterns(self):
        path = support.target('cxx_names')
        listed = self.daemon.run('list', *OURS, '-x', path).stdout
        names = re.findall(r'^(uprobe:\S.*?)  +(?:normal|slow|fast)', listed, re.M)
        self.assertEqual({name.removeprefix('uprobe:cxx_names:') for name in names}, EXPECTED)
        for name in names:
            found = {probe.get('demangled') or probe['probe'].rsplit(':', 1)[1]
                     for probe in self.daemon.json('list', name, '-x', path)['probes']}
            self.assertEqual(len(found), 1, name)
            self.assertIn(name.removeprefix('uprobe:cxx_names:'), found.pop())

    def test_are_shown_once_for_constructors_at_one_place(self):
        path = support.target('cxx_names')
        listed = self.daemon.run('list', 'u::shop::orders::Cart::Cart', '-x', path).stdout
        self.assertEqual(listed.count('Cart::Cart'), 1)
        self.assertIn('\n1 further symbol of the same functions not shown\n2 probes, 2 sites\n', listed)
        self.assertEqual(self.daemon.run('--mangled', 'list', 'u::shop::orders::Cart::Cart', '-x',
                                         path).stdout.count('_ZN4shop6orders4CartC'), 2)


class Rows(support.DaemonTest):
    def listed(self, *words):
        done = self.daemon.run('list', '-x', support.target('cxx_names'), *words)
        return re.findall(r'^uprobe:cxx_names:(\S+)', done.stdout, re.M), done.stdout

    def test_of_list_are_sorted_by_a_column(self):
        names, _ = self.listed('u::*', '--sort', 'name')
        self.assertEqual(names, sorted(names))
        found = self.daemon.json('list', 'u::*', '-x', support.target('cxx_names'), '--sort', 'address')
        offsets = [probe['sites'][0]['offset'] for probe in found['probes']]
        self.assertEqual(offsets, sorted(offsets))
        found = self.daemon.json('list', 'u::*', '-x', support.target('cxx_names'), '--sort', 'class')
        classes = [probe['class'] for probe in found['probes']]
        self.assertEqual(classes, sorted(classes, reverse=True))
        self.assertEqual(set(classes), {'slow', 'normal'})
        wrong = self.daemon.run('list', 'u::*', '--sort', 'size')
        self.assertEqual(wrong.returncode, 2)
        self.assertIn('its columns are name, address, class', wrong.stderr)

    def test_of_list_are_as_many_as_wanted(self):
        names, printed = self.listed('u::shop::orders::price', '-n', '1')
        self.assertEqual(len(names), 1)
        self.assertIn('\n1 more row\n2 probes, 2 sites\n', printed)

    def test_that_take_long_are_announced_on_a_terminal(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        words = ['--socket', self.daemon.socket, 'list', 'u::plain', '-x', support.target('cxx_names')]
        self.daemon.process.send_signal(signal.SIGSTOP)
        with subprocess.Popen([support.TRACECTL, *words], text=True, stdout=subprocess.PIPE, stderr=theirs) as listing:
            os.close(theirs)
            said = b''
            while b'...' not in said:
                said += os.read(ours, 4096)
            self.assertEqual(said, b'tracectl: reading symbols and debug information...')
            self.daemon.process.send_signal(signal.SIGCONT)
            self.assertIn('1 probe, 1 site', listing.communicate(timeout=60)[0])
        self.assertEqual(os.read(ours, 4096), b'\r\x1b[K')
        self.assertEqual(support.run(*words).stderr, '')

    def test_of_time_begin_with_the_greatest_total(self):
        for order in 'total', 'calls', 'name':
            words = ['time', 'u::demo::sieve', 'u::demo::clear', 'u::demo::run_round', '-p',
                     str(self.program('demo_worker').pid), '--for', '300ms']
            read = self.daemon.json(*words, *([] if order == 'total' else ['--sort', order]))
            rows = read['rows']
            key = {'total': lambda row: -row['sum'], 'calls': lambda row: -row['count'],
                   'name': lambda row: row['demangled']}[order]
            self.assertEqual(rows, sorted(rows, key=key))
            self.assertEqual(len(rows), 3)
        wrong = self.daemon.run('time', 'u::demo::sieve', '-x', '/bin/true', '--sort', 'cells')
        self.assertEqual(wrong.returncode, 2)
        self.assertIn('its columns are calls, total, self, avg, min, max, p50, p90, p99, name', wrong.stderr)

    def test_fit_a_terminal_and_are_cut_nowhere_else(self):
        words = ['--socket', self.daemon.socket, 'list', 'u::shop::orders::*', '-x', support.target('cxx_names')]
        whole = support.run(*words).stdout
        self.assertIn('string_view (passed by value, in registers)\n', whole)
        shown = on_terminal(90, *words)
        self.assertLessEqual(max(map(len, shown.splitlines())), 90)
        self.assertIn('\N{HORIZONTAL ELLIPSIS}', shown)
        self.assertEqual(len(shown.splitlines()), len(whole.splitlines()))


if __name__ == '__main__':
    unittest.main()
