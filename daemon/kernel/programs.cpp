// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <utility>
#include <vector>

#include "bpf/abi.h"
#include "bpf/tracer.skel.h"
#include "daemon/kernel/quiet.h"
#include "daemon/kernel/saved_tables.h"
#include "daemon/kernel/trial.h"
#include "daemon/kernel/uprobe_multi.h"

namespace tracectl {

namespace {

Status share_maps(const tracer& from, tracer& fresh) {
  const bpf_map* first = nullptr;
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, fresh.obj) {
    first = bpf_object__next_map(from.obj, first);  // the same object has the same order
    if (!first || bpf_map__reuse_fd(map, bpf_map__fd(first)) != 0)
      return Error::from_errno(std::string("share the table ") + bpf_map__name(map));
  }
  return ok();
}

bpf_program* program_at_site(const tracer& skeleton, Way way) {
  switch (way) {
    case Way::counting: return skeleton.progs.on_count;
    case Way::entry: return skeleton.progs.on_site;
    case Way::sleeping: return skeleton.progs.on_site_asleep;
    case Way::trampoline: return skeleton.progs.on_call_and_return;
    case Way::exits: return skeleton.progs.on_call;
  }
  return nullptr;
}

}  // namespace

Status load_alone(tracer& fresh, const std::vector<bpf_program*>& wanted, const tracer& from) {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, fresh.obj) bpf_program__set_autoload(program, false);
  for (bpf_program* one : wanted) bpf_program__set_autoload(one, true);
  if (auto shared = share_maps(from, fresh); !shared) return shared;
  if (int err = bpf_object__load(fresh.obj); err != 0)
    return Error::from_errno("load BPF programs", -err);
  return ok();
}

struct Programs::Loaded {
  explicit Loaded(tracer* fresh) : skeleton(fresh) {}
  ~Loaded() {
    bpf_link__destroy(thread_exit);
    tracer::destroy(skeleton);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  tracer* skeleton;
  bpf_link* thread_exit = nullptr;
};

Programs::Programs(tracer& skeleton, Way first, bool sleeps,
                   std::function<tc_hit_costs()> hit_costs)
    : skeleton_(skeleton), first_(first), sleeps_(sleeps), hit_costs_(std::move(hit_costs)) {}
Programs::~Programs() = default;

Result<Programs::OfWay> Programs::of(Way way) {
  if (way <= first_) return OfWay{first(), -1, attach_type_at_uprobes(), first()};
  if (way == Way::sleeping && !sleeps_) return of(Way::entry);
  const Quiet quiet(way == Way::sleeping);
  auto loaded = load(way);
  if (!loaded && way == Way::sleeping && loaded.error().code == Code::kernel) {
    sleeps_ = false;  // the verifier refuses it: bpf/present.bpf.h
    return of(Way::entry);
  }
  if (!loaded) return loaded.error();
  const auto& progs = (*loaded)->skeleton->progs;
  const int at_site = bpf_program__fd(program_at_site(*(*loaded)->skeleton, way));
  if (way == Way::trampoline) return OfWay{at_site, -1, kAttachUprobeSession, first()};
  const int at_exit = way == Way::exits ? bpf_program__fd(progs.on_leave) : -1;
  return OfWay{at_site, at_exit, attach_type_at_uprobes(), first()};
}

int Programs::first() const { return bpf_program__fd(program_at_site(skeleton_, first_)); }

// Opens the same object again, with the maps of the first.
Result<Programs::Loaded*> Programs::load(Way way) {
  auto& place = loaded_[static_cast<size_t>(way)];
  if (place) return place.get();
  if (way == Way::trampoline && !has_uprobe_session())
    return Error{Code::unsupported,
                 "this kernel has no uprobe sessions (Linux 6.13): take --returns exits"};
  if (way == Way::trampoline && !trampoline_passes_seccomp())
    return Error{Code::unsupported,
                 "this kernel's return trampoline was not seen to spare a process that filters its "
                 "system calls "
                 "(seccomp): take --returns exits"};
  auto loaded = std::make_unique<Loaded>(tracer::open(nullptr));
  if (!loaded->skeleton) return Error::from_errno("open the BPF programs");
  if (auto opened = open(way, *loaded); !opened) return opened.error();
  if (auto saved = save(*loaded); !saved) return saved.error();
  place = std::move(loaded);
  return place.get();
}

Status Programs::save_in(DescriptorStore& store) {
  store_ = &store;
  for (const auto& loaded : loaded_)
    if (loaded)
      if (auto saved = save(*loaded); !saved) {
        store_ = nullptr;
        return saved;
      }
  return ok();
}

Status Programs::save(const Loaded& loaded) const {
  if (!store_ || !loaded.thread_exit) return ok();
  return store_->save(name_of_saved_program(skeleton_), bpf_link__fd(loaded.thread_exit));
}

Status Programs::open(Way way, Loaded& loaded) const {
  tracer& fresh = *loaded.skeleton;
  std::vector<bpf_program*> wanted{program_at_site(fresh, way)};
  if (way == Way::exits) wanted.push_back(fresh.progs.on_leave);
  for (bpf_program* one : wanted)
    bpf_program__set_expected_attach_type(
        one, static_cast<bpf_attach_type>(way == Way::trampoline ? kAttachUprobeSession
                                                                 : attach_type_at_uprobes()));
  const bool follows_calls = way == Way::trampoline || way == Way::exits;
  if (follows_calls) wanted.push_back(fresh.progs.on_thread_exit);
  if (auto alone = load_alone(fresh, wanted, skeleton_); !alone)
    return alone.error().in("the way \"" + std::string(name_of(way)) + '"');
  if (!follows_calls) return ok();
  skeleton_.bss->hit_costs = hit_costs_();
  loaded.thread_exit = bpf_program__attach(fresh.progs.on_thread_exit);
  if (!loaded.thread_exit) return Error::from_errno("follow the ends of threads");
  return ok();
}

}  // namespace tracectl
