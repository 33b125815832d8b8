// SPDX-License-Identifier: BSD-2-Clause
//
// What outlives the daemon: descriptors that somebody keeps, under names, for whoever comes after it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

struct KeptDescriptor {
  std::string name;
  Fd fd;
};

// Used by one thread at a time.
class DescriptorStore {
 public:
  virtual ~DescriptorStore() = default;

  // A name has letters, digits, '.', '_' and '-'; several descriptors may have it. The store keeps a duplicate,
  // from the moment this returns also if the process is killed. Of an open file that it has already, under
  // whatever name, it may keep no other. Code::exhausted: there is no room for it; what is kept stays.
  virtual Status keep(const std::string& name, int fd) = 0;
  // Of what says what else there is: a store with a bound has some room that only such may take, so that there is
  // always room for a new one beside the old.
  virtual Status keep_state(const std::string& name, int fd) { return keep(name, fd); }
  // All of that name. Cannot fail: what is left is forgotten by who takes it. The store may close its duplicates
  // later.
  virtual void forget(const std::string& name) = 0;

  // What a former process has left under names that begin so, in the order in which it was kept. The store
  // keeps it on; here it is handed out once.
  virtual std::vector<KeptDescriptor> take(std::string_view prefix) = 0;
  // The same of what is still to be taken; it can be taken all the same.
  virtual std::vector<KeptDescriptor> look(std::string_view prefix) const = 0;

  // Returns when the store has closed its duplicates of all that was forgotten, or when it takes too long for it.
  virtual void wait_until_forgotten() {}
};

}  // namespace tracectl
