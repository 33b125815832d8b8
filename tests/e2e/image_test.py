# SPDX-License-Identifier: BSD-2-Clause
"""The image of `make image`, run by podman as the manifest for Kubernetes says."""

import functools
import json
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

import podman
import support
import yaml

ARCHIVE = support.BUILD / 'image/tracectl.oci.tar'
MANIFEST = support.ROOT / 'packaging/kubernetes/daemonset.yaml'
DOCUMENT = support.ROOT / 'docs/containers.md'
IMAGE = 'localhost/tracectl'
MOST_BYTES = 40_000_000
CALLS = 1000
CGROUPS = '/sys/fs/cgroup'
CAPABILITY = {'SYS_PTRACE': 19, 'PERFMON': 38, 'BPF': 39}  # linux/capability.h


@functools.cache
def documents_of_manifest():
    return {document['kind']: document for document in yaml.safe_load_all(MANIFEST.read_text())}


def pod():
    return documents_of_manifest()['DaemonSet']['spec']['template']['spec']


def container_of_pod():
    container, = pod()['containers']
    return container


def capabilities():
    return container_of_pod()['securityContext']['capabilities']


def manifest_of(archive):
    """Its digest and itself."""
    with tarfile.open(archive) as tar:
        entry, = json.load(tar.extractfile('index.json'))['manifests']
        return entry['digest'], json.load(tar.extractfile('blobs/' + entry['digest'].replace(':', '/')))


def unpack(archive, folder):
    layer, = manifest_of(archive)[1]['layers']
    with tarfile.open(archive) as tar, \
            tarfile.open(fileobj=tar.extractfile('blobs/' + layer['digest'].replace(':', '/'))) as files:
        files.extractall(folder)


@support.needs_root
class Image(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_it_has_less_than_40_megabytes(self):
        self.assertLess(ARCHIVE.stat().st_size, MOST_BYTES)

    def test_it_has_the_two_programs_without_debug_information_and_nothing_else_to_execute(self):
        unpack(ARCHIVE, self.folder)
        files = [path for path in self.folder.rglob('*') if path.is_file() and path.stat().st_mode & 0o111]
        programs = {str(path.relative_to(self.folder)) for path in files if '.so' not in path.name}
        self.assertEqual(programs, {'usr/bin/tracectl', 'usr/sbin/tracectld'})
        for program in programs:
            sections = subprocess.run(['readelf', '-SW', self.folder / program], capture_output=True, text=True,
                                      check=True).stdout
            self.assertNotRegex(sections, r'\.(debug_info|symtab)\b')

    def test_the_same_programs_give_the_same_image(self):
        again = self.folder / 'again.tar'
        subprocess.run([support.ROOT / 'packaging/image/make-image', support.TRACECTLD, support.TRACECTL, again],
                       check=True, timeout=300)
        self.assertEqual(manifest_of(again)[0], manifest_of(ARCHIVE)[0])
        self.assertEqual([path.name for path in self.folder.iterdir()], ['again.tar'])


class Manifest(unittest.TestCase):
    def test_it_is_a_daemon_set_of_one_container(self):
        daemon_set = documents_of_manifest()['DaemonSet']
        namespace = documents_of_manifest()['Namespace']
        self.assertEqual((daemon_set['apiVersion'], namespace['apiVersion']), ('apps/v1', 'v1'))
        self.assertEqual(daemon_set['metadata']['namespace'], namespace['metadata']['name'])
        wanted = daemon_set['spec']['selector']['matchLabels'].items()
        self.assertLessEqual(wanted, daemon_set['spec']['template']['metadata']['labels'].items())
        mounted = {mount['name'] for mount in container_of_pod()['volumeMounts']}
        self.assertEqual(mounted, {volume['name'] for volume in pod()['volumes']})

    def test_it_has_no_more_privileges_than_it_says(self):
        self.assertTrue(pod()['hostPID'])
        self.assertFalse(pod().get('hostNetwork') or pod().get('hostIPC') or pod()['automountServiceAccountToken'])
        whole, own = pod()['securityContext'], container_of_pod()['securityContext']
        self.assertTrue(whole['runAsNonRoot'] and own['readOnlyRootFilesystem'])
        self.assertFalse(own['privileged'] or own['allowPrivilegeEscalation'])
        self.assertEqual(capabilities(), {'drop': ['ALL'], 'add': ['BPF', 'PERFMON', 'SYS_PTRACE']})
        self.assertEqual(whole['seccompProfile'], {'type': 'RuntimeDefault'})
        on_host = {volume['name']: volume['hostPath']['path'] for volume in pod()['volumes'] if 'hostPath' in volume}
        self.assertEqual(list(on_host.values()), [CGROUPS])
        for mount in container_of_pod()['volumeMounts']:
            self.assertTrue(mount['name'] not in on_host or mount['readOnly'], mount)

    def test_its_capabilities_are_those_of_the_unit(self):
        unit = (support.ROOT / 'systemd/tracectld.service').read_text()
        bound = re.search(r'^CapabilityBoundingSet=(.*)', unit, re.M)[1].split()
        self.assertEqual(bound, [f'CAP_{name}' for name in capabilities()['add']])

    def test_its_user_is_in_the_group_of_the_image(self):
        whole = pod()['securityContext']
        users = dict(re.findall(r'^(\w+):x:(\d+:\d+):', (MANIFEST.parents[1] / 'image/passwd').read_text(), re.M))
        groups = dict(re.findall(r'^(\w+):x:(\d+):', (MANIFEST.parents[1] / 'image/group').read_text(), re.M))
        self.assertEqual(users['tracectld'], f'{whole["runAsUser"]}:{whole["runAsGroup"]}')
        self.assertEqual(groups['tracectl'], str(whole['runAsGroup']))

    def test_each_privilege_has_a_row_in_the_document(self):
        rows = re.findall(r'^\| `([^`]+)`', DOCUMENT.read_text(), re.M)
        names = [f'CAP_{name}' for name in capabilities()['add']]
        names += ['hostPID', 'seccompProfile', 'appArmorProfile', CGROUPS]
        self.assertLessEqual(set(names), set(rows))


@support.needs_root
class InAContainer(unittest.TestCase):
    def setUp(self):
        self.podman = podman.Podman()
        self.addCleanup(self.podman.end)
        self.podman.give_no_ambient_capabilities()
        self.podman.run('load', '-q', '-i', ARCHIVE)

    # ---- the manifest, as options of podman ----

    def seccomp_profile(self, allowed=('bpf', 'perf_event_open')):
        """Podman's own. That of Debian 12 allows these calls for CAP_SYS_ADMIN, where newer runtimes allow them for
        CAP_BPF and CAP_PERFMON."""
        profile = json.loads(pathlib.Path('/usr/share/containers/seccomp.json').read_text())
        for rule in profile['syscalls']:
            rule['names'] = [name for name in rule['names'] if name not in allowed]
        profile['syscalls'] = [rule for rule in profile['syscalls'] if rule['names']]
        if allowed:
            profile['syscalls'].append({'names': list(allowed), 'action': 'SCMP_ACT_ALLOW', 'args': []})
        path = self.podman.home / 'seccomp.json'
        path.write_text(json.dumps(profile))
        return str(path)

    def mounts(self):
        volumes = {volume['name']: volume for volume in pod()['volumes']}
        for mount in container_of_pod()['volumeMounts']:
            volume = volumes[mount['name']]
            on_host = volume['hostPath']['path'] if 'hostPath' in volume else self.empty_folder(mount['name'])
            yield f'{on_host}:{mount["mountPath"]}:{"ro" if mount.get("readOnly") else "rw"}'

    def empty_folder(self, name):
        """As the kubelet makes an emptyDir."""
        folder = self.podman.home / 'volumes' / name
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o777)
        return folder

    def options(self, caps=None, user=None, profile=None, host_pid=True, without_mount=None):
        whole, own = pod()['securityContext'], container_of_pod()['securityContext']
        self.assertFalse(own['allowPrivilegeEscalation'])
        self.assertTrue(own['readOnlyRootFilesystem'])
        options = [*self.podman.needed(), '--cap-drop', *[name.lower() for name in own['capabilities']['drop']],
                   '--user', user or f'{whole["runAsUser"]}:{whole["runAsGroup"]}',
                   '--security-opt', 'no-new-privileges', '--read-only',
                   '--security-opt', f'seccomp={profile or self.seccomp_profile()}',
                   '--cgroupns', 'private']  # as Kubernetes has it with cgroups of version 2
        for name in own['capabilities']['add'] if caps is None else caps:
            options += ['--cap-add', f'CAP_{name}']
        for mount in self.mounts():
            if mount.split(':')[1] != without_mount:
                options += ['-v', mount]
        return [*options, '--pid', 'host'] if host_pid and pod()['hostPID'] else options

    def start(self, **changed):
        """The daemon, which listens."""
        daemon = self.podman.run('run', '-d', *self.options(**changed), IMAGE).stdout.strip()
        self.addCleanup(self.podman.remove, daemon)
        support.wait_until(lambda: self.tracectl(daemon, *container_of_pod()['readinessProbe']['exec']['command'][1:],
                                                 check=False).returncode == 0, 'the daemon')
        return daemon

    def refused(self, *words, entry=(), **changed):
        """What a container says that does not start."""
        done = self.podman.run('run', '--rm', *self.options(**changed), *entry, IMAGE, *words, check=False)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr

    def tracectl(self, daemon, *words, check=True):
        done = self.podman.run('exec', daemon, 'tracectl', *words, check=False)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    # ---- programs outside of the container ----

    def program(self):
        program = support.Program(support.target('filtered'), str(CALLS))
        self.addCleanup(program.end)
        return program

    def worker(self, name):
        """`demo_worker` of a file of its own, in another container; its id."""
        own = self.podman.home / name
        own.mkdir()
        shutil.copy2(support.BUILD / 'targets/demo_worker', own)
        container = self.podman.start('--name', name, '-v', f'{own}:/t:ro', '--entrypoint', '/t/demo_worker', IMAGE,
                                      '120')
        self.addCleanup(self.podman.remove, container)
        return container

    # ---- what works ----

    def test_a_program_of_the_host_is_counted_listed_and_recorded(self):
        daemon, program = self.start(), self.program()
        target = ['-p', str(program.pid)]
        listed = json.loads(self.tracectl(daemon, '--json', 'list', 'filtered_*', *target).stdout)['probes']
        self.assertEqual({probe['probe'].rpartition(':')[2] for probe in listed}, {'filtered_leaf', 'filtered_nop5'})
        self.tracectl(daemon, 'session', 'new', 's')
        self.tracectl(daemon, 'stage', 's', 'set', 'filtered_leaf', *target, '--do', 'count')
        self.tracectl(daemon, 'commit', 's')
        recorded = '/var/lib/tracectl/calls.tct'
        with subprocess.Popen(self.podman.command('exec', daemon, 'tracectl', 'record', 'filtered_nop5', *target,
                                                  '-o', recorded), stderr=subprocess.PIPE) as recording:
            self.assertIn(b'tracing 1 probe', recording.stderr.readline())
            program.send('go')
            calls = program.result()['calls']
            program.end()
            recording.communicate(timeout=60)
        row, = json.loads(self.tracectl(daemon, '--json', 'read', 's').stdout)['rows']
        self.assertEqual((row['count'], recording.returncode), (calls, 0))
        shown = self.tracectl(daemon, '--json', 'show', recorded).stdout.splitlines()
        self.assertEqual(sum('probe' in json.loads(line) for line in shown), calls)

    def test_it_has_its_user_and_these_capabilities_and_filters_its_calls(self):
        daemon = self.start()
        number = self.podman.run('inspect', '-f', '{{.State.Pid}}', daemon).stdout.strip()
        status = dict(line.split(':\t', 1) for line in pathlib.Path(f'/proc/{number}/status').read_text().splitlines()
                      if ':\t' in line)
        sets = [{bit for bit in range(64) if int(status[name], 16) >> bit & 1} for name in ('CapEff', 'CapBnd')]
        self.assertEqual(sets, [{CAPABILITY[name] for name in capabilities()['add']}] * 2)
        self.assertEqual(set(status['Uid'].split()), {str(pod()['securityContext']['runAsUser'])})
        self.assertEqual((status['NoNewPrivs'], status['CapAmb'].strip('0')), ('1', ''))
        self.assertEqual(status['Seccomp_filters'], '2')  # that of the runtime, and its own

    def test_who_has_the_socket_on_the_host_uses_it(self):
        self.start()
        program = self.program()
        socket = self.empty_folder('socket') / 'tracectl.sock'
        run = lambda *words: support.run('--socket', str(socket), '--json', *words)
        run('session', 'new', 's')
        run('stage', 's', 'set', 'filtered_leaf', '-p', str(program.pid), '--do', 'count')
        run('commit', 's')
        program.send('go')
        calls = program.result()['calls']
        row, = json.loads(run('read', 's').stdout)['rows']
        self.assertEqual(row['count'], calls)

    def test_another_container_is_chosen_by_its_id_and_named_in_rows(self):
        daemon, worker = self.start(), self.worker('web')
        self.worker('other')
        done = self.tracectl(daemon, '--json', 'count', 'demo::clear', '--by', 'container,pid', '--for', '1s',
                             '--container', worker[:12])
        rows = {(row['by']['container'], row['by']['pid']) for row in json.loads(done.stdout)['rows']}
        self.assertEqual(rows, {(worker[:12], pid) for pid in self.podman.pids_of(worker)})
        self.assertNotIn('pay for their hits', done.stderr)

    def test_another_container_is_not_known_by_its_name(self):
        daemon = self.start()
        self.worker('web')
        done = self.tracectl(daemon, 'count', 'demo::clear', '--container', 'web', check=False)
        self.assertEqual((done.returncode, 'no names of containers can be read here' in done.stderr), (6, True),
                         done.stderr)

    # ---- what fails without each privilege ----

    def test_without_a_capability_it_does_not_start_and_names_it(self):
        for name in capabilities()['add']:
            with self.subTest(name):
                caps = [other for other in capabilities()['add'] if other != name]
                self.assertIn(f'the daemon lacks CAP_{name}: ', self.refused(caps=caps))

    def test_each_capability_is_asked_for(self):
        """Those that loading programs takes by the command itself, without a daemon, and the other by the kernel."""
        program = self.program()
        count = ['--embedded', 'count', 'filtered_leaf', '-p', str(program.pid), '--for', '100ms']
        entry = ['--entrypoint', '/usr/bin/tracectl']
        done = self.podman.run('run', '--rm', *self.options(user='0:0'), *entry, IMAGE, *count, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in capabilities()['add']:
            with self.subTest(name):
                caps = [other for other in capabilities()['add'] if other != name]
                self.assertRegex(self.refused(*count, entry=entry, user='0:0', caps=caps),
                                 f'needs root, or CAP_{name};|not permitted|Permission denied')

    def test_without_hostPID_no_process_of_the_host_is_there(self):
        daemon, program = self.start(host_pid=False), self.program()
        done = self.tracectl(daemon, 'count', 'filtered_leaf', '-p', str(program.pid), check=False)
        self.assertIn(f'process {program.pid} does not exist', done.stderr)

    def test_where_the_runtime_forbids_bpf_it_does_not_start(self):
        self.assertIn('Operation not permitted', self.refused(profile=self.seccomp_profile(allowed=())))

    def test_without_the_cgroups_no_container_is_found(self):
        daemon, worker = self.start(without_mount=CGROUPS), self.worker('web')
        done = self.tracectl(daemon, 'count', 'demo::clear', '--container', worker[:12], check=False)
        self.assertRegex(done.stderr, 'mounted nowhere|no container')


if __name__ == '__main__':
    unittest.main()
