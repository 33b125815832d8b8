# SPDX-License-Identifier: BSD-2-Clause
"""A refusal is never an empty result: exit statuses, and reasons on standard error."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import support
from support import target

SHELL = '/usr/bin/dash'
NO_MATCH, NOT_THERE, REFUSED, TROUBLE = 5, 6, 7, 125


@support.needs_root
class ExitStatus(support.DaemonTest):
    one_daemon = True

    def refused(self, status, words, *said):
        done = self.daemon.run(*words)
        self.assertEqual((done.returncode, done.stdout), (status, ''), done.stderr)
        for text in said:
            self.assertIn(text, done.stderr)

    def test_no_match(self):
        forker = target('forker')
        for verb in 'count', 'trace', 'list':
            self.refused(NO_MATCH, [verb, 'u::wrok', '--', forker], 'no function matches',
                         'did you mean "work"?')

    def test_object_that_is_not_mapped(self):
        program = self.program('cxx_names')
        pid = str(program.pid)
        self.refused(NOT_THERE, ['list', 'u:lib:malloc', '-p', pid], 'libc.so.6', 'try lib*')
        self.refused(NOT_THERE, ['count', 'u:/no/such:f', '-p', pid, '--for', '200ms'], '/no/such')

    def test_target_that_is_not_there(self):
        self.refused(NOT_THERE, ['count', 'u::main', '-u', 'no-such'], 'no-such.service')
        with subprocess.Popen(['true']) as ended:
            ended.wait()
        self.refused(NOT_THERE, ['count', 'u::main', '-p', str(ended.pid)])

    def test_sites_that_cannot_be_armed(self):
        program = self.program('chosen')
        self.refused(REFUSED, ['count', 'u::by_sum', '-p', str(program.pid)],
                     'does not show among which functions')

    def test_partial_leaves_out_patterns_without_a_match(self):
        forker = target('forker')
        words = ['u::work', 'u::wrok', '--', forker, 'child', '3']
        self.refused(NO_MATCH, ['count', *words])
        done = self.daemon.run('--json', 'count', '--partial', *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)['total_hits'], 3)
        self.assertIn('left out: no function matches uprobe::wrok', done.stderr)
        self.refused(NO_MATCH, ['count', '--partial', 'u::wrok', 'u::wokr', '--', forker])

    def test_of_a_command_is_its_own(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        for script, status in ('exit 0', 0), ('exit 3', 3), ('exit 125', 125), ('kill -9 $$', 128 + 9):
            for verb in ['count'], ['trace'], ['record', '-o', f'{directory.name}/out']:
                done = self.daemon.run(*verb, 'u:libc.so.6:getpid',
                                       '--', SHELL, '-c', script)
                self.assertEqual(done.returncode, status, (verb, script, done.stderr))

    def test_of_a_command_that_executes_the_program_to_trace(self):
        with tempfile.TemporaryDirectory() as directory:
            program = shutil.copy(target('forker'), f'{directory}/own-forker')
            # The last has the status 2, because it misses arguments.
            command = [SHELL, '-c', '"$0" child 3; "$0" child 4; exec "$0"', program]
            for chosen in program, 'own-forker':
                done = self.daemon.run('--json', 'count', 'u::work', '-x', chosen, '--', *command, cwd='/',
                                       env={**os.environ, 'PATH': f'{directory}:{os.environ["PATH"]}'})
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(json.loads(done.stdout)['total_hits'], 3 + 4)
            self.refused(1, ['count', 'u::work', '-x', 'own-forker', '--', *command], 'there is no file own-forker here')

    def fails_while_it_runs(self, *options, script):
        """Runs a command whose daemon ends before it does."""
        daemon = support.Daemon()
        with subprocess.Popen([support.TRACECTL, '--socket', daemon.socket, 'count', *options,
                               'u:libc.so.6:getpid', '--', SHELL, '-c', 'read line; ' + script],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as tracing:
            self.assertIn('tracing', tracing.stderr.readline())
            daemon.end()
            out, errors = tracing.communicate('\n', timeout=60)
        self.assertIn('the daemon has closed the connection', errors)
        return tracing.returncode, out

    def test_trouble_of_tracing_is_told_beside_it(self):
        self.assertEqual(self.fails_while_it_runs(script='exit 4'), (4, ''))
        status, out = self.fails_while_it_runs('--json', script='exit 0')
        self.assertEqual(status, 0)
        self.assertEqual(json.loads(out)['trouble']['data']['code'], 'not_found')
        self.assertEqual(self.fails_while_it_runs('--strict', script='exit 4'), (TROUBLE, ''))

    def runs_after(self, *options):
        """Whether a command outlives the time of --for."""
        done = subprocess.run([support.TRACECTL, '--socket', self.daemon.socket, 'count', '--for', '300ms',
                               *options, 'u:libc.so.6:getpid', '--', SHELL, '-c', 'echo $$; exec sleep 1000 >/dev/null 2>&1'],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        pid = int(done.stdout.split()[0])
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def test_the_time_leaves_the_command_or_ends_it(self):
        self.assertTrue(self.runs_after())
        self.assertFalse(self.runs_after('--end-command'))

    def test_nothing_armed_is_no_count_of_0(self):
        program = self.program('cxx_names')
        self.refused(NOT_THERE, ['count', 'u:libnone.so*:f', '-p', str(program.pid), '--for', '200ms'],
                     'nothing was armed')

    def test_are_the_same_in_the_help_and_in_the_manual(self):
        helped = dict(re.findall(r'^  (\d+) +(.+)$', support.run('--help').stdout, re.M))
        manual = (support.ROOT / 'docs/man/tracectl.1').read_text()
        written = re.search(r'(?ms)^\.Sh EXIT STATUS\n(.*?)^\.El', manual)[1]
        self.assertEqual(list(helped), re.findall(r'^\.It (\d+)$', written, re.M))
        plain = re.sub(r'\s+', ' ', re.sub(r'(?m)^\.Fl -(\w+) :?', r'--\1:', written))
        for status, meaning in helped.items():
            self.assertRegex(plain, rf'\.It {status} {re.escape(meaning)}(\.| by )')


if __name__ == '__main__':
    support.unittest.main()
