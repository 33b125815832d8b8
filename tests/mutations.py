# SPDX-License-Identifier: BSD-2-Clause
"""What tests/mutate takes out of the sources, and the tests that must fail then."""

import dataclasses

STAGING = 'daemon/switching/staging.cpp'
SWITCHING = (STAGING, 'bpf/handover.bpf.h', 'bpf/gate.bpf.h', 'bpf/tracer.bpf.c')
NO_SEAM = 'NoSeam.AThousandReplacementsLoseAndDoubleNothing'
SHRINKING = 'NoSeam.LinksThatLoseSites*'
GOING_OVER = 'OneCommand.MissesNoCallWhereItsHooksComeToDoMore'
WHOLE = 'Switches.OfSitesThatAreArmedWithThemAreWhole'
REFUSED = 'AnotherTracer.WithAnotherSemaphoreIsNamedAlsoWhereNoneWasWanted'
NEXT_COMMIT = 'FailingCommits.TheTargetEndsBeforeItsCommit'
SUMS = 'Aggregates.SumLeastAndGreatestByStringAreTheProgramsOwn'
BUCKETS = 'Aggregates.AHistogramHasTheProgramsOwnBuckets'
PROGRAM_TIMES = 'TimesOfTheProgram.*'
TIMES = 'Returned.TimesLieBetweenTheClocksWithinAndAround'
UNWOUND = 'Returned.EveryCallIsAReturnOrUnwoundAsTheProgramCountsThem'
BYTES = 'Values.OfBytesAreAllOfThemInTheOrderOfMemory'
CALLERS = 'KeyStacks.CallersAreKnownWithoutFramePointersAndBehindTheFunctionsFirstInstruction'
EXECUTED = 'KeyStacks.AreOfTheProgramThatTheProcessExecutedThen'
NOT_SEEN = 'ExecutedStacks.OfAProgramThatNobodyLookedAtInTimeAreNotNamedByTheNext'
RATES = 'Rates.*'
CONDITIONS = 'Conditions.HoldExactlyWhereTheProgramSaysThatTheyDo'
FLUSHED = 'Delivery.OfAHitIsDoneWhenAFlushBehindItReturns'
GIVEN_UP = 'Together.WhatOneSessionGivesUpAndAnotherTakesIsCountedOnce'
TORN = 'Recording.TornAnywhereGivesNothingWrong'
FORGED = 'Recording.DoesNotTakeTextsOfTheProgramForBlocks'
CUT_OFF = 'Recording.CutOffAnywhereLosesOnlyItsEnd'
PAUSE_OF_ALL = 'Pause.OfAllSessionsIsOneSwitch'
GONE = 'Gone.FromTheCode*'
ISOLATION = 'Isolation.*'
FORKED = 'Forked.*'
LATENCIES = 'Latencies.StartsAndEndsAreTheProgramsOwnAcrossThreads'
ABSENT = 'AbsentMemory.ThatAnotherWouldHaveToBringIsNotWaitedFor'
ABSENT_SWITCHED = 'AbsentMemory.SwitchedToOtherProgramsWhileHitsWaitForItLosesNothing'
SLOWEST = 'Latencies.TheSlowestAreThoseThatTookLongest'
RESUMED = 'Latencies.ResumingForgetsWhatMayHaveEndedUnseen'
TAGS = 'Tags.EventsBearTheOneThatTheirThreadHadBefore'
UNSEEN_TAG = 'OwnTagSteps.ATagOfAnEarlierTraceIsOverWhenItWasChangedUnseen'
TOO_MANY_TAGS = 'OwnTags.TheOldestOfTooManyAreUnknown'
SESSIONS_TAG = 'OwnTagSteps.ATagOfTheSessionGoesBeforeTheProgramsOwn'
NO_TAG_THERE = 'OwnTagSteps.WhatStandsInThePlaceOfOneIsNone'
ROOTS_OPEN = 'Graphs.ConditionDecidesWhetherARootOpensAndNotWhatIsBelow'
OTHERS_OPEN = 'Graphs.AreNotBegunByOtherSettings'
LEVELS = 'Graphs.HaveNoMoreLevelsThanAskedFor'
BESIDE = 'Graphs.ShowProbesOnlyWhereTheyFireWithin'
CUT = 'Graphs.SayWhichCallsAreCutBehind64Trampolines'
DEEP = 'Graphs.AreExactToADepthOfTenThousand'
GROWN = 'Growing.ShowWhatIsCalledByPointersWhereItIs'
ASKED_ONCE = 'Notices.OfHitsComeOnceUntilSomebodyListensAgain'
CRASHES_NAMED = 'Notices.OfCrashesNameWhoCrashedAndHow'
CRASH_OF_FILE = 'Notices.OfCrashesComeForThoseChosenByTheirFile'
NO_CRASH = 'Notices.DoNotComeOfOtherEndsNorOfOtherProcesses'
NOBODY_WATCHES = 'Notices.DoNotComeOfCrashesWhereNobodyWatches'
KEPT = 'Kept.IsTheCallWhoseArgumentsMatch'
KEPT_ALONE = 'Kept.OfManyCallsAreThoseThatMatch'
KEPT_WITHIN = 'Kept.OrNotAreProbesThatFireWithin'
KEPT_BEGINNING = 'Kept.IsTheBeginningWhereThereIsNoRoomForAll'
GROWN_WHOLE = 'Growing.LosesAndTearsNoCallThatIsOpenMeanwhile'
GROWN_UNTOLD = 'Growing.CountsNothingThatSomebodyIsShown'
PATHS = 'Paths.CountCallsByThoseAroundThem'
WHOLE_TIME = 'Paths.OwnTimesAreTheTimeOfTheRoots'
NO_ROOM = 'Paths.WithoutRoomAreCountedAsDropped'
JUMPED = 'Graphs.GoOnWhereARootLeavesByAJump'
ROOTS_ALONE = 'Graphs.ShowWhatIsReachedFromTheirRoots'
PAUSED_LISTENS = 'OwnTagSteps.APausedSessionListensToThem'
TAGS_REFUSED = 'OwnTagSteps.AreNotSeenWhereAnotherTracerHasTheirProbe'
ALL_FUNCTIONS = 'OwnTagSteps.AreSeenBesideEveryFunctionOfTheirProgram'
OTHERS_PAY_NOTHING = 'OwnTags.SessionsThatAskForNoTagsDoNotArmTheirProbe'
SILENCE = 'Silence.EndsWithARestart'
TRIGGERS = 'Triggers.LetAPausedSessionSpeakFromTheHitOn'
FOLLOWING = 'Following.OfTheFirstChildLeavesTheOthersOut'
DEEPEST = 'Deepest.OfEachThreadAreTakenWhereItIsDeeperThanEverBefore'
OTHER_STACK = 'Deepest.OnAnotherStackThanTheThreadsOwnNothingIsDeep'
DEEPEST_ANEW = 'Deepest.BeginAnewWithARestart'
TEXTS = 'Compiled/Typed.ProbesFireWithWhatTheProgramPassed/typed_cxx'
LEFT_OUT = 'Budgets.HoldForLaterCommits'
HANDED_OVER = 'StagingTest.ALinkThatLosesASiteIsReplacedBeforeItIsClosed'
ACCESS = 'OwnersAccess.*'
PROOFS = 'ProofsOfProcesses.EndWithAnExec:ProofsOfProcesses.AreToOneSession'
QUOTA_OF_EVENTS = 'Quotas.OfEvents*'
SHARES = 'Keys/SharesOfTables.*count'
RESTARTED = 'Restarts.TenOfThemMissNoCallAndCountNoneTwice'
RESTARTED_EVENTS = 'Restarts.EveryEventThatFittedTheRingsIsDeliveredAndTheRestIsCounted'
RESTARTED_UNSAVED = 'Restarts.OfAnUnsavedSessionNothingIsLeft'
RESTARTED_CALLS = 'Restarts.CallsThatAreOpenMeanwhileHaveTheirReturns'
RESTARTED_PAIRS = 'Restarts.StartsThatWaitMeanwhileFindTheirEnds'
RESTARTED_PAST = 'Restarts.WhatSettingsHadCountedThatWereReplacedIsStillThere'
RESTARTED_SETS = 'RestartsOf.ASetOfProcessesThatWasNotSavedIsEnded'
RESTARTED_OTHERS = 'RestartsOf.OtherSettingsThanThoseInForceDoNotGoOn'
RESTARTED_TRIGGERS = 'RestartsOf.SessionsAreTriggeredByOthers'
RESTARTED_GRAPHS = 'RestartsOf.CallsOfGraphsHaveTheirWays'
LIBRARIES_CLOSED = 'Libraries.ThatAreLoadedAgainAreTracedFromTheirFirstInstruction'
LIBRARIES_REPLACED = 'Libraries.ThatWereReplacedAreAnother'
LIBRARIES_MANY = 'Libraries.AreLookedForTenTimesASecondAtMost'
LIBRARIES_UNFIT = 'Libraries.ThatDoNotFitChangeNothing'
LIBRARIES_LATER = 'Libraries.OfProgramsThatBeginLaterAreTraced'
LIBRARIES_FORKED = 'Libraries.OfChildrenOfAProgramAreTraced'
LIBRARIES_LOOP = 'Libraries.OfALoopAreToldOnceUntilSomebodyLooks'
LIBRARIES_UNTOLD = 'Libraries.AreAwaitedNoMoreWhenTheirSettingIsRemoved'

LOOKED_AT = 'Choice.ProcessesThatEndWhileTheyAreLookedAtAreNoReasonToRefuse'


@dataclasses.dataclass
class Mutation:
    name: str
    file: str
    old: str    # occurs once
    new: str
    tests: str  # a filter of GoogleTest: one of them must fail
    program: str = 'kernel-tests'
    is_short: bool = True


MUTATIONS = [
    Mutation('no-wait-after-the-switch', STAGING,
             '    switching_.wait_for_progress();\n', '', NO_SEAM),
    Mutation('gate-ignored', 'bpf/gate.bpf.h',
             '->generation[hit->epoch & 1]', '->generation[0]', WHOLE),
    Mutation('no-copy-back', STAGING, '  copy_active();\n  reached(', '  reached(', NEXT_COMMIT),
    Mutation('failed-commit-leaves-what-it-staged', STAGING,
             '  if (written_) copy_active();\n', '', REFUSED),
    Mutation('left-out-for-its-budget-until-the-next-commit', 'daemon/sessions/budgets.cpp',
             'is_on_budget(want.setting()) && probes.contains', 'probes.empty() && probes.contains',
             LEFT_OUT),
    Mutation('old-links-not-closed', STAGING,
             '    slots_.links.erase(incarnation);\n', '', GONE),
    Mutation('hooks-of-all-sessions-dropped', STAGING,
             'return hook.session == session; }', 'return hook.session || session; }',
             PAUSE_OF_ALL),
    Mutation('older-link-takes-always', 'bpf/handover.bpf.h',
             '\treturn !take_token(handover, newer, slot);', '\treturn true;', SHRINKING),
    Mutation('older-link-takes-never', 'bpf/handover.bpf.h',
             '\treturn !take_token(handover, newer, slot);', '\treturn false;', SHRINKING,
             is_short=False),
    Mutation('counts-by-settings-it-does-not-serve', 'bpf/gate.bpf.h',
             'if (counts && (__u32)served_by != link) {', 'if (false) {', GOING_OVER, is_short=False),
    Mutation('wait-for-programs-only', STAGING,
             'hands_over() ? Progress::of_hits', 'false ? Progress::of_hits', HANDED_OVER,
             program='unit-tests'),
    Mutation('handover-never-ends', STAGING, '  end_handovers();\n', '', HANDED_OVER,
             program='unit-tests'),
    Mutation('processes-that-have-ended-are-refused', 'daemon/finding/resolver.cpp',
             'if (all_well || !is_as_seen(*file.object, other)) continue;', 'if (all_well) continue;',
             LOOKED_AT),
    Mutation('damaged-blocks-are-read', 'daemon/recording/reader.cpp',
             '!= place.header.checksum', '== 0', TORN, program='unit-tests'),
    Mutation('blocks-of-anybody-are-read', 'daemon/recording/format.cpp',
             'if (header.file_id != file_id)', 'if (file_id == 0)', FORGED, program='unit-tests'),
    Mutation('definitions-behind-what-needs-them', 'daemon/recording/encoder.cpp',
             'for (Block& block : definitions_.take())', 'for (Block& block : std::vector<Block>{})',
             CUT_OFF, program='unit-tests'),
    Mutation('old-counters-forgotten', STAGING, '  retired();\n', '  (void)retired;\n', GIVEN_UP),
    Mutation('old-counters-read-before-the-wait', STAGING,
             '  reached(Step::switch_);\n', '  reached(Step::switch_);\n  retired();\n',
             GIVEN_UP),
    Mutation('flush-returns-at-once', 'daemon/stream/reader.cpp',
             'stream->second.released_ns > asked_ns;', 'asked_ns;', FLUSHED),
    Mutation('pause-stages-nothing', 'daemon/switching/commit.cpp',
             'held.hook.paused = paused_ && !gated_ && !always;', 'held.hook.paused = false;', PAUSE_OF_ALL),
    Mutation('tag-before-the-record', 'bpf/act.bpf.h',
             '\ttake_effect_before(spec);\n', '\ttake_effect_behind(spec);\n\ttake_effect_before(spec);\n', TAGS),
    Mutation('own-tags-are-read-once', 'bpf/own_tags.bpf.h',
             ' && place->serial == serial', '', UNSEEN_TAG),
    Mutation('own-tags-go-before-the-sessions', 'bpf/own_tags.bpf.h',
             '\treturn tag ? tag : number_of_own_tag(session);\n',
             '\t__u32 own = number_of_own_tag(session);\n\n\treturn own ? own : tag;\n', SESSIONS_TAG),
    Mutation('own-tags-come-to-share-numbers', 'bpf/own_tags.bpf.h',
             '(__sync_fetch_and_add(&last_own_tag, 1) + 1) |',
             '((__sync_fetch_and_add(&last_own_tag, 1) + 1) % TC_OWN_TAGS) |', TOO_MANY_TAGS),
    Mutation('whatever-stands-there-is-a-tag', 'bpf/own_tags.bpf.h',
             ' &&\n\t       head->check == (TC_OWN_TAG_CHECK ^ place->state)', '', NO_TAG_THERE),
    Mutation('paused-sessions-learn-no-tags', 'daemon/switching/commit.cpp',
             '  const bool always = held.setting->spec.learns_tags;\n', '  const bool always = false;\n',
             PAUSED_LISTENS),
    Mutation('refused-tags-fail-the-trace', 'daemon/sessions/commits.cpp',
             'if (one.setting().spec.learns_tags)', 'if (false)', TAGS_REFUSED),
    Mutation('sites-of-usdt-probes-are-functions', 'daemon/object/probes.cpp',
             '    if (function.name.starts_with(kSiteOfUsdt)) return false;\n', '', ALL_FUNCTIONS),
    Mutation('tags-are-learnt-for-all', 'daemon/finding/coverage.cpp',
             '    if (!uses_tags(settings[i])) continue;\n', '    (void)uses_tags(settings[i]);\n',
             OTHERS_PAY_NOTHING),
    Mutation('marks-outlive-their-session', 'bpf/marks.bpf.h',
             '\tif (!mark || mark->under != state->marks)\n', '\tif (!mark)\n', SILENCE),
    Mutation('gate-of-a-session-ignored', 'bpf/marks.bpf.h',
             'return hook->flags & TC_GATED && !gate_is_open(hook->session);', 'return false;',
             TRIGGERS),
    Mutation('no-gate-for-the-triggered', 'daemon/sessions/gates.cpp',
             '  commit.set_gated(gated, paused);\n', '  (void)commit;\n', TRIGGERS),
    Mutation('every-child-is-the-first', 'bpf/members.bpf.h',
             'next = __sync_lock_test_and_set(&parent->to_next.words[i], 0);',
             'next = parent->to_next.words[i];', FOLLOWING),
    Mutation('breakpoints-not-kept', 'daemon/kernel/arm.cpp',
             'if (!nops_.offsets.empty()) {', 'if (false) {', FORKED),
    Mutation('whatever-comes-behind-a-jump-was-jumped-to', 'bpf/graph.bpf.h',
             'calls->jumped_to == entry', 'calls->jumped_to', JUMPED),
    Mutation('no-wait-after-the-switch-of-isolated-sessions', STAGING,
             '    switching_.wait_for_progress();\n', '', ISOLATION, is_short=False),
    Mutation('no-copy-back-of-isolated-sessions', STAGING, '  copy_active();\n  reached(', '  reached(', ISOLATION,
             is_short=False),
    Mutation('older-link-takes-always-of-isolated-sessions', 'bpf/handover.bpf.h',
             '\treturn !take_token(handover, newer, slot);', '\treturn true;', ISOLATION,
             is_short=False),
    Mutation('least-of-signed-values-as-of-unsigned', 'bpf/aggregate.bpf.h',
             'is_unsigned ? value : value ^ (1ULL << 63)', 'value', SUMS),
    Mutation('buckets-one-too-low', 'bpf/aggregate.bpf.h',
             'return value ? 2 + log2_of(value) : 1;', 'return value ? 1 + log2_of(value) : 1;',
             BUCKETS),
    Mutation('self-time-is-total-time', 'bpf/calls.bpf.h',
             '\t\taround->within_ns += ended->duration_ns;\n', '\t\t;\n', TIMES),
    Mutation('calls-left-are-returns', 'bpf/calls.bpf.h',
             'calls->ended.kind = TC_RECORD_UNWOUND;', 'calls->ended.kind = TC_RECORD_RETURN;', UNWOUND),
    Mutation('conditions-for-calls-below-a-graphs-root', 'bpf/returns.bpf.h',
             '(!depth && !is_taken(ctx, hook, spec, ASK_THE_MACHINE))',
             '!is_taken(ctx, hook, spec, ASK_THE_MACHINE)', ROOTS_OPEN),
    Mutation('any-call-that-is-followed-opens-a-graph', 'bpf/graph.bpf.h',
             'return calls ? calls->graph_depth : 0;', 'return calls ? calls->depth : 0;',
             OTHERS_OPEN),
    Mutation('one-level-more', 'bpf/returns.bpf.h',
             'depth >= spec->graph_depth)', 'depth > spec->graph_depth)', LEVELS),
    Mutation('graphs-show-probes-outside', 'bpf/act.bpf.h',
             '!(hook->flags & TC_WITHIN_GRAPH) || !is_outside_its_graph(hook)',
             '!is_outside_its_graph(hook) || true', BESIDE),
    Mutation('paths-begin-at-each-call', 'bpf/graph.bpf.h',
             'path_to(so_far, source, spec->session)', 'path_to(0, source, spec->session)', PATHS),
    Mutation('unwound-calls-take-no-time', 'bpf/aggregate.bpf.h',
             'if (is_by_path(aggregate) && !add_to_time(key, ended))', 'if (false)', WHOLE_TIME),
    Mutation('ways-without-room-are-one', 'bpf/graph.bpf.h',
             'return known ? *known : TC_NO_PATH;', 'return known ? *known : 1;', NO_ROOM),
    Mutation('trampolines-without-end', 'bpf/returns.bpf.h',
             'calls->trampolines >= TC_MAX_TRAMPOLINES)', 'false)', CUT),
    Mutation('deep-calls-in-one-block', 'bpf/calls.bpf.h',
             '.block = index / TC_NEAR_CALLS };', '.block = 1 };', DEEP),
    Mutation('what-is-below-opens-graphs', 'daemon/finding/beside.cpp',
             'within.spec.within_graph = true;', 'within.spec.within_graph = false;', ROOTS_ALONE),
    Mutation('each-hit-asks-for-a-dump', 'bpf/notices.bpf.h',
             '!__sync_lock_test_and_set(&state->listens_for_dumps, 0)', 'false', ASKED_ONCE),
    Mutation('each-signal-is-watched', 'bpf/notices.bpf.h',
             'watched->signals >> ((signal - 1) & 63) & 1', '1', NO_CRASH),
    Mutation('each-status-is-watched', 'bpf/notices.bpf.h',
             'watched->statuses[status / 64] >> (status & 63) & 1', '1', NO_CRASH),
    Mutation('all-that-was-watched-is-watched', 'daemon/kernel/notices.cpp',
             'watched.signals, ends.signals,', 'watched.signals, watched.signals | ends.signals,', NOBODY_WATCHES),
    Mutation('sets-of-crashed-processes-forgotten', 'bpf/notices.bpf.h',
             '\t\tnotice->of = member->of;\n', '\t\t;\n', CRASH_OF_FILE),
    Mutation('crash-is-of-whoever', 'daemon/sessions/session_notices.cpp',
             'held.process && held.process->pid() == static_cast<pid_t>(notice.pid)',
             'held.process', NO_CRASH),
    Mutation('own-number-of-another-namespace', 'bpf/notices.bpf.h',
             'level * bpf_core_type_size', '(level + 1) * bpf_core_type_size', CRASHES_NAMED),
    Mutation('whatever-waits-is-kept', 'bpf/ends.bpf.h', '\tif (keeps)\n', '\tif (true)\n', KEPT),
    Mutation('nothing-waits', 'bpf/returns.bpf.h',
             'return wait_for(hook->session, call);', 'return false;', KEPT),
    Mutation('what-did-not-match-waits-on', 'bpf/held.bpf.h',
             '\tblock->kept.byte_count = 0;\n', '', KEPT_ALONE),
    Mutation('probes-within-do-not-wait', 'bpf/stream.bpf.h',
             '!is_waiting(hook->session)', 'true', KEPT_WITHIN),
    Mutation('what-is-kept-has-gaps', 'bpf/held.bpf.h',
             'calls->held_lost ? 0 : ', '', KEPT_BEGINNING),
    Mutation('callees-relative-to-the-instructions-end', 'daemon/object/x86_64/indirect_calls.cpp',
             '*base == Register::rip ? length : 0',
             '*base == Register::rip ? length - 1 : 0', GROWN),
    Mutation('a-root-that-grows-begins-anew', 'daemon/switching/commit.cpp',
             'held.setting->latency == want.setting().latency);',
             'held.setting->latency == want.setting().latency &&\n'
             '       held.setting->graph == want.setting().graph);', GROWN_WHOLE),
    Mutation('callees-are-rows', 'daemon/switching/results.cpp',
             '&& !held.setting->spec.sees_callees', '', GROWN_UNTOLD),
    Mutation('half-of-the-bytes', 'bpf/text.bpf.h',
             'return !bpf_probe_read_user(string->bytes, count,',
             'return !bpf_probe_read_user(string->bytes, count / 2,', BYTES),
    Mutation('caller-taken-for-a-frame-pointer', 'bpf/walk.bpf.h',
             '\tif (words)\n', '\tif (words > TC_MOST_FRAMES)\n', CALLERS),
    Mutation('key-stacks-of-all-that-a-process-executed', 'bpf/key_stack.bpf.h',
             'mixed(mixed(key_stack_seed, pid), image_of_current())', 'mixed(key_stack_seed, pid)', EXECUTED),
    Mutation('stacks-named-by-what-the-process-executes-now', 'daemon/stream/symbolizer.cpp',
             'ProcessImage::of(*process, program.image, files_)',
             'ProcessImage::of(*process, process->image().value_or(0), files_)', NOT_SEEN),
    Mutation('each-hit-is-a-sample', 'bpf/hook.bpf.h',
             '__sync_fetch_and_add(&rate->matched, 1) % spec->sample)', 'false)', RATES),
    Mutation('no-limit', 'bpf/quota.bpf.h', '(__u32)now + count > limit', '!limit', RATES),
    Mutation('each-hit-is-the-deepest', 'bpf/deepest.bpf.h',
             '|| bytes > depth->bytes;', '|| bytes;', DEEPEST),
    Mutation('frames-take-what-their-callees-do', 'daemon/stream/symbolizer.cpp',
             '    stack.frames.back().size_bytes = size_of_frame(stack_pointers, i);\n',
             '    stack.frames.back().size_bytes = size_of_frame(stack_pointers, i ? i - 1 : 0);\n', DEEPEST),
    Mutation('every-stack-is-the-threads-own', 'bpf/own_stack.bpf.h',
             'if (!is_on(&stack, read_register(ctx, TC_STACK_POINTER)))', 'if (false)', OTHER_STACK),
    Mutation('deepest-outlives-a-restart', 'bpf/deepest.bpf.h',
             'depth->under != state->marks || ', '', DEEPEST_ANEW),
    Mutation('signed-compared-as-unsigned', 'bpf/machine.bpf.h',
             '\t\ta ^= sign;\n\t\tb ^= sign;\n', '\t\t(void)sign;\n', CONDITIONS),
    Mutation('hits-wait-for-a-userfaultfd', 'bpf/present.bpf.h',
             ' || has_userfaultfd(vma))', ')', ABSENT),
    Mutation('acts-on-memory-of-another-epoch', 'bpf/present.bpf.h',
             'hit.epoch != under && !any_will_do', 'false', ABSENT_SWITCHED),
    Mutation('ends-leave-their-start', 'bpf/pairs.bpf.h',
             '\tif (!bpf_map_delete_elem(&starts, meeting->key))\n'
             '\t\tgive_room_of(meeting->key->bucket, TC_TABLE_STARTS);\n', '', LATENCIES),
    Mutation('slowest-replaces-the-slowest', 'bpf/pairs.bpf.h',
             'slow_at(stat, i)->duration_ns < slow_at(stat, least)->duration_ns',
             'slow_at(stat, i)->duration_ns > slow_at(stat, least)->duration_ns', SLOWEST),
    Mutation('declared-text-is-an-address', 'daemon/spec/names.cpp',
             'return spec.event && spec.values.empty() && std::ranges::any_of',
             'return spec.event && false && std::ranges::any_of', TEXTS),
    Mutation('views-have-no-end', 'daemon/stream/decoder.cpp',
             '    cut_to_lengths(types, event);\n', '', TEXTS),
    Mutation('resuming-keeps-starts', 'daemon/switching/commit.cpp',
             '      if (!paused) Hooks::forget_starts(one.hook);\n', '', RESUMED),
    Mutation('users-see-every-process', 'bpf/access.bpf.h',
             '\tif (!(hook->flags & TC_OWNED))\n\t\treturn false;\n', '\treturn false;\n', ACCESS),
    Mutation('real-users-ignored', 'bpf/credentials.bpf.h', 'cred->uid.val == owner->uid', '1', ACCESS),
    Mutation('effective-users-ignored', 'bpf/credentials.bpf.h', 'cred->euid.val == owner->uid', '1', ACCESS),
    Mutation('saved-users-ignored', 'bpf/credentials.bpf.h', 'cred->suid.val == owner->uid', '1', ACCESS),
    Mutation('real-groups-ignored', 'bpf/credentials.bpf.h', 'cred->gid.val == owner->gid', '1', ACCESS),
    Mutation('effective-groups-ignored', 'bpf/credentials.bpf.h', 'cred->egid.val == owner->gid', '1', ACCESS),
    Mutation('saved-groups-ignored', 'bpf/credentials.bpf.h', 'cred->sgid.val == owner->gid', '1', ACCESS),
    Mutation('user-namespaces-ignored', 'bpf/access.bpf.h',
             'cred->user_ns->ns.inum == of->owner.user_namespace &&', '1 &&', ACCESS),
    Mutation('capabilities-ignored', 'bpf/access.bpf.h',
             '!(permitted_to(cred) & ~of->owner.capabilities) &&', '1 &&', ACCESS),
    Mutation('proofs-ignored', 'bpf/access.bpf.h',
             'return member->proven.words[word] >> (session % 64) & 1;', 'return true;', PROOFS),
    Mutation('proofs-outlive-an-exec', 'bpf/proofs.bpf.h',
             '(void *)BPF_CORE_READ(task, mm) != memory', 'false', PROOFS),
    Mutation('undumpable-processes-seen', 'bpf/credentials.bpf.h',
             '(flags & DUMPABLE_MASK) == DUMPABLE_BY_USER;', '(flags | DUMPABLE_BY_USER) != 0;', ACCESS),
    Mutation('ends-of-calls-seen-by-all', 'bpf/ends.bpf.h', ' || is_hidden(hook))', ')', ACCESS),
    Mutation('quota-of-events-is-endless', 'bpf/quota.bpf.h',
             '(__u32)now + count > limit', 'false', QUOTA_OF_EVENTS),
    Mutation('shares-ignored', 'bpf/shares.bpf.h',
             'if (__sync_fetch_and_add(used, 1) < share)', 'if (__sync_fetch_and_add(used, 1) < ~0U)',
             SHARES),
    Mutation('no-cost-of-the-kernel', 'daemon/kernel/programs.cpp',
             '  skeleton_.bss->hit_costs = hit_costs_();\n', '', PROGRAM_TIMES),
    Mutation('ends-of-inner-calls-not-left-out', 'bpf/leaves.bpf.h',
             '\tleave_out_end(calls, end);\n', '', PROGRAM_TIMES),
    Mutation('entries-of-inner-calls-not-left-out', 'bpf/returns.bpf.h',
             '\t\tleave_out_entry(calls, begin, followed);\n', '', PROGRAM_TIMES),
    Mutation('entries-not-given-back', 'daemon/kernel/rooms.cpp',
             '__atomic_sub_fetch(&room.rest_used, of_rest, __ATOMIC_SEQ_CST);', '(void)of_rest;', SHARES),
    Mutation('former-counters-forgotten', 'daemon/switching/hooks.cpp',
             '    hook.stat = want.saved->stat;\n    return hook;\n', '', RESTARTED),
    Mutation('former-losses-told-again', 'daemon/kernel/rings.cpp',
             'return {loss.reported, loss.seen_ns};', 'return {0, loss.seen_ns};', RESTARTED_EVENTS),
    Mutation('rings-read-behind-the-end', 'daemon/stream/reader.cpp',
             '  thread_.join();\n  release_all();\n', '  thread_.join();\n', RESTARTED_EVENTS),
    Mutation('unsaved-sessions-stay-armed', 'daemon/sessions/restoring.cpp',
             'change.drop(id, session);', '(void)change, (void)id, (void)session;',
             RESTARTED_UNSAVED),
    Mutation('former-calls-forgotten', 'daemon/switching/hooks.cpp',
             '    if (want.saved)\n      hook.flags |= want.saved->serial << TC_SERIAL_SHIFT;\n    else\n',
             '', RESTARTED_CALLS),
    Mutation('starts-end-with-the-engine', 'daemon/sessions/engine.cpp',
             '  if (saving_.is_on()) hooks_.leave_all();\n', '', RESTARTED_PAIRS),
    Mutation('past-ends-with-the-engine', 'daemon/sessions/restoring.cpp',
             '  session.past = state->past;\n', '', RESTARTED_PAST),
    Mutation('former-sets-stay', 'daemon/finding/set_targets.cpp',
             '  numbers_.restore(numbers);\n  kernel_sets_.end_but(sets_of(numbers));\n',
             '  numbers_.restore(numbers);\n', RESTARTED_SETS),
    Mutation('whatever-settings-go-on', 'daemon/sessions/restoring.cpp',
             'return said_in(setting) == saved.said;', 'return (void)setting, (void)saved, true;',
             RESTARTED_OTHERS),
    Mutation('gates-end-with-the-engine', 'daemon/sessions/restoring.cpp',
             '  session.gated = state->gated;\n', '', RESTARTED_TRIGGERS),
    Mutation('paths-end-with-the-engine', 'daemon/switching/session.h',
             '    f("paths", s.paths);\n', '', RESTARTED_GRAPHS),
    Mutation('closed-libraries-are-disarmed', 'daemon/finding/targets_awaited.cpp',
             '  return add_former_libraries(process, chosen);\n', '  return ok();\n', LIBRARIES_CLOSED),
    Mutation('linkers-heard-once', 'daemon/sessions/awaiting.cpp',
             'session.awaited.linkers) linker->listen();', 'session.awaited.linkers) (void)linker;',
             LIBRARIES_REPLACED),
    Mutation('looks-without-end', 'daemon/sessions/following.cpp',
             'kBetweenLooksNs = 100\'000\'000', 'kBetweenLooksNs = 0', LIBRARIES_MANY),
    Mutation('looks-always-switch', 'daemon/sessions/commits.cpp',
             'options.if_changed && is_none(', 'options.if_changed && false && is_none(',
             LIBRARIES_UNFIT),
    Mutation('execs-of-sets-untold', 'bpf/members.bpf.h',
             '\treport_joining(task, &member.of);\n', '', LIBRARIES_LATER),
    Mutation('forks-of-sets-untold', 'bpf/members.bpf.h',
             '\treport_joining(child, &handed.of);\n', '', LIBRARIES_FORKED),
    Mutation('each-hit-of-a-linker-tells', 'bpf/linkers.bpf.h',
             '!__sync_lock_test_and_set(&linker->listens, 0)', 'false', LIBRARIES_LOOP),
    Mutation('linkers-stay-armed', 'daemon/sessions/awaiting.cpp',
             'awaited.linkers = std::move(intent.linkers);',
             'for (auto& one : intent.linkers) awaited.linkers.push_back(one);', LIBRARIES_UNTOLD),
    Mutation('register-is-every-result', 'daemon/stream/decoder.cpp',
             '  return !result || result->place == Argument::Place::in_register;\n', '  return result.has_value();\n',
             '*ResultsOf.AreShownIfTheirRegisterIsKnownAndElseTheReason*'),
    Mutation('result-of-any-type-in-expressions', 'daemon/spec/names.cpp',
             '  if (!is_readable(type)) return fail(', '  if (false) return fail(',
             'ShownResults.ThatAreInNoIntegerRegisterAreRefusedInExpressions'),
]
