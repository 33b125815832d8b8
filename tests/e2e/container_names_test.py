# SPDX-License-Identifier: BSD-2-Clause
"""Containers of podman, chosen by their names and ids."""

import json
import pathlib
import signal
import subprocess
import tempfile
import unittest

import podman
import prometheus_test
import support


@support.needs_root
class Containers(podman.Workers, support.DaemonTest):
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

    def test_metrics_have_their_names(self):
        self.start('first')
        self.daemon.json('session', 'new', 's')
        staged = self.daemon.run('stage', 's', 'set', 'demo::clear', '--container', 'first', '--do', 'count by container',
                                 **self.environment)
        self.assertEqual(staged.returncode, 0, staged.stderr)
        self.daemon.json('commit', 's')
        command = ['env', f'HOME={self.podman.home}', '/usr/bin/python3', prometheus_test.EXPORTER, '--socket',
                   self.daemon.socket, '--listen', '127.0.0.1:0', '--session', 's']
        exporter = prometheus_test.Process(self, command, r'listening on (http://\S+/metrics)$')
        support.wait_until(lambda: 'by_container="first"' in prometheus_test.get(exporter.said), 'its name')

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



# Where the runtimes of Kubernetes keep bundles, the file in one, and the names in this.
CONTAINERD = '/run/containerd/io.containerd.runtime.v2.task/k8s.io', 'config.json', (
    'io.kubernetes.cri.sandbox-namespace', 'io.kubernetes.cri.sandbox-name', 'io.kubernetes.cri.container-name')
CRI_O = '/run/containers/storage/overlay-containers', 'userdata/config.json', (
    'io.kubernetes.pod.namespace', 'io.kubernetes.pod.name', 'io.kubernetes.container.name')
# Runs a command that finds a copy of a directory at that place, and nothing else in /run.
WITH_BUNDLES = 'mount -t tmpfs none /run && mkdir -p "$1" && cp -r "$2"/. "$1" && shift 2 && exec "$@"'


@support.needs_root
class Pods(podman.Workers, support.DaemonTest):
    """Containers of podman in cgroups as those of pods, with the files that the runtimes of Kubernetes write."""

    def start_in_pod(self, uid, name):
        parent = self.podman.parent
        self.podman.parent = f'{parent}/pod{uid}'
        try:
            container = self.start(name)
            return container, self.podman.pids_of(container)
        finally:
            self.podman.parent = parent

    def counted_in(self, pod, runtime, names):
        """The processes in which it counts. `names`: pod and container by id."""
        at, file, notes = runtime
        with tempfile.TemporaryDirectory() as folder:
            for container, (in_pod, name) in names.items():
                config = pathlib.Path(folder, container, file)
                config.parent.mkdir(parents=True)
                config.write_text(json.dumps({'annotations': dict(zip(notes, ('shop', in_pod, name)))}))
            done = subprocess.run(['unshare', '--mount', 'sh', '-c', WITH_BUNDLES, 'sh', at, folder, support.TRACECTL,
                                   '--socket', self.daemon.socket, '--json', 'count', 'demo::clear', '--by', 'pid', '--for',
                                   '1s', '--pod', pod], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {row['by']['pid'] for row in json.loads(done.stdout)['rows']}

    def test_all_containers_of_a_pod_are_traced_and_no_others(self):
        nginx, of_nginx = self.start_in_pod(1, 'nginx')
        # A container of the pod that nobody has named belongs to it, too.
        _, of_sidecar = self.start_in_pod(1, 'sidecar')
        other, of_other = self.start_in_pod(2, 'other')
        names = {nginx: ('web-0', 'nginx'), other: ('web-1', 'nginx')}
        for runtime in CONTAINERD, CRI_O:
            with self.subTest(runtime[0]):
                self.assertEqual(self.counted_in('shop/web-0', runtime, names), of_nginx | of_sidecar)
                self.assertEqual(self.counted_in('shop/web-1', runtime, names), of_other)


if __name__ == '__main__':
    unittest.main()
