# SPDX-License-Identifier: BSD-2-Clause
"""Files of other users at a path that root will write to: links, files and pipes at the name of an output, in a
directory in which everybody may create files. The kernel's protection (fs.protected_symlinks) may be off."""

import contextlib
import os
import pathlib
import stat
import tempfile
import threading
import unittest

import support

A_STRANGER = 54321
RECORDING = sorted((support.ROOT / 'tests/recordings').glob('*.tct'))[0]
ROUNDS = 30


@support.needs_root
class OthersLinks(support.DaemonTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.shared = self.folder / 'shared'
        self.shared.mkdir()
        self.shared.chmod(0o1777)
        self.precious = self.folder / 'precious'
        self.precious.write_text('precious')
        self.daemon.json('session', 'new', 's', '--recorder', '1M')

    def commands(self, output):
        """Each writes there: to a file by its descriptor, and to a file that is renamed when it is complete."""
        return [['dump', 's', '-o', str(output)],
                ['export', str(RECORDING), '--to', 'csv', '-o', str(output)]]

    def check_refused(self, output):
        for words in self.commands(output):
            with self.subTest(words[0], kind=output.name):
                done = self.daemon.run(*words)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn(f'belongs to user {A_STRANGER}', done.stderr)

    def strangers(self, name, make):
        path = self.shared / name
        make(path)
        os.chown(path, A_STRANGER, A_STRANGER, follow_symlinks=False)
        return path

    def test_of_others_none_is_written_to(self):
        self.check_refused(self.strangers('link', lambda path: path.symlink_to(self.precious)))
        self.check_refused(self.strangers('to-nothing', lambda path: path.symlink_to(self.folder / 'new')))
        self.check_refused(self.strangers('pipe', os.mkfifo))
        self.check_refused(self.strangers('file', lambda path: path.write_text('theirs')))
        own = self.shared / 'own'
        own.symlink_to('link')  # which belongs to the other user
        self.check_refused(own)
        self.assertEqual(self.precious.read_text(), 'precious')
        self.assertEqual((self.shared / 'file').read_text(), 'theirs')
        self.assertFalse((self.folder / 'new').exists())

    def test_ones_own_and_those_of_the_folder_s_owner_are(self):
        for folder, owner in (self.shared, os.geteuid()), (self.folder, A_STRANGER):
            for words in self.commands(folder / 'link'):
                with self.subTest(words[0], folder=folder):
                    there = self.folder / 'there'
                    there.write_text('')
                    (folder / 'link').symlink_to(there)
                    os.chown(folder / 'link', owner, owner, follow_symlinks=False)
                    done = self.daemon.run(*words)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertTrue((folder / 'link').is_symlink())
                    self.assertGreater(there.stat().st_size, 0)
                    (folder / 'link').unlink()

    def test_nor_is_what_comes_while_it_is_looked(self):
        name, over = self.shared / 'name', threading.Event()

        def swap():
            while not over.is_set():
                other = self.strangers('other', lambda path: path.symlink_to(self.precious))
                os.rename(other, name)
                with contextlib.suppress(FileNotFoundError):  # root's own file may be there
                    name.unlink()
        swapping = threading.Thread(target=swap)
        swapping.start()
        try:
            for _ in range(ROUNDS):
                for words in self.commands(name):
                    done = self.daemon.run(*words)
                    self.assertIn(done.returncode, (0, 1, 4), done.stderr)
        finally:
            over.set()
            swapping.join()
        self.assertEqual(self.precious.read_text(), 'precious')
        self.assertTrue(stat.S_ISREG(self.precious.lstat().st_mode))


if __name__ == '__main__':
    unittest.main()
