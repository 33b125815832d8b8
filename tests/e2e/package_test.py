# SPDX-License-Identifier: BSD-2-Clause
"""The packages of `make deb` and of the spec for RPM: their contents, and what their installation, an upgrade and
their removal do in a Debian with a systemd."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import container
import support
from installed import dumps_in, newer_package

PACKAGES = ['tracectl', 'tracectld', 'tracectl-exporters', 'python3-tracectl', 'libtracectl-usdt0',
            'libtracectl-usdt-dev']
# Where dpkg, rpm, the journal and the tools for users log what they do.
NOTED = ['/var/lib/dpkg', '/root/.rpmdb', '/var/log', '/tmp', '/var/tmp', '/var/cache/ldconfig']
RPMS = ['tracectl', 'tracectld', 'tracectl-exporters', 'libtracectl-usdt', 'libtracectl-usdt-devel']
SPEC = support.ROOT / 'packaging/rpm/tracectl.spec'
# In place of systemd's macros, which Debian does not have. Those do nothing if their commands fail, and read units
# anew and restart them at the end of the transaction.
MACROS = {
    'systemd_post()': '[ $1 -ne 1 ] || systemctl --no-reload preset %{*}',
    'systemd_preun()': '[ $1 -ne 0 ] || systemctl --no-reload disable --now %{*}',
    'systemd_postun_with_restart()':
        '[ $1 -lt 1 ] || { systemctl daemon-reload && systemctl try-restart %{*}; }',
}


def output_of(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120,
                          **options).stdout


def build_rpms(folder, release):
    """The files of the packages that the spec makes of what is built here."""
    spec = pathlib.Path(folder, 'tracectl.spec')
    spec.write_text(re.sub(r'(?m)^(Release: *).*', rf'\g<1>{release}', SPEC.read_text()))
    defined = {'_sourcedir': support.ROOT, '_topdir': folder, **MACROS}
    options = [word for name, value in defined.items() for word in ('--define', f'{name} {value}')]
    done = subprocess.run(['rpmbuild', '-bb', '--nodeps', *options, spec], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    return sorted(pathlib.Path(folder, 'RPMS').glob(f'*/*-{release}.*.rpm'))


class Contents(unittest.TestCase):
    def test_lintian_finds_no_error(self):
        changes, = (support.BUILD / 'deb').glob('*.changes')
        done = subprocess.run(['lintian', '--fail-on', 'error', '--allow-root', changes],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_version_is_that_of_the_programs(self):
        version = output_of(support.TRACECTL, '--version').split()[-1]
        for name in PACKAGES:
            self.assertEqual(output_of('dpkg-deb', '--field', container.package(name), 'Version'),
                             version + '-1\n')

    def test_the_spec_makes_packages_of_all_that_is_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            made = build_rpms(folder, 1)
            version = output_of(support.TRACECTL, '--version').split()[-1]
            kinds = {name: 'noarch' if name == 'tracectl-exporters' else 'x86_64' for name in RPMS}
            self.assertEqual({path.name for path in made},
                             {f'{name}-{version}-1.{kind}.rpm' for name, kind in kinds.items()})
            self.check_they_install(folder, made)

    def check_they_install(self, folder, rpms):
        """Their installation in an empty root is equal to `make install`, and their removal leaves nothing."""
        root, installed = folder + '/root', folder + '/installed'
        rpm = lambda *words: output_of('rpm', '--root', root, *words)
        subprocess.run(['make', '-C', support.ROOT, 'install', 'DESTDIR=' + installed, 'PREFIX=/usr',
                        'LIBDIR=' + output_of('rpm', '--eval', '%{_libdir}').strip()],
                       check=True, capture_output=True, timeout=300)
        rpm('--initdb')
        database = self.files_below(root)
        rpm('--install', '--nodeps', '--noscripts', *rpms)
        self.assertEqual({re.sub(r'\.gz$', '', name) for name in self.files_below(root) - database
                          if not name.startswith('usr/lib/.build-id/')},  # which rpm makes itself
                         self.files_below(installed))
        self.assertEqual(rpm('--verify', '--nodeps', '--noscripts', '--all'), '')
        rpm('--erase', '--nodeps', '--noscripts', *rpm('--query', '--all').split())
        self.assertEqual(self.files_below(root), database)

    @staticmethod
    def files_below(folder):
        return {path.relative_to(folder).as_posix() for path in pathlib.Path(folder).rglob('*')
                if not path.is_dir() or path.is_symlink()}

    def test_with_the_library_s_packages_programs_are_built_that_run(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in 'libtracectl-usdt0', 'libtracectl-usdt-dev':
                subprocess.run(['dpkg-deb', '--extract', container.package(name), folder], check=True)
            library, = pathlib.Path(folder, 'usr/lib').iterdir()
            program = folder + '/runtime_probes'
            subprocess.run(['gcc', '-Wall', '-Werror', f'-I{folder}/usr/include',
                            f'-I{support.ROOT}', support.ROOT / 'tests/targets/runtime_probes.c',
                            f'-L{library}', '-ltracectl-usdt', '-o', program], check=True)
            done = subprocess.run([program], input='exit\n', capture_output=True, text=True,
                                  env={**os.environ, 'LD_LIBRARY_PATH': str(library)}, timeout=60)
            self.assertTrue(done.stdout.startswith('ready'), done.stderr)
            self.assertIn('libtracectl-usdt.so.0', output_of('readelf', '--dynamic', program))
            self.assertIn('-h', output_of(folder + '/usr/bin/tracectl-usdt', '--help'))

    def test_install_takes_other_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(['make', '-C', support.ROOT, 'install', 'DESTDIR=' + folder,
                            'PREFIX=/opt/tracectl'], check=True, capture_output=True, timeout=300)
            inside = pathlib.Path(folder, 'opt/tracectl')
            unit = (inside / 'lib/systemd/system/tracectld.service').read_text()
            self.assertIn('ExecStart=/opt/tracectl/sbin/tracectld\n', unit)
            self.assertNotIn('/usr/sbin/tracectld', unit)
            self.assertTrue((inside / 'sbin/tracectld').exists())
            self.assertEqual([path.name for path in pathlib.Path(folder).iterdir()], ['opt'])


class Installation(unittest.TestCase):
    UNITS = ['tracectld.service', 'tracectl-join.service', 'tracectl-prometheus.service', 'tracectl-otlp@s.service']

    def setUp(self):
        self.container = container.Container()
        self.addCleanup(self.container.end)
        self.run_there('systemctl', 'is-system-running', '--wait')

    def run_there(self, *words, **options):
        return self.container.run(*words, **options)

    def files(self):
        """All files and directories, files with their sizes."""
        left_out = [word for path in NOTED for word in ('-path', path, '-prune', '-o')]
        listed = self.run_there('find', '/', '-xdev', *left_out, '-type', 'd', '-printf', '%p\\n',
                                '-o', '-printf', '%p %s\\n').splitlines()
        listed += self.run_there('find', '/run', '-xdev', '-name', '*tracectl*').splitlines()
        # /etc/passwd- and similar files are backups from before the last change.
        return {line for line in listed if not re.match(r'/etc/\w+- ', line)}

    def users(self):
        return self.run_there('getent', 'passwd'), self.run_there('getent', 'group')

    def units(self, *states):
        """Our units that systemd knows."""
        listed = self.run_there('systemctl', 'list-units', '--plain', '--no-legend', *states, 'tracectl*')
        return listed.splitlines()

    def processes(self):
        lines = self.run_there('ps', '-e', '--format', 'args=').splitlines()
        return [line for line in lines if 'bin/tracectl' in line]

    def main_pids(self):
        return [int(self.run_there('systemctl', 'show', unit, '-P', 'MainPID')) for unit in self.UNITS]

    def run_everything(self):
        """Runs the daemon, with a session, and the exporters."""
        self.run_there('tracectl', 'session', 'new', 's', '--saved', '--recorder', '1M')
        # As root, because then Python caches its bytecode.
        self.run_there('env', 'PYTHONPATH=/usr/share/tracectl/python', 'python3', '-c', 'import tracectl')
        self.container.path('/etc/default/tracectl-otlp').write_text('OPTIONS="--trace-id tag"\n')
        self.run_there('systemctl', 'enable', '--now', *self.UNITS)

    def check_all_run_anew(self, before):
        after = self.main_pids()
        for unit, old, new in zip(self.UNITS, before, after):
            self.assertNotIn(new, (0, old), unit)

    def build_and_run_program(self):
        """With the installed header, as the container has no compiler."""
        inside = self.container.path('/usr')
        library, = inside.glob('lib/*/libtracectl-usdt.so')
        program = self.container.path('/tmp/runtime_probes')
        subprocess.run(['gcc', f'-I{inside}/include', f'-I{support.ROOT}',
                        support.ROOT / 'tests/targets/runtime_probes.c', f'-L{library.parent}',
                        '-ltracectl-usdt', '-o', program], check=True)
        said = self.run_there('/tmp/runtime_probes', input='exit\n')
        self.assertTrue(said.startswith('ready'), said)


@support.needs_root
class Installed(Installation):
    def test_removed_they_leave_what_users_made_and_purged_nothing(self):
        files, users = self.files(), self.users()
        self.container.install(*map(container.package, PACKAGES))
        self.assertIn('tracectld', self.users()[0])
        self.container.path('/etc/tracectl/tracectld.json').write_text('{"verbose": true}')
        self.run_everything()
        self.build_and_run_program()
        self.assertEqual(self.run_there('tracectl', 'complete', '2', '--', 'count', '-u', 'tracectld.'),
                         ':units\n')
        for file in ('bash-completion/completions/tracectl', 'zsh/vendor-completions/_tracectl',
                     'fish/vendor_completions.d/tracectl.fish'):
            self.run_there('test', '-s', '/usr/share/' + file)
        folder = '/usr/lib/python3/dist-packages/tracectl'
        self.assertEqual(self.run_there('python3', '-c', 'import tracectl; print(tracectl.__file__)'),
                         folder + '/__init__.py\n')
        self.run_there('test', '-e', folder + '/py.typed')
        running = self.main_pids()
        self.assertNotIn(0, running)
        self.container.install(*(newer_package(name, self.container) for name in PACKAGES))
        self.check_all_run_anew(running)
        self.run_there('systemctl', 'kill', '--signal=USR2', 'tracectld')
        dumps = self.container.path('/var/lib/tracectl/dumps')
        support.wait_until(lambda: dumps_in(dumps, 's'), 'a dump')
        self.run_there('dpkg', '--remove', *PACKAGES)
        # Enabled units stay enabled when the packages come back.
        self.assertEqual((self.units('--state=active,activating,failed'), self.processes()), ([], []))
        self.assertNotIn('/run/tracectl', self.files())
        self.assertTrue(list(dumps.glob('s-*.tct')))
        self.run_there('dpkg', '--purge', *PACKAGES)
        self.run_there('sh', '-c', 'rm /root/*.deb')
        self.assertEqual((self.units('--all'), self.processes()), ([], []))
        self.assertEqual(self.files() ^ files, set())
        self.assertEqual(self.users(), users)

    def start(self, *words):
        process = subprocess.Popen(self.container.command(*words), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_an_upgrade_while_tracing_ends_traces_clearly_and_harms_no_target(self):
        self.container.install(container.package('tracectl'), container.package('tracectld'))
        self.run_there('cp', support.target('hot'), '/usr/local/bin')
        target = self.start('/usr/local/bin/hot')
        self.assertIn('ready', target.stdout.readline())
        pid = self.run_there('pidof', '/usr/local/bin/hot').strip()
        trace = self.start('tracectl', 'count', 'uprobe::hot_*', '-p', pid)
        self.assertIn('tracing', trace.stdout.readline())
        code = lambda: support.text_differs(container.children(target.pid)[0], '/usr/local/bin/hot',
                                            self.container.path('/usr/local/bin/hot'))
        self.assertGreater(code(), 0)
        before = self.run_there('systemctl', 'show', 'tracectld', '-P', 'MainPID')
        self.container.install(*(newer_package(name, self.container)
                                 for name in ('tracectl', 'tracectld')))
        said = trace.communicate(timeout=60)[0]
        self.assertEqual((said, trace.returncode),
                         ('tracectl: the daemon has closed the connection\n', 1))
        status = json.loads(self.run_there('tracectl', '--json', 'status'))
        self.assertNotEqual(str(status['pid']), before.strip())
        self.assertEqual(code(), 0)
        target.stdin.write('hot_push 100\n')
        target.stdin.flush()
        self.assertEqual(target.stdout.readline(), 'done\n')
        self.assertEqual(json.loads(target.stdout.readline())['calls'], 100)


@support.needs_root
class InstalledByRpm(Installation):
    """By Debian's rpm, which knows none of the packages that ours need."""

    def rpm(self, *words):
        said = self.run_there('rpm', '--force-debian', '--nodeps', *words)
        self.assertNotIn('scriptlet failed', said)  # it only warns of most of them

    def packages(self, release):
        """The packages of this release, as files in the container."""
        with tempfile.TemporaryDirectory() as folder:
            made = build_rpms(folder, release)
            self.assertEqual(len(made), len(RPMS))
            for rpm in made:
                self.container.path('/root/' + rpm.name).write_bytes(rpm.read_bytes())
        return ['/root/' + rpm.name for rpm in made]

    def enabled(self):
        """Our units that are started at boot."""
        listed = self.run_there('systemctl', 'list-unit-files', '--no-legend', 'tracectl*', check=False)
        return {line.split()[0] for line in listed.splitlines() if line.split()[1] == 'enabled'}

    def left(self, before):
        """The names of what is there and was not before, but for the packages' files."""
        there = (line.split()[0] for line in self.files() - before)
        return {name for name in there if not re.match(r'/root/|/etc/(passwd|group|shadow|gshadow)$', name)}

    def test_removed_they_leave_what_users_made_and_the_daemon_s_user(self):
        presets = self.container.path('/etc/systemd/system-preset')
        presets.mkdir(parents=True, exist_ok=True)
        (presets / '00-test.preset').write_text('enable tracectld.socket\nenable tracectl-prometheus.service\n'
                                                'disable *\n')
        files = self.files()
        self.rpm('--install', *self.packages(1))
        users = self.users()
        self.assertIn('\ntracectld:', users[0])
        self.assertIn('\ntracectl:', users[1])
        self.assertIn('/run/tracectl', self.left(files))
        self.assertEqual((self.enabled(), self.processes()),
                         ({'tracectld.socket', 'tracectl-prometheus.service'}, []))
        self.run_there('systemctl', 'start', 'tracectld.socket')
        self.container.path('/etc/tracectl/tracectld.json').write_text('{"verbose": true}')
        self.run_everything()
        running, enabled = self.main_pids(), self.enabled()
        self.assertNotIn(0, running)
        self.rpm('--upgrade', *self.packages(2))
        self.check_all_run_anew(running)
        self.assertEqual(self.enabled(), enabled)
        self.assertIn('s', self.run_there('tracectl', 'session', 'list').split())
        self.rpm('--erase', *RPMS)
        self.assertEqual((self.units('--state=active,activating,failed'), self.processes()), ([], []))
        self.run_there('systemctl', 'daemon-reload')
        self.assertEqual(self.units('--all'), [])
        self.assertEqual(self.left(files), {'/etc/default/tracectl-otlp', '/etc/tracectl',
                                            '/etc/tracectl/tracectld.json', '/var/lib/tracectl'})
        self.assertEqual(self.users(), users)


if __name__ == '__main__':
    unittest.main()
