// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/descriptor_store.h"
#include "daemon/base/result.h"
#include "daemon/model/probe.h"

struct tracer;
struct bpf_program;

namespace tracectl {

// Loads only these programs of `fresh`, which is opened and not loaded, with the maps of `from`, which is loaded.
Status load_alone(tracer& fresh, const std::vector<bpf_program*>& wanted, const tracer& from);

// The programs that serve sites, by the way in which these are armed. One is loaded at the start, the others
// when they are first needed: the kernel takes longer to check one than to arm a thousand sites.
class Programs {
 public:
  // `skeleton` is loaded, with the program of `first`, which also serves the ways before it. It is borrowed, and its
  // maps are shared. If hits may not sleep, the program of Way::entry serves Way::sleeping. `hit_costs` finds what the
  // kernel takes for a hit, when the first programs that follow calls are loaded.
  Programs(tracer& skeleton, Way first, bool sleeps, std::function<tc_hit_costs()> hit_costs);
  ~Programs();

  // The program at a site, and the one at the exits of its function, or -1. If the kernel refuses the program that
  // sleeps, that of Way::entry serves its sites: hits do not wait for absent memory then.
  struct OfWay {
    int at_site = -1;
    int at_exit = -1;
    unsigned attach_type = 0;  // of at_site
    int keeping = -1;          // for links of attach_type_at_uprobes() that keep breakpoints
  };
  Result<OfWay> of(Way way);
  // The program that was loaded at the beginning.
  int first() const;

  // Keeps the programs that follow the ends of threads, also those that are loaded later.
  Status save_in(DescriptorStore& store);

 private:
  struct Loaded;

  Result<Loaded*> load(Way way);
  Status open(Way way, Loaded& loaded) const;
  Status save(const Loaded& loaded) const;

  tracer& skeleton_;
  std::array<std::unique_ptr<Loaded>, 5> loaded_;  // by way
  Way first_;
  bool sleeps_;
  const std::function<tc_hit_costs()> hit_costs_;
  DescriptorStore* store_ = nullptr;  // keeps them
};

}  // namespace tracectl
