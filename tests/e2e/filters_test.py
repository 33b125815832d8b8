# SPDX-License-Identifier: BSD-2-Clause
"""Where the kernel was not seen to spare processes that filter their system calls (seccomp), what would kill these is
refused by name: the return trampoline, and probes on nops that become calls. tests/kernel/filtered_test.cpp has such
processes on a kernel that spares them, as all do which this project boots."""

import json
import unittest

import support
from support import TRACECTLD, Daemon, target

# Executes a program that cannot set a filter by prctl(2). The trials of tracectld do so, and fail then as they do where
# the kernel kills the child; the filters of its other processes come by seccomp(2).
WITHOUT_FILTERS = '''
import ctypes, os, struct, sys
LOAD, EQUAL, RETURN, ALLOW, ERRNO, EPERM = 0x20, 0x15, 0x06, 0x7fff0000, 0x50000, 1
NUMBER, FIRST_ARGUMENT, PRCTL, SET_SECCOMP, SET_NO_NEW_PRIVS, BY_FILTER = 0, 16, 157, 22, 38, 2
code = [(LOAD, 0, 0, NUMBER), (EQUAL, 0, 3, PRCTL), (LOAD, 0, 0, FIRST_ARGUMENT), (EQUAL, 0, 1, SET_SECCOMP),
        (RETURN, 0, 0, ERRNO | EPERM), (RETURN, 0, 0, ALLOW)]
words = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *one) for one in code))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', len(code), ctypes.addressof(words)))
libc = ctypes.CDLL(None, use_errno=True)
for call in (SET_NO_NEW_PRIVS, 1, 0, 0, 0), (SET_SECCOMP, BY_FILTER, ctypes.byref(program), 0, 0):
    assert libc.prctl(*call) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
'''
REFUSED = 'was not seen to spare a process that filters its system calls (seccomp): take --returns exits'
CALLS = 1000


def daemon(*first):
    """With --fast-nops: a nop that becomes a call kills children, too, and stays a breakpoint for that alone."""
    program, *words = *first, TRACECTLD
    return Daemon('--fast-nops', program=program, first=words)


@support.needs_root
class Filters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemons = {'seen': daemon(), 'not seen': daemon('/usr/bin/python3', '-c', WITHOUT_FILTERS)}
        cls.addClassCleanup(lambda: [one.end() for one in cls.daemons.values()])
        cls.unseen = cls.daemons['not seen']

    def found(self, name):
        """What the doctor of each daemon finds."""
        return {kind: next(check['result'] for check in one.json('doctor')['checks'] if check['name'] == name)
                for kind, one in self.daemons.items()}

    def timed(self, function, *options):
        """The program's own calls, and the rows, of a function that runs under a filter."""
        done = self.unseen.run('--json', 'time', 'u::' + function, *options, '--',
                               target('filtered'), str(CALLS), input='go\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        said, rows = (json.loads(line) for line in done.stdout.splitlines() if line.startswith('{'))
        return said['calls'], rows['rows']

    def test_returns_are_not_seen_by_a_trampoline(self):
        for returns in 'trampoline', 'auto':  # the functions call nothing, and would get a trampoline
            done = self.unseen.run('time', 'u::filtered_leaf', '--returns', returns, '--',
                                   target('filtered'), str(CALLS), input='go\n')
            self.assertNotEqual(done.returncode, 0, returns)
            self.assertIn(REFUSED, done.stderr)

    def test_returns_are_seen_at_exits(self):
        calls, rows = self.timed('filtered_leaf', '--returns', 'exits')
        self.assertEqual([row['count'] for row in rows], [calls])

    def test_no_probe_is_a_call(self):
        costs = {kind: one.json('list', 'u::filtered_nop5', '-x', target('filtered'))['probes'][0]['class']
                 for kind, one in self.daemons.items()}
        is_optimised = self.found('nop5_optimised')['seen'] == 'yes'
        self.assertEqual(costs, {'seen': 'fast' if is_optimised else 'normal', 'not seen': 'normal'})

    def test_a_nop_that_cannot_stay_a_breakpoint_is_refused_with_the_reason(self):
        done = self.unseen.run('--json', 'count', 'u::filtered_nop5', '--', target('filtered'), str(CALLS), input='go\n')
        if self.found('nop5_optimised')['seen'] == 'yes':
            self.assertNotEqual(done.returncode, 0)
            self.assertIn('could not filter its system calls (seccomp)', done.stderr)
            self.assertNotIn('not permitted', done.stderr)
        else:
            self.assertEqual(json.loads(done.stdout.splitlines()[-1])['total_hits'], CALLS)

    def test_the_doctor_says_so(self):
        self.assertEqual(self.found('session_passes_seccomp'), {'seen': 'yes', 'not seen': 'no'})
        self.assertEqual(self.found('nop5_passes_seccomp')['not seen'], 'no')
