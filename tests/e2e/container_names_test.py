# SPDX-License-Identifier: BSD-2-Clause
"""Containers of podman, chosen by their names and ids."""

import json
import os
import pathlib
import signal
import subprocess
import unittest

import podman
import support


@support.needs_root
class Containers(support.DaemonTest):
    """Each runs `demo_worker` on the libraries of this machine."""

    def setUp(self):
        super().setUp()
        self.podman = podman.Podman()
        self.addCleanup(self.podman.end)
        self.tree = self.podman.home / 'tree'
        for name in 't', 'usr', 'proc', 'sys', 'dev', 'tmp', 'etc', 'run':
            (self.tree / name).mkdir(parents=True)
        for name in 'bin', 'lib', 'lib64':
            (self.tree / name).symlink_to(f'usr/{name}')
        self.environment = {'env': os.environ | {'HOME': str(self.podman.home)}}

    def start(self, name, *command):
        """The container's id."""
        container = self.podman.start('--name', name, '-v', '/usr:/usr:ro', '-v', f'{support.BUILD}/targets:/t:ro',
                                      '--rootfs', str(self.tree), *(command or ('/t/demo_worker', '120')))
        self.addCleanup(self.podman.remove, container)
        return container

    def counted(self, *choice):
        done = self.daemon.run('--json', 'count', 'demo::clear', '--by', 'pid', '--for', '1s', *choice,
                               **self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {row['by']['pid'] for row in json.loads(done.stdout)['rows']}

    def test_one_of_several_is_traced_by_its_name_or_the_beginning_of_its_id(self):
        first, second = self.start('first'), self.start('second')
        self.assertEqual(self.counted('--container', 'first'), self.podman.pids_of(first))
        self.assertEqual(self.counted('--container', second[:12]), self.podman.pids_of(second))
        self.assertEqual(self.counted('--container', 'first', '--container', 'second'),
                         self.podman.pids_of(first) | self.podman.pids_of(second))

    def test_their_names_are_shown_as_keys(self):
        containers = {name: self.start(name) for name in ('first', 'second')}
        words = 'count', 'demo::clear', '--by', 'container', '--for', '1s', '--container', 'first', '--container', 'second'
        done = self.daemon.run(*words, **self.environment)
        self.assertRegex(done.stdout, r'(?m)^CONTAINER +COUNT')
        self.assertEqual({line.split()[0].strip('"') for line in done.stdout.splitlines() if 'demo_worker' in line},
                         set(containers))
        done = self.daemon.run('--json', *words, **self.environment)
        self.assertEqual({row['by']['container'] for row in json.loads(done.stdout)['rows']},
                         {container[:12] for container in containers.values()})

    def test_one_that_is_created_later_under_the_same_name_is_traced_too(self):
        first = self.start('again')
        before = self.podman.pids_of(first)
        tracing = subprocess.Popen(
            [support.TRACECTL, '--socket', self.daemon.socket, '--json', 'count', 'demo::clear', '--by', 'pid',
             '--interval', '100ms', '--container', 'again'], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            **self.environment)
        self.addCleanup(tracing.communicate)
        self.addCleanup(tracing.kill)

        def wait_for(pids):
            while not pids <= {row['by']['pid'] for row in json.loads(tracing.stdout.readline())['rows']}:
                pass
        wait_for(before)
        self.podman.remove(first)
        # It executes its program after it was found.
        second = self.start('again', 'sh', '-c', 'until [ -e /tmp/go ]; do :; done; exec /t/demo_worker 120')
        said = [tracing.stderr.readline() for _ in range(2)]
        self.assertEqual(said[1], f'tracectl: traced from now on: {self.cgroup_of(second)}\n')
        (self.tree / 'tmp/go').touch()
        wait_for(before | self.podman.pids_of(second))
        tracing.send_signal(signal.SIGINT)
        self.assertEqual(tracing.wait(60), 130)

    def cgroup_of(self, container):
        [pid] = self.podman.pids_of(container)
        return pathlib.Path(f'/proc/{pid}/cgroup').read_text().splitlines()[-1].split(':', 2)[2]

    def test_one_that_does_not_run_is_named_with_those_like_it(self):
        self.start('billing')
        for name, told in (('biling', 'did you mean "billing"?'), ('feed', 'no container feed runs')):
            done = self.daemon.run('count', 'demo::clear', '--container', name, **self.environment)
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn(told, done.stderr)
        self.podman.run('stop', '-t', '0', 'billing')
        done = self.daemon.run('count', 'demo::clear', '--container', 'billing', **self.environment)
        self.assertEqual((done.returncode, 'no container billing runs' in done.stderr), (6, True), done.stderr)

    def test_a_pod_is_told_by_its_namespace(self):
        done = self.daemon.run('count', 'demo::clear', '--pod', 'web-0')
        self.assertEqual((done.returncode, 'NAMESPACE/NAME is wanted' in done.stderr), (2, True), done.stderr)
        done = self.daemon.run('count', 'demo::clear', '--pod', 'shop/web-0', **self.environment)
        self.assertEqual((done.returncode, 'no pod shop/web-0 runs' in done.stderr), (6, True), done.stderr)


if __name__ == '__main__':
    unittest.main()
