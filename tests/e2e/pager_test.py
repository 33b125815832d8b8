# SPDX-License-Identifier: BSD-2-Clause
"""What is longer than the terminal is shown in a pager."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import support
import terminal

MANY = f'u:{support.target("hot")}:*'


class Pager(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def said(self, *words, pager=None, lines=4, **variables):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ('PAGER', 'TRACECTL_PAGER', 'SUDO_UID', 'LESS')}
        if pager is not None:
            environment['TRACECTL_PAGER'] = pager
        return terminal.said_at_terminal([support.TRACECTL, 'list', MANY, *words], lines=lines,
                                         env=environment | variables).splitlines()

    def test_gets_what_is_longer_than_the_terminal(self):
        printed = self.said('--no-pager')
        self.assertGreater(len(printed), 5)
        self.assertEqual(self.said(pager='sed s/^/paged:/'), ['paged:' + line for line in printed])
        self.assertEqual(self.said(PAGER='sed s/^/paged:/'), ['paged:' + line for line in printed])
        for reason, same in (
                ('it fits', self.said(pager='sed s/^/paged:/', lines=len(printed) + 1)),
                ('it is not wanted', self.said('--no-pager', pager='sed s/^/paged:/')),
                ('there is none', self.said(pager='')),
                ('it would print it all', self.said(pager='cat')),
                ('it is not found', [line for line in self.said(pager='/no/such/pager') if 'not found' not in line]),
                ('it is of another program', self.said(pager='', PAGER='sed s/^/paged:/'))):
            self.assertEqual(same, printed, reason)

    def test_gets_nothing_of_json_and_where_there_is_no_terminal(self):
        self.assertFalse(any('paged' in line for line in self.said('--json', pager='sed s/^/paged:/')))
        piped = subprocess.run([support.TRACECTL, 'list', MANY], capture_output=True, text=True, timeout=60, check=True,
                               env=os.environ | {'TRACECTL_PAGER': 'sed s/^/paged:/'}).stdout
        self.assertNotIn('paged', piped)

    def test_may_be_left_before_it_has_read_all(self):
        command = f'{support.TRACECTL} list {MANY}; echo status $?'
        said = terminal.said_at_terminal(['sh', '-c', command], lines=4,
                                         env=os.environ | {'TRACECTL_PAGER': 'head -n 1'}).splitlines()
        self.assertEqual([said[0].split()[0], said[1:]], ['PROBE', ['status 0']])

    def test_runs_no_commands_for_who_may_run_only_tracectl_by_sudo(self):
        less = self.folder / 'less'
        less.write_text('#!/bin/sh\necho secure=$LESSSECURE options=$LESS\n')
        less.chmod(0o755)
        path = f'{self.folder}:{os.environ["PATH"]}'
        self.assertEqual(self.said(pager='echo a shell', SUDO_UID='1000', PATH=path), ['secure=1 options=FRX'])
        self.assertEqual(self.said(PATH=path), ['secure= options=FRX'])


if __name__ == '__main__':
    unittest.main()
