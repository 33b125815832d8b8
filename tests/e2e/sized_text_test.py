# SPDX-License-Identifier: BSD-2-Clause
"""Texts with the length that the program has beside them (tests/targets/sized_texts.c)."""

import collections
import fnmatch
import itertools
import unittest

import support

# The same text, by arguments and by fields. As a field, the length -1 is unsigned, so the text is read up to its 0.
BY_ARGUMENTS = 'str(arg.text, arg.length)'
BY_FIELDS = 'str(arg.message->body.text, arg.message->body.length)'
NEGATIVE = 6


@support.needs_root
class SizedTexts(support.DaemonTest):
    one_daemon = True
    numbers = itertools.count()  # of sessions

    def session(self, program, action, *options):
        session = f's{next(self.numbers)}'
        self.daemon.json('session', 'new', session)
        self.daemon.json('stage', session, 'set', 'u::take', '-p', str(program.pid), '--do', action, *options)
        self.daemon.json('commit', session)
        return session

    def rows(self, action, *options):
        """Of a run of the program, and its texts."""
        program = self.program('sized_texts')
        session = self.session(program, action, *options)
        program.send('go')
        truth = program.result()
        return truth, self.daemon.json('read', session)

    def events(self, action):
        program = self.program('sized_texts')
        session = self.session(program, action)
        client = self.daemon.connect()
        client.result('session.subscribe', session=session)
        program.send('go')
        truth = program.result()
        client.result('session.flush', session=session)
        client.close()
        return truth, [one['params']['args'] for one in client.notifications if one['method'] == 'event']

    def test_are_values_of_events(self):
        truth, events = self.events(f'event(arg.message->id, {BY_ARGUMENTS}, {BY_FIELDS})')
        self.assertEqual([event[0] for event in events], [1, 2, 3, 4, 5, 6, 7, 8])
        self.assertEqual([event[1] for event in events], truth)
        truth[NEGATIVE] = 'below'
        self.assertEqual([event[2] for event in events], truth)

    def test_are_keys(self):
        truth, read = self.rows(f'count by {BY_ARGUMENTS}')
        self.assertEqual({row['by'][BY_ARGUMENTS]: row['count'] for row in read['rows']},
                         collections.Counter(truth))

    def test_decide_conditions(self):
        for text in BY_ARGUMENTS, BY_FIELDS:
            for operator, wanted, holds in (('==', 'key', 'key'.__eq__), ('!=', 'key', 'key'.__ne__),
                                            ('==', 'keyboard', 'keyboard'.__eq__),
                                            ('==', '', ''.__eq__),
                                            ('=~', '*e*y', lambda one: fnmatch.fnmatch(one, '*e*y'))):
                truth, read = self.rows('count', '--when', f'{text} {operator} "{wanted}"')
                if text == BY_FIELDS:
                    truth[NEGATIVE] = 'below'
                self.assertEqual(read['total_hits'] - read['total_filtered'],
                                 sum(one is not None and holds(one) for one in truth), (text, operator, wanted))


if __name__ == '__main__':
    unittest.main()
