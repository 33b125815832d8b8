// SPDX-License-Identifier: BSD-2-Clause
//
// Names the frames of stacks as the user wants them: by the debug files that the user has named, and by those that
// it downloads from the servers that the user has configured ($DEBUGINFOD_URLS, debuginfod(8)). The client does this,
// with its user's rights and cache: the daemon never uses the network.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "client/options/options.h"
#include "client/target/named_debug_files.h"
#include "daemon/model/stack.h"
#include "daemon/object/object_symbols.h"
#include "daemon/protocol/messages.h"

struct debuginfod_client;

namespace tracectl {

// Not safe for use by two threads at once.
class DebugFiles {
 public:
  // If the options are quiet, downloads show no progress.
  explicit DebugFiles(const CommonOptions& common);

  // Adds functions, source lines and inlined functions where a debug file of the frames' build id says more
  // than the daemon could, and leaves out what the format does not show. A missing file is asked for only once. Takes
  // as long as the downloads.
  Stack completed(const Stack& stack);
  void complete(protocol::ReadReply& reply);

 private:
  struct End {
    void operator()(debuginfod_client* client) const;
  };

  std::vector<Frame> completed(const Frame& frame, bool is_probed);
  std::shared_ptr<ObjectSymbols> file_of(const Frame& frame);
  std::shared_ptr<ObjectSymbols> fetch(const Frame& frame);

  Stack with_names(const Stack& stack);
  std::shared_ptr<ObjectSymbols> download(const Frame& frame);

  StackFormat format_;
  std::optional<NamedDebugFiles> named_;
  std::unique_ptr<debuginfod_client, End> server_;               // null: none is configured
  std::map<std::string, std::shared_ptr<ObjectSymbols>> known_;  // by build id; null: none has it
};

}  // namespace tracectl
