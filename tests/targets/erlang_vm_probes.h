// SPDX-License-Identifier: BSD-2-Clause
//
// The probes of erlang_vm.d.
#pragma once
#include <stdint.h>

#include <tracectl/usdt.h>

TRACECTL_PROBE_DECLARE(erlang, message__queued, (const char*, receiver), (uint32_t, size),
                       (uint32_t, queue_len), (int, token_label), (int, token_previous),
                       (int, token_current), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, message__send, (const char*, sender), (const char*, receiver),
                       (uint32_t, size), (int, token_label), (int, token_previous),
                       (int, token_current), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, bif__entry, (const char*, p), (const char*, mfa), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, global__function__entry, (const char*, p), (const char*, mfa),
                       (int, depth), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, local__function__entry, (const char*, p), (const char*, mfa),
                       (int, depth), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, nif__entry, (const char*, p), (const char*, mfa), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, function__return, (const char*, p), (const char*, mfa), (int, depth),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, bif__return, (const char*, p), (const char*, mfa), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, nif__return, (const char*, p), (const char*, mfa), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, process__spawn, (const char*, p), (const char*, p2),
                       (const char*, mfa), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, process__exit, (const char*, p), (const char*, reason),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, process__link, (const char*, p), (const char*, p2), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, port__link, (const char*, p), (const char*, port), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, process__unlink, (const char*, p), (const char*, p2),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, port__unlink, (const char*, p), (const char*, port), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, process__getting_linked, (const char*, p), (const char*, p2),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, port__getting_linked, (const char*, p), (const char*, port),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, process__getting_unlinked, (const char*, p), (const char*, p2),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, port__getting_unlinked, (const char*, p), (const char*, port),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, process__registered, (const char*, p), (const char*, name),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, port__registered, (const char*, port), (const char*, name),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, process__unregistered, (const char*, p), (const char*, name),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, port__unregistered, (const char*, port), (const char*, name),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, process__scheduled, (const char*, p), (const char*, mfa),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, process__unscheduled, (const char*, p), (const char*, mfa),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, gc_major__start, (const char*, p), (int, need), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, gc_minor__start, (const char*, p), (int, need), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, gc_major__end, (const char*, p), (int, reclaimed), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, gc_minor__end, (const char*, p), (int, reclaimed), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, process__active, (const char*, p), (const char*, mfa),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, process__inactive, (const char*, p), (const char*, mfa),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, port__active, (const char*, port), (const char*, mfa),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, port__inactive, (const char*, port), (const char*, mfa),
                       (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, scheduler__active, (const char*, s), (int, active), (uint64_t, ts));
TRACECTL_PROBE_DECLARE(erlang, scheduler__inactive, (const char*, s), (int, active),
                       (uint64_t, ts));
