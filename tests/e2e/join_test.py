# SPDX-License-Identifier: BSD-2-Clause
"""Containers that are created later join saved sessions that have chosen them by name."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import podman
import service_manager
import support

USER = 65534
AS_USER = ['setpriv', f'--reuid={USER}', f'--regid={USER}', '--clear-groups', '--inh-caps=-all', '--bounding-set=-all']
ASK = 'import json, sys, tracectl; tracectl.connect(sys.argv[1]).call(sys.argv[2], json.loads(sys.argv[3]))'
DENIED = 4  # exit status


@support.needs_root
class Join(podman.Workers, service_manager.Saving):
    def setUp(self):
        super().setUp()
        self.joining = None

    def tracectl(self, *words):
        done = subprocess.run([support.TRACECTL, '--socket', self.daemon.socket, '--json', *words], text=True,
                              capture_output=True, timeout=60, **self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout) if done.stdout else None

    def save_session(self, name, *settings):
        self.tracectl('session', 'new', name, '--saved')
        for setting in settings:
            self.tracectl('stage', name, 'set', 'demo::clear', *setting)
        self.tracectl('commit', name)

    def join(self, first=(), **environment):
        self.joining = subprocess.Popen([*first, support.TRACECTL, '--socket', self.daemon.socket, 'join'], text=True,
                                        stderr=subprocess.PIPE, **(environment or self.environment))
        self.addCleanup(self.joining.communicate)
        self.addCleanup(self.joining.kill)

    def wait_until_joined(self, session, container):
        wanted = f'tracectl: session {session}: traced from now on: {self.cgroup_of(container)}\n'
        said = []
        while wanted not in said:
            said.append(self.joining.stderr.readline())
            self.assertNotEqual(said[-1], '', 'it has ended')
        return said

    def counted(self, name):
        return {row['by']['pid'] for row in self.tracectl('read', name)['rows'] if 'pid' in row.get('by', {})}

    def wait_until_counted(self, name, pids):
        support.wait_until(lambda: pids <= self.counted(name), f'hits of {pids}')

    def start_again(self, name, container):
        self.podman.remove(container)
        return self.start(name)

    def test_one_created_later_is_counted_also_after_the_daemon_was_restarted(self):
        first = self.start('web')
        pids = self.podman.pids_of(first)
        self.save_session('s', ('--container', 'web', '--do', 'count by pid'))
        self.wait_until_counted('s', pids)
        self.join()
        second = self.start_again('web', first)
        pids |= self.podman.pids_of(second)
        self.wait_until_joined('s', second)
        self.wait_until_counted('s', pids)
        self.daemon.restart()
        third = self.start_again('web', second)
        self.wait_until_joined('s', third)
        self.wait_until_counted('s', pids | self.podman.pids_of(third))
        [setting] = self.daemon.json('session', 'show', 's')['settings']
        self.assertEqual(setting['target'], {'pids': [], 'executables': [], 'all': False, 'will_map': [], 'cgroups': [],
                                             'units': [], 'containers': {'names': ['web'], 'pods': [],
                                                                         'cgroups': [self.cgroup_of(third)]}})
        self.assertIn(' --container web ', self.daemon.run('session', 'show', 's').stdout)
        self.joining.send_signal(signal.SIGINT)
        self.assertEqual(self.joining.wait(60), 130)

    def test_what_joined_is_a_line_of_json(self):
        first = self.start('web')
        self.save_session('s', ('--container', 'web', '--do', 'count by pid'))
        joining = subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, '--json', 'join'], text=True,
                                   stdout=subprocess.PIPE, **self.environment)
        self.addCleanup(joining.communicate)
        self.addCleanup(joining.kill)
        second = self.start_again('web', first)
        joined = json.loads(joining.stdout.readline())
        self.assertEqual(joined, {'session': 's', 'cgroups': [self.cgroup_of(second)], 'refused': []})

    def test_a_session_goes_on_whose_container_was_removed_while_no_daemon_ran(self):
        first = self.start('web')
        self.save_session('s', ('--container', 'web', '--do', 'count by pid'))
        for leave in (lambda: None, self.daemon.forget_what_is_armed):
            self.daemon.finish()
            leave()
            self.podman.remove(first)
            self.daemon.start()
            first = self.start('web')
            self.join()
            self.wait_until_counted('s', self.podman.pids_of(first))
            self.assertEqual(self.tracectl('session', 'show', 's')['not_resumed'], [])
            self.joining.kill()

    def test_the_setting_that_was_staged_last_stays_the_one_in_force(self):
        first = self.start('web')
        self.save_session('s', ('--container', 'web', '--do', 'count'), ('--cgroup', '/', '--do', 'count by pid'))
        self.join()
        second = self.start_again('web', first)
        self.wait_until_joined('s', second)
        self.assertEqual([setting['do'] for setting in self.tracectl('session', 'show', 's')['settings']],
                         ['count', 'count by pid'])

    def test_a_draft_is_left_to_its_user(self):
        first = self.start('web')
        self.save_session('s', ('--container', 'web', '--do', 'count by pid'))
        self.tracectl('stage', 's', 'remove', 'demo::clear')
        self.join()
        second = self.start_again('web', first)
        self.assertIn('has a draft', self.joining.stderr.readline())
        shown = self.tracectl('session', 'show', 's')
        self.assertEqual((len(shown['settings']), shown['draft']), (1, []))
        self.tracectl('abort', 's')
        self.wait_until_joined('s', second)
        self.wait_until_counted('s', self.podman.pids_of(second))

    # ---- users ----

    def let_users_in(self):
        os.chmod(self.daemon.directory.name, 0o755)
        os.chmod(self.daemon.socket, 0o666)

    def as_user(self, *words, home='/nonexistent'):
        return subprocess.run([*AS_USER, support.TRACECTL, '--socket', self.daemon.socket, '--json', *words], text=True,
                              capture_output=True, timeout=60, env=os.environ | {'HOME': str(home)})

    def ask_as_user(self, method, request):
        return subprocess.run([*AS_USER, '/usr/bin/python3', '-c', ASK, self.daemon.socket, method, json.dumps(request)],
                              capture_output=True, text=True, timeout=60,
                              env=os.environ | {'PYTHONPATH': str(support.ROOT / 'client/python')})

    def make_session_of_user(self, *setting, home='/nonexistent'):
        for words in ('session', 'new', 'u', '--saved'), ('stage', 'u', 'set', 'demo::clear', *setting), ('commit', 'u'):
            done = self.as_user(*words, home=home)
            self.assertEqual(done.returncode, 0, done.stderr)

    def start_as_user(self, name):
        """With a copy of `demo_worker` that belongs to the user, who may arm it for all that run it."""
        program = self.tree / 'demo_worker'
        if not program.exists():
            shutil.copy(support.target('demo_worker'), program)
            os.chown(program, USER, USER)
        return self.podman.start('--user', f'{USER}:{USER}', '--name', name, '-v', '/usr:/usr:ro', '--rootfs', str(self.tree),
                                 '/demo_worker', '120')

    def test_root_s_command_brings_nobody_s_container_into_the_session_of_a_user(self):
        self.let_users_in()
        first = self.start('web')
        self.save_session('s', ('--container', 'web', '--do', 'count by pid'))
        # The user wants a name that only root can read.
        target = {'containers': {'names': ['web']}}
        for method, request in (('session.create', {'name': 'a', 'saved': True}),
                                ('stage.set', {'session': 'a', 'patterns': ['demo::clear'], 'target': target, 'do': 'count'}),
                                ('stage.commit', {'session': 'a'})):
            done = self.ask_as_user(method, request)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.join()
        second = self.start_again('web', first)
        # Sessions are looked at in the order of their names.
        self.assertNotIn('session a:', ''.join(self.wait_until_joined('s', second)))
        self.wait_until_counted('s', self.podman.pids_of(second))
        shown = self.tracectl('session', 'show', 'a')
        self.assertEqual((shown['settings'][0]['target']['containers']['cgroups'], shown['sites'], shown['hits']), ([], 0, 0))

    def test_a_user_joins_no_cgroup_of_others(self):
        self.let_users_in()
        container = self.start('web')
        target = {'containers': {'names': ['web']}}
        for method, request in (('session.create', {'name': 'a'}),
                                ('stage.set', {'session': 'a', 'patterns': ['demo::clear'], 'target': target, 'do': 'count'}),
                                ('stage.commit', {'session': 'a'})):
            self.assertEqual(self.ask_as_user(method, request).returncode, 0, method)
        cgroup = self.cgroup_of(container)
        refused = self.ask_as_user('stage.join', {'session': 'a', 'containers': {'names': ['web'], 'cgroups': [cgroup]}})
        self.assertIn('may trace no process', refused.stderr)
        shown = self.tracectl('session', 'show', 'a')
        self.assertEqual(shown['settings'][0]['target']['containers']['cgroups'], [])

    def test_a_user_s_session_does_not_trace_a_container_of_others_whoever_stages_it(self):
        self.let_users_in()
        container = self.start('web')
        self.assertEqual(self.as_user('session', 'new', 'u', '--saved').returncode, 0)
        for done in (self.as_user('stage', 'u', 'set', 'demo::clear', '--cgroup', self.cgroup_of(container)),
                     self.daemon.run('stage', 'u', 'set', 'demo::clear', '--container', 'web', **self.environment)):
            self.assertEqual((done.returncode, 'you may trace no process' in done.stderr), (DENIED, True), done.stderr)

    def test_a_user_s_own_containers_join_by_the_user_s_own_command(self):
        self.let_users_in()
        with tempfile.TemporaryDirectory() as home:
            os.chmod(home, 0o755)
            names = pathlib.Path(home, '.local/share/containers/storage/vfs-containers/containers.json')
            names.parent.mkdir(parents=True)

            def start():
                container = self.start_as_user('own')
                self.addCleanup(self.podman.remove, container)
                names.write_text(json.dumps([{'id': container, 'names': ['own']}]))
                return container
            first = start()
            # Until it executes its program it is root's.
            support.wait_until(lambda: self.as_user('list', 'demo::clear', '--container', 'own', home=home).returncode == 0,
                               'the program')
            self.make_session_of_user('--container', 'own', '--do', 'count by pid', home=home)
            self.join(AS_USER, env=os.environ | {'HOME': home})
            self.podman.remove(first)
            second = start()
            self.wait_until_joined('u', second)
            self.wait_until_counted('u', self.podman.pids_of(second))


if __name__ == '__main__':
    unittest.main()
