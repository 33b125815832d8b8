# SPDX-License-Identifier: BSD-2-Clause
"""Debian in a container with its own systemd, for tests that need one.

debootstrap makes its tree once, under .build/, with the libraries that our programs need. Each container
starts from this tree: its changes are in memory, and are lost with it. It sees this project's directory at
the same path, read-only.
"""

import contextlib
import fcntl
import os
import pathlib
import platform
import re
import select
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / '.build'
TREE = BUILD / 'debian'
MADE_OF = BUILD / 'debian.made-of'  # outside the tree, so that an unfinished tree has none
PROGRAMS = [BUILD / 'tracectld', BUILD / 'tracectl']
PACKAGES = ['systemd', 'systemd-sysv', 'dbus', 'procps', 'rpm',
            'python3', 'python3-prometheus-client']  # dependencies that are not linked libraries
MAKE_S = 600
BOOT_S = 60


class Unavailable(unittest.SkipTest):
    """Containers are not possible here."""


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


# ---- the tree ----


def packages_of_libraries():
    """The Debian packages with the libraries of our programs."""
    libraries = re.findall(r'=> (/\S+)', output_of('ldd', *PROGRAMS))
    # Packages list files below /lib or below /usr/lib, which are the same directory.
    paths = {path.removeprefix('/usr') for path in libraries}
    known = subprocess.run(['dpkg-query', '-S', *paths, *('/usr' + path for path in paths)],
                           capture_output=True, text=True, check=False)
    return sorted(set(re.findall(r'^([a-z0-9.+-]+)(?::\w+)?: /', known.stdout, re.M)))


def suite_and_mirror():
    """Those of this system, so that the libraries are those that our programs were linked with."""
    suite = platform.freedesktop_os_release().get('VERSION_CODENAME', '')
    targets = output_of('apt-get', 'indextargets', '--format', '$(CODENAME) $(REPO_URI)',
                        'Created-By: Packages')
    mirrors = [uri for name, uri in map(str.split, targets.splitlines()) if name == suite]
    if not mirrors:
        raise Unavailable(f'apt has no mirror of this system ("{suite}") to make a container from')
    return suite, mirrors[0]


def make_tree(suite, mirror, packages):
    for path in TREE, MADE_OF:
        subprocess.run(['rm', '-rf', '--one-file-system', path], check=True)
    # Mounts that it leaves when it is ended are removed with its mount namespace.
    command = ['unshare', '--mount', 'debootstrap', '--variant=minbase',
               '--include=' + ','.join(packages), suite, TREE, mirror]
    made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=MAKE_S, check=False)
    if made.returncode != 0:
        last = ' '.join(made.stdout.splitlines()[-2:])
        raise Unavailable(f'debootstrap made no tree from {mirror}: {last}')


def tree():
    """The tree's path; the tree is made if there is none, or if it has other packages."""
    for program in 'debootstrap', 'systemd-nspawn':
        if not shutil.which(program):
            raise Unavailable(f'no {program} is installed: scripts/install-deps has it')
    suite, mirror = suite_and_mirror()
    packages = PACKAGES + packages_of_libraries()
    made_of = ' '.join([suite, *packages])
    with open(BUILD / 'debian.lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not MADE_OF.exists() or MADE_OF.read_text() != made_of:
            make_tree(suite, mirror, packages)
            MADE_OF.write_text(made_of)
    return TREE


def package(name):
    """The file of one of our packages, which `make deb` has made."""
    found = list((BUILD / 'deb').glob(f'{name}_*.deb'))
    assert len(found) == 1, f'{len(found)} files of {name} in .build/deb: make deb'
    return found[0]


# ---- cgroups ----


def cgroup_folders():
    """The cgroups of this process in the hierarchies in which a systemd keeps its units."""
    mounts = {}
    with open('/proc/self/mountinfo', encoding='utf-8') as lines:
        for line in lines:
            mount, filesystem = (part.split() for part in line.split(' - '))
            kind = '' if filesystem[0] == 'cgroup2' else filesystem[-1].partition('name=')[2]
            if filesystem[0].startswith('cgroup') and (kind or filesystem[0] == 'cgroup2'):
                mounts[f'name={kind}' if kind else ''] = pathlib.Path(mount[4])
    with open('/proc/self/cgroup', encoding='utf-8') as lines:
        for line in lines:
            _, kind, path = line.rstrip('\n').split(':', 2)
            if kind in mounts:
                yield mounts[kind] / path.lstrip('/')


def remove_cgroup(path):
    for folder, _, _ in os.walk(path, topdown=False):
        os.rmdir(folder)


# ---- containers ----


def children(pid):
    return [int(word) for word in
            pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split()]


class Container:
    """Runs until end(), or until the process that made it ends in any way."""

    def __init__(self):
        if os.geteuid() != 0:
            raise Unavailable('containers need root')
        self.ending = contextlib.ExitStack()
        with contextlib.ExitStack() as undoing:
            undoing.callback(self.end)
            self._boot(tree())
            undoing.pop_all()

    def _boot(self, path):
        directory = self.ending.enter_context(
            tempfile.TemporaryDirectory(prefix='tracectl-', suffix='-debian'))
        name = pathlib.Path(directory).name.replace('_', '-')
        cgroups = [folder / name for folder in cgroup_folders()]
        for folder in cgroups:
            folder.mkdir()
            self.ending.callback(remove_cgroup, folder)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices:
            notices.bind(directory + '/notify')
            log = self.ending.enter_context(open(directory + '/log', 'w+', encoding='utf-8'))
            self.process = subprocess.Popen(
                self._command(path, name, cgroups), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env={**os.environ, 'NOTIFY_SOCKET': directory + '/notify'})
            self.ending.callback(self._kill)
            if not self._is_ready(notices):
                log.seek(0)
                raise Unavailable(f'no container boots: {log.read()[-500:] or "in silence"}')
        nspawn, = children(self.process.pid)
        self.init, = children(nspawn)

    @staticmethod
    def _command(path, name, cgroups):
        enter = 'for folder in $0; do echo $$ >"$folder/cgroup.procs" || exit; done; exec "$@"'
        return [
            'sh', '-c', enter, ' '.join(map(str, cgroups)),
            # nspawn leaves its children when it is killed. As the init of a PID namespace it takes them with
            # it, and setpriv makes it end with this process.
            'setpriv', '--pdeathsig', 'KILL',
            'unshare', '--pid', '--fork', '--kill-child', '--mount-proc',
            'systemd-nspawn', '--quiet', '--boot', '--directory', path, '--machine', name,
            '--volatile=overlay', f'--bind-ro={ROOT}:{ROOT}:norbind',
            '--register=no', '--keep-unit', '--notify-ready=yes', '--console=pipe',
            '--link-journal=no', '--private-network', '--capability=all',
            '--system-call-filter=bpf perf_event_open']

    def _is_ready(self, notices):
        """Waits until it is ready, has ended, or BOOT_S are over."""
        ended = os.pidfd_open(self.process.pid)
        try:
            end = time.monotonic() + BOOT_S
            while (left := end - time.monotonic()) > 0:
                readable, _, _ = select.select([notices, ended], [], [], left)
                if notices not in readable:
                    return False
                if 'READY=1' in notices.recv(4096).decode().splitlines():
                    return True
            return False
        finally:
            os.close(ended)

    def _kill(self):
        nspawns = [os.pidfd_open(pid) for pid in children(self.process.pid)]
        self.process.kill()
        self.process.wait()
        for nspawn in nspawns:
            # It ends after everything in it has ended.
            select.select([nspawn], [], [])
            os.close(nspawn)

    def end(self):
        self.ending.close()

    def command(self, *words):
        """The command to start here in order to run these words in the container."""
        return ['nsenter', '--target', str(self.init), '--all', *map(str, words)]

    def run(self, *words, check=True, **options):
        """Runs a command in the container; returns its output: text, both streams together."""
        done = subprocess.run(self.command(*words), stdout=subprocess.PIPE, text=True, check=False,
                              stderr=subprocess.STDOUT, timeout=120,
                              env={'PATH': '/usr/sbin:/usr/bin:/sbin:/bin'}, **options)
        if check and done.returncode != 0:
            raise AssertionError(f'{" ".join(map(str, words))} exited with {done.returncode}: '
                                 f'{done.stdout}')
        return done.stdout

    def install(self, *packages):
        """Installs package files from here; their dependencies are in the tree."""
        return self.run('dpkg', '--install', *packages)

    def path(self, inside):
        """The path, from here, of a file in the container."""
        return pathlib.Path(f'/proc/{self.init}/root{inside}')
