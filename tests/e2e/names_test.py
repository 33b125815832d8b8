# SPDX-License-Identifier: BSD-2-Clause
"""Parameters by name, for users of the client and of the protocol."""

import unittest

import support

MODES = [{'name': 'RED', 'value': 0}, {'name': 'GREEN', 'value': 7}, {'name': 'BLUE', 'value': 8}]


class Names(support.DaemonTest):
    def test_are_listed_with_their_types(self):
        path = support.target('parameters')
        self.assertIn('size: s32, ratio?: f64 (in a vector register), fast: bool, mode: enum color, '
                      'weight?: f32 (in a vector register), path: const char *, where: struct pair *, '
                      'letter: char',
                      self.daemon.run('list', f'u:{path}:kinds').stdout)
        args = self.daemon.json('list', f'u:{path}:kinds')['probes'][0]['args']
        self.assertEqual([arg['name'] for arg in args],
                         ['size', 'ratio', 'fast', 'mode', 'weight', 'path', 'where', 'letter'])
        self.assertEqual(args[3], {'name': 'mode', 'type': 'u32', 'kind': 'enumeration',
                                   'declared_type': 'enum color', 'place': '%rdx',
                                   'readable': True})

    def test_are_shown_with_the_values(self):
        for words in ([], ['--embedded']):
            program = self.program('parameters')
            tracing = support.subprocess.Popen(
                [support.TRACECTL, '--socket', self.daemon.socket, *words, 'trace', 'u::kinds',
                 'u::enums', '-p', str(program.pid)], text=True, stdout=support.subprocess.PIPE,
                stderr=support.subprocess.PIPE)
            self.assertIn('tracing 2 probes', tracing.stderr.readline())
            program.send('go')
            said = program.result()
            program.send('exit')
            shown, _ = tracing.communicate(timeout=60)
            path, where = said['kinds'][5:7]
            self.assertIn(f'(size=5, ratio=?, fast=true, mode=GREEN, weight=?, path={path:#x}, '
                          f"where={where:#x}, letter='x')", shown)
            self.assertIn('(low=LOW, typed=BLUE, unnamed=3)', shown)

    def test_are_told_only_to_who_asks(self):
        for describe in (True, False):
            program = self.program('parameters')
            client = self.daemon.connect()
            session = client.result('session.create')['name']
            client.result('stage.set', session=session, patterns=['u::enums'],
                          target={'pids': [program.pid]})
            client.result('session.subscribe', session=session, describe=describe)
            client.result('stage.commit', session=session)
            program.send('go')
            said = program.result()
            client.result('session.flush', session=session)
            methods = [one['method'] for one in client.notifications]
            self.assertEqual(methods, ['probe', 'event'] if describe else ['event'])
            self.assertEqual(client.notifications[-1]['params']['args'], said['enums'])
            if describe:
                args = client.notifications[0]['params']['args']
                self.assertEqual([arg['name'] for arg in args], ['low', 'typed', 'unnamed'])
                self.assertEqual(args[1]['enumerators'], MODES)
            client.close()


if __name__ == '__main__':
    unittest.main()
