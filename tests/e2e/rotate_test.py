# SPDX-License-Identifier: BSD-2-Clause
"""Recordings into several files that are filled in turn."""

import contextlib
import json
import os
import unittest

import record_test
import support

MIB = 1 << 20
TURNS = 20
CALLS = TURNS * record_test.CALLS
ROTATE = ['--rotate', '1M']


@support.needs_root
class Rotate(record_test.RecordTest):
    def files(self):
        """The files with events, the oldest first."""
        found = [(self.shown(file=str(path))[0], path.name)
                 for path in self.directory.glob('out.*.tct') if path.stat().st_size > 0]
        return sorted(found, key=lambda one: record_test.time_of(one[0][0]))

    def numbers(self, files):
        """The numbers of the calls in these files, each of which must be complete; losses fail the test."""
        calls = [item['args'] for items, _ in files for item in items]
        wrong = [args for args in calls if args[1:] != [2, args[0] + 1]]
        self.assertEqual(wrong[:3], [])
        return [args[0] for args in calls]

    def started(self, engine, *options):
        program = self.program('hot')
        return program, self.start(*engine, 'record', record_test.HOT, '-p', str(program.pid), '-o',
                                   self.file, *record_test.NUMBERS, *options)

    def recorded(self, *options):
        """The numbers of all calls, and the output of tracectl about the recording."""
        program, verb = self.started(self.through_daemon(), *options)
        with contextlib.closing(self.daemon.connect()) as client:
            session, = client.result('session.list')['sessions']
        numbers = self.call_in_turns(program, session['name'], TURNS)
        return numbers, self.end(verb)[0]

    def test_the_last_files_have_the_last_calls(self):
        for options in [], ['--compress']:
            with self.subTest(options=options):
                numbers, out = self.recorded(*ROTATE, '--keep', '2', *options)
                files = self.files()
                items = [item for items, _ in files for item in items]
                self.is_end_of(items, numbers)
                if not options:
                    self.assertEqual(len(files), 2)
                    self.assertLess(len(items), len(numbers))
                for _, name in files[:-1]:
                    size = (self.directory / name).stat().st_size
                    self.assertLess(abs(size - MIB), 256 << 10, name)
                names = ', '.join(str(self.directory / name) for _, name in files)
                self.assertIn(f'{names}: {len(items)} events, 0 lost', out)
                older = len(numbers) - len(items)
                self.assertEqual(f'; {older} older events overwritten' in out, older > 0)
                self.assertFalse(os.path.exists(self.file))

    def test_need_no_daemon(self):
        program, verb = self.started(['--embedded', '--json'], *ROTATE, '--keep', '2')
        self.call(program, CALLS)
        said = json.loads(self.end(verb)[0])
        files = self.files()
        items = [item for items, _ in files for item in items if 'probe' in item]
        numbers = [item['args'][0] for item in items]
        self.assertTrue(numbers == sorted(set(numbers)))
        self.assertEqual(len(items), said['events'])
        self.assertEqual(said['events'] + said['overwritten'] + said['lost'], CALLS)

    def test_files_that_are_not_filled_keep_all(self):
        numbers, out = self.recorded('--rotate', '1G')
        files = self.files()
        self.assertEqual([name for _, name in files], ['out.0.tct'])
        self.assertEqual(len(files[0][0]), len(numbers))
        self.is_end_of(files[0][0], numbers)
        self.assertEqual(sorted(path.name for path in self.directory.glob('out.*')),
                         [f'out.{i}.tct' for i in range(4)])
        self.assertNotIn('overwritten', out)

    def test_outlive_the_daemon(self):
        program = self.program('hot')
        daemon = support.Daemon()
        verb = self.start('--socket', daemon.socket, 'record', record_test.HOT, '-p',
                          str(program.pid), '-o', self.file, *record_test.NUMBERS, *ROTATE,
                          '--keep', '64')
        with contextlib.closing(daemon.connect()) as client:
            session, = client.result('session.list')['sessions']
            program.send(f'hot_push {20 * CALLS}')
            show = lambda: client.result('record.show', session=session['name'])
            support.wait_until(lambda: show()['files_begun'] > 3, 'some files')
        daemon.process.kill()
        daemon.process.communicate()
        daemon.directory.cleanup()
        verb.communicate(timeout=60)
        program.end()
        files = [([item for item in items if 'probe' in item], name)
                 for items, name in self.files()]
        self.assertGreater(len(files), 3)
        numbers = self.numbers(files)
        self.assertTrue(numbers == sorted(set(numbers)))
        # Finished files have all calls except those reported as lost.
        lost = sum(item['lost']['count'] for items, _ in self.files() for item in items
                   if 'lost' in item)
        whole = self.numbers(files[:-1])
        self.assertLessEqual(whole[-1] + 1 - len(whole), lost)

    def test_is_told_by_the_protocol(self):
        with contextlib.closing(self.daemon.connect()) as client:
            client.result('session.create', name='s')
            for rotate, field in [({'bytes': MIB - 1, 'files': 2}, 'rotate.bytes'),
                                  ({'bytes': MIB, 'files': 1}, 'rotate.files'),
                                  ({'bytes': MIB, 'files': 65}, 'rotate.files')]:
                refused = client.call('record.start', session='s', rotate=rotate)
                self.assertEqual(refused['error']['data']['field'], field)
            refused = client.call('record.start', session='s', rotate={'bytes': MIB, 'files': 2})
            self.assertIn('of 2 files to record to 0 came', refused['error']['message'])

    def test_is_refused_in_words(self):
        for options, expected in [(['--rotate', '1023K'], '1.0 MiB at least'),
                                  (['--rotate', 'much'], 'a size is wanted'),
                                  (['--keep', '3'], '--rotate'),
                                  ([*ROTATE, '--keep', '1'], '2'),
                                  ([*ROTATE, '--keep', '65'], '64')]:
            done = support.run('record', record_test.HOT, '-o', self.file, *options)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(expected, done.stderr)


if __name__ == '__main__':
    unittest.main()
