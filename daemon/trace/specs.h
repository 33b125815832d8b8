// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/kernel/kernel.h"
#include "daemon/model/setting.h"
#include "daemon/spec/assemble.h"
#include "daemon/trace/id_pool.h"

namespace tracectl {

// A spec in the kernel's table. Its place is free again when nobody holds it: hooks do, and a hook
// that has been in force is kept until no program can run it.
class InstalledSpec {
 public:
  // There must be a place.
  InstalledSpec(std::shared_ptr<IdPool> places, std::unique_ptr<const AssembledSpec> spec)
      : places_(std::move(places)), place_(places_->take().value()), spec_(std::move(spec)) {}
  ~InstalledSpec() { places_->give_back(place_); }
  InstalledSpec(const InstalledSpec&) = delete;
  InstalledSpec& operator=(const InstalledSpec&) = delete;

  uint32_t place() const { return place_; }
  const AssembledSpec* operator->() const { return spec_.get(); }

 private:
  std::shared_ptr<IdPool> places_;
  uint32_t place_;
  std::unique_ptr<const AssembledSpec> spec_;
};

// What a spec says of sessions and of their tags, in numbers of the kernel.
struct SessionNumbers {
  uint16_t session = 0;  // whose spec it is
  uint32_t tag = 0;
  std::vector<tc_trigger> triggers;
};

using SpecPtr = std::shared_ptr<const InstalledSpec>;

// The specs in the kernel's table, each once for all sites of a setting that have the same
// arguments.
class Specs {
 public:
  explicit Specs(Kernel& kernel) : kernel_(kernel) {}

  // None if the kernel needs nothing beyond the hook.
  Result<SpecPtr> install(const std::shared_ptr<const Setting>& setting, const Arguments& arguments,
                          const Argument* result, const SessionNumbers& numbers,
                          const PairSide* side = nullptr);

  // Those of a former daemon, until its hooks are no more.
  void adopt(const std::vector<uint32_t>& places);
  void end_adoption();

 private:
  struct Known {
    std::shared_ptr<const Setting> setting;  // so that the key stays its own
    std::weak_ptr<const InstalledSpec> spec;
  };
  static constexpr size_t kMostKnown = 256;

  Result<SpecPtr> make(const Spec& spec, const Arguments& arguments, const Argument* result,
                       const SessionNumbers& numbers, const PairSide* side);
  void forget_numbers_if_unused();

  Kernel& kernel_;
  std::map<std::pair<const Setting*, std::string>, Known> known_;  // also by compiled_from()
  std::shared_ptr<IdPool> places_ = std::make_shared<IdPool>(1, TC_MAX_SPECS);
  std::vector<uint32_t> former_places_;
  std::vector<std::weak_ptr<const InstalledSpec>> with_numbers_;
};

}  // namespace tracectl
