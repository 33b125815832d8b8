# SPDX-License-Identifier: BSD-2-Clause
"""Libraries that are loaded after the session has chosen them, for users."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import service_manager
import support
from support import target

LIBRARY = target('loads_library')
WORK = 'uprobe:loads_library*:loads_work'
LINKER = os.path.realpath('/lib64/ld-linux-x86-64.so.2')


def tell(program, line):
    program.send(line)
    return program.result()


@support.needs_root
class Libraries(support.DaemonTest):
    def shown(self, session):
        return self.daemon.json('session', 'show', session)

    def wait_for_it(self, session, count=1):
        support.wait_until(lambda: len(self.shown(session)['followed']) == count,
                           'the library to be armed')
        return self.shown(session)['followed'][-1]

    def choose(self, pattern, *words):
        self.daemon.json('session', 'new', 's')
        staged = self.daemon.json('stage', 's', 'set', pattern, *words, '--do', 'count by pid')
        self.daemon.json('commit', 's')
        return staged

    def counts(self):
        return {row['by']['pid']: row['count'] for row in self.daemon.json('read', 's')['rows']}

    def test_trace_begins_to_show_hits_when_a_library_is_loaded(self):
        program, other = self.program('loads'), self.program('loads')
        command = [support.TRACECTL, '--socket', self.daemon.socket, 'trace', WORK, '-p', str(program.pid)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as tracing:
            support.wait_until(lambda: support.text_differs(program.pid, LINKER) == 1,
                               'the linker to be armed')
            self.assertEqual(support.text_differs(other.pid, LINKER), 0)
            tell(program, f'open {LIBRARY}')
            session = self.daemon.json('session', 'list')['sessions'][0]['name']
            self.wait_for_it(session)
            tell(program, 'call 3')
            lines = [tracing.stdout.readline() for _ in range(3)]
            tracing.send_signal(signal.SIGINT)
            said = tracing.communicate(timeout=60)[1]
        for line in lines:
            self.assertIn(f'{LIBRARY}:loads_work', line)
        self.assertIn('libraries are looked at when they are loaded', said)
        self.assertEqual(support.text_differs(program.pid, LINKER), 0)

    def test_what_ran_before_ran_within_the_gap_that_is_told(self):
        program = self.program('loads')
        # The check right after the commit may already find the library, if files were still being read when the
        # daemon stopped: then the reported gap begins with the commit.
        before_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.choose(WORK, '-p', str(program.pid))
        self.daemon.process.send_signal(signal.SIGSTOP)
        tell(program, f'open {LIBRARY}')
        tell(program, 'call 70')
        called_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.daemon.process.send_signal(signal.SIGCONT)
        followed = self.wait_for_it('s')
        tell(program, 'call 100')
        self.assertEqual((followed['object'], followed['cgroup'], followed['pid']),
                         (LIBRARY, '', program.pid))
        self.assertGreater(followed['ts'], before_ns)
        self.assertLess(followed['ts'], called_ns)
        self.assertGreater(followed['ts'] + followed['unobserved_us'] * 1000 + 1000, called_ns)
        self.assertEqual(self.counts(), {program.pid: 100})
        self.assertIn(f'armed later: {LIBRARY}', self.daemon.run('session', 'show', 's').stdout)

    def test_programs_that_begin_later_are_traced_in_their_libraries(self):
        self.choose(WORK, '-x', target('loads'))
        program = self.program('loads')
        tell(program, f'open {LIBRARY}')
        self.wait_for_it('s')
        tell(program, 'call 20')
        self.assertEqual(self.counts(), {program.pid: 20})

    def library_elsewhere(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        return shutil.copy(LIBRARY, directory.name)

    def count_of_command(self, pattern, library, *options, before='', **environment):
        command = [support.TRACECTL, '--socket', self.daemon.socket, 'count', pattern, '--strict', *options]
        done = subprocess.run(command, input=f'{before}open {library}\ncall 3\nexit\n', capture_output=True, text=True,
                              timeout=60, env=os.environ | environment)
        self.assertNotIn('not seen', done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.search(r'^(\d+) hits', done.stdout, re.M)[1]

    def test_nothing_is_missed_in_a_library_beside_the_program(self):
        for round_of_test in range(5):
            self.assertEqual(self.count_of_command(WORK, LIBRARY, '--', target('loads')), '3', round_of_test)

    def test_nothing_is_missed_in_a_library_that_the_pattern_names(self):
        library = self.library_elsewhere()
        pattern = f'uprobe:{library}:loads_work'
        self.assertEqual(self.count_of_command(pattern, library, '--', target('loads')), '3')

    def test_nothing_is_missed_in_a_library_on_the_search_path(self):
        library = self.library_elsewhere()
        directory = os.path.dirname(library)
        name = os.path.join(directory, 'libelsewhere.so.1')
        os.rename(library, name)
        self.assertEqual(self.count_of_command('uprobe:libelsewhere.so*:loads_work', name, '--', target('loads'),
                                               LD_LIBRARY_PATH=f'/none:{directory}'), '3')

    def test_nothing_is_missed_in_a_library_that_a_child_loads(self):
        library = self.library_elsewhere()
        pattern = f'uprobe:{library}:loads_work'
        self.assertEqual(self.count_of_command(pattern, library, '-f', '--', target('loads'), before='fork\n'), '3')

    def test_a_command_is_traced_in_what_it_loads(self):
        library = self.library_elsewhere()
        command = [support.TRACECTL, '--socket', self.daemon.socket, 'trace', WORK, '--', target('loads')]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as tracing:
            line = next(line for line in tracing.stdout if line.startswith('ready'))
            support.wait_until(lambda: support.text_differs(line.split()[1], LINKER) == 1,
                               'the linker to be armed')
            print(f'open {library}', file=tracing.stdin, flush=True)
            session = self.daemon.json('session', 'list')['sessions'][0]['name']
            self.wait_for_it(session)
            said = tracing.communicate('call 3\nexit\n', timeout=60)[0]
        self.assertEqual(said.count(f'{library}:loads_work'), 3, said)

    def test_what_a_command_did_before_is_told_at_the_end(self):
        library = self.library_elsewhere()
        for strict, status in (['--strict'], 125), ([], 0):
            command = [support.TRACECTL, '--socket', self.daemon.socket, 'count', WORK, *strict, '--', target('loads')]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as tracing:
                line = next(line for line in tracing.stdout if line.startswith('ready'))
                pid = line.split()[1]
                support.wait_until(lambda pid=pid: support.text_differs(pid, LINKER) == 1, 'the linker to be armed')
                print(f'open {library}', file=tracing.stdin, flush=True)
                session = self.daemon.json('session', 'list')['sessions'][0]['name']
                self.wait_for_it(session)
                shown, said = tracing.communicate('call 3\nexit\n', timeout=60)
            self.assertRegex(said, rf'not seen: what process {pid} did in {library} for up to [0-9.]+ ms')
            self.assertIn('3 hits', shown)
            self.assertEqual(tracing.returncode, status, said)

    def test_a_library_that_never_comes_is_an_error_where_there_is_no_linker(self):
        program = self.program('loads_static')
        failed = self.daemon.run('count', WORK, '-p', str(program.pid))
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn('nothing that process', failed.stderr)

    def test_a_function_that_a_mapped_library_does_not_have_is_an_error(self):
        program = self.program('loads')
        tell(program, f'open {LIBRARY}')
        failed = self.daemon.run('count', 'uprobe:loads_library*:loads_wrok', '-p', str(program.pid))
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn('no function matches', failed.stderr)


@support.needs_root
class SavedLibraries(service_manager.Saving):
    def begin(self):
        program = support.Program(target('loads'))
        self.addCleanup(program.end)
        self.daemon.json('session', 'new', 's', '--saved')
        for pattern in WORK, 'uprobe::main':
            self.daemon.json('stage', 's', 'set', pattern, '-p', str(program.pid), '--do', 'count')
        self.daemon.json('commit', 's')
        return program

    def wait_for_it(self):
        support.wait_until(lambda: self.daemon.json('session', 'show', 's')['followed'],
                           'the library to be armed')
        return self.daemon.json('session', 'show', 's')['followed'][-1]

    def test_that_are_loaded_while_there_is_no_daemon_are_found_by_the_next(self):
        program = self.begin()
        before_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.daemon.finish()
        tell(program, f'open {LIBRARY}')
        loaded_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.daemon.start()
        followed = self.wait_for_it()
        self.assertEqual((followed['object'], followed['pid']), (LIBRARY, program.pid))
        self.assertGreater(followed['ts'], before_ns - 2 * 10**9)  # the daemon records once a second that it runs
        self.assertLess(followed['ts'], loaded_ns)
        self.assertGreater(followed['ts'] + followed['unobserved_us'] * 1000, loaded_ns)

    def test_are_awaited_by_the_next_daemon(self):
        program = self.begin()
        for number in signal.SIGTERM, signal.SIGKILL:
            self.daemon.restart(number)
            support.wait_until(lambda: support.text_differs(program.pid, LINKER) == 1,
                               'the linker to be armed')
        tell(program, f'open {LIBRARY}')
        self.wait_for_it()
        tell(program, 'call 20')
        rows = {row['probe'].rsplit(':', 1)[1]: row['count']
                for row in self.daemon.json('read', 's')['rows']}
        self.assertEqual(rows['loads_work'], 20)
        self.assertNotIn('gap', self.daemon.json('session', 'show', 's'))


if __name__ == '__main__':
    unittest.main()
