// SPDX-License-Identifier: BSD-2-Clause
//
// What is armed together, and the kernel's handle of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/long_work.h"
#include "daemon/base/result.h"
#include "daemon/model/probe.h"

namespace tracectl {

using SlotId = uint32_t;

// One uprobe_multi link, with what belongs to it. Closing it disarms its sites, and returns when no program runs for
// them any more.
class Link {
 public:
  // `closing` does the closing; it is borrowed. `beside` is closed after the link, and then `needed` is given up, which
  // may take the kernel as long.
  Link(LongWork& closing, Fd fd, uint32_t incarnation, std::vector<Fd> beside = {},
       std::shared_ptr<const void> needed = nullptr)
      : closing_(&closing),
        beside_(std::move(beside)),
        fd_(std::move(fd)),
        incarnation_(incarnation),
        needed_(std::move(needed)) {}
  Link(Link&&) = default;
  Link& operator=(Link&&) = default;
  ~Link() {
    if (!fd_) return;
    closing_->run([&] {
      fd_.reset();
      beside_.clear();
      needed_.reset();
    });
  }

  uint32_t incarnation() const { return incarnation_; }
  int fd() const { return fd_.get(); }
  // What the link needs to be complete after a restart of the daemon.
  const std::vector<Fd>& beside() const { return beside_; }

 private:
  LongWork* closing_;
  std::vector<Fd> beside_;
  Fd fd_;
  uint32_t incarnation_;
  std::shared_ptr<const void>
      needed_;  // last: an assignment gives it up when the others are closed
};

struct ArmedSite {
  SlotId slot = 0;
  uint64_t offset = 0;     // in the file
  uint64_t semaphore = 0;  // in the file, 0 if the probe has none
  bool nop5 = false;       // a 5-byte nop
  CostClass cost = CostClass::slow;
  std::span<const ExitSite> exits = {};  // for Way::exits; borrowed
};

// All sites of one link: one file, one filter.
struct ArmRequest {
  int object_fd = -1;
  std::string object_path;  // for messages
  pid_t filter = 0;         // the only process it traps, or 0 for all that map the file
  bool unmapped = false;    // that process does not map the file yet
  uint32_t incarnation = 0;
  Way way = Way::entry;
  std::vector<ArmedSite> sites;
};

// A link arms all of its sites or none. `refused_sites` says which of them could not be armed.
struct ArmFailure {
  struct Site {
    size_t index = 0;  // in the request
    std::string reason;
  };
  Error error;
  std::vector<Site> refused_sites;
};

}  // namespace tracectl
