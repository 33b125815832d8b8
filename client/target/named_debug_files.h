// SPDX-License-Identifier: BSD-2-Clause
//
// The debug files that the user has named (--debuginfo), opened with the user's own rights. The daemon gets
// descriptors of those that belong to the files in which it looks for probes, and opens none itself.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/target/target_files.h"
#include "daemon/object/object_symbols.h"

namespace tracectl {

class NamedDebugFiles {
 public:
  // `paths`: files, and directories in which debug files are found by build id, as in /usr/lib/debug. Fails if a file
  // cannot be opened, or has no build id.
  static Result<NamedDebugFiles> open(const std::vector<std::string>& paths);

  bool is_empty() const { return files_.empty() && directories_.empty(); }

  // Adds those of the files that were opened for the request, or, if it has none yet, all.
  template <class Request> void add_to(Request& request, OpenedFiles& opened) {
    for (File& file : belonging_to(opened)) {
      request.debug_files.push_back({file.path, file.build_id});
      opened.debug_files.push_back(std::move(file.fd));
    }
  }

  // After all requests. Fails if a file belongs to none that was looked into, and to none that the target has mapped.
  Status check_used(const protocol::TargetPart& target);

  // Null if none has this build id.
  std::shared_ptr<ObjectSymbols> symbols_of(const std::string& build_id,
                                            const std::string& module) const;

 private:
  struct File {
    std::string path;
    std::string build_id;
    Fd fd;
  };

  std::optional<File> file_of(const std::string& build_id) const;
  std::vector<File> belonging_to(const OpenedFiles& opened);
  void note(const OpenedFiles& opened);

  std::vector<File> files_;
  std::vector<std::string> directories_;
  std::map<std::string, std::string> seen_;  // build ids of files, by path
};

}  // namespace tracectl
