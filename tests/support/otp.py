# SPDX-License-Identifier: BSD-2-Clause
"""Erlang/OTP with the probes that it has for SystemTap: built once from Debian's source package, under .build/.

The package is fetched with apt's lists and cache below .build/, too: nothing is installed. Only what a virtual machine
needs to run programs is built, without the JIT, which has no probes at calls and returns; the Erlang modules are those
that the source brings along compiled, to build the others.
"""

import fcntl
import os
import shutil
import subprocess

import container

HOME = container.BUILD / 'otp'
TREE = HOME / 'tree'
MADE_OF = HOME / 'made-of'  # outside the tree, so that an unfinished tree has none
KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
OPTIONS = ['--with-dynamic-trace=systemtap', '--enable-bootstrap-only', '--without-javac', '--without-wx',
           '--without-odbc', '--without-ssl', '--without-termcap', '--without-et', '--without-megaco',
           '--disable-sctp', '--disable-esock']  # the second: without the JIT
GOALS = ['erl_interface', 'emulator', 'bootstrap_setup']
MAKE_S = 1000  # four minutes on two processors that have nothing else to do


class Otp:
    """What has been built."""

    def __init__(self, tree):
        self.erl = tree / 'bootstrap/bin/erl'
        [self.beam] = tree.glob('bin/*/beam.smp')
        self.provider_file = tree / 'erts/emulator/beam/erlang_dtrace.d'

    def compile(self, source, directory):
        """Compiles a module to this directory."""
        script = 'case compile:file(hd(init:get_plain_arguments()), [report, {outdir, "."}]) of ' \
                 '{ok, _} -> halt(0); error -> halt(1) end.'
        subprocess.run([self.erl, '-noshell', '-eval', script, '-extra', os.fspath(source).removesuffix('.erl')],
                       cwd=directory, check=True)


def run(command, directory, limit_s=MAKE_S):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL', 'CC', 'CXX', 'CFLAGS', 'CXXFLAGS', 'LDFLAGS')}
    with open(HOME / 'log', 'a', encoding='utf-8') as log:
        try:
            done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=subprocess.STDOUT, timeout=limit_s, check=False, env={
                                      **environment, 'LC_ALL': 'C', 'ERL_TOP': os.fspath(directory)})
        except subprocess.TimeoutExpired:
            done = None
    if done is None or done.returncode != 0:
        last = ' '.join((HOME / 'log').read_text(errors='replace').splitlines()[-3:])
        raise container.Unavailable(f'{" ".join(map(str, command[:2]))}: {last}')


def fetch(suite, mirror):
    """Unpacks the source package; returns its directory."""
    for directory in 'lists/partial', 'cache/archives/partial', 'source':
        (HOME / directory).mkdir(parents=True)
    (HOME / 'sources.list').write_text(f'deb-src [signed-by={KEYRING}] {mirror} {suite} main\n')
    options = [word for setting in (
        f'Dir::Etc::sourcelist={HOME}/sources.list', 'Dir::Etc::sourceparts=-', f'Dir::State::lists={HOME}/lists',
        f'Dir::Cache={HOME}/cache', 'APT::Sandbox::User=root') for word in ('-o', setting)]
    run(['apt-get', *options, 'update'], HOME)
    run(['apt-get', *options, 'source', 'erlang'], HOME / 'source')
    [source] = (path for path in (HOME / 'source').iterdir() if path.is_dir())
    return source


def make_tree(suite, mirror):
    shutil.rmtree(HOME)
    os.rename(fetch(suite, mirror), TREE)  # before it is built, because programs remember where that was
    run(['./configure', *OPTIONS], TREE)
    run(['make', f'-j{os.cpu_count()}', *GOALS], TREE)
    Otp(TREE)  # has all files
    for path in *TREE.rglob('*.o'), *TREE.rglob('*.a'):
        path.unlink()
    for directory in 'lists', 'cache', 'source':
        shutil.rmtree(HOME / directory)


def otp():
    """It is built if there is none, or if it is another one."""
    suite, mirror = container.suite_and_mirror()
    made_of = ' '.join([suite, os.fspath(TREE), *OPTIONS, *GOALS])
    HOME.mkdir(parents=True, exist_ok=True)
    with open(container.BUILD / 'otp.lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not MADE_OF.exists() or MADE_OF.read_text() != made_of:
            make_tree(suite, mirror)
            MADE_OF.write_text(made_of)
    return Otp(TREE)
