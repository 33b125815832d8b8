# SPDX-License-Identifier: BSD-2-Clause
"""Processes chosen by their cgroup or unit, and programs that are executed there later."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import cgroups
import service_manager
import support
from support import target

CALLS = 100
WORK = 5000
UPROBE = 'uprobe::hot_push'


MOUNT = cgroups.mount_of_v2()
NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']


class CgroupTest(unittest.TestCase):
    options = ()  # of the session; classes with these tests also have a daemon

    def setUp(self):
        super().setUp()
        self.base = MOUNT / f'tracectl-test-{os.getpid()}-{id(self):x}'
        self.addCleanup(self.remove, self.base)
        self.base.mkdir()

    def remove(self, directory):
        """Waits until the processes in it have ended and were reaped."""
        for below in sorted(directory.rglob('*'), reverse=True):
            if below.is_dir():
                below.rmdir()
        directory.rmdir()

    def make(self, name):
        (self.base / name).mkdir(parents=True)
        return '/' + str((self.base / name).relative_to(MOUNT))

    def enter(self, path, pid):
        (MOUNT / path[1:] / 'cgroup.procs').write_text(str(pid), encoding='ascii')

    def begin_in(self, path, *program):
        """Executes the program in the cgroup."""
        words = ['sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(MOUNT / path[1:]), *program]
        started = support.Program(*words)
        self.addCleanup(started.end)
        return started

    def outside(self):
        started = support.Program(target('hot'))
        self.addCleanup(started.end)
        return started

    def call(self, program, calls=CALLS):
        program.send(f'hot_push {calls}')
        self.assertEqual(program.result()['calls'], calls)

    def work_in(self, path, program):
        """Calls work() from the first instructions on, in the cgroup, and ends."""
        subprocess.run(['sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(MOUNT / path[1:]),
                        program, 'child', str(WORK)], check=True)

    def choose(self, *words, pattern=UPROBE):
        self.daemon.json('session', 'new', 's', *self.options)
        staged = self.daemon.json('stage', 's', 'set', pattern, *words, '--do', 'count by pid')
        self.daemon.json('commit', 's')
        return staged

    def counts(self):
        return {row['by']['pid']: row['count'] for row in self.daemon.json('read', 's')['rows']}

    def followed(self):
        return self.daemon.json('session', 'show', 's')['followed']

    def copy_of(self, name):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return shutil.copy(target(name), folder.name)


@support.needs_root
@unittest.skipUnless(MOUNT, 'cgroups of version 2 are not mounted')
@support.in_group('units')  # both make counted.service
class Cgroups(CgroupTest, support.DaemonTest):
    def test_its_processes_are_counted_now_and_later_and_no_others(self):
        path = self.make('a')
        there, other = self.begin_in(path, target('hot')), self.outside()
        self.choose('--cgroup', path)
        later = self.begin_in(path, target('hot'))
        for program in there, other, later:
            self.call(program)
        self.assertEqual(self.counts(), {there.pid: CALLS, later.pid: CALLS})

    def check_counts_once(self, path, programs):
        self.choose('--cgroup', path)
        for program in programs:
            self.call(program)
        rows = self.daemon.json('read', 's')['rows']
        self.assertEqual(sorted((row['by']['pid'], row['count']) for row in rows),
                         sorted((program.pid, CALLS) for program in programs))

    def test_a_file_of_two_names_is_one_and_its_hits_count_once(self):
        path, file = self.make('a'), self.copy_of('hot')
        os.link(file, f'{file}.linked')
        both = [self.begin_in(path, name) for name in (file, f'{file}.linked')]
        self.check_counts_once(path, both)

    def test_a_file_in_two_overlays_is_one_and_its_hits_count_once(self):
        path = self.make('a')
        holder, folder = self.namespace_with_a_tmpfs(f"""
            mkdir below empty first second
            cp {target('hot')} below""")
        both = [self.begin_in(path, 'nsenter', '-m', '-t', str(holder.pid), 'unshare', '-m', 'sh', '-c',
                              f'mount -t overlay none -o lowerdir={folder}/empty:{folder}/below {folder}/{name}'
                              f' && exec {folder}/{name}/hot') for name in ('first', 'second')]
        for program in both:
            support.wait_until(lambda: os.readlink(f'/proc/{program.pid}/exe').endswith('/hot'), 'the program')
        self.check_counts_once(path, both)

    def namespace_with_a_tmpfs(self, commands):
        """A process whose mount namespace has a file system with a UUID, by which files in overlays are compared, in which
        the commands were run; and where it is mounted."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        holder = support.Program('unshare', '-m', 'sh', '-ec',
                                 f'mount -t tmpfs none {folder.name}; cd {folder.name}; {commands}; echo ready; exec cat')
        self.addCleanup(holder.end)
        return holder, folder.name

    def test_a_process_is_traced_while_it_is_in_there(self):
        path, elsewhere = self.make('a'), self.make('b')
        self.begin_in(path, target('hot'))
        moved = self.outside()
        self.choose('--cgroup', str(MOUNT / path[1:]))
        self.call(moved, 1)
        self.enter(path, moved.pid)
        self.call(moved, 20)
        self.enter(elsewhere, moved.pid)
        self.call(moved, 300)
        self.assertEqual(self.counts(), {moved.pid: 20})

    def test_cgroups_below_belong_to_it_also_those_that_are_made_later(self):
        before = self.make('a/x/y')
        path = before.removesuffix('/x/y')
        there = self.begin_in(before, target('hot'))
        self.choose('--cgroup', path)
        later = self.begin_in(self.make('a/z/w'), target('hot'))
        beside = self.begin_in(self.make('z'), target('hot'))
        for program in there, later, beside:
            self.call(program)
        self.assertEqual(self.counts(), {there.pid: CALLS, later.pid: CALLS})

    def test_one_that_is_made_anew_is_traced_from_the_first_instruction(self):
        path = self.make('a')
        first = self.begin_in(path, target('forker'), 'exec', '1', '1')
        self.choose('--cgroup', path, pattern='uprobe::work')
        first.end()
        for _ in range(5):
            self.remove(self.base / 'a')
            self.make('a')
            self.work_in(path, target('forker'))
        counts = self.counts()
        self.assertEqual((len(counts), set(counts.values())), (5, {WORK}))

    def test_a_unit_is_its_cgroup_also_when_it_is_started_again(self):
        path = self.make('system.slice/counted.service')
        first = self.begin_in(path, target('forker'), 'exec', '1', '1')
        self.choose('-u', 'counted', pattern='uprobe::work')
        shown = self.daemon.json('session', 'show', 's')['settings'][0]['target']
        self.assertEqual(shown['units'], ['counted.service'])
        first.end()
        self.remove(self.base / 'system.slice/counted.service')
        self.make('system.slice/counted.service')
        self.work_in(path, target('forker'))
        self.assertEqual(set(self.counts().values()), {WORK})

    def test_a_program_that_is_executed_later_is_armed_and_the_gap_is_told(self):
        path = self.make('a')
        there = self.begin_in(path, target('hot'))
        self.choose('--cgroup', path)
        copy = self.copy_of('hot')
        before_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        new = self.begin_in(path, copy)
        support.wait_until(self.followed, 'the program to be followed')
        seen_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        [followed] = self.followed()
        self.assertEqual((followed['object'], followed['cgroup']), (copy, path))
        self.assertEqual(followed['pid'], new.pid)
        end_ns = followed['ts'] + followed['unobserved_us'] * 1000
        self.assertTrue(before_ns < followed['ts'] < end_ns < seen_ns, followed)
        again = self.begin_in(path, copy)
        for program in there, new, again:
            self.call(program)
        self.assertEqual(self.counts(), {there.pid: CALLS, new.pid: CALLS, again.pid: CALLS})

    def test_a_session_that_comes_later_is_told_of_what_others_were_told(self):
        path, copy = self.make('a'), self.copy_of('hot')
        self.choose('--cgroup', path)
        first = self.begin_in(path, copy)
        support.wait_until(self.followed, 'the program to be followed')
        first.end()
        self.daemon.json('session', 'new', 'later')
        self.daemon.json('stage', 'later', 'set', UPROBE, '--cgroup', path, '--do', 'count by pid')
        self.daemon.json('commit', 'later')
        self.begin_in(path, copy)
        support.wait_until(lambda: self.daemon.json('session', 'show', 'later')['followed'],
                           'the later session to follow it')

    def test_what_ran_unobserved_ran_within_the_gap_that_is_told(self):
        path = self.make('a')
        self.choose('--cgroup', path)
        self.daemon.process.send_signal(signal.SIGSTOP)
        new = self.begin_in(path, target('hot'))
        self.call(new, 70)
        called_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.daemon.process.send_signal(signal.SIGCONT)
        support.wait_until(self.followed, 'the program to be followed')
        self.call(new)
        [followed] = self.followed()
        self.assertGreater(followed['ts'] + followed['unobserved_us'] * 1000, called_ns)
        self.assertEqual(self.counts(), {new.pid: CALLS})

    def test_files_of_other_mount_namespaces_are_reached_through_the_processes(self):
        path = self.make('a')
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        shutil.copy(target('hot'), folder.name)
        mounts = {'tmpfs': f'mount -t tmpfs none /mnt && cp {folder.name}/hot /mnt',
                  'overlay': f'mount -t overlay none -o lowerdir={folder.name}:/var/empty /mnt'}
        if not os.path.isdir('/var/empty'):
            mounts['overlay'] = mounts['overlay'].replace(':/var/empty', ':/var/tmp')
        programs = []
        for kind, mount in mounts.items():
            words = f'{mount} && echo $$ > {MOUNT / path[1:]}/cgroup.procs && exec /mnt/hot'
            program = support.Program('unshare', '--mount', 'sh', '-c', words)
            self.addCleanup(program.end)
            programs.append(program)
            if kind == 'tmpfs':  # this one exists before the choice, the other one comes later
                self.choose('--cgroup', path)
        support.wait_until(self.followed, 'the program to be followed')
        for program in programs:
            self.call(program)
        self.assertEqual(self.counts(), {program.pid: CALLS for program in programs})

    def test_those_who_share_the_file_and_pay_are_named(self):
        path, elsewhere = self.make('a'), self.make('b')
        self.begin_in(path, target('hot'))
        other = self.begin_in(elsewhere, target('hot'))
        staged = self.choose('--cgroup', path)
        notes = [note for note in staged['notes'] if 'pay for their hits' in note]
        self.assertEqual(len(notes), 1, staged['notes'])
        self.assertIn(f'process {other.pid} in {elsewhere}', notes[0])

    def test_a_library_is_traced_in_the_processes_that_are_there_and_in_later_ones(self):
        path = self.make('a')
        there, outside = self.begin_in(path, target('hot')), self.outside()
        self.choose('--cgroup', path, pattern='uprobe:libc.so*:clock_gettime')
        later = []
        for number in range(1, 3):
            later.append(self.begin_in(path, target('hot')))
            support.wait_until(lambda: len(self.followed()) == number, 'it to be seen')
        for program in (there, outside, *later):
            self.call(program)
        self.assertEqual([one['pid'] for one in self.followed()], [one.pid for one in later])
        self.assertEqual(self.counts(), {one.pid: 2 for one in (there, *later)})

    def test_a_library_that_is_loaded_later_is_traced(self):
        path = self.make('a')
        program = self.begin_in(path, target('loads'))
        self.choose('--cgroup', path, pattern='uprobe:loads_library*:loads_work')
        program.send(f'open {target("loads_library")}')
        program.result()
        support.wait_until(self.followed, 'the library to be armed')
        followed = self.followed()[-1]
        self.assertEqual((followed['object'], followed['pid']), (target('loads_library'), program.pid))
        program.send('call 30')
        program.result()
        self.assertEqual(self.counts(), {program.pid: 30})

    def refused_to_nobody(self, *words):
        """What is said to a user who has no rights."""
        os.chmod(self.daemon.directory.name, 0o755)
        done = subprocess.run([*NOBODY, support.TRACECTL, '--socket', self.daemon.socket, *words],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (4, ''), done.stderr)
        return done.stderr

    def test_a_user_is_refused_what_is_armed_for_all_and_not_its_own_file(self):
        path = self.make('a')
        self.begin_in(path, *NOBODY, target('hot'))
        self.assertIn('is not your file', self.refused_to_nobody('list', UPROBE, '--cgroup', path))

    def test_a_user_is_refused_the_processes_of_others(self):
        path = self.make('a')
        self.begin_in(path, target('hot'))
        for words in ['list', UPROBE], ['count', UPROBE, '--for', '1s']:
            with self.subTest(words=words):
                said = self.refused_to_nobody(*words, '--cgroup', path)
                self.assertIn(f'you may trace no process that runs in {path}', said)

    def test_one_that_is_empty_waits_for_its_first_program(self):
        path = self.make('a')
        staged = self.choose('--cgroup', path)
        self.assertEqual(staged['sites'], 0)
        self.assertIn('when they are executed', ' '.join(staged['notes']))
        new = self.begin_in(path, target('hot'))
        support.wait_until(self.followed, 'the program to be followed')
        self.call(new)
        self.assertEqual(self.counts(), {new.pid: CALLS})

    def test_a_draft_is_kept_while_a_program_is_followed(self):
        path = self.make('a')
        self.choose('--cgroup', path)
        self.daemon.json('stage', 's', 'set', 'uprobe::hot_nop5', '-x', target('hot'))
        new = self.begin_in(path, target('hot'))
        support.wait_until(self.followed, 'the program to be followed')
        self.assertEqual(len(self.daemon.json('session', 'show', 's')['draft']), 2)
        self.call(new)
        self.assertEqual(self.counts(), {new.pid: CALLS})

    def test_what_is_no_more_chosen_is_left_alone(self):
        path = self.make('a')
        there = self.begin_in(path, target('hot'))
        self.choose('--cgroup', path)
        self.call(there)
        self.daemon.json('stage', 's', 'remove', UPROBE, '--cgroup', path)
        self.daemon.json('commit', 's')
        self.begin_in(path, self.copy_of('hot'))
        self.call(there)
        shown = self.daemon.json('session', 'show', 's')
        self.assertEqual((shown['sites'], shown['followed']), (0, []))
        self.assertEqual(self.counts(), {there.pid: CALLS})

    def test_what_is_not_there_is_refused_with_its_name(self):
        path = self.make('a')
        for words, said in ((['--cgroup', path + '/no'], f'there is no cgroup {path}/no'),
                            (['-u', 'no-such'], 'no-such.service has no cgroup'),
                            (['--cgroup', path + '/..'], 'without ..')):
            listed = self.daemon.run('list', UPROBE, *words)
            self.assertEqual(listed.returncode, 6 if 'no' in words[1] else 2, listed)
            self.assertIn(said, listed.stderr)

    def test_a_misspelt_unit_names_the_one_that_is_near(self):
        self.make('tracectl-near.service')
        listed = self.daemon.run('list', UPROBE, '-u', 'tracectl-naer')
        self.assertEqual(listed.returncode, 6, listed)
        self.assertIn('unit tracectl-naer.service has no cgroup now', listed.stderr)
        self.assertIn('; did you mean "tracectl-near.service"?', listed.stderr)

    def test_a_unit_that_is_installed_and_does_not_run_is_known(self):
        folder = pathlib.Path('/run/systemd/system')
        there = [path for path in (folder, folder.parent) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for path in reversed(there):
            self.addCleanup(path.rmdir)
        file = folder / 'tracectl-idle.service'
        file.write_text('[Service]\nExecStart=/bin/true\n')
        self.addCleanup(file.unlink)
        for unit, said in (('tracectl-idle', 'unit tracectl-idle.service does not run: "systemctl start tracectl-idle.service"'),
                           ('tracectl-ilde', '; did you mean "tracectl-idle.service"?')):
            listed = self.daemon.run('list', UPROBE, '-u', unit)
            self.assertEqual(listed.returncode, 6, listed)
            self.assertIn(said, listed.stderr)

    def test_of_several_units_of_a_name_the_nearest_is_meant(self):
        near = self.make('one.service')
        self.make('user.slice/one.service')
        there = self.begin_in(near, target('hot'))
        self.choose('-u', 'one.service')
        self.call(there)
        self.assertEqual(self.counts(), {there.pid: CALLS})
        self.make('two/same.service')
        self.make('three/same.service')
        listed = self.daemon.run('list', UPROBE, '-u', 'same')
        self.assertIn('several units same.service', listed.stderr)


@support.needs_root
@unittest.skipUnless(MOUNT, 'cgroups of version 2 are not mounted')
@support.in_group('units')
class SavedCgroups(service_manager.Saving, CgroupTest):
    options = ('--saved',)

    def check_no_gap(self):
        self.assertNotIn('gap', self.daemon.json('session', 'show', 's'))

    def test_what_runs_there_while_there_is_no_daemon_is_counted(self):
        path = self.make('a')
        there, outside = self.begin_in(path, target('hot')), self.outside()
        self.choose('--cgroup', path)
        self.call(there)
        self.daemon.finish()
        self.call(there)
        later = self.begin_in(path, target('hot'))
        for program in later, outside:
            self.call(program)
        self.daemon.start()
        for program in there, later, outside:
            self.call(program)
        self.assertEqual(self.counts(), {there.pid: 3 * CALLS, later.pid: 2 * CALLS})
        self.check_no_gap()

    def test_a_unit_that_is_started_again_meanwhile_is_traced_from_its_first_call(self):
        path = self.make('system.slice/counted.service')
        first = self.begin_in(path, target('forker'), 'exec', '1', '1')
        self.choose('-u', 'counted', pattern='uprobe::work')
        first.end()
        for kill in signal.SIGTERM, signal.SIGKILL:
            self.daemon.finish(kill)
            self.remove(self.base / 'system.slice/counted.service')
            self.make('system.slice/counted.service')
            self.work_in(path, target('forker'))
            self.daemon.start()
            self.work_in(path, target('forker'))
        counts = self.counts()
        self.assertEqual((len(counts), set(counts.values())), (4, {WORK}))
        self.check_no_gap()

    def test_a_program_that_is_executed_meanwhile_is_armed_and_the_gap_is_told(self):
        path = self.make('a')
        self.begin_in(path, target('hot'))
        self.choose('--cgroup', path)
        copy = self.copy_of('hot')
        self.daemon.finish()
        before_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        new = self.begin_in(path, copy)
        self.call(new, 70)
        called_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.daemon.start()
        support.wait_until(self.followed, 'the program to be followed')
        [followed] = self.followed()
        self.assertEqual((followed['object'], followed['cgroup'], followed['pid']),
                         (copy, path, new.pid))
        self.assertGreater(followed['ts'], before_ns - 10**9 // os.sysconf('SC_CLK_TCK'))
        self.assertLess(followed['ts'], called_ns)
        self.assertGreater(followed['ts'] + followed['unobserved_us'] * 1000, called_ns)
        self.call(new)
        self.assertEqual(self.counts(), {new.pid: CALLS})

    def test_the_first_program_of_an_empty_one_is_found(self):
        path = self.make('a')
        self.choose('--cgroup', path)
        self.daemon.restart(signal.SIGTERM)
        new = self.begin_in(path, target('hot'))
        support.wait_until(self.followed, 'the program to be followed')
        self.call(new)
        self.assertEqual(self.counts(), {new.pid: CALLS})


if __name__ == '__main__':
    unittest.main()
