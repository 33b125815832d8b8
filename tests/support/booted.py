# SPDX-License-Identifier: BSD-2-Clause
"""Boots one of Debian's kernels in a virtual machine, for tests of features that this machine's kernel lacks.

The machine is emulated, has neither disk nor network, and runs one shell script as its first process, from an initial
RAM disk with busybox, the programs that the test names, and their libraries. apt fetches the packages with its own
lists and cache below .build/, where they are unpacked: nothing is installed.
"""

import contextlib
import dataclasses
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import container

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = ROOT / '.build/kernels'
# One thread runs both CPUs in turn. With a thread for each, one may run half of what the other patches: kernels then
# die of their own int3 while they boot.
EMULATED = ['-accel', 'tcg,thread=single', '-cpu', 'max', '-smp', '2', '-m', '2G', '-nographic', '-no-reboot',
            '-nic', 'none']
COMMAND_LINE = 'panic=-1 mitigations=off quiet rdinit=/init'
RUN_S = 600  # the longest script of these tests takes 45 s on a quiet machine
KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
OTHER_SUITES = ['trixie', 'trixie-backports', 'sid']  # with kernels newer than this system's

INIT = '''#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin:/sbin:/opt
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
mount -t securityfs securityfs /sys/kernel/security
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup2 /sys/fs/cgroup
chmod 1777 /tmp
echo 'root:x:0:0::/:/bin/sh
alice:x:1000:1000::/:/bin/sh' >/etc/passwd
echo 'root:x:0:
alice:x:1000:' >/etc/group
# In a shell of its own, which has no children: the end of one interrupts the wait at the close for what was written to be
# sent, and what has not been sent is dropped.
say() { (echo "$*" >/dev/ttyS1); }
. /script
say end
poweroff -f
'''


@dataclasses.dataclass(frozen=True)
class Machine:
    """What a machine is called, and how it is emulated: its second serial line has the results of scripts."""
    debian: str             # as Debian names it
    emulator: str
    second_line: list       # options of the emulator; {}: the line's character device
    device: str             # of the second line
    command_line: str       # of the kernel, and which line is the console
    options: tuple = ()     # of the emulator


AMD64 = Machine('amd64', 'qemu-system-x86_64', ['-serial', 'chardev:{}'], 'ttyS1',
                'console=ttyS0 no_timer_check tsc=reliable')
# With a cheaper algorithm for pointer authentication, which else takes the emulator most of its time.
ARM64 = Machine('arm64', 'qemu-system-aarch64', ['-device', 'pci-serial,chardev={}'], 'ttyS0', 'console=ttyAMA0',
                ('-machine', 'virt', '-cpu', 'max,pauth-impdef=on'))


# ---- packages ----


@contextlib.contextmanager
def lock():
    """Held by one process and thread at a time, which may change what lies in KERNELS."""
    KERNELS.mkdir(parents=True, exist_ok=True)
    with open(KERNELS / 'lock', 'w', encoding='utf-8') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Packages:
    """Debian's packages, of suites and a machine that need not be this system's."""

    def __init__(self, machine):
        self.suite, mirror = container.suite_and_mirror()
        self.machine = machine
        self.trees = KERNELS / machine.debian
        self.lists = self.trees / 'lists'
        cache = self.trees / 'cache'
        for directory in self.lists / 'partial', cache / 'archives/partial':
            directory.mkdir(parents=True, exist_ok=True)
        sources = self.trees / 'sources.list'
        sources.write_text(''.join(f'deb [signed-by={KEYRING}] {mirror} {name} main\n' for name in [self.suite, *OTHER_SUITES]))
        self.options = [word for setting in (
            f'Dir::Etc::sourcelist={sources}', 'Dir::Etc::sourceparts=-', f'Dir::State::lists={self.lists}',
            f'Dir::Cache={cache}', f'APT::Architecture={machine.debian}', 'APT::Architectures::=',
            f'APT::Architectures::={machine.debian}', 'APT::Sandbox::User=root') for word in ('-o', setting)]

    def _run(self, *command, directory=None):
        done = subprocess.run([command[0], *self.options, *command[1:]], capture_output=True, text=True,
                              check=False, cwd=directory)
        if done.returncode != 0:
            raise container.Unavailable(f'{" ".join(command)}: {done.stderr.strip()[-500:]}')
        return done.stdout

    def update(self):
        self._run('apt-get', 'update')

    def named(self, pattern):
        """The packages whose whole names match."""
        return [name for name in self._run('apt-cache', 'pkgnames').split() if re.fullmatch(pattern, name)]

    def unpack_ours(self, name):
        """A package of this system's suite, whose dependencies are installed here."""
        return self.unpack(name, f'{name}/{self.suite}')

    def unpack(self, name, choice=None):
        """The directory with its files; fetched if necessary. `choice`: the version, in apt's syntax."""
        tree = self.trees / name
        if not tree.exists():
            with tempfile.TemporaryDirectory(dir=self.trees) as directory:
                self._run('apt-get', 'download', choice or name, directory=directory)
                [package] = pathlib.Path(directory).glob('*.deb')
                subprocess.run(['dpkg-deb', '-x', package, directory + '/tree'], check=True)
                os.rename(directory + '/tree', tree)
        return tree


def version_of(name):
    """The version of a kernel's package, for comparisons."""
    return [int(number) for number in re.findall(r'\d+', name.partition('+')[0])]


def series_of_debian():
    """All series of which Debian has a kernel, such as `6.18`."""
    with lock():
        packages = Packages(AMD64)
        packages.update()
        return {'.'.join(map(str, version_of(name)[:2]))
                for name in packages.named(r'linux-(image|binary)-\d+\.\d+\.\d+\S*-cloud-amd64')}


def tree_of_kernel(packages, series):
    """The unpacked package of the newest kernel of a series such as `6.18`. Since 6.19 linux-image-* has no
    image."""
    for kind in 'binary', 'image':
        found = packages.named(rf'linux-{kind}-{re.escape(series)}\.\d\S*-cloud-{packages.machine.debian}')
        if found:
            return packages.unpack(max(found, key=version_of))
    raise container.Unavailable(f'apt lists no kernel {series} in any of {", ".join(OTHER_SUITES)}')


# ---- the file system ----


def libraries_of(program, root=''):
    """The paths of its libraries, and of theirs. `root`: of the tree with another machine's, which cannot run here."""
    if root:
        return libraries_in(root, program, set())
    done = subprocess.run(['ldd', program], capture_output=True, text=True, check=False)
    return re.findall(r'(/\S+\.so\S*) \(', done.stdout)  # static programs have none


def libraries_in(root, program, known):
    said = subprocess.run(['readelf', '-dl', program], capture_output=True, text=True, check=False).stdout
    for name in re.findall(r'NEEDED\).*\[(.*)\]|interpreter: (.*)\]', said):
        path = next(('/' + str(found.relative_to(root)) for found in
                     (pathlib.Path(root, directory, ''.join(name).lstrip('/'))
                      for directory in ('.', 'lib/aarch64-linux-gnu', 'usr/lib/aarch64-linux-gnu')) if found.is_file()), None)
        if path and path not in known:
            known.add(path)
            libraries_in(root, root + path, known)
    return known


def put(tree, file, path, root=''):
    """Copies a file with its libraries, at the paths where its interpreter finds them."""
    for source, to in [(file, path), *((root + library, library) for library in libraries_of(file, root))]:
        target = tree / str(to).lstrip('/')
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


def pack(tree, file):
    names = subprocess.run(['find', '.', '-print0'], cwd=tree, capture_output=True, check=True).stdout
    with open(file, 'wb') as archive:
        subprocess.run(['cpio', '-0', '-o', '-H', 'newc'], cwd=tree, input=names, stdout=archive,
                       stderr=subprocess.DEVNULL, check=True)


# ---- the machine ----


class Kernel:
    """A kernel of this series; `programs`: packages of programs for scripts, as {'apparmor':
    'sbin/apparmor_parser'}. `root`: the tree with the libraries of another machine."""

    def __init__(self, series, programs=None, machine=AMD64, root=''):
        if not shutil.which(machine.emulator):
            raise container.Unavailable(f'no {machine.emulator} is installed: scripts/install-deps has it')
        self.machine = machine
        self.root = root
        with lock():
            packages = Packages(machine)
            packages.update()
            self.tree = tree_of_kernel(packages, series)
            self.programs = {'/bin/busybox': packages.unpack_ours('busybox-static') / 'bin/busybox'}
            for name, path in (programs or {}).items():
                self.programs[f'/{path}'] = packages.unpack_ours(name) / path

    def run(self, script, files, options='', limit_s=RUN_S):
        """Runs the script; returns its results, one for each `say KEY VALUE`; `files`: by their paths in the
        machine; `options`: for the kernel's command line."""
        with tempfile.TemporaryDirectory(prefix='tracectl-') as name:
            directory = pathlib.Path(name)
            pack(self._fill(directory / 'root', script, files), directory / 'initrd')
            console = self._boot(directory, options, limit_s)
            said = (directory / 'said').read_text().splitlines()
            assert said and said[-1] == 'end', f'the script did not end: {said[-3:]}\n{console[-3000:]}'
            return dict(line.partition(' ')[::2] for line in said[:-1])

    def _fill(self, tree, script, files):
        for directory in 'proc', 'sys', 'dev', 'tmp', 'etc', 'run':
            (tree / directory).mkdir(parents=True)
        for path, file in {**self.programs, **files}.items():
            put(tree, file, path, self.root)
        (tree / 'script').write_text(script)
        (tree / 'init').write_text(INIT.replace('/dev/ttyS1', f'/dev/{self.machine.device}'))
        (tree / 'init').chmod(0o755)
        return tree

    def _boot(self, directory, options, limit_s):
        [image] = self.tree.rglob('vmlinuz*')
        command = ['setpriv', '--pdeathsig', 'KILL', self.machine.emulator, *EMULATED, *self.machine.options,
                   '-kernel', image, '-initrd', directory / 'initrd',
                   '-append', f'{COMMAND_LINE} {self.machine.command_line} {options}',
                   '-serial', 'stdio', '-chardev', f'file,id=said,path={directory}/said',
                   *(word.format('said') for word in self.machine.second_line), '-monitor', 'none']
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=limit_s, check=False)
            console = done.stdout
        except subprocess.TimeoutExpired as expired:
            console = expired.stdout or b''
        return console.decode(errors='replace')
