// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <variant>

#include "daemon/control/answer_writer.h"
#include "daemon/control/commands.h"
#include "daemon/protocol/frames.h"

namespace tracectl {

// An answer that can be long: its line is still to be written, by any thread.
struct Unwritten {
  AnswerWriter::Write write;
};

// A commit that has been asked for. Those that come together are done together.
struct AskedCommit {
  protocol::Call call;
  protocol::StageCommit request;
};

// A flush that has been asked for: it is answered when the reader of events has come so far.
struct AskedFlush {
  protocol::Call call;
  protocol::SessionFlush request;
};

using Answered = std::variant<Reply, Unwritten, AskedCommit, AskedFlush>;
// Whether it is a request for the daemon's status: dispatch() answers that at once, and changes nothing.
bool asks_for_status(std::string_view line);
// `room`: why no more is done for the peer, if it is not.
Answered dispatch(std::string_view line, Commands& commands, Peer& peer, const Status& room);
Reply reply_to(const AskedFlush& asked, const Result<protocol::FlushReply>& done);
Reply reply_to(const AskedCommit& asked, const Result<protocol::CommitReply>& done);

}  // namespace tracectl
