// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <variant>

#include "daemon/control/answer_writer.h"
#include "daemon/control/commands.h"
#include "daemon/protocol/frames.h"

namespace tracectl {

// An answer that can be long: any thread may write its line later.
struct Unwritten {
  AnswerWriter::Write write;
};

// A requested commit. Commits that come together are done together.
struct AskedCommit {
  protocol::Call call;
  protocol::StageCommit request;
};

// A requested flush. It is answered when the reader of events has got that far.
struct AskedFlush {
  protocol::Call call;
  protocol::SessionFlush request;
};

using Answered = std::variant<Reply, Unwritten, AskedCommit, AskedFlush>;
// Whether the line requests the daemon's status: dispatch() answers that at once, and changes nothing.
bool asks_for_status(std::string_view line);
// `room`: an error if the peer has no room left for answers; requests then fail with it.
Answered dispatch(std::string_view line, Commands& commands, Peer& peer, const Status& room);
Reply reply_to(const AskedFlush& asked, const Result<protocol::FlushReply>& done);
Reply reply_to(const AskedCommit& asked, const Result<protocol::CommitReply>& done);

}  // namespace tracectl
