# SPDX-License-Identifier: BSD-2-Clause
"""--interval: verbs that count show the rows so far, and they are what the program has done by then."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import unittest

import jsonschema
import support

SCHEMA = json.loads((support.BUILD / 'protocol.schema.json').read_text())


@support.needs_root
class Intervals(support.DaemonTest):
    one_daemon = True

    def setUp(self):
        super().setUp()
        self.hot = self.program('hot')

    def call(self, times):
        self.hot.send(f'hot_push {times}')
        self.assertEqual(self.hot.result()['calls'], times)

    def start(self, *words, stdout=subprocess.PIPE):
        tracing = subprocess.Popen(
            [support.TRACECTL, '--socket', self.daemon.socket, *words, '-p', str(self.hot.pid)],
            stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True)
        self.addCleanup(tracing.communicate)
        self.addCleanup(tracing.kill)
        self.assertIn('tracing', tracing.stderr.readline())
        return tracing

    def watch(self, session, *options):
        watching = subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, *options, 'watch', session,
                                     '--interval', '20ms'],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watching.communicate)
        self.addCleanup(watching.kill)
        return watching

    def end(self, tracing):
        tracing.send_signal(signal.SIGINT)
        printed = tracing.stdout.read() if tracing.stdout else ''
        self.assertEqual((tracing.wait(timeout=60), tracing.stderr.read()), (130, ''))
        return printed

    def counts_up_to(self, tracing, wanted):
        """The counts of one table after the other, until one has this."""
        counts = []
        while not counts or counts[-1] < wanted:
            table = json.loads(tracing.stdout.readline())
            counts.append(table['rows'][0]['count'])
        jsonschema.validate(table, {'$ref': '#/$defs/session.read.reply', '$defs': SCHEMA['$defs']},
                            cls=jsonschema.Draft202012Validator)
        return counts

    def test_rows_are_those_so_far_and_the_last_ones_are_all(self):
        tracing = self.start('--json', 'count', 'u::hot_push', '--interval', '20ms')
        self.assertEqual(self.counts_up_to(tracing, 0), [0])
        self.call(1000)
        first = self.counts_up_to(tracing, 1000)
        self.assertEqual((first, first[-1]), (sorted(first), 1000))
        self.call(500)
        second = self.counts_up_to(tracing, 1500)
        self.assertEqual((second, second[-1]), (sorted(second), 1500))
        tables = self.end(tracing).splitlines()
        self.assertEqual({json.loads(table)['rows'][0]['count'] for table in tables}, {1500})

    def test_tables_for_people_say_when_and_the_last_one_does_not(self):
        for verb in (['count'], ['time'], ['hist', '--of', 'arg0'], ['stacks']):
            with self.subTest(verb=verb):
                tracing = self.start(*verb, 'u::hot_push', '--interval', '20ms')
                self.call(10)
                shown = ''
                while '\n\n' not in shown:
                    shown += tracing.stdout.readline()
                blocks = (shown + self.end(tracing)).split('\nafter ')
                self.assertRegex(blocks[0], r'\Aafter \d+\.\d s:\n')
                self.assertIn('\n\n', blocks[-1])
                self.assertNotIn('after', blocks[-1].split('\n\n')[-1])

    def test_a_terminal_has_one_table_in_place_of_the_other_and_the_last_one_whole(self):
        ours, its = pty.openpty()
        self.addCleanup(os.close, ours)
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack('HHHH', 3, 200, 0, 0))
        tracing = self.start('count', 'u::hot_*', '--interval', '20ms', stdout=its)
        os.close(its)
        self.call(1000)
        shown = b''
        while shown.count(b'after ') < 2:
            shown += os.read(ours, 1 << 16)
        self.end(tracing)
        try:
            while True:
                shown += os.read(ours, 1 << 16)
        except OSError:
            pass
        tables = shown.decode().split('\x1b[H\x1b[J')
        self.assertEqual(tables[0], '')
        self.assertEqual({table.count('\n') for table in tables[1:-1]}, {2})
        self.assertEqual([line.split()[0] for line in tables[-1].splitlines()], ['COUNT', '1000', '1000'])

    def test_ends_when_nobody_reads_any_more(self):
        tracing = self.start('count', 'u::hot_push', '--interval', '20ms')
        tracing.stdout.readline()
        tracing.stdout.close()
        tracing.stdout = open(os.devnull)
        self.assertEqual(tracing.wait(timeout=60), -signal.SIGPIPE)

    def test_watch_has_the_rows_of_a_session(self):
        self.daemon.json('session', 'new', 's')
        self.addCleanup(self.daemon.run, 'session', 'delete', 's')
        self.daemon.json('stage', 's', 'set', 'u::hot_push', '-p', str(self.hot.pid), '--do', 'count')
        self.daemon.json('commit', 's')
        self.call(700)
        watching = self.watch('s', '--json')
        self.assertEqual(self.counts_up_to(watching, 700), [700])
        self.call(300)
        self.assertEqual(self.counts_up_to(watching, 1000)[-1], 1000)
        self.end(watching)
        watching = self.watch('s')
        shown = ''.join(watching.stdout.readline() for _ in range(5))
        self.end(watching)
        self.assertRegex(shown, r'\Aafter \d\.\d s:\nCOUNT  PROBE\n 1000  uprobe:hot:hot_push\n1000 hits\n\n')
        done = self.daemon.run('watch', 's', '--for', '20ms')
        self.assertEqual(done.stdout, 'COUNT  PROBE\n 1000  uprobe:hot:hot_push\n1000 hits\n')

    def test_what_is_no_interval_is_refused(self):
        for words, reason in ((['--interval', '1ms'], 'from 10ms to a day'), (['--interval', 'soon'], 'soon'),
                              (['--interval', '1s', '--folded'], '--folded')):
            done = self.daemon.run('count', 'u::hot_push', '-p', str(self.hot.pid), *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(reason, done.stderr)


if __name__ == '__main__':
    unittest.main()
