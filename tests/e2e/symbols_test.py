# SPDX-License-Identifier: BSD-2-Clause
"""Expressions with the addresses of symbols, compared with what the program had in its variables and with bpftrace."""
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
            self.assertRegex(done.stderr + done.stdout, '(?s)(6 hits, 4 filtered out.*| 2  uprobe:symbols:step.*){2}')

    def test_a_probe_whose_file_has_no_such_symbol_is_refused(self):
        done = self.traced(target('symbols'), 'count', 'u::step', '--when', 'u8(uaddr("countr")) > 1')
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn('/symbols: it has no symbol "countr"; did you mean "counter"?', done.stderr)

    def test_recorded_events_have_no_symbols(self):
        with tempfile.TemporaryDirectory() as folder:
            self.traced(target('symbols'), 'record', 'u::step', '-o', f'{folder}/s.tct')
            shown = support.run('show', f'{folder}/s.tct', '--when', SELLS)
            self.assertIn('uaddr is known where a probe is armed; events do not record it', shown.stderr)

    def test_a_saved_session_knows_them_after_a_restart(self):
        with tempfile.TemporaryDirectory() as folder:
            debug, bare = f'{folder}/symbols.info', str(pathlib.Path(folder).resolve() / 'bare')
            subprocess.run(['objcopy', '--only-keep-debug', target('symbols'), debug], check=True)
            subprocess.run(['objcopy', '--strip-all', target('symbols'), bare], check=True)
            service = service_manager.Service('--sessions', folder)
            self.addCleanup(service.end)
            service.start()
            program = support.Program(bare)
            self.addCleanup(program.end)
            service.json('session', 'new', 's', '--saved')
            service.json('stage', 's', 'set', 'u::step', '-p', str(program.pid), '--debuginfo', debug, '--when', SELLS,
                         '--do', f'time by {COUNTER}')
            service.json('commit', 's')
            for number in signal.SIGTERM, signal.SIGKILL:  # adopted, and made again
                service.finish(number)
                if number == signal.SIGKILL:
                    service.forget_what_is_armed()
                service.start()
                self.assertEqual(service.json('session', 'show', 's')['not_resumed'], [])
            program.send('go')
            calls = [call for call in program.result()['calls'] if call['sells']]
            self.assertEqual(rows_of(service.json('read', 's'), COUNTER), counted(calls, 'after'))
