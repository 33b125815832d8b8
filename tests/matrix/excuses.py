# SPDX-License-Identifier: BSD-2-Clause
"""What cannot hold on a kernel, and why. tests/matrix/run checks this list in both directions: an excused check that
holds is a failure, too."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Excuse:
    check: str    # a step of look.py, or a kernel test
    words: str    # in its message
    reason: str   # the kernel's
    since: tuple = (0, 0)
    until: tuple = (99, 0)  # the first series where it holds
    machine: str = ''       # another than this system's, if it holds elsewhere

    def covers(self, series, check, machine):
        return (check == self.check and self.since <= number_of(series) < self.until and
                self.machine in ('', machine))


def number_of(series):
    return tuple(int(part) for part in series.split('.'))


NO_SESSIONS = 'Linux before 6.13 has no uprobe sessions: returns are seen at the exits of functions'

# They trace functions whose exits are not all known, or ask for the trampoline.
NEED_SESSIONS = [
    'trampoline',
    'Returned.EveryCallIsAReturnOrUnwoundAsTheProgramCountsThem',
    'Returned.ConditionsAndKeysKnowTheResultAndTheArguments',
    'Returned.ATrampolineSeesWhatExitsSee',
    'Returned.ASpecThatFollowsCallsReplacesOneThatDoesNotWithoutASeam',
    'Returned.OfFunctionsThatBeginWithA5ByteNopAreSeenEachWay',
    'Filtered.ProgramsLiveWhoseReturnsAreSeenByTheTrampoline',
    'Graphs.SayWhichCallsAreCutBehind64Trampolines',
    'Graphs.ShowProbesOnlyWhereTheyFireWithin',
    'Graphs.GoOnWhereARootLeavesByAJump',
    'Restarts.CallsThatAreOpenMeanwhileHaveTheirReturns',
    'Emulation.OfFunctionsWhoseReturnsTheTrampolineSees',
]

OF_X86_64 = 'the program that they trace is written in instructions of x86-64'
NEED_X86_64 = [
    'Count.AFunctionThatIsChosenAtRunTimeCountsWhereverItIs',
    'Count.AFunctionThatIsChosenOutOfSightIsRefused',
    'Stacks.AreWholeWhereTheRedZoneIsNotThere',
    'RedZone.WhatCouldCorruptItIsRefusedAndTheRestDoesNoHarm',
    'Forked.ChildrenOfATracedProcessLiveWhereItHasNops',
    'Forked.ChildrenThatAreTracedTooLiveWhereTheyHaveNops',
    'Forked.ChildrenLiveWhoseParentWasTracedAgain',
    'Forked.HitsOfTheEnginesOwnChildAreNobodys',
]

EXCUSES = [
    *(Excuse(check, 'No such file', OF_X86_64, machine='aarch64-linux-gnu') for check in NEED_X86_64),
    *(Excuse(check, 'no uprobe sessions', NO_SESSIONS, until=(6, 13)) for check in NEED_SESSIONS),
    Excuse('verifier.on_site_asleep', 'refused',
           'Linux before 6.4 has no number iterators, which the loops of this program need: memory that is absent is '
           'not waited for', until=(6, 4)),
    Excuse('verifier.on_site_asleep', 'refused',
           'updates of 6.12 place large frames in memory of the CPU and refuse calls of global functions with '
           'preemption disabled: memory that is absent is not waited for', since=(6, 12), until=(6, 15)),
]


def excuse_for(series, check, machine):
    return next((excuse for excuse in EXCUSES if excuse.covers(series, check, machine)), None)
