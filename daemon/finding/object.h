// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/object/file_identity.h"
#include "daemon/object/file_reader.h"

namespace tracectl {

// A file in which probes are armed, in the state in which it was opened. Shared.
class Object {
 public:
  static Result<std::shared_ptr<const Object>> open(Reading& reading, Fd fd,
                                                    const std::string& path);

  // Takes the facts that were read before, and the identity that the file had then.
  static Result<std::shared_ptr<const Object>> known(Reading& reading, Fd fd,
                                                     const std::string& path,
                                                     const FileFacts& facts,
                                                     const FileIdentity& identity);

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }
  const FileIdentity& identity() const { return identity_; }
  // Of the debug file that a user has named for it.
  const std::optional<FileIdentity>& debug_identity() const { return debug_identity_; }
  const FileFacts& facts() const { return facts_; }
  // Answers further questions about the file.
  FileReader& reader() const { return *reader_; }

  // The same file, read with a debug file that a user has named.
  Result<std::shared_ptr<const Object>> with_debug_file(Reading& reading,
                                                        NamedDebugFile named) const;

  // Up to `size` bytes, fewer at the file's end, or none.
  std::vector<uint8_t> read_at_most(uint64_t offset, size_t size) const;

 private:
  Object() = default;
  static Result<std::shared_ptr<Object>> with_reader(Reading& reading, Fd fd,
                                                     const std::string& path,
                                                     std::optional<NamedDebugFile> named);

  std::string path_;
  Fd fd_;
  FileIdentity identity_;
  std::optional<FileIdentity> debug_identity_;
  FileFacts facts_;
  std::shared_ptr<FileReader> reader_;
};

using ObjectPtr = std::shared_ptr<const Object>;

// Keeps the objects last used, so that staging and committing read a file once.
class Objects {
 public:
  explicit Objects(Reading& reading) : reading_(reading) {}

  // The same file under another path is another object, because the names of its probes contain the path.
  Result<ObjectPtr> open(Fd fd, const std::string& path);
  Result<ObjectPtr> with_debug_file(const Object& object, NamedDebugFile named);
  void forget_all() { recent_.clear(); }
  // Objects opened from now on are also added to `learned`, and found there. Borrowed; null: none.
  void learn_into(std::vector<ObjectPtr>* learned) { learned_ = learned; }

 private:
  ObjectPtr known(const FileIdentity& identity, const std::string& path,
                  const std::optional<FileIdentity>& debug_identity);
  void keep(const ObjectPtr& object);

  static constexpr size_t kMostKept = 8;
  Reading& reading_;
  std::list<ObjectPtr> recent_;  // last used first
  std::vector<ObjectPtr>* learned_ = nullptr;
};

}  // namespace tracectl
