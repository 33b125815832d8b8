// SPDX-License-Identifier: BSD-2-Clause
//
// Every method of the protocol: one struct in, one struct out. Each struct lists its members once,
// in `fields`; the reader, the writer and the JSON Schema are all made from that list (codec.h).
//
// A member is required in a request unless it is a std::optional, or is listed with f.optional(...)
// and then has its default. Replies have every member except empty std::optionals.
#pragma once

#include "daemon/protocol/messages/daemon.h"
#include "daemon/protocol/messages/errors.h"
#include "daemon/protocol/messages/notifications.h"
#include "daemon/protocol/messages/parts.h"
#include "daemon/protocol/messages/probes.h"
#include "daemon/protocol/messages/recordings.h"
#include "daemon/protocol/messages/results.h"
#include "daemon/protocol/messages/sessions.h"
#include "daemon/protocol/messages/staging.h"
#include "daemon/protocol/messages/values.h"

namespace tracectl::protocol {

template <class... Requests> struct RequestList {};
using AllRequests =
    RequestList<Hello, ProbeList, ProbeInfo, SessionCreate, SessionList, SessionShow, SessionProve,
                SessionBudget, SessionDelete, StageSet, StageRemove, StageCommit, StageGrow,
                StageJoin, StageAbort, SessionPause, SessionResume, SessionRestart, SessionRead,
                SessionFlush, SessionSubscribe, SessionUnsubscribe, RecordStart, RecordShow,
                RecordStop, RecordDump, RecordDumped, DaemonStatus, DaemonStats, DaemonTop,
                DaemonDoctor>;

}  // namespace tracectl::protocol
