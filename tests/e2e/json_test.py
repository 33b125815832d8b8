# SPDX-License-Identifier: BSD-2-Clause
"""What each verb prints with --json, against the schema that `tracectl schema VERB` prints of it."""

import json
import tempfile
import unittest

import jsonschema

import docs_test
import support

COMMAND = '--', support.target('forker'), 'child', '3'


def schema_of(*verb):
    schema = json.loads(support.run('schema', *verb).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def words_of(verb):
    """`stage SESSION set` is `stage set` here."""
    return [word for word in verb.split() if word != 'SESSION']


class Schemas(unittest.TestCase):
    def test_every_verb_has_one_or_says_that_it_prints_no_json(self):
        without = set()
        for verb in docs_test.verbs():
            done = support.run('schema', *words_of(verb))
            if done.returncode:
                self.assertIn(f'{verb} prints no JSON', done.stderr)
                without.add(verb)
        self.assertEqual(without, {'schema', 'ui'})

    def test_of_an_unknown_verb_there_is_none(self):
        done = support.run('schema', 'cuont')
        self.assertEqual(done.returncode, 2)
        self.assertIn('there is no verb "cuont"', done.stderr)

    def test_it_is_of_nothing_else(self):
        self.assertEqual(set(json.loads(support.run('schema', 'count').stdout)['$defs']),
                         {'session.read.reply', 'trouble'})


@support.needs_root
class Documents(unittest.TestCase):
    def setUp(self):
        self.daemon = support.Daemon()
        self.addCleanup(self.daemon.end)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = folder.name + '/out.tct'
        self.seen = set()

    def check(self, *words, verb=None, status=0):
        """Every line, or the only document, that the command prints."""
        done = self.daemon.run('--json', *words)
        self.assertEqual(done.returncode, status, (words, done.stderr))
        documents = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertNotEqual(documents, [], words)
        verb = verb or [words[0]]
        for document in documents:
            schema_of(*verb).validate(document)
        self.seen.add(' '.join(verb))

    def check_session(self):
        self.check('session', 'new', 's', '--recorder', '1M', verb=['session', 'new'])
        called = support.Program(support.target('counters'), '1', '0', '2', '10000')
        self.addCleanup(called.end)
        called.send('go')
        chosen = '-x', support.target('counters')
        self.check('stage', 's', 'set', 'u::f0000', *chosen, '--do', 'event', verb=['stage', 'set'])
        self.check('commit', 's')
        self.check('stage', 's', 'set', 'u::f0001', *chosen, verb=['stage', 'set'])
        self.check('stage', 's', 'remove', 'u::f0001', *chosen, verb=['stage', 'remove'])
        self.check('abort', 's')
        for verb in 'pause', 'resume', 'restart', 'read':
            self.check(verb, 's')
        self.check('watch', 's', '--for', '1s')
        self.check('flush', 's')
        self.check('dump', 's', '-o', self.file + '.dump')
        self.check('info', '*f0000*')
        self.check('top', '--iterations', '1', '--interval', '100ms')
        for verb in 'list', 'show', 'prove', 'save', 'delete':
            self.check('session', verb, *(['s'] if verb != 'list' else []), verb=['session', verb])
        self.check('recorder', 'u::f0000', *chosen)

    def check_export(self):
        self.check('export', self.file, '--to', 'jsonl', '-o', self.file + '.jsonl')
        exported = json.loads(self.daemon.run('--json', 'export', self.file, '--to', 'csv', '-o', self.file + '.csv').stdout)
        with open(self.file + '.csv', encoding='utf-8') as lines:
            events = len(lines.readlines()) - 1
        self.assertGreater(events, 0)
        self.assertEqual(exported, {'file': self.file + '.csv', 'format': 'csv', 'events': events, 'lost': 0})
        refused = self.daemon.run('--json', 'export', self.file, '--to', 'csv', '-o', '-')
        self.assertEqual(refused.returncode, 2)
        self.assertIn('name a file with -o', refused.stderr)

    def test_are_as_the_schema_of_their_verb_says(self):
        self.check('list', 'u:' + support.target('forker') + ':work')
        for verb in 'count', 'time', 'offcpu', 'trace', 'graph':
            self.check(verb, 'work', *COMMAND)
        self.check('stacks', 'work', *COMMAND)
        self.check('stacks', 'work', '--deepest', *COMMAND)
        self.check('hist', 'work', '--of', 'arg0', *COMMAND)
        self.check('latency', '--from', 'work', '--to', 'work', *COMMAND)
        self.check('graph', 'work', '--report', *COMMAND)
        self.check('graph', 'work', '-o', self.file + '.graph', *COMMAND)
        self.check('record', 'work', '-o', self.file, *COMMAND)
        self.check('show', self.file)
        self.check('report', self.file + '.graph')
        self.check('report', self.file + '.graph', '--against', self.file + '.graph')
        self.check('report', self.file, '--do', 'count by tid')
        self.check('report', self.file, '--timeline')
        self.check('report', self.file, '--html', self.file + '.html')
        self.check('export', '--to')
        self.check_export()
        self.check('recipe', 'list', verb=['recipe', 'list'])
        self.check('recipe', 'show', 'lock-waits', verb=['recipe', 'show'])
        self.check_session()
        for verb in 'status', 'stats', 'doctor', 'metrics':
            self.check(verb)
        others = {'schema', 'recipe run', 'ui', 'join'}
        self.assertEqual({' '.join(words_of(verb)) for verb in docs_test.verbs()} - self.seen, others)


if __name__ == '__main__':
    unittest.main()
