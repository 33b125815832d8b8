# SPDX-License-Identifier: BSD-2-Clause
"""The exporters as systemd services, installed from their package: without privileges, in their sandbox.
prometheus_test and otlp_test check what they export."""

import json
import re

import container
import installed
import support

PROMETHEUS, OTLP = 'tracectl-prometheus.service', 'tracectl-otlp@s.service'
EXPOSURE = 2.0  # at most, of 10; from systemd-analyze security
METRICS = 'http://127.0.0.1:9752/metrics'  # the exporter's default address
SCRAPE = f'import urllib.request; print(urllib.request.urlopen("{METRICS}", timeout=60).read().decode())'

# Acts as a collector, and prints a line for each span, until its input ends.
RECEIVER = '''
import http.server, json, sys, threading

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.end_headers()
        self.wfile.write(b'{}')
        for resource in body['resourceSpans']:
            for scope in resource['scopeSpans']:
                for span in scope['spans']:
                    print(span['name'].rsplit(':', 1)[1], flush=True)

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(('127.0.0.1', 4318), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print('ready', flush=True)
sys.stdin.read()
'''


def setUpModule():
    installed.boot()
    there = installed.ServiceTest.container
    there.install(container.package('tracectl-exporters'))
    there.run('cp', support.target('spans'), installed.FOLDER)


@support.needs_root
class Exporters(installed.ServiceTest):
    def start_unit(self, unit, options):
        path = self.container.path('/etc/default') / re.match('[a-z-]+', unit)[0]
        path.write_text(f'OPTIONS="{options}"\n')
        self.addCleanup(path.unlink)
        self.addCleanup(self.systemctl, 'stop', unit)
        self.systemctl('start', unit)
        return unit

    def session(self, pid, pattern, do):
        self.tracectl('session', 'new', 's')
        self.tracectl('stage', 's', 'set', '-p', pid, pattern, '--do', do)
        self.tracectl('commit', 's')

    def program(self, name, *words):
        program = support.Program(*self.container.command(f'{installed.FOLDER}/{name}', *words))
        self.addCleanup(program.end)
        return program

    def calls(self, program, times):
        program.send(f'hot_push {times}')
        self.assertEqual(program.result()['calls'], times)

    def log_of(self, unit):
        self.run_there('journalctl', '--sync')
        return self.run_there('journalctl', '--unit', unit)

    def check_rights(self, unit):
        """A user of its own, without capabilities."""
        lines = self.run_there('cat', f'/proc/{self.property("MainPID", unit)}/status').splitlines()
        status = dict(line.split(':\t', 1) for line in lines)
        self.assertNotIn('0', status['Uid'].split())
        group = self.run_there('getent', 'group', 'tracectl').split(':')[2]
        self.assertIn(group, status['Groups'].split())
        for kind in 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb':
            self.assertEqual(int(status[kind], 16), 0, kind)
        self.assertEqual((status['NoNewPrivs'], status['Seccomp']), ('1', '2'))

    def hits(self):
        """The exporter's number of hits of the session."""
        metrics = self.run_there('python3', '-c', SCRAPE)
        found = re.search(r'^tracectl_hits_total\{.*session="s".*\} (\S+)$', metrics, re.M)
        return found and float(found[1])

    def test_metrics_are_served_also_after_the_daemon_was_restarted(self):
        program = self.program('hot')
        unit = self.start_unit(PROMETHEUS, '--session s')
        self.session(program.says_pid, 'u::hot_push', 'count')
        self.calls(program, 1000)
        support.wait_until(lambda: 'listening on' in self.log_of(unit), 'it to listen')
        self.check_rights(unit)
        self.assertEqual(self.hits(), 1000)
        self.systemctl('restart', 'tracectld')
        self.assertIsNone(self.hits())
        self.session(program.says_pid, 'u::hot_push', 'count')
        self.calls(program, 7)
        self.assertEqual(self.hits(), 7)
        self.assertEqual(self.property('NRestarts', unit), '0')

    def test_spans_are_sent(self):
        program = self.program('spans', '50')
        receiver = self.start('python3', '-c', RECEIVER)
        self.assertEqual(receiver.stdout.readline(), 'ready\n')
        self.session(program.says_pid, 'u::spans_serve', 'event, return')
        unit = self.start_unit(OTLP, '--endpoint http://127.0.0.1:4318/v1/traces')
        support.wait_until(lambda: '^C ends it' in self.log_of(unit), 'it to listen')
        self.check_rights(unit)
        program.send('go')
        served = len(program.result())
        self.assertGreater(served, 0)
        self.systemctl('stop', unit)  # sends the spans it has
        self.assertIn(f'{served} spans sent, 0 found the queue full', self.log_of(unit))
        self.assertEqual([receiver.stdout.readline() for _ in range(served)],
                         ['spans_serve\n'] * served)

    def test_the_units_are_free_of_warnings_and_little_is_exposed(self):
        for unit in PROMETHEUS, OTLP:
            self.assertEqual(self.run_there('systemd-analyze', 'verify', '--man=no', unit), '')
            said = self.run_there('systemd-analyze', 'security', unit)
            exposure = float(re.search(r'Overall exposure level for \S+: ([\d.]+)', said)[1])
            self.assertLessEqual(exposure, EXPOSURE, said)
