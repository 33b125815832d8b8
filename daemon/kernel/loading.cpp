// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/loading.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "bpf/tracer.skel.h"
#include "daemon/kernel/chunks.h"
#include "daemon/kernel/key_tables.h"
#include "daemon/kernel/uprobe_multi.h"

namespace tracectl {
namespace {

// The inode of the initial PID namespace: include/linux/proc_ns.h, PROC_PID_INIT_INO.
constexpr ino_t kInitialPidNamespace = 0xEFFFFFFC;

Status place_in_pid_namespace(tracer& skeleton) {
  struct stat ns {};
  if (::stat("/proc/self/ns/pid", &ns) != 0) return Error::from_errno("stat /proc/self/ns/pid");
  skeleton.rodata->in_own_pid_namespace = ns.st_ino != kInitialPidNamespace;
  skeleton.rodata->pid_namespace_device = ns.st_dev;
  skeleton.rodata->pid_namespace_inode = ns.st_ino;
  return ok();
}

Status seed_key_stacks(tracer& skeleton) {
  auto* seed = const_cast<__u64*>(&skeleton.rodata->key_stack_seed);
  if (::getrandom(seed, sizeof(*seed), 0) != sizeof(*seed)) return Error::from_errno("getrandom");
  return ok();
}

// Makes the memory that the programs share with us. The kernel makes it zero; libbpf would copy eight
// megabytes of zeroes over it, which takes longer than all other loading.
Status make_shared_memory(bpf_map* map) {
  LIBBPF_OPTS(bpf_map_create_opts, options);
  options.map_flags = BPF_F_MMAPABLE;
  const Fd fd{bpf_map_create(BPF_MAP_TYPE_ARRAY, "bss", bpf_map__key_size(map),
                             bpf_map__value_size(map), bpf_map__max_entries(map), &options)};
  if (!fd || bpf_map__reuse_fd(map, fd.get()) != 0)
    return Error::from_errno("create the memory shared with the BPF programs");
  return ok();
}

// Where the skeleton points. libbpf 1.1 has mapped it there; libbpf 1.5 does not do so for a map that it did not make.
// As in Mapping, a child that we fork could change it otherwise.
Status map_shared_memory(bpf_map* shared) {
  size_t size = 0;
  void* memory = const_cast<void*>(bpf_map__initial_value(shared, &size));
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t pages_bytes = (size + page - 1) / page * page;
  if (::mmap(memory, pages_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             bpf_map__fd(shared), 0) == MAP_FAILED)
    return Error::from_errno("map the memory shared with the BPF programs");
  if (::madvise(memory, pages_bytes, MADV_DONTFORK) != 0)
    return Error::from_errno("keep the memory shared with the BPF programs from children");
  return ok();
}

// Sets what libbpf 1.1 does not know and what depends on the machine.
Status configure(tracer& skeleton, unsigned cpu_count, bool for_one_command) {
  skeleton.rodata->cpu_count = cpu_count;
  if (auto placed = place_in_pid_namespace(skeleton); !placed) return placed;
  if (auto seeded = seed_key_stacks(skeleton); !seeded) return seeded;
  for (bpf_program* one :
       {skeleton.progs.on_site, skeleton.progs.on_count, skeleton.progs.on_linker})
    bpf_program__set_expected_attach_type(one,
                                          static_cast<bpf_attach_type>(attach_type_at_uprobes()));
  bpf_program__set_autoload(skeleton.progs.on_site, !for_one_command);
  bpf_program__set_autoload(skeleton.progs.on_count, for_one_command);
  bpf_map__set_max_entries(skeleton.maps.first_hits, cpu_count);
  bpf_map__set_max_entries(skeleton.maps.stats, TC_FIRST_STATS * cpu_count);
  bpf_map__set_max_entries(skeleton.maps.ring_losses, TC_MAX_SESSIONS * cpu_count);
  bpf_map__set_max_entries(skeleton.maps.rings, TC_MAX_SESSIONS * cpu_count);
  return ok();
}

// Loads what is opened and configured; the programs that follow processes run from now on, if no restored ones do.
Status load(tracer& skeleton, bool is_restored) {
  if (!is_restored)
    if (auto made = make_shared_memory(skeleton.maps.bss); !made) return made;
  if (int err = tracer::load(&skeleton); err != 0)
    return Error::from_errno("load the BPF programs", -err);
  if (!is_restored)
    if (int err = tracer::attach(&skeleton); err != 0)
      return Error::from_errno("attach the programs that follow processes", -err);
  return map_shared_memory(skeleton.maps.bss);
}

}  // namespace

void SkeletonDeleter::operator()(tracer* skeleton) const { tracer::destroy(skeleton); }

Result<LoadedPrograms> load_programs(bool for_one_command, DescriptorStore* store) {
  const int cpus = libbpf_num_possible_cpus();
  if (cpus < 1) return Error{Code::kernel, "cannot count the CPUs"};
  const unsigned cpu_count = static_cast<unsigned>(cpus);
  LoadedPrograms programs;
  programs.skeleton.reset(tracer::open(nullptr));
  if (!programs.skeleton) return Error::from_errno("open the BPF programs");
  tracer& skeleton = *programs.skeleton;
  if (auto configured = configure(skeleton, cpu_count, for_one_command); !configured)
    return configured.error();
  const auto tables = KeyTables::declare(skeleton, cpu_count);
  if (!tables) return tables.error();
  const auto chunks = Chunks::declare(skeleton);
  if (!chunks) return chunks.error();
  if (store) {
    auto taken = take_tables(skeleton, *store);
    if (!taken) return taken.error();
    programs.restored = std::move(*taken);
  }
  if (auto loaded = load(skeleton, !programs.restored.links.empty()); !loaded)
    return loaded.error();
  return programs;
}

}  // namespace tracectl
