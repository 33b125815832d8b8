# SPDX-License-Identifier: BSD-2-Clause
"""Conditions, aggregates and values on the command line, compared with the results of the traced program itself
(tests/targets/values.cpp)."""

import json
import re
import unittest

import support
from support import target

PROBE = 'usdt::values:work'


def bucket_of_log2(log):
    """The bounds of the bucket for the log2 of a value, as the program reports it."""
    if log == -2:
        return (None, -1)
    return (0, 0) if log == -1 else (2**log, 2**(log + 1) - 1)


@support.needs_root
class Specs(support.DaemonTest):
    one_daemon = True

    def counted(self, *words):
        """The program's report, and the output of tracectl after it."""
        done = self.daemon.run(*words, '--', target('values'), '2', '1000', input='go\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        _, _, said, printed = done.stdout.split('\n', 3)
        return json.loads(said), printed

    def counted_json(self, *words):
        said, printed = self.counted('--json', *words)
        return said, json.loads(printed)

    def session(self, action, *options):
        """A session that is read after the program's end, and the program's report."""
        program = self.program('values', '2', '1000')
        self.daemon.json('session', 'new', 's')
        self.daemon.json('stage', 's', 'set', PROBE, '-p', str(program.pid), '--do', action,
                         *options)
        self.daemon.json('commit', 's')
        program.send('go')
        return program.result(), self.daemon.json('read', 's')

    def test_a_condition_takes_the_hits_for_which_it_holds(self):
        for when in ('arg0 < arg2', 'str(arg3) =~ "[s-u]*"', 's16(arg5) < 0'):
            with self.subTest(when=when):
                said, read = self.counted_json('count', PROBE, '--when', when)
                self.assertEqual(read['total_hits'], said['calls'])
                self.assertEqual(read['total_filtered'], said['calls'] - said['holds'][when])
                self.assertEqual([row['count'] for row in read['rows']], [said['holds'][when]])
        said, printed = self.counted('count', PROBE, '--when', 'arg0 > 5')
        filtered = said['calls'] - said['holds']['arg0 > 5']
        self.assertIn(f'\n{said["calls"]} hits, {filtered} filtered out\n', printed)

    def test_counts_by_text(self):
        said, read = self.counted_json('count', PROBE, '--by', 'str(arg3)')
        self.assertEqual({row['by']['str(arg3)']: row['count'] for row in read['rows']},
                         {name: sums[0] for name, sums in said['by_name'].items()})
        self.assertEqual(read['rows'], sorted(read['rows'], key=lambda row: -row['count']))
        said, printed = self.counted('count', PROBE, '--by', 'comm,str(arg3)')
        self.assertRegex(printed, r'^COMM +str\(arg3\) +COUNT  PROBE\n')
        self.assertEqual(len(re.findall(r'^"values-[01]" +".*" +\d+  usdt:\w+:', printed, re.M)), 16)

    def test_sums_averages_and_extremes(self):
        action = ', '.join(f'{kind}(arg0) by str(arg3)' for kind in ('sum', 'avg', 'min', 'max'))
        said, read = self.session(action)
        self.assertEqual(len(read['rows']), len(said['by_name']))
        for row in read['rows']:
            count, total, least, most = said['by_name'][row['by']['str(arg3)']]
            self.assertEqual((row['of'], row['count'], row['sum'], row['min'], row['max']),
                             ('arg0', count, total, least, most))
            self.assertEqual(row['avg'], total / count)
        printed = self.daemon.run('read', 's').stdout
        self.assertRegex(printed, r'^arg0:\nstr\(arg3\) +COUNT +SUM +AVG +MIN +MAX  PROBE\n')
        count, total, least, most = said['by_name']['tent']
        self.assertRegex(printed, rf'"tent" +{count} +{total} +{total / count:.2f} +{least} +{most} ')

    def test_a_histogram_in_powers_of_two(self):
        said, read = self.counted_json('hist', PROBE, '--of', 'arg1')
        row, = read['rows']
        self.assertEqual({(b.get('min'), b.get('max')): b['count'] for b in row['hist']},
                         {bucket_of_log2(int(log)): count for log, count in said['log2'].items()})
        self.assertEqual(row['count'], said['calls'])
        said, printed = self.counted('hist', PROBE, '--of', 'arg1')
        lines = re.findall(r'^([\[(].*[\])]) +(\d+)  \|(@*) *\|$', printed, re.M)
        self.assertEqual([lines[0][0], lines[1][0], lines[-1][0]], ['(..., 0)', '[0]', '[512, 1K)'])
        self.assertEqual(sum(int(count) for _, count, _ in lines), said['calls'])
        self.assertEqual(max(len(bar) for _, _, bar in lines), 40)

    def test_a_linear_histogram(self):
        said, read = self.session('lhist(arg0, -500, 1000, 500)')
        row, = read['rows']
        self.assertEqual([(b.get('min'), b.get('max')) for b in row['hist']],
                         [(None, -501), (-500, -1), (0, 499), (500, 999), (1000, None)])
        self.assertEqual(sum(b['count'] for b in row['hist']), said['calls'])
        self.assertEqual(row['step'], 500)
        self.assertIn('\n[-500, 0)    ', self.daemon.run('read', 's').stdout)

    def test_what_could_not_be_read_is_told(self):
        said, read = self.session('sum(s16(arg5))')
        row, = read['rows']
        self.assertEqual(row['unread'], said['unreadable'])
        self.assertEqual(row['count'] + row['unread'], said['calls'])
        self.assertIn(f', {said["unreadable"]} values could not be read\n',
                      self.daemon.run('read', 's').stdout)

    def test_of_those_that_match_each_tenth_is_taken(self):
        said, read = self.session('count, sample(10)', '--when', 'arg0 > 5')
        taken = -(-said['holds']['arg0 > 5'] // 10)
        self.assertEqual(read['rows'][0]['count'], taken)
        self.assertEqual(read['total_filtered'], said['calls'] - taken)
        self.assertEqual(self.daemon.json('session', 'show', 's')['filtered'],
                         said['calls'] - taken)

    def test_what_is_set_is_shown_as_it_is_set_again(self):
        self.session('hist(arg1-1) by  comm', '--when', '(arg0)>0x5')
        for settings in (self.daemon.json('session', 'show', 's')['settings'],
                         self.daemon.json('info', PROBE)['settings']):
            self.assertEqual((settings[0]['do'], settings[0]['when']),
                             ('hist(arg1 - 1) by comm', 'arg0 > 5'))
        self.assertRegex(self.daemon.run('session', 'show', 's').stdout, r'arg0 > 5 +hist\(arg1')

    def test_a_spec_is_explained(self):
        program = self.program('values', '1', '1')
        self.daemon.json('session', 'new', 's')
        words = ['stage', 's', 'set', PROBE, '-p', str(program.pid), '--do', 'sum( arg0 )']
        self.assertNotIn('spec', self.daemon.json(*words))
        plain = self.daemon.json(*words, '--explain')['spec']
        self.assertEqual(plain['do'], 'sum(arg0)')
        self.assertNotIn('when', plain)
        dearer = self.daemon.json(*words, '--explain', '--when', 'arg1==7')['spec']
        self.assertEqual(dearer['when'], 'arg1 == 7')
        self.assertGreater(dearer['instructions'], plain['instructions'])
        self.assertRegex(self.daemon.run(*words, '--explain').stdout,
                         r'do:   sum\(arg0\)\ncost: at most \d+ instructions? for each hit\n')

    def test_whether_hits_may_wait_for_memory_is_told(self):
        pid = str(self.program('values', '1', '1').pid)
        self.daemon.json('session', 'new', 's')
        words = ['stage', 's', 'set', PROBE, '-p', pid, '--explain', '--do']
        # One argument is in memory, and a hit reads all arguments or none.
        for action, waits in (('count', False), ('count by str(arg3)', True), ('count', False),
                              ('sum(arg0)', True)):
            with self.subTest(action=action):
                self.assertEqual(self.daemon.json(*words, action)['spec']['may_wait'], waits)
                said = self.daemon.run(*words, action).stdout
                self.assertEqual('\nmemory: a hit may wait' in said, waits)
                self.daemon.json('commit', 's')
                info, = self.daemon.json('info', PROBE)['settings']
                self.assertEqual(info['may_wait'], waits)
                self.assertEqual('MAY WAIT' in self.daemon.run('info', PROBE).stdout, waits)

    def test_a_followed_call_does_not_wait_for_memory(self):
        pid = str(self.program('calls', '0').pid)
        self.daemon.json('session', 'new', 's')
        words = ['stage', 's', 'set', 'u::calls_leaf', '-p', pid, '--explain', '--do']
        for action, waits in (('event(u32(arg0))', True), ('event(u32(arg0), retval)', False)):
            with self.subTest(action=action):
                self.assertEqual(self.daemon.json(*words, action)['spec']['may_wait'], waits)
                self.daemon.json('commit', 's')
                info, = self.daemon.json('info', 'u::calls_leaf')['settings']
                self.assertEqual(info['may_wait'], waits)
        # Nor do hits of another session at that site.
        self.daemon.json('session', 'new', 't')
        self.daemon.json('stage', 't', 'set', 'u::calls_leaf', '-p', pid, '--do', 'event(u32(arg0))')
        self.daemon.json('commit', 't')
        self.assertEqual([i['may_wait'] for i in self.daemon.json('info', 'u::calls_leaf')['settings']],
                         [False, False])

    def refused(self, at, text, *words):
        """Refused with a caret at byte `at` of the text."""
        done = self.daemon.run(*words)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(f'\n  {text}\n  {" " * at}^\n', done.stderr)

    def test_an_error_has_a_caret_under_it(self):
        here = ['u:/bin/true:f', '-a']
        self.daemon.json('session', 'new', 's')
        for verb in (['trace', *here], ['count', *here], ['hist', *here, '--of', 'arg0'],
                     ['stage', 's', 'set', *here]):
            self.refused(8, 'arg0 == nothing', *verb, '--when', 'arg0 == nothing')
        self.refused(9, 'count by pud', 'count', *here, '--by', 'pud')
        self.refused(11, 'duration > 5m', 'trace', *here, '--when', 'duration > 5m')
        self.assertIn('no time in ns, us, ms or s\n',
                      self.daemon.run('trace', *here, '--when', 'duration > 5m').stderr)
        self.refused(5, 'hist(arg99)', 'hist', *here, '--of', 'arg99')
        self.refused(4, 'sum(comm)', 'trace', *here, '--do', 'sum(comm)')


def of_bpftrace(said, name):
    """The text that bpftrace printed for a map: one line per key, or a histogram."""
    return re.findall(rf'^@{name}(?:\[(.*)\])?: (.*(?:\n\[.*)*)', said, re.M)


@support.needs_root
class Bpftrace(support.DaemonTest):
    SCRIPT = """usdt:PATH:values:work /pid == PID && (int64)arg0 > 5 && arg4 != 3/ {
        @calls[str(arg3)] = count(); @sum = sum((int64)arg0); @least = min(arg4); @bytes = hist(arg4);
    }"""

    def test_gives_the_same_answers_to_the_same_questions(self):
        said, read, _ = self.beside_bpftrace(
            self.SCRIPT, 1, 'values', '2', '3000',
            setting=(PROBE, '--when', 'arg0 > 5 && arg4 != 3', '--do',
                     'count by str(arg3), sum(arg0), min(arg4), hist(arg4)'))
        rows = read['rows']
        self.assertEqual({name: int(count) for name, count in of_bpftrace(said, 'calls')},
                         {row['by']['str(arg3)']: row['count'] for row in rows if 'by' in row})
        [total] = [row['sum'] for row in rows if 'sum' in row]
        [least] = [row['min'] for row in rows if 'min' in row]
        [buckets] = [row['hist'] for row in rows if 'hist' in row]
        self.assertEqual(of_bpftrace(said, 'sum'), [('', str(total))])
        self.assertEqual(of_bpftrace(said, 'least'), [('', str(least))])
        theirs = re.findall(r'^\[(\d+)(?:, (\d+)\)|\]) +(\d+) ', said, re.M)
        self.assertEqual([(int(low), int(count)) for low, _, count in theirs if int(count)],
                         [(bucket['min'], bucket['count']) for bucket in buckets])


if __name__ == '__main__':
    unittest.main()
