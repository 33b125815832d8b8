# SPDX-License-Identifier: BSD-2-Clause
"""Flight recorders: a dump has the last events of the programs, and recording goes on."""

import array
import collections
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import unittest

import cgroups
import record_test
import support

MIB = 1 << 20
CALLS = record_test.CALLS
TURNS = 20  # more than 1 MiB can hold


@support.needs_root
class Flight(record_test.RecordTest):
    def recorder(self, bound, *programs):
        """Makes the session `s`, which keeps this much of these programs."""
        self.daemon.json('session', 'new', 's', '--recorder', bound)
        pids = [word for program in programs for word in ('-p', str(program.pid))]
        self.daemon.json('stage', 's', 'set', record_test.HOT, *pids, *record_test.NUMBERS)
        self.daemon.json('commit', 's')

    def held(self):
        return self.daemon.json('session', 'show', 's')['recorder']

    def dump(self, *options, file=None):
        """Dumps; returns the file's contents, and the output of tracectl."""
        file = file or self.file
        said = self.daemon.json('dump', 's', '-o', file, *options)
        items, errors = self.shown(file=file)
        self.assertNotIn('cannot be read', errors)
        self.assertEqual(said['bytes'], os.stat(file).st_size)
        self.assertEqual(said['events'], sum('probe' in item for item in items))
        self.assertEqual(said['lost'], sum(item['lost']['count'] for item in items if 'lost' in item))
        return items, said

    def test_a_dump_has_the_last_calls(self):
        program = self.program('hot')
        self.recorder('1M', program)
        numbers = self.call_in_turns(program, 's', TURNS)
        for options in [], ['--compress']:
            with self.subTest(options=options):
                items, said = self.dump(*options)
                self.is_end_of(items, numbers)
                self.assertLess(len(items), len(numbers))
                self.assertGreater(len(items), 50_000)
                self.assertEqual(said['lost'], 0)
        held = self.held()
        self.assertEqual(held['bound'], {'bytes': MIB})
        self.assertLessEqual(held['bytes'], MIB + 4096)
        self.assertEqual(held['events'], len(items))
        self.assertEqual(held['events'] + held['overwritten'], len(numbers))
        self.assertEqual((held['first_ts'], held['last_ts']), (items[0]['ts'], items[-1]['ts']))

    def test_has_every_event_fired_before_it(self):
        program = self.program('hot')
        self.recorder('64M', program)
        with contextlib.closing(self.daemon.connect()) as client:
            for i in range(1, 31):
                with open(self.directory / str(i), 'w') as file:
                    # Sooner than the reader looks for events on its own.
                    self.call(program, 10)
                    self.ask_for_dump(client, file.fileno())
                    dump = client.receive()['result']['dump']
                show = lambda: client.result('record.dumped', dump=dump)
                support.wait_until(lambda: show()['state'] == 'done', 'its end')
                self.assertEqual(show()['events'], 10 * i)

    def test_recording_goes_on_after_a_dump(self):
        program = self.program('hot')
        self.recorder('64M', program)
        for calls in 5, 7:
            self.call(program, calls)
        items, _ = self.dump()
        self.assertEqual(len(items), 12)
        again, _ = self.dump(file=str(self.directory / 'again.tct'))
        self.assertEqual([item['ts'] for item in again], [item['ts'] for item in items])
        self.call(program, CALLS)
        items, _ = self.dump()
        self.assertEqual(len(items), 12 + CALLS)
        self.is_end_of(items[12:], list(range(CALLS)))

    def test_dumps_of_programs_that_run_flat_out_are_unbroken(self):
        programs = [self.program('hot') for _ in range(3)]
        self.recorder('1M', *programs)
        for program in programs:
            program.send(f'hot_push {400 * CALLS}')
        last = collections.Counter()
        for i in range(3):
            before = self.held()['overwritten']
            support.wait_until(lambda: self.held()['overwritten'] > before, 'a round of it')
            items, said = self.dump(file=str(self.directory / f'{i}.tct'))
            missing = 0
            for program in programs:
                numbers = [item['args'][0] for item in items if item.get('pid') == program.pid]
                self.assertTrue(numbers == sorted(set(numbers)))
                if numbers:
                    missing += numbers[-1] + 1 - numbers[0] - len(numbers)
                    self.assertGreaterEqual(numbers[-1], last[program.pid])
                    last[program.pid] = numbers[-1]
            # Losses before the first event of a program are not missing between its events.
            self.assertLessEqual(missing, said['lost'])
        self.assertGreater(min(last.values()), 0)

    def test_by_time_it_forgets(self):
        program = self.program('hot')
        self.recorder('20ms', program)
        self.call(program, 1000)
        support.wait_until(lambda: not self.dump()[0], 'all to be too old')
        self.assertNotIn('first_ts', self.held())
        self.assertEqual(self.held()['overwritten'], 1000)
        self.assertEqual(self.held()['bound'], {'seconds': 0.02})

    def test_by_time_it_holds_what_is_younger(self):
        program = self.program('hot')
        self.recorder('60m', program)
        numbers = self.call_in_turns(program, 's', 5)
        items, _ = self.dump()
        self.assertEqual(len(items), len(numbers))
        self.is_end_of(items, numbers)

    def test_a_dump_outlives_its_client(self):
        program = self.program('hot')
        self.recorder('64M', program)
        numbers = self.call_in_turns(program, 's', 5)
        with contextlib.closing(self.daemon.connect()) as client, open(self.file, 'w') as file:
            self.ask_for_dump(client, file.fileno())
        support.wait_until(lambda: os.stat(self.file).st_size > 0, 'its header')
        support.wait_until(lambda: len(self.shown()[0]) == len(numbers), 'all of it')

    def ask_for_dump(self, client, *files, session='s'):
        message = {'jsonrpc': '2.0', 'id': 99, 'method': 'record.dump',
                   'params': {'session': session}}
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', files))] if files else []
        client.socket.sendmsg([json.dumps(message).encode() + b'\n'], rights)

    def test_a_full_disk_is_told_and_recording_goes_on(self):
        disk = self.directory / 'disk'
        disk.mkdir()
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=256k', 'none', disk], check=True)
        self.addCleanup(subprocess.run, ['umount', disk], check=True)
        program = self.program('hot')
        self.recorder('64M', program)
        numbers = self.call_in_turns(program, 's', TURNS)
        done = self.daemon.run('dump', 's', '-o', str(disk / 'out.tct'))
        self.assertEqual(done.returncode, 1)
        self.assertIn('No space left on device', done.stderr)
        shown, notes = self.shown(file=str(disk / 'out.tct'))
        *events, end = shown
        self.assertIn(f'{len(events)} events, {end["lost"]["count"]} lost', done.stderr)
        self.assertEqual(len(events) + end['lost']['count'], len(numbers))
        self.assertIn('its recording ended early: write the file: No space left on device', notes)
        self.call(program, 3)
        items, _ = self.dump()
        self.assertEqual(len(items), len(numbers) + 3)

    def test_is_told_where_sessions_are(self):
        program = self.program('hot')
        self.recorder('64M,10m', program)
        self.call(program, 12)
        self.daemon.json('flush', 's')
        shown = self.daemon.run('session', 'show', 's').stdout
        self.assertRegex(shown, r'recorder of 64\.0 MiB, 600 s: 12 events of 0\.\d+ s in .*, 0 lost')
        self.daemon.json('session', 'new', 'other')
        rows = self.daemon.run('session', 'list').stdout.splitlines()
        self.assertRegex(rows[0], r'RECORDER$')
        self.assertEqual([row.split()[0] for row in rows if row.endswith(' no')], ['other'])

    def test_ends_with_its_session(self):
        self.recorder('1M', self.program('hot'))
        self.daemon.json('session', 'delete', 's')
        with contextlib.closing(self.daemon.connect()) as client:
            with open(self.file, 'w') as file:
                self.ask_for_dump(client, file.fileno())
                self.assertIn('no session', client.receive()['error']['message'])

    # ---- what is refused ----

    def test_of_no_recorder_nothing_is_dumped_and_no_file_emptied(self):
        self.daemon.json('session', 'new', 's')
        with open(self.file, 'w') as file:
            file.write('something')
        done = self.daemon.run('dump', 's', '-o', self.file)
        self.assertEqual(done.returncode, 1)
        self.assertIn('--recorder', done.stderr)
        with open(self.file) as file:
            self.assertEqual(file.read(), 'something')
        with contextlib.closing(self.daemon.connect()) as client:
            self.ask_for_dump(client)
            self.assertIn('descriptor', client.receive()['error']['message'])
            with open(self.directory / 'empty', 'w') as file:
                self.ask_for_dump(client, file.fileno())
                self.assertIn('--recorder', client.receive()['error']['message'])
            refused = client.call('record.dumped', dump=7)['error']
            self.assertEqual(refused['data']['field'], 'dump')

    def test_bounds_are_refused_in_words(self):
        for bound, expected in [('64', 'a size or a time is wanted'), ('much', 'is wanted'),
                                ('1M,2M', 'is wanted')]:
            done = self.daemon.run('session', 'new', 's', '--recorder', bound)
            self.assertEqual(done.returncode, 2)
            self.assertIn(expected, done.stderr)
        for bound, field in [({}, 'recorder'), ({'bytes': MIB - 1}, 'recorder.bytes'),
                             ({'bytes': 5 << 30}, 'recorder.bytes'),
                             ({'seconds': 0}, 'recorder.seconds'),
                             ({'seconds': 1e9}, 'recorder.seconds')]:
            with contextlib.closing(self.daemon.connect()) as client:
                refused = client.call('session.create', name='s', recorder=bound)['error']
                self.assertEqual(refused['data']['field'], field)
                self.assertEqual(client.result('session.list')['sessions'], [])

    def test_needs_a_daemon(self):
        done = support.run('--embedded', 'dump', 's', '-o', self.file)
        self.assertEqual(done.returncode, 2)
        self.assertIn('this command needs a daemon', done.stderr)
        self.assertFalse(os.path.exists(self.file))


class DumpsTest(record_test.RecordTest):
    """Uses the daemon's directory of dumps."""

    def begin(self, dumps):
        self.daemon.end()
        self.dumps = pathlib.Path(dumps)
        self.daemon = support.Daemon('--dumps', dumps)

    def files(self, session):
        return sorted(self.dumps.glob(f'{session}-*.tct'))

    def wait_for_dumps(self, **expected):
        got = lambda: {name: self.daemon.json('stats')[name] for name in expected}
        support.wait_until(lambda: got() == expected, f'{expected}')


@support.needs_root
class Signal(DumpsTest):
    """SIGUSR2 makes the daemon dump all recorders."""

    def recorders(self, *names):
        program = self.program('hot')
        for name in names:
            self.daemon.json('session', 'new', name, '--recorder', '1M')
            self.daemon.json('stage', name, 'set', record_test.HOT, '-p', str(program.pid),
                             *record_test.NUMBERS)
            self.daemon.json('commit', name)
        return program

    def signalled(self, **expected):
        self.daemon.process.send_signal(signal.SIGUSR2)
        self.wait_for_dumps(**expected)

    def test_dumps_each_to_a_file_of_its_own(self):
        self.begin(str(self.directory / 'below' / 'dumps'))
        self.daemon.json('session', 'new', 'other')
        program = self.recorders('s', 't')
        numbers = self.call_in_turns(program, 's', 10)
        self.signalled(dumps=2, failed_dumps=0)
        for session in 's', 't':
            file, = self.files(session)
            self.assertRegex(file.name, r'^.-\d{8}T\d{6}\.\d{6}Z\.tct$')
            self.assertEqual(file.stat().st_mode & 0o7777, 0o600)
            items, _ = self.shown(file=str(file))
            self.assertGreater(len(items), 50_000)
            self.is_end_of(items, numbers)
        self.assertEqual(self.files('other'), [])
        self.assertEqual(self.dumps.stat().st_mode & 0o7777, 0o711)
        self.call(program, 7)
        self.signalled(dumps=4, failed_dumps=0)
        items, _ = self.shown(file=str(self.files('s')[1]))
        self.is_end_of(items[-7:], list(range(7)))

    def put_older(self, session):
        """Makes older dumps, as many as are kept."""
        self.dumps.mkdir()
        names = [f'{session}-2020010{day}T000000.000000Z.tct' for day in range(1, 9)]
        for name in names:
            (self.dumps / name).touch()
        return [self.dumps / name for name in names]

    def test_the_oldest_goes_when_one_has_been_written(self):
        self.begin(str(self.directory / 'dumps'))
        program = self.recorders('s')
        older = self.put_older('s')
        self.call(program, 7)
        self.signalled(dumps=1, failed_dumps=0)
        self.assertEqual(self.files('s')[:-1], older[1:])

    def test_that_cannot_begin_leaves_no_file(self):
        self.begin(str(self.directory / 'dumps'))
        program = self.recorders('s')
        self.call(program, 7)
        self.forbid_threads()
        self.signalled(dumps=0, failed_dumps=1)
        self.assertEqual(self.files('s'), [])
        self.assertIn('no thread can be made', self.daemon.end()[1])
        self.daemon = support.Daemon()

    def forbid_threads(self):
        """Puts the daemon into a cgroup that may have no more tasks. A limit on its address space would not do:
        a thread can reuse the stack of one that has ended."""
        mount = cgroups.mount_of('pids')
        self.assertTrue(mount, 'there is no controller of tasks of cgroups')
        cgroup = mount[0] / f'tracectl-test-{os.getpid()}'
        cgroup.mkdir()
        self.addCleanup(self.empty, cgroup)
        (cgroup / 'pids.max').write_text('0')
        (cgroup / 'cgroup.procs').write_text(str(self.daemon.process.pid))

    def empty(self, cgroup):
        for pid in (cgroup / 'cgroup.procs').read_text().split():
            (cgroup.parent / 'cgroup.procs').write_text(pid)
        cgroup.rmdir()

    def test_that_cannot_be_written_does_no_harm(self):
        self.begin('/proc/nowhere/dumps')
        program = self.recorders('s')
        self.signalled(dumps=0, failed_dumps=1)
        self.call(program, 5)
        self.daemon.json('dump', 's', '-o', self.file)
        self.assertEqual(len(self.shown()[0]), 5)

    def test_on_a_full_disk_is_counted(self):
        disk = self.directory / 'disk'
        disk.mkdir()
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=256k', 'none', disk], check=True)
        self.addCleanup(subprocess.run, ['umount', disk], check=True)
        self.begin(str(disk / 'dumps'))
        program = self.recorders('s')
        older = self.put_older('s')
        self.call_in_turns(program, 's', 10)
        self.signalled(dumps=0, failed_dumps=1)
        self.assertTrue(set(older) <= set(self.files('s')))
        status, log = self.daemon.end()
        self.assertEqual(status, 0)
        self.assertRegex(log, r'dump session=s failed: .*No space left on device')
        self.daemon = support.Daemon()

    def test_without_recorders_is_nothing(self):
        self.begin(str(self.directory / 'dumps'))
        self.signalled(dumps=0, failed_dumps=0)
        self.assertFalse(self.dumps.exists())


if __name__ == '__main__':
    unittest.main()
