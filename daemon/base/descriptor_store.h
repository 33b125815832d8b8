// SPDX-License-Identifier: BSD-2-Clause
//
// Keeps descriptors under names for the next daemon, after this one has ended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

struct SavedDescriptor {
  std::string name;
  Fd fd;
};

// Used by one thread at a time.
class DescriptorStore {
 public:
  virtual ~DescriptorStore() = default;

  // A name has letters, digits, '.', '_' and '-'; several descriptors may have the same. The store keeps a duplicate;
  // once this has returned, also if the process is killed. If it already has the open file under any name, it may
  // keep no second descriptor of it. Code::exhausted if there is no room; what was kept before stays.
  virtual Status save(const std::string& name, int fd) = 0;
  // For a descriptor that describes the others. A store with a bound reserves some room for these, so that a new one
  // always finds room beside the old one.
  virtual Status save_state(const std::string& name, int fd) { return save(name, fd); }
  // Drops all descriptors of that name. Cannot fail: what is left is dropped by the process that takes it. The store
  // may close its duplicates later.
  virtual void forget(const std::string& name) = 0;

  // Returns the descriptors that a former process left under names with this prefix, in the order in which they were
  // kept. The store continues to keep them; each is returned once.
  virtual std::vector<SavedDescriptor> take(std::string_view prefix) = 0;
  // Returns those that have not been taken yet. They can still be taken.
  virtual std::vector<SavedDescriptor> look(std::string_view prefix) const = 0;

  // Returns when the store has closed its duplicates of all that was dropped, or when that takes too long.
  virtual void wait_until_forgotten() {}
};

}  // namespace tracectl
