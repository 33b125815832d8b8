# SPDX-License-Identifier: BSD-2-Clause
"""Containers of podman, chosen by their names and ids."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import support


def cgroup_mount():
    mounts = pathlib.Path('/proc/self/mounts').read_text().splitlines()
    return next(pathlib.Path(line.split()[1]) for line in mounts if line.split()[2] == 'cgroup2')


@support.needs_root
class Containers(support.DaemonTest):
    """Each runs `demo_worker` on the libraries of this machine."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.parent = 'tracectl_' + self.home.name  # a cgroup
        self.tree = self.home / 'tree'
        for name in 't', 'usr', 'proc', 'sys', 'dev', 'tmp', 'etc', 'run':
            (self.tree / name).mkdir(parents=True)
        for name in 'bin', 'lib', 'lib64':
            (self.tree / name).symlink_to(f'usr/{name}')
        self.environment = {'env': os.environ | {'HOME': folder.name}}
        self.addCleanup(self.remove_parent)

    def remove_parent(self):
        """Podman leaves it, and in it a cgroup of its monitors, which end after their containers."""
        for parent in list(pathlib.Path('/sys/fs/cgroup').glob(f'**/{self.parent}')):
            support.wait_until(lambda parent=parent: self.is_removed(parent), f'{parent} to be empty')

    @staticmethod
    def is_removed(cgroup):
        with contextlib.suppress(OSError):
            for child in cgroup.iterdir():
                if child.is_dir():
                    child.rmdir()
            cgroup.rmdir()
            return True
        return False

    def podman(self, *words):
        return subprocess.run(
            ['podman', '--root', self.home / '.local/share/containers/storage', '--runroot', self.home / 'run',
             '--runtime', 'runc', '--storage-driver', 'vfs', '--cgroup-manager', 'cgroupfs', *words],
            capture_output=True, text=True, check=True, timeout=120).stdout.strip()

    def start(self, name):
        """The container's id."""
        container = self.podman('run', '-d', '--network', 'none', '--cgroup-parent', '/' + self.parent, '--ulimit',
                                'nofile=1024:1024', '--ulimit', 'nproc=1000:1000', '--name', name,
                                '-v', '/usr:/usr:ro', '-v', f'{support.BUILD}/targets:/t:ro', '--rootfs',
                                str(self.tree), '/t/demo_worker', '120')
        self.addCleanup(self.podman, 'rm', '-f', '-t', '0', container)
        return container

    def pids_of(self, container):
        at = cgroup_mount() / self.parent / f'libpod-{container}'
        return {int(pid) for procs in at.glob('**/cgroup.procs') for pid in procs.read_text().split()}

    def counted(self, *choice):
        done = self.daemon.run('--json', 'count', 'demo::clear', '--by', 'pid', '--for', '1s', *choice,
                               **self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {row['by']['pid'] for row in json.loads(done.stdout)['rows']}

    def test_one_of_several_is_traced_by_its_name_or_the_beginning_of_its_id(self):
        first, second = self.start('first'), self.start('second')
        self.assertEqual(self.counted('--container', 'first'), self.pids_of(first))
        self.assertEqual(self.counted('--container', second[:12]), self.pids_of(second))
        self.assertEqual(self.counted('--container', 'first', '--container', 'second'),
                         self.pids_of(first) | self.pids_of(second))

    def test_one_that_does_not_run_is_named_with_those_like_it(self):
        self.start('billing')
        for name, told in (('biling', 'did you mean "billing"?'), ('feed', 'no container feed runs')):
            done = self.daemon.run('count', 'demo::clear', '--container', name, **self.environment)
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn(told, done.stderr)
        self.podman('stop', '-t', '0', 'billing')
        done = self.daemon.run('count', 'demo::clear', '--container', 'billing', **self.environment)
        self.assertEqual((done.returncode, 'no container billing runs' in done.stderr), (6, True), done.stderr)

    def test_a_pod_is_told_by_its_namespace(self):
        done = self.daemon.run('count', 'demo::clear', '--pod', 'web-0')
        self.assertEqual((done.returncode, 'NAMESPACE/NAME is wanted' in done.stderr), (2, True), done.stderr)
        done = self.daemon.run('count', 'demo::clear', '--pod', 'shop/web-0', **self.environment)
        self.assertEqual((done.returncode, 'no pod shop/web-0 runs' in done.stderr), (6, True), done.stderr)


if __name__ == '__main__':
    unittest.main()
