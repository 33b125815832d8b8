// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "daemon/base/descriptor_store.h"
#include "daemon/base/result.h"
#include "daemon/model/probe.h"

struct tracer;
struct bpf_program;

namespace tracectl {

// Of `fresh`, which was opened and is not loaded, these programs only, with the maps of `from`, which is loaded.
Status load_alone(tracer& fresh, const std::vector<bpf_program*>& wanted, const tracer& from);

// The programs that serve sites, by the way these are armed. Those that few need are loaded when they
// are first needed: the kernel takes longer to check one than to arm a thousand sites.
class Programs {
 public:
  // `skeleton` is loaded, with the program of `first`, which serves the ways before it, too; it is borrowed, and
  // its maps are shared. Where hits shall not sleep the way `sleeping` is that of `entry`.
  Programs(tracer& skeleton, Way first, bool sleeps);
  ~Programs();

  // The program at a site, and the one at the exits of its function, or -1. Where the kernel refuses the one that
  // sleeps, sites of that way are served by that of `entry`: hits do not wait for memory that is not there.
  struct OfWay {
    int at_site = -1;
    int at_exit = -1;
    unsigned attach_type = 0;  // of at_site
    int keeping = -1;          // for links of kAttachUprobeMulti that keep breakpoints
  };
  Result<OfWay> of(Way way);
  // The program that is there from the beginning.
  int first() const;

  // Those that follow the ends of threads; also such as come later.
  Status keep_in(DescriptorStore& store);

 private:
  struct Loaded;

  Result<Loaded*> load(Way way);
  Status open(Way way, Loaded& loaded) const;
  Status keep(const Loaded& loaded) const;

  tracer& skeleton_;
  std::array<std::unique_ptr<Loaded>, 5> loaded_;  // by way
  Way first_;
  bool sleeps_;
  DescriptorStore* store_ = nullptr;  // once they are kept
};

}  // namespace tracectl
