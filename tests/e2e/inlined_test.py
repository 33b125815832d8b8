# SPDX-License-Identifier: BSD-2-Clause
"""Copies of inlined functions, compared with what the programs count themselves (tests/targets/inlined.c, inlined_cxx.cpp)
and with the places where gdb would stop."""

import collections
import json
import re
import subprocess
import tempfile
import unittest

import line_places
import service_manager
import support

C = 'inlined', 'inlined_dwarf4', 'inlined_clang'
CXX = 'inlined_cxx', 'inlined_cxx_clang'
FUNCTION = re.compile(r'/inlined\w*:([^@]*)')  # of a probe's name, with its host


def places_of_gdb(program, function):
    """Where functions of that name begin: the addresses of the file."""
    done = subprocess.run(['gdb', '-nx', '-batch', '-ex', f'break {function}', '-ex', 'info breakpoints', program],
                          capture_output=True, text=True, check=True)
    return {int(address, 16) for address in re.findall(r'\by +(0x[0-9a-f]+) in ', done.stdout)}


def listed(*patterns):
    done = support.run('--embedded', 'list', '--inlined', '--json', *patterns)
    return json.loads(done.stdout)


@support.needs_root
class Copies(support.DaemonTest):
    one_daemon = True

    def commit(self, session, pid, *patterns, action='count', options=('--inlined',)):
        self.daemon.json('session', 'new', session)
        self.daemon.json('stage', session, 'set', *options, *patterns, '-p', str(pid), '--do', action)
        return self.daemon.json('commit', session)

    def rows(self, session):
        return self.daemon.json('read', session)['rows']

    def test_are_counted_as_often_as_the_program_calls_them(self):
        of_c = ['u::' + function for function in ('add', 'rare', 'given', 'both_ways')]
        of_cxx = ['u::shapes::Counter::step', 'u::shapes::hidden', 'u::*shapes::generic<*']
        programs = {name: of_c for name in C} | {name: of_cxx for name in CXX}
        programs['inlined_clang'] = of_c[1:]  # it unrolls the loop around add()
        for name, patterns in programs.items():
            program = self.program(name, '200')
            self.commit(name, program.pid, *patterns)
            program.send('go')
            truth = {function: calls for function, (calls, _) in program.result().items()
                     if any(re.search(rf'\b{function}\b', pattern) for pattern in patterns)}
            self.assertEqual(len(truth), len(patterns))
            counts = collections.Counter()
            for row in self.rows(name):
                [function] = [one for one in truth if one in FUNCTION.search(row['probe'])[1].partition(' in ')[0]]
                counts[function] += row['count']
            self.assertEqual(counts, truth, name)

    def test_are_told_apart_by_their_hosts_and_calls(self):
        program = self.program('inlined', '100')
        self.commit('apart', program.pid, 'u::add', 'u::both_ways')
        program.send('go')
        program.result()
        counts = collections.defaultdict(list)
        for row in self.rows('apart'):
            counts[FUNCTION.search(row['probe'])[1]].append(row['count'])
        self.assertEqual(sorted(counts['add in first_host']), [100, 300])
        self.assertEqual(sum(counts['add in second_host']), 200)
        self.assertEqual((counts['both_ways'], counts['both_ways in main']), ([100], [100]))

    def test_have_the_values_that_they_were_given(self):
        for name in C:
            program = self.program(name, '100')
            values = 'arg.n', 'arg0', 'var.n'
            for value in values:
                self.commit(f'{name}-{value}', program.pid, 'u::given', action=f'sum({value})')
            program.send('go')
            _, given = program.result()['given']
            for value in values:
                self.assertEqual(sum(row['sum'] for row in self.rows(f'{name}-{value}')), given, (name, value))

    def test_are_a_pattern_each(self):
        program = self.program('inlined', '100')
        self.commit('one', program.pid, 'u::add in first_host', options=())
        program.send('go')
        program.result()
        self.assertEqual(sorted(row['count'] for row in self.rows('one')), [100, 300])
        for row in self.rows('one'):
            self.assertEqual([one['probe'] for one in self.daemon.json('list', row['probe'])['probes']], [row['probe']])
            info = self.daemon.json('info', row['probe'])
            self.assertEqual([one['probe'] for one in info['settings']], [row['probe']])
        self.assertEqual(len(self.daemon.json('info', 'u::add', '--inlined')['settings']), 2)
        self.assertEqual(self.daemon.json('info', 'u::add')['settings'], [])

    def test_a_string_by_value_is_the_variable_and_no_argument(self):
        program = self.program('inlined_text', '3')
        refused = self.daemon.run('count', '--inlined', 'u::*take*', '-p', str(program.pid), '--when', 'arg.given == "x"')
        self.assertRegex(refused.stderr, 'a whole object: var.NAME reads it')
        self.commit('text', program.pid, 'u::*take*', action='count by var.given, arg.number')
        program.send('go')
        program.result()
        counts = {(row['by']['var.given'], row['by']['arg.number']): row['count'] for row in self.rows('text')}
        self.assertEqual(counts, {('what was given to the function', number): 1 for number in (3, 4, 5)})

    def test_stream_events_and_stacks(self):
        program = self.program('inlined', '10')
        self.commit('streamed', program.pid, 'u::given', action='event, stack')
        client = self.daemon.connect()
        client.result('session.subscribe', session='streamed')
        program.send('go')
        calls, _ = program.result()['given']
        client.result('session.flush', session='streamed')
        client.close()
        events = [one['params'] for one in client.notifications if one['method'] == 'event']
        self.assertEqual(len(events), calls)
        self.assertEqual({tuple(event['args'][1:]) for event in events}, {(3,), (5,)})
        for event in events:
            self.assertIn(' in third_host@', event['probe'])

    def test_are_not_followed_to_an_end(self):
        target = support.target('inlined')
        for verb in 'time', 'graph':
            done = self.daemon.run(verb, 'both_ways', '--inlined', '--', target, '20')
            self.assertIn('copies of inlined functions are left out', done.stderr, verb)
            done = self.daemon.run(verb, 'both_ways in main', '--', target, '20')
            self.assertIn('has no return, retval, duration or time', done.stderr)

    def test_that_begin_in_a_loop_are_refused(self):
        done = self.daemon.run('count', 'looped', '--inlined', '--', support.target('inlined'), '20')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('its hits might not be its calls: its own code leads back', done.stderr)

    def test_that_an_unrolled_loop_has_repeated_are_refused(self):
        path = support.target('inlined_clang')
        [refused] = listed(f'uprobe:{path}:add in first_host@inlined.c:28')['refused']
        self.assertIn('its first line begins in several pieces of it', refused['reason'])

    def test_of_which_the_compiler_has_moved_code_are_refused(self):
        # gdb stops at the moved instruction, in each call of the host.
        path = support.target('inlined')
        [refused] = listed(f'uprobe:{path}:twice in second_host@inlined.c:*')['refused'][-1:]
        self.assertIn('code of it is executed without the instruction where it begins', refused['reason'])

    def test_are_offered_where_there_is_no_function(self):
        done = self.daemon.run('count', 'add', '--', support.target('inlined'), '20')
        self.assertIn('it was inlined into other functions, at 6 places: --inlined traces it there', done.stderr)


@support.needs_root
class SavedCopies(unittest.TestCase):
    def test_go_on_when_the_daemon_is_restarted(self):
        with tempfile.TemporaryDirectory() as folder:
            service = service_manager.Service('--sessions', folder)
            self.addCleanup(service.end)
            service.start()
            program = support.Program(support.target('inlined'), '100')
            self.addCleanup(program.end)
            service.json('session', 'new', 'kept', '--saved')
            service.json('stage', 'kept', 'set', 'u::add', '--inlined', '-p', str(program.pid), '--do', 'count')
            service.json('commit', 'kept')
            service.restart()
            program.send('go')
            calls, _ = program.result()['add']
            self.assertEqual(sum(row['count'] for row in service.json('read', 'kept')['rows']), calls)


class Places(unittest.TestCase):
    def test_are_where_gdb_stops(self):
        for name in C:
            path = support.target(name)
            segments = line_places.load_address(path)
            for function in 'add', 'rare', 'given', *(['twice'] if name == 'inlined_clang' else []):
                match = listed(f'uprobe:{path}:{function} in *')
                offsets = {site['offset'] for probe in match['probes'] for site in probe['sites']}
                offsets |= {refused['offset'] for refused in match['refused']}
                ours = {line_places.address_of(offset, segments) for offset in offsets}
                self.assertEqual(ours, places_of_gdb(path, function), (name, function))
