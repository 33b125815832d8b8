# SPDX-License-Identifier: BSD-2-Clause
"""The verdicts of a GoogleTest program by its log, which has each as soon as there is one."""

import dataclasses
import re

WHY_LINES = 4


@dataclasses.dataclass
class Verdict:
    name: str
    verdict: str   # passed, failed, skipped
    text: str      # why
    seconds: float
    said: str      # all that was printed meanwhile


def verdicts(log):
    return [_verdict(part) for part in re.split(r'^\[ RUN      \] ', log, flags=re.M)[1:]]


def _verdict(part):
    name = part.split(maxsplit=1)[0]
    ended = re.search(r'\[ *(OK|FAILED|SKIPPED) *\] ' + re.escape(name) + r'\b.* \((\d+) ms\)', part)
    if not ended:
        return Verdict(name, 'failed', 'the process died in it', 0, part)
    said = part[:ended.start()]
    lines = [line for line in said.splitlines()[1:] if line]
    seconds = int(ended[2]) / 1000
    if ended[1] == 'OK':
        return Verdict(name, 'passed', '', seconds, said)
    # A skip has its place in a line of its own, and then the reason.
    why = lines[1:2] if ended[1] == 'SKIPPED' else lines[:WHY_LINES]
    return Verdict(name, ended[1].lower(), '; '.join(why), seconds, said)
