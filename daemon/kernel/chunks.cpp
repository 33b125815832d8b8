// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/chunks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "bpf/abi.h"
#include "bpf/tracer.skel.h"
#include "daemon/kernel/saved_tables.h"

namespace tracectl {
namespace {

// Of the map that one chunk is.
struct Kind {
  uint32_t entry_bytes;
  uint32_t entries;
};

Kind kind_of(ChunkOf of, unsigned cpu_count) {
  constexpr uint32_t kAccounts = TC_CHUNK_STATS / TC_PACKED_ACCOUNTS;
  switch (of) {
    case ChunkOf::slots: return {sizeof(tc_slot), TC_CHUNK_SLOTS};
    case ChunkOf::stats: return {sizeof(tc_stat), TC_CHUNK_STATS * cpu_count + kAccounts};
    case ChunkOf::hooks: return {sizeof(tc_hook), TC_CHUNK_HOOKS};
  }
  return {};
}

Fd make_chunk(const Kind& kind, uint32_t entries) {
  LIBBPF_OPTS(bpf_map_create_opts, options);
  options.map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP;
  return Fd{bpf_map_create(BPF_MAP_TYPE_ARRAY, "chunk", sizeof(uint32_t), kind.entry_bytes, entries,
                           &options)};
}

size_t mapped_bytes(const Kind& kind) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return (size_t{kind.entries} * kind.entry_bytes + page - 1) / page * page;
}

}  // namespace

const char* name_of(ChunkOf of) {
  switch (of) {
    case ChunkOf::slots: return "slots";
    case ChunkOf::stats: return "stats";
    case ChunkOf::hooks: return "hooks";
  }
  return "";
}

bpf_map* place_of(const tracer& skeleton, ChunkOf of) {
  switch (of) {
    case ChunkOf::slots: return skeleton.maps.slot_chunks;
    case ChunkOf::stats: return skeleton.maps.stat_chunks;
    case ChunkOf::hooks: return skeleton.maps.hook_chunks;
  }
  return nullptr;
}

Result<std::vector<Fd>> Chunks::declare(tracer& skeleton) {
  std::vector<Fd> declared;
  for (const ChunkOf of : kAllChunks) {
    declared.push_back(make_chunk(kind_of(of, 1), 1));
    const Fd& one = declared.back();
    if (!one || bpf_map__set_inner_map_fd(place_of(skeleton, of), one.get()) != 0)
      return Error::from_errno("say what chunks of tables are like");
  }
  return declared;
}

Result<Chunks> Chunks::open(const tracer& skeleton, ChunkOf of, std::vector<Fd> saved,
                            DescriptorStore* store) {
  Chunks chunks(skeleton, of);
  for (Fd& one : saved)
    if (auto mapped = chunks.map(std::move(one)); !mapped) return mapped.error();
  chunks.store_ = store;
  return chunks;
}

size_t Chunks::bytes_each() const {
  return mapped_bytes(kind_of(of_, skeleton_->rodata->cpu_count));
}

Status Chunks::map(Fd made) {
  auto memory = Mapping::map(made.get(), 0, bytes_each(), PROT_READ | PROT_WRITE, MAP_SHARED);
  if (!memory) return memory.error();
  made_.reserve(count() + 1);
  memory_.push_back(std::move(*memory));
  made_.push_back(std::move(made));
  return ok();
}

Status Chunks::add(LongWork& work) {
  const Kind kind = kind_of(of_, skeleton_->rodata->cpu_count);
  const auto number = static_cast<uint32_t>(count());
  Status mapped = ok();
  work.run([&] {
    Fd made = make_chunk(kind, kind.entries);
    mapped = made ? map(std::move(made))
                  : Error::from_errno(std::string("make room for more ") + name_of(of_));
  });
  if (!mapped) return mapped;
  Status done = store_ ? save(number, *store_) : ok();
  const int fd = made_.back().get();
  if (done && bpf_map_update_elem(bpf_map__fd(place_of(*skeleton_, of_)), &number, &fd, BPF_ANY))
    done = Error::from_errno(std::string("make room for more ") + name_of(of_));
  if (done) return done;
  memory_.pop_back();
  made_.pop_back();
  return done;
}

Status Chunks::save(size_t chunk, DescriptorStore& store) const {
  return store.save(name_of_chunk(*skeleton_, of_, chunk), made_[chunk].get());
}

Status Chunks::save_in(DescriptorStore& store) {
  for (size_t chunk = 0; chunk < made_.size(); ++chunk)
    if (auto saved = save(chunk, store); !saved) return saved;
  store_ = &store;
  return ok();
}

}  // namespace tracectl
