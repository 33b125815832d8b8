# SPDX-License-Identifier: BSD-2-Clause
"""Containers of podman for tests, in a storage and a cgroup of their own. Podman runs so also on machines without
systemd, with cgroups of both versions, without a network and with few rights to raise limits."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

import support


def cgroup_mount():
    mounts = pathlib.Path('/proc/self/mounts').read_text().splitlines()
    return next(pathlib.Path(line.split()[1]) for line in mounts if line.split()[2] == 'cgroup2')


WITHOUT_AMBIENT = """\
#!/usr/bin/python3
import json, sys
config = json.load(sys.stdin)
for name in 'ambient', 'inheritable':
    config['process']['capabilities'].pop(name, None)
json.dump(config, sys.stdout)
"""


class Podman:
    """`end` it after its containers."""

    def __init__(self):
        self.hooks = []  # options
        self._folder = tempfile.TemporaryDirectory()
        self.home = pathlib.Path(self._folder.name)
        self.parent = 'tracectl_' + self.home.name  # a cgroup

    def command(self, *words):
        return ['podman', '--root', self.home / '.local/share/containers/storage', '--runroot', self.home / 'run',
                '--runtime', 'runc', '--storage-driver', 'vfs', '--cgroup-manager', 'cgroupfs', *self.hooks, *words]

    def give_no_ambient_capabilities(self):
        """Podman gives users that are not root the capabilities of --cap-add as ambient ones. Kubernetes does not."""
        hooks = self.home / 'hooks'
        hooks.mkdir()
        program = hooks / 'without-ambient'
        program.write_text(WITHOUT_AMBIENT)
        program.chmod(0o755)
        hook = {'version': '1.0.0', 'hook': {'path': str(program)}, 'when': {'always': True}, 'stages': ['precreate']}
        (hooks / 'hook.json').write_text(json.dumps(hook))
        self.hooks = ['--hooks-dir', hooks]

    def run(self, *words, check=True):
        return subprocess.run(self.command(*words), capture_output=True, text=True, check=check, timeout=120)

    def start(self, *words):
        """The id of a container that goes on running."""
        return self.run('run', '-d', *self.needed(), *words).stdout.strip()

    def needed(self):
        """Options of `run`."""
        return ['--network', 'none', '--cgroup-parent', '/' + self.parent, '--ulimit', 'nofile=1024:1024',
                '--ulimit', 'nproc=1000:1000']

    def remove(self, container):
        self.run('rm', '-f', '-t', '0', container)

    def pids_of(self, container):
        at = cgroup_mount() / self.parent / f'libpod-{container}'
        return {int(pid) for procs in at.glob('**/cgroup.procs') for pid in procs.read_text().split()}

    def end(self):
        """Podman leaves the cgroup, and in it one of its monitors, which end after their containers."""
        for parent in list(pathlib.Path('/sys/fs/cgroup').glob(f'**/{self.parent}')):
            support.wait_until(lambda parent=parent: self._is_removed(parent), f'{parent} to be empty')
        self._folder.cleanup()

    @staticmethod
    def _is_removed(cgroup):
        with contextlib.suppress(OSError):
            for one in sorted(cgroup.glob('**/'), reverse=True):  # those within others first
                one.rmdir()
            return True
        return False


class Workers:
    """For a test case: containers that run `demo_worker` on the libraries of this machine."""

    def setUp(self):
        super().setUp()
        self.podman = Podman()
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

    def cgroup_of(self, container):
        [pid] = self.podman.pids_of(container)
        return pathlib.Path(f'/proc/{pid}/cgroup').read_text().splitlines()[-1].split(':', 2)[2]
