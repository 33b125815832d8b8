# SPDX-License-Identifier: BSD-2-Clause
"""The daemon's log without a reader."""

import re
import unittest

import support

LINES = 8000  # more than a pipe and the queue behind it hold


@support.needs_root
class Untaken(unittest.TestCase):
    def test_clients_are_answered_and_the_loss_is_told(self):
        daemon = support.Daemon()
        client = daemon.connect()
        self.addCleanup(client.close)
        client.socket.settimeout(60)
        for _ in range(LINES // 100):
            client.send(b''.join(support.line_of({'jsonrpc': '2.0', 'id': number, 'method': 'session.delete',
                                                  'params': {'session': 'none'}}) for number in range(100)))
            for _ in range(100):
                client.receive()
        self.assertEqual(client.result('daemon.status')['clients'], 1)
        status, log = daemon.end()
        self.assertEqual(status, 0)
        written = len(re.findall('^warning: delete session=none .* failed: ', log, re.MULTILINE))
        lost = sum(map(int, re.findall(r'^warning: (\d+) lines of this log were lost', log, re.MULTILINE)))
        self.assertGreater(lost, 0)
        self.assertEqual(written + lost, LINES)


if __name__ == '__main__':
    unittest.main()
