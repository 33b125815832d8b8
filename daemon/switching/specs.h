// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/id_pool.h"
#include "daemon/kernel/switching.h"
#include "daemon/model/setting.h"
#include "daemon/spec/assemble.h"

namespace tracectl {

// While it exists, threads in traced calls are followed between hits.
using FollowsThreads = std::vector<std::shared_ptr<const void>>;

// A spec in the kernel's table. Hooks hold it; its place is free again when none does. A hook that was in force is
// kept until no program can run it.
class InstalledSpec {
 public:
  // Takes a free place, of which there must be one.
  InstalledSpec(std::shared_ptr<IdPool> places, std::unique_ptr<const AssembledSpec> spec,
                FollowsThreads follows)
      : places_(std::move(places)),
        place_(places_->take().value()),
        spec_(std::move(spec)),
        follows_(std::move(follows)) {}
  ~InstalledSpec() { places_->give_back(place_); }
  InstalledSpec(const InstalledSpec&) = delete;
  InstalledSpec& operator=(const InstalledSpec&) = delete;

  uint32_t place() const { return place_; }
  const AssembledSpec* operator->() const { return spec_.get(); }

 private:
  std::shared_ptr<IdPool> places_;
  uint32_t place_;
  std::unique_ptr<const AssembledSpec> spec_;
  FollowsThreads follows_;
};

// The kernel's numbers for the sessions and tags in a spec.
struct SessionNumbers {
  uint16_t session = 0;  // whose spec it is
  uint32_t tag = 0;
  std::vector<tc_trigger> triggers;
};

using SpecPtr = std::shared_ptr<const InstalledSpec>;

// The specs in the kernel's table. The sites of a setting with the same arguments share one.
class Specs {
 public:
  explicit Specs(Switching& switching) : switching_(switching) {}

  // Returns null if the hook alone says all.
  Result<SpecPtr> install(const std::shared_ptr<const Setting>& setting, const Arguments& arguments,
                          const Argument* result, const SessionNumbers& numbers,
                          const PairSide* side = nullptr);

  // Reserves the places of a former daemon's specs until its hooks are gone.
  void restore(const std::vector<uint32_t>& places);
  void end_restoring();

 private:
  struct Known {
    std::shared_ptr<const Setting> setting;  // so that the key stays its own
    std::weak_ptr<const InstalledSpec> spec;
  };
  static constexpr size_t kMostKnown = 256;

  Result<SpecPtr> make(const Spec& spec, const Arguments& arguments, const Argument* result,
                       const SessionNumbers& numbers, const PairSide* side);
  Result<FollowsThreads> follow_threads(const tc_spec& spec);
  void forget_numbers_if_unused();

  Switching& switching_;
  std::map<std::pair<const Setting*, std::string>, Known> known_;  // also by compiled_from()
  std::shared_ptr<IdPool> places_ = std::make_shared<IdPool>(1, TC_MAX_SPECS);
  std::vector<uint32_t> saved_places_;
  std::vector<std::weak_ptr<const InstalledSpec>> with_numbers_;
};

}  // namespace tracectl
