# SPDX-License-Identifier: BSD-2-Clause
"""Stacks of programs whose files attack their readers, or whose reader hangs or dies: events have bare
addresses, the daemon goes on, and no other client is delayed."""

import ctypes
import fcntl
import itertools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import termios
import threading
import time
import unittest

import hostile_files
import support
from support import DaemonTest, needs_root, target, wait_until

HELD_UP_S = 1  # at most, for a client because of another's program
STACKS_ARE_WAITED_FOR_S = 0.6  # at least, for a stack or a flush
CALLS = 20
CHAIN = ['leaf', 'deep', 'middle', 'outer', 'work', 'main']
A_STRANGER = 54321
SYS_PIDFD_GETFD = 438


def is_asked(pid):
    """Whether a process that is stopped has something to read from a socket."""
    process = os.pidfd_open(pid)
    try:
        for link in pathlib.Path(f'/proc/{pid}/fd').iterdir():
            if os.readlink(link).startswith('socket:'):
                end = ctypes.CDLL(None).syscall(SYS_PIDFD_GETFD, process, int(link.name), 0)
                try:
                    waiting = fcntl.ioctl(end, termios.FIONREAD, bytes(4))
                finally:
                    os.close(end)
                if int.from_bytes(waiting, 'little') > 0:
                    return True
        return False
    finally:
        os.close(process)


def functions(event):
    return [frame.get('function', '') for frame in event['stack']]


LIBRARY = 'void leaf(unsigned long n) { static volatile unsigned long sum; sum += n; }'
PROGRAM = '''
#include <stdint.h>
#include "tests/targets/stdin_protocol.h"

void leaf(unsigned long n);

__attribute__((noipa)) void work(unsigned long calls) {
  for (unsigned long n = 0; n < calls; ++n) leaf(n);
}

int main(int argc, char** argv) {
  for (int rounds = atoi(argv[argc - 1]); rounds > 0; --rounds) {
    ready_and_wait_for_go();
    work(strtoul(argv[1], NULL, 10));
    printf("done\\n{}\\n");
    fflush(stdout);
  }
  wait_for_exit();
  return 0;
}
'''


class Trace:
    """The events of a program's calls of `leaf`, with their stacks. `library`: the object with the function, if
    not the program."""

    def __init__(self, test, path, library='', rounds=1):
        self.program = support.Program(path, str(CALLS), str(rounds))
        test.addCleanup(self.program.end)
        self.verb = subprocess.Popen(
            [support.TRACECTL, '--socket', test.daemon.socket, '--json', 'trace',
             f'uprobe:{library}:leaf', '--do', 'stack', '-p', str(self.program.pid)],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, 'DEBUGINFOD_URLS': ''})
        test.addCleanup(self.kill)
        # It would not do to wait for changed code: hits count from the switch on, which comes after arming.
        test.assertTrue(any('^C ends it' in line for line in self.verb.stderr), 'it did not begin')

    def go(self):
        self.program.send('go')
        self.program.result()

    def events(self, count):
        """The next events."""
        found = []
        while len(found) < count:
            said = json.loads(self.verb.stdout.readline())
            if 'stack' in said:
                found.append(said)
        return found

    def end(self):
        """The remaining events."""
        self.program.send('exit')
        said = self.verb.stdout.read()
        assert self.verb.wait() == 0, self.verb.stderr.read()
        return [event for event in map(json.loads, said.splitlines()) if 'stack' in event]

    def kill(self):
        if self.verb.poll() is None:
            self.verb.kill()
            self.verb.communicate()
        for stream in (self.verb.stdout, self.verb.stderr):
            stream.close()


@needs_root
class HostileStacks(DaemonTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)

    def readers(self):
        """Process ids of those that read for stacks. Those that read for probes belong to the main thread."""
        daemon = self.daemon.process.pid
        found = []
        for task in pathlib.Path(f'/proc/{daemon}/task').iterdir():
            if task.name != str(daemon):
                found += [int(pid) for pid in (task / 'children').read_text().split()]
        # A zombie has no command line.
        return sorted(pid for pid in found if pathlib.Path(f'/proc/{pid}/cmdline').read_bytes())

    def trace(self, path, library=''):
        trace = Trace(self, path, library)
        trace.go()
        return trace.end()

    def copy(self, name, owner):
        path = str(self.folder / name)
        shutil.copyfile(target('stacks_no_fp'), path)
        os.chmod(path, 0o755)
        os.chown(path, owner, owner)
        return path

    def longest_wait_while(self, act):
        """The longest wait of another client."""
        done = threading.Thread(target=act)
        other = self.daemon.connect()
        longest = 0
        done.start()
        while done.is_alive():
            begun = time.monotonic()
            other.result('daemon.status')
            longest = max(longest, time.monotonic() - begun)
        done.join()
        other.close()
        return longest

    def build(self):
        """Builds a program that calls a function of its library; returns the paths of both."""
        program, library = (str(self.folder / name) for name in ('program', 'libleaf.so'))
        (self.folder / 'leaf.c').write_text(LIBRARY)
        (self.folder / 'program.c').write_text(PROGRAM)
        subprocess.run(['gcc', '-O2', '-g', '-shared', '-fPIC', '-o', library,
                        self.folder / 'leaf.c'], check=True)
        subprocess.run(['gcc', '-O2', '-g', '-fno-optimize-sibling-calls', '-I',
                        support.ROOT, '-o', program, self.folder / 'program.c',
                        library], check=True)
        return program, library

    def check_bare(self, events):
        self.assertEqual(len(events), CALLS)
        for event in events:
            self.assertEqual(set(functions(event)), {''})
            self.assertTrue(all(frame['address'] for frame in event['stack']))

    def check_named(self, events):
        self.assertEqual(len(events), CALLS)
        for event in events:
            self.assertEqual(functions(event)[:len(CHAIN)], CHAIN)

    def test_another_process_reads_what_stacks_are_made_by(self):
        one = Trace(self, target('stacks_no_fp'))
        self.assertEqual(self.readers(), [])
        one.go()
        self.check_named(one.events(CALLS))
        [reader] = self.readers()
        open_files = {os.readlink(link) for link in pathlib.Path(f'/proc/{reader}/fd').iterdir()}
        self.assertIn(target('stacks_no_fp'), open_files)
        status = dict(line.split(':\t', 1)
                      for line in pathlib.Path(f'/proc/{reader}/status').read_text().splitlines()
                      if ':\t' in line)
        self.assertEqual((int(status['CapEff'], 16), status['Seccomp']), (0, '2'))
        self.assertEqual(one.end(), [])
        wait_until(lambda: self.readers() == [], 'the process to end with the last session')

    def test_who_stands_still_delays_stacks_and_nothing_else(self):
        program, library = self.build()
        os.chown(program, A_STRANGER, A_STRANGER)
        one = Trace(self, program, library, rounds=2)
        one.go()
        for event in one.events(CALLS):
            self.assertEqual(functions(event)[:3], ['leaf', 'work', 'main'])
        [reader] = self.readers()
        os.kill(reader, signal.SIGSTOP)
        one.go()
        # Copied stacks, so that each needs an answer.
        found = []
        self.assertLess(self.longest_wait_while(lambda: found.extend(one.end())), HELD_UP_S)
        wait_until(lambda: self.readers() == [], 'it to end with the last session, stopped as it is')
        self.check_bare(found)
        self.assertEqual([len(event['stack']) for event in found], [1] * CALLS)

    def test_who_waits_for_what_root_has_installed_holds_up_nobody(self):
        """Its files are trusted, and worth waiting for."""
        program, library = self.build()
        one = Trace(self, program, library, rounds=2)
        one.go()
        one.events(CALLS)
        [reader] = self.readers()
        os.kill(reader, signal.SIGSTOP)
        one.go()
        found = []
        self.assertLess(self.longest_wait_while(lambda: found.extend(one.end())), HELD_UP_S)
        os.kill(reader, signal.SIGCONT)
        self.check_bare(found)

    def dump_while_stacks_are_waited_for(self):
        """Dumps a session `s` that has had CALLS events; returns the client, and the reply to the dump."""
        path, library = self.build()
        program = support.Program(path, str(CALLS), '2')
        self.addCleanup(program.end)
        client = self.daemon.connect()
        self.addCleanup(client.close)
        client.result('session.create', name='s', recorder={'bytes': 1 << 20})
        client.result('stage.set', session='s', patterns=[f'uprobe:{library}:leaf'],
                      target={'pids': [program.pid]}, do='stack')
        client.result('stage.commit', session='s')
        program.send('go')
        program.result()
        client.result('session.flush', session='s')
        [reader] = self.readers()
        os.kill(reader, signal.SIGSTOP)
        program.send('go')
        program.result()
        with open(self.folder / 'dump.tct', 'w+b') as file:
            begun = time.monotonic()
            socket.send_fds(client.socket, [support.line_of(
                {'jsonrpc': '2.0', 'id': 1, 'method': 'record.dump', 'params': {'session': 's'}})],
                [file.fileno()])
            said = client.receive()['result']
            self.assertLess(time.monotonic() - begun, STACKS_ARE_WAITED_FOR_S)
        self.assertEqual((said['state'], said['events']), ('writing', 0))
        return client, said

    def ended(self, client, dump):
        show = lambda: client.result('record.dumped', dump=dump)
        wait_until(lambda: show()['state'] == 'done', 'the dump')
        return show()

    def test_a_dump_that_waits_for_stacks_holds_up_nobody(self):
        client, said = self.dump_while_stacks_are_waited_for()
        dumped = self.ended(client, said['dump'])
        self.assertEqual((dumped['events'], dumped.get('note')), (2 * CALLS, None))

    def test_a_dump_of_a_session_that_is_deleted_meanwhile_says_what_it_may_not_have(self):
        client, said = self.dump_while_stacks_are_waited_for()
        client.result('session.delete', session='s')
        dumped = self.ended(client, said['dump'])
        self.assertEqual(dumped['events'], CALLS)
        self.assertIn('the session was deleted before they came', dumped['note'])

    def test_who_dies_leaves_addresses_and_the_reason(self):
        path = self.copy('theirs', A_STRANGER)
        one = Trace(self, path)
        two = Trace(self, target('stacks_no_fp'))
        two.go()
        self.check_named(two.events(CALLS))
        [common] = self.readers()
        os.kill(common, signal.SIGSTOP)
        another = Trace(self, target('stacks_no_fp'))
        self.assertFalse(is_asked(common))
        another.go()
        wait_until(lambda: is_asked(common), 'its stacks to be asked about')
        os.kill(common, signal.SIGKILL)
        self.check_bare(another.end())
        # A new reader reads what the dead one was not asked about.
        one.go()
        self.check_named(one.end())
        two.end()
        _, log = self.end_and_read_log()
        self.assertRegex(log, r'the stacks of \S*stacks_no_fp stay addresses for a minute, as its files '
                              r'could not be read: .* \(signal 9\)')

    def end_and_read_log(self):
        ended = self.daemon.end()
        self.daemon = support.Daemon()
        return ended

    def test_a_stranger_s_program_shares_its_process_with_no_other(self):
        traces = [Trace(self, path) for path in
                  (target('stacks_no_fp'), target('stacks'), self.copy('theirs', A_STRANGER),
                   self.copy('others', A_STRANGER + 1))]
        for trace in traces:
            trace.go()
            trace.events(CALLS)
        owns = []
        for pid in self.readers():
            names = {os.path.basename(os.readlink(link))
                     for link in pathlib.Path(f'/proc/{pid}/fd').iterdir()}
            owns.append(sorted(names & {'stacks_no_fp', 'stacks', 'theirs', 'others'}))
        self.assertEqual(sorted(owns), [['others'], ['stacks', 'stacks_no_fp'], ['theirs']])
        for trace in traces:
            trace.end()

    def test_no_program_takes_the_daemon_down_or_holds_up_another_client(self):
        program, library = self.build()
        for event in self.trace(program, library):
            self.assertEqual(functions(event)[:3], ['leaf', 'work', 'main'])
        for make, owner in itertools.product(hostile_files.PROGRAMS, (0, A_STRANGER)):
            with self.subTest(make.__name__, owner=owner):
                path = str(self.folder / f'{make.__name__}_{owner}')
                shutil.copyfile(program, path)
                os.chmod(path, 0o755)
                make(path)
                os.chown(path, owner, owner)
                trace, found = Trace(self, path, library), []
                trace.go()
                waited = self.longest_wait_while(lambda: found.extend(trace.end()))
                self.assertLess(waited, HELD_UP_S)
                self.assertEqual(len(found), CALLS)
                for event in found:
                    self.assertTrue(event['stack'][0]['address'])
        self.assertTrue(self.daemon.json('list', f'uprobe:{library}:leaf')['probes'])


if __name__ == '__main__':
    unittest.main()
