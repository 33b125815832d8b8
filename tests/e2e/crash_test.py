# SPDX-License-Identifier: BSD-2-Clause
"""SIGKILL at each step of a commit: targets continue as if they had never been traced, and the next daemon
begins with nothing."""

import signal
import struct
import subprocess
import unittest

import support

TEST_DAEMON = str(support.BUILD / 'test/tracectld')
COUNTERS = support.target('counters')
USDT = support.target('usdt_all')
USDT_ROUNDS = 1000
FUNCTIONS = 1024  # of the busy program: see checksum()
THREADS = 2

# Before the commit in which the daemon dies it has done two: that of session `holder`, with a link for ten
# sites, and that of `s`, with two links for twenty sites and three more. The third commit replaces ten
# settings, and in both programs it removes some sites of a link, so that a new link replaces it for the others,
# and adds sites. It makes ten new sites and one, arms four links and closes two.
COMMITS, SITES, LINKS = 2, 10 + 20 + 3, 1 + 2

# (the last thing done, the number of its step in daemon/switching/steps.h, which occurrence of it). Steps 4, 6 and
# 10 of the sequence are waits that are not needed on BPF, so the daemon cannot die in them.
MOMENTS = [
    ('the lock was taken', 1, COMMITS + 1),
    ('the first site was allocated', 2, SITES + 1),
    ('the last site was allocated', 2, SITES + 11),
    ('all was staged', 3, COMMITS + 1),
    ('the first link was armed', 5, LINKS + 1),
    ('the second link was armed', 5, LINKS + 2),
    ('the last link was armed', 5, LINKS + 4),
    ('it was switched', 7, COMMITS + 1),
    ('the wait was over', 8, COMMITS + 1),
    ('the first link was disarmed', 9, 1),
    ('the second link was disarmed', 9, 2),
    ('the generations were the same', 11, COMMITS + 1),
    ('what was gone was freed', 12, COMMITS + 1),
    ('all but the answer was done', 13, COMMITS + 1),
]


def address(pid, path, symbol):
    """The address in the process; the program is position-independent."""
    names = subprocess.run(['nm', path], capture_output=True, text=True, check=True).stdout
    offset = next(int(line.split()[0], 16) for line in names.splitlines()
                  if line.split()[-1] == symbol)
    with open(f'/proc/{pid}/maps') as maps:
        for line in maps:
            fields = line.split()
            if fields[-1] == path and int(fields[2], 16) == 0:
                return int(fields[0].split('-')[0], 16) + offset
    raise AssertionError(f'process {pid} does not map {path}')


def read_number(pid, at, form):
    with open(f'/proc/{pid}/mem', 'rb') as memory:
        memory.seek(at)
        return struct.unpack(form, memory.read(struct.calcsize(form)))[0]


def checksum(calls):
    """The checksum of a thread of `counters` after this many calls. Rounds have 1024 functions: the number of a
    call and 10000 + that of its function differ only in bits below the block's, so a block of calls is one step
    of arithmetic."""
    block, modulus = 16 * FUNCTIONS, 1 << 64
    term = lambda call: call ^ (10000 + call % FUNCTIONS)
    power, of_terms, of_ones = 1, 0, 0
    for call in range(block):
        power = power * 31 % modulus
        of_terms = (of_terms * 31 + term(call)) % modulus
        of_ones = (of_ones * 31 + 1) % modulus
    result = 0
    for first in range(0, calls - calls % block, block):
        result = (result * power + of_terms + first * of_ones) % modulus
    for call in range(calls - calls % block, calls):
        result = (result * 31 + term(call)) % modulus
    return result


@support.needs_root
class Crash(unittest.TestCase):
    def program(self, path, *arguments):
        program = support.Program(path, *arguments)
        self.addCleanup(program.end)
        return program

    def setUp(self):
        self.busy = self.program(COUNTERS, str(THREADS), '0', str(FUNCTIONS))
        self.busy.send('go')
        self.first_calls = address(self.busy.pid, COUNTERS, '_ZL7tallies')

    def set(self, client, session, program, *patterns, do='count'):
        client.result('stage.set', session=session, patterns=list(patterns), do=do,
                      target={'pids': [program.pid]})

    def daemon_with_two_sessions(self, step, nth, idle):
        daemon = support.Daemon(program=TEST_DAEMON,
                                environment={'TRACECTL_DIE_AT': f'{step}:{nth}'})
        self.addCleanup(daemon.process.kill)
        client = daemon.connect()
        for session in ('holder', 's'):
            client.result('session.create', name=session)
        self.set(client, 'holder', self.busy, 'u::f000*')
        self.assertEqual(client.result('stage.commit', session='holder')['added'], 10)
        self.set(client, 's', self.busy, 'u::f000*', 'u::f001*', 'u::f002*')
        self.set(client, 's', idle, 'usdt::all:none', 'usdt::all:twelve', 'usdt::all:guarded')
        self.assertEqual(client.result('stage.commit', session='s')['added'], 10 + 20 + 3)
        self.assertEqual(client.result('daemon.status')['links'], LINKS)
        return daemon, client

    def die_in_a_commit(self, daemon, client, idle):
        self.set(client, 's', self.busy, 'u::f000*', do='count by tid')
        self.set(client, 's', self.busy, 'u::f003*')
        self.set(client, 's', idle, 'usdt::all:constants')
        client.result('stage.remove', session='s', patterns=['u::f001*', 'usdt::all:none'])
        with self.assertRaisesRegex((AssertionError, ConnectionError), 'closed|reset'):
            client.call('stage.commit', session='s')
        client.close()
        daemon.process.communicate(timeout=60)
        self.assertEqual(daemon.process.returncode, -signal.SIGKILL)

    def calls(self):
        return read_number(self.busy.pid, self.first_calls, 'Q')

    def expect_untouched(self, idle):
        self.assertEqual(support.text_differs(self.busy.pid, COUNTERS), 0)
        self.assertEqual(support.text_differs(idle.pid, USDT), 0)
        semaphore = address(idle.pid, USDT, 'all_guarded_semaphore')
        self.assertEqual(read_number(idle.pid, semaphore, 'H'), 0)
        before = self.calls()
        support.wait_until(lambda: self.calls() > before, 'the busy program to go on')

    def expect_exact_counts(self, client, idle):
        client.result('session.create', name='s')
        self.set(client, 's', idle, 'usdt::all:*')
        client.result('stage.commit', session='s')
        idle.send('go')
        truth = {name: probe['hits'] for name, probe in idle.result()['probes'].items()}
        self.assertEqual(truth['guarded'], USDT_ROUNDS)
        rows = client.result('session.read', session='s')['rows']
        self.assertEqual({row['probe'].split(':')[-1]: row['count'] for row in rows}, truth)
        client.result('session.delete', session='s')

    def expect_unbroken_events(self, client):
        """For one function of the busy program: every call from the first event to the last. What a busy
        machine has no time to send must be reported as lost."""
        client.result('session.create', name='s')
        client.result('session.subscribe', session='s')
        self.set(client, 's', self.busy, 'u::f0007', do='event, count')
        client.result('stage.commit', session='s')
        client.result('stage.remove', session='s', patterns=['u::f0007'])
        client.result('stage.commit', session='s')
        client.result('session.flush', session='s')
        heard = missing = lost = 0
        by_thread = {}
        for note in client.notifications:
            if note['method'] == 'lost':
                lost += note['params']['count']
                continue
            heard += 1
            by_thread.setdefault(note['params']['tid'], []).append(note['params']['args'][0])
        for calls in by_thread.values():
            every = range(calls[0], calls[-1] + 1, FUNCTIONS)
            missing += len(every) - len(calls)
            self.assertEqual(calls, sorted(set(calls) & set(every)))
        self.assertLessEqual(missing, lost)
        rows = client.result('session.read', session='s')['rows']
        self.assertEqual(sum(row['count'] for row in rows), heard + lost)

    def expect_a_clean_start(self, dead, idle):
        daemon = support.Daemon(socket_of=dead)
        self.addCleanup(daemon.process.kill)
        client = daemon.connect()
        status = client.result('daemon.status')
        self.assertEqual((status['sites'], status['links'], status['sessions']), (0, 0, 0))
        self.expect_exact_counts(client, idle)
        self.expect_unbroken_events(client)
        client.close()
        status, log = daemon.end()
        self.assertEqual(status, 0, log)

    def expect_a_good_end(self, program):
        program.send('exit')
        self.assertEqual(program.process.wait(60), 0)

    def test_is_not_to_be_had_from_the_product(self):
        for program, can in ((TEST_DAEMON, True), (support.TRACECTLD, False)):
            with open(program, 'rb') as file:
                self.assertEqual(b'TRACECTL_DIE_AT' in file.read(), can, program)

    def test_at_each_step_leaves_targets_running_and_unprobed(self):
        for what, step, nth in MOMENTS:
            with self.subTest(f'when {what}'):
                idle = self.program(USDT, str(USDT_ROUNDS))
                daemon, client = self.daemon_with_two_sessions(step, nth, idle)
                self.die_in_a_commit(daemon, client, idle)
                self.expect_untouched(idle)
                self.expect_a_clean_start(daemon, idle)
                self.expect_a_good_end(idle)
        self.busy.send('stop')
        truth = self.busy.result()
        first, second = (checksum(calls) for calls in truth['calls_per_thread'])
        self.assertEqual(truth['checksum'], (first * 31 + second) % (1 << 64))
        self.expect_a_good_end(self.busy)


if __name__ == '__main__':
    unittest.main()
