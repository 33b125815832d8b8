// SPDX-License-Identifier: BSD-2-Clause
//
// Debug files that the machine does not have, from the servers that the user has configured
// ($DEBUGINFOD_URLS, debuginfod(8)). The client asks, with its user's rights and cache: the daemon
// never speaks to a network.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "daemon/model/stack.h"
#include "daemon/protocol/messages.h"
#include "usdt/object_symbols.h"

struct debuginfod_client;

namespace tracectl {

// Not safe for use by two threads at once.
class DebugFiles {
 public:
  // `quiet`: downloads show no progress.
  explicit DebugFiles(bool quiet);

  // Puts functions and source lines, and what was inlined, where a debug file of the frames' build id
  // says more than the daemon could. Without a server nothing changes; what a server does not have is
  // asked for once. Takes as long as the downloads do.
  Stack completed(const Stack& stack);
  void complete(protocol::ReadReply& reply);

 private:
  struct End {
    void operator()(debuginfod_client* client) const;
  };

  std::vector<Frame> completed(const Frame& frame, bool is_probed);
  std::shared_ptr<ObjectSymbols> file_of(const Frame& frame);
  std::shared_ptr<ObjectSymbols> fetch(const Frame& frame);

  std::unique_ptr<debuginfod_client, End> server_;               // none is configured: null
  std::map<std::string, std::shared_ptr<ObjectSymbols>> known_;  // by build id; null: nobody has it
};

}  // namespace tracectl
