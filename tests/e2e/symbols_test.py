# SPDX-License-Identifier: BSD-2-Clause
"""Expressions with the addresses of symbols, compared with what the program had in its variables and with bpftrace."""
import json
import pathlib
import re
import signal
import subprocess
import tempfile

import service_manager
import support
from support import target

COUNTER = 's32(uaddr("counter"))'
SELLS = 'arg0 == uaddr("shop::sell(int)")'


def rows_of(read, key):
    """Counts by the value of the key."""
    return {row['by'][key]: row['count'] for row in read['rows'] if 'by' in row}


def counted(calls, name):
    values = [call[name] for call in calls]
    return {value: values.count(value) for value in values}


@support.needs_root
class Symbols(support.DaemonTest):
    one_daemon = True

    # Of a program at the addresses that it was linked for: bpftrace does not add where others are loaded.
    def test_variables_have_the_values_that_bpftrace_sees(self):
        script = 'uprobe:PATH:step { @[*uaddr("counter")] = count(); }'
        printed, read, said = self.beside_bpftrace(script, 1, 'symbols_fixed',
                                                  setting=['u::step', '--do', f'count by {COUNTER}'])
        seen = {int(value): int(count) for value, count in re.findall(r'^@\[(\d+)\]: (\d+)$', printed, re.M)}
        self.assertEqual(rows_of(read, COUNTER), counted(said['calls'], 'counter'))
        self.assertEqual(rows_of(read, COUNTER), seen)

    def traced(self, path, *words, engine=('--embedded',)):
        """A verb's run, of a program that does its work at once."""
        return subprocess.run([support.TRACECTL, *engine, *words, '--', path], input='go\nexit\n', text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)

    def test_pointers_are_compared_with_functions(self):
        for engine in ['--embedded'], ['--socket', self.daemon.socket]:
            done = self.traced(target('symbols'), 'count', 'u::step', '--when', SELLS, engine=engine)
            self.assertIn('6 hits, 4 filtered out', done.stdout + done.stderr)
            self.assertRegex(done.stdout, r'(?m)^ +2  uprobe:symbols:step$')

    def test_a_probe_whose_file_has_no_such_symbol_is_refused(self):
        done = self.traced(target('symbols'), 'count', 'u::step', '--when', 'u8(uaddr("countr")) > 1')
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn('/symbols: "countr" is no symbol of it; did you mean "counter"?', done.stderr)

    def test_recorded_events_have_no_symbols(self):
        with tempfile.TemporaryDirectory() as folder:
            self.traced(target('symbols'), 'record', 'u::step', '-o', f'{folder}/s.tct')
            shown = support.run('show', f'{folder}/s.tct', '--when', SELLS)
            self.assertIn('uaddr is known where a probe is armed; events do not record it', shown.stderr)

    def bare(self, how):
        """A copy of the program without what `how` strips, and its debug information."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        debug, bare = f'{folder.name}/symbols.info', str(pathlib.Path(folder.name).resolve() / 'bare')
        subprocess.run(['objcopy', '--only-keep-debug', target('symbols'), debug], check=True)
        subprocess.run(['objcopy', how, target('symbols'), bare], check=True)
        return bare, debug

    def calls_of(self, path):
        program = support.Program(path)
        self.addCleanup(program.end)
        program.send('go')
        calls = program.result()['calls']
        program.send('exit')
        return [call for call in calls if call['sells']]

    def test_a_saved_session_knows_them_after_a_restart(self):
        bare, debug = self.bare('--strip-all')
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        service = service_manager.Service('--sessions', folder.name)
        self.addCleanup(service.end)
        service.start()
        service.json('session', 'new', 's', '--saved')
        service.json('stage', 's', 'set', 'u::step', '-x', bare, '--debuginfo', debug, '--when', SELLS, '--do',
                     f'time by {COUNTER}')
        service.json('commit', 's')
        after = counted(self.calls_of(bare), 'after')
        counts = lambda: rows_of(service.json('read', 's'), COUNTER)
        self.assertEqual(counts(), after)
        service.restart()
        self.calls_of(bare)
        self.assertEqual(counts(), {value: 2 * count for value, count in after.items()})
        service.finish(signal.SIGKILL)
        service.forget_what_is_armed()  # the next one has to find the function and the symbols again
        service.start()
        self.assertEqual(service.json('session', 'show', 's')['not_resumed'], [])
        self.calls_of(bare)
        self.assertEqual(counts(), {value: 3 * count for value, count in after.items()})

    def test_at_the_end_of_a_call_the_first_values_are_known(self):
        bare, _ = self.bare('--strip-debug')  # six arguments are possible
        done = self.traced(bare, 'count', 'u::step', '--when', SELLS)
        self.assertIn('2  uprobe:bare:step', done.stdout, done.stderr)
        done = self.traced(bare, 'trace', 'u::step', '--do', f'time by {COUNTER}')
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('only the first 6 arguments are kept until the call returns, and symbols count as further ones',
                      done.stderr)

    def test_they_are_keys_of_latencies_and_conditions_of_graphs(self):
        done = self.traced(target('symbols'), 'latency', '--from', 'u::step', '--to', 'u::(anonymous namespace)::keep',
                           '--by', 'uaddr("shop::sell")')
        self.assertIn('6 started, 4 matched', done.stdout + done.stderr)
        kept = self.traced(target('symbols'), '--json', 'graph', 'u::step', '--keep-if', f'{COUNTER} >= 14')
        events = [json.loads(line) for line in kept.stdout.splitlines() if line.startswith('{"ts"')]
        returned = [event for event in events if event['kind'] == 'return' and event['probe'].endswith(':step')]
        self.assertEqual(len(returned), 4, kept.stderr)  # the last four of six calls, which add 3 to 5

    def test_events_with_texts_are_as_without_them(self):
        def texts(*condition):
            done = self.traced(target('typed'), 'trace', 'usdt::typed:query*', *condition)
            return re.findall(r'usdt:.*:typed:(query.*)$', done.stdout, re.M)
        plain = texts()
        self.assertTrue(any('"' in text for text in plain), plain)
        self.assertEqual(texts('--when', 'uaddr("main") != 0'), plain)

    def test_what_they_cost_is_explained(self):
        self.daemon.json('session', 'new', 's')
        staged = self.daemon.json('stage', 's', 'set', 'u::step', '-x', target('symbols'), '--when', SELLS, '--explain')
        self.assertEqual(staged['spec']['when'], SELLS)
        self.assertGreater(staged['spec']['instructions'], 0)
