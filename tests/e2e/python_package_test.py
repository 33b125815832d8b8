# SPDX-License-Identifier: BSD-2-Clause
"""The Python package, client/python, as pip installs it, and its notebook, run by Jupyter's kernel with a daemon."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock

import nbclient
import nbformat
import support

CLIENT = support.ROOT / 'client/python'
USER = '''
import tracectl
counts: list[int] = [row['count'] for row in tracectl.connect().session().read()['rows']]
wrong: int = tracectl.connect().sessions()
'''
# What the program has counted, and what the notebook shows of it.
SUMMARY = '''
print(json.dumps({
    'counted': [now - then for now, then in zip(after, before)],
    'counts': dict(zip(map(str, counts['arg0']), map(int, counts['count']))),
    'events': [[probe.rsplit(':', 1)[1], int(generation) if probe.endswith('start') else None, int(pid)]
               for probe, generation, pid in zip(events['probe'], events['arg0'], events['pid'])],
    'wall': [str(moment) for moment in events['wall']], 'times': [int(n) for n in times['count']],
    'least': float(times['min'].min()), 'pid': program.pid, 'status': program.returncode}))
'''


class Installed(unittest.TestCase):
    """By pip in an environment of its own, without a network."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        source, cls.environment = (pathlib.Path(cls.folder.name, name) for name in ('python', 'environment'))
        # Building leaves files in the source.
        shutil.copytree(CLIENT, source, symlinks=True, ignore=shutil.ignore_patterns('build', '*.egg-info'))
        text = (support.ROOT / 'docs/install.md').read_text()
        cls.commands = re.findall(r'^    (python3 -m venv .*|environment/bin/pip install .*)', text, re.M)
        for command in cls.commands:
            words = command.replace('python3 ', '/usr/bin/python3 ', 1) if command.startswith('python3') else command
            words = words.replace('./client/python', str(source))
            done = subprocess.run(words, shell=True, cwd=cls.folder.name, capture_output=True, text=True, timeout=300,
                                  env={**os.environ, 'PIP_NO_INDEX': '1', 'PIP_DISABLE_PIP_VERSION_CHECK': '1'},
                                  check=False)
            assert done.returncode == 0, done.stderr

    def run_there(self, *words):
        return subprocess.run([self.environment / 'bin/python', *words], cwd=self.folder.name, capture_output=True,
                              text=True, timeout=60, check=False)

    def test_the_commands_of_the_manual_install_it_with_the_version_of_the_programs(self):
        self.assertEqual(len(self.commands), 2)
        done = self.run_there('-c', 'import importlib.metadata, tracectl\n'
                              'print(tracectl.__file__, importlib.metadata.version("tracectl"))')
        self.assertEqual(done.returncode, 0, done.stderr)
        path, version = done.stdout.split()
        self.assertTrue(path.startswith(str(self.environment)), path)
        self.assertEqual(version, support.run('--version').stdout.split()[-1])
        self.assertEqual(pathlib.Path(path).read_text(), (CLIENT / 'tracectl.py').read_text())

    def test_its_types_are_checked_in_programs_that_use_it(self):
        program = pathlib.Path(self.folder.name, 'user.py')
        program.write_text(USER)
        done = subprocess.run(['mypy', '--strict', '--cache-dir', '/dev/null', '--python-executable',
                               self.environment / 'bin/python', program], capture_output=True, text=True, timeout=300,
                              cwd=self.folder.name, check=False)
        found = re.findall(r'user.py:(\d+): error: (.*)', done.stdout)
        self.assertEqual([line for line, _ in found], ['4'], done.stdout)
        self.assertIn('expression has type "List[Dict[str, Any]]", variable has type "int"', found[0][1])

    def test_without_pandas_a_frame_says_what_to_install(self):
        # -S: without the packages of Debian.
        site, = self.environment.glob('lib/python*/site-packages')
        done = self.run_there('-S', '-c', f'import sys; sys.path.append({str(site)!r}); import tracectl\n'
                              'tracectl.frame_of([])')
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines()[-1],
                         'ImportError: a frame needs pandas: apt install python3-pandas, or pip install pandas')

    def test_all_that_is_public_is_described(self):
        done = self.run_there('-c', '''
import inspect, tracectl
for name in tracectl.__all__:
    it = getattr(tracectl, name)
    inside = vars(it).items() if inspect.isclass(it) else []
    for of, one in [(name, it), *((f'{name}.{inner}', one) for inner, one in inside if not inner.startswith('_'))]:
        if (inspect.isclass(one) or inspect.isroutine(one) or isinstance(one, property)) and not one.__doc__:
            print(of)
''')
        self.assertEqual((done.returncode, done.stdout), (0, ''), done.stderr)


@support.needs_root
class Notebook(support.DaemonTest):
    def test_it_runs_and_shows_what_the_program_has_counted(self):
        notebook = nbformat.read(CLIENT / 'example.ipynb', as_version=4)
        notebook.cells.append(nbformat.v4.new_code_cell(SUMMARY))
        with tempfile.TemporaryDirectory() as folder:
            environment = {'TRACECTL_SOCKET': self.daemon.socket, 'PYTHONPATH': str(CLIENT), 'HOME': folder,
                           'IPYTHONDIR': folder, 'JUPYTER_RUNTIME_DIR': folder, 'JUPYTER_CONFIG_DIR': folder,
                           'PYTHONDONTWRITEBYTECODE': '1', 'PYDEVD_DISABLE_FILE_VALIDATION': '1'}
            with unittest.mock.patch.dict(os.environ, environment):
                nbclient.NotebookClient(notebook, timeout=60, kernel_name='python3',
                                        resources={'metadata': {'path': folder}}).execute()
        shown = json.loads(notebook.cells[-1].outputs[0].text)
        self.assertEqual(shown['counted'], [3, 2, 1])  # as often as the notebook asks for each generation
        self.assertEqual(shown['counts'], {'0': 3, '1': 2, '2': 1})
        self.assertEqual(shown['events'], [[f'gc__{what}', generation if what == 'start' else None, shown['pid']]
                                           for generation in (0, 1, 2, 2) for what in ('start', 'done')])
        self.assertEqual(shown['wall'], sorted(shown['wall']))
        self.assertEqual(shown['times'], [1, 1, 2])
        self.assertGreater(shown['least'], 0)
        self.assertEqual(shown['status'], 0)
        table, = (cell.outputs[0].data for cell in notebook.cells
                  if cell.cell_type == 'code' and cell.source.endswith('\ncounts'))
        self.assertIn('<table', table['text/html'])
        self.assertEqual(self.daemon.json('session', 'list'), {'sessions': []})


if __name__ == '__main__':
    unittest.main()
