// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/saved_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cstdint>
#include <cstdio>
#include <optional>

#include "bpf/abi.h"
#include "bpf/tracer.skel.h"

namespace tracectl {
namespace {

// FNV-1a is enough: only systemd can put something there.
std::string digest_of(const tracer& skeleton) {
  uint64_t digest = 0xcbf29ce484222325;
  const auto* bytes = static_cast<const unsigned char*>(skeleton.skeleton->data);
  for (size_t i = 0; i < skeleton.skeleton->data_sz; ++i)
    digest = (digest ^ bytes[i]) * 0x100000001b3;
  char text[17];
  std::snprintf(text, sizeof(text), "%016lx", static_cast<unsigned long>(digest));
  return text;
}

// Tables are numbered by their order in the object, because some get other names when they are made.
std::string name_of_table(const std::string& digest, size_t order) {
  return "map." + digest + "." + std::to_string(order);
}

std::vector<bpf_map*> tables_of(const tracer& skeleton) {
  std::vector<bpf_map*> tables;
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, skeleton.obj) tables.push_back(map);
  return tables;
}

SavedDescriptor* find(std::vector<SavedDescriptor>& saved, const std::string& name) {
  for (SavedDescriptor& one : saved)
    if (one.name == name) return &one;
  return nullptr;
}

std::string name_of_chunks(const tracer& skeleton, ChunkOf of) {
  return "chunk." + digest_of(skeleton) + '.' + name_of(of) + '.';
}

bool has_id(const Fd& map, uint32_t id) {
  bpf_map_info info{};
  __u32 size = sizeof(info);
  return bpf_obj_get_info_by_fd(map.get(), &info, &size) == 0 && info.id == id;
}

// The chunks that the map of maps has, in their order. None if they are not all among those that were saved.
std::optional<std::vector<Fd>> chunks_of(const tracer& skeleton, ChunkOf of, int place,
                                         std::vector<SavedDescriptor> saved) {
  std::vector<Fd> chunks;
  uint32_t id = 0;
  for (uint32_t number = 0; bpf_map_lookup_elem(place, &number, &id) == 0; ++number) {
    auto* one = find(saved, name_of_chunk(skeleton, of, number));
    if (!one || !has_id(one->fd, id)) return std::nullopt;
    chunks.push_back(std::move(one->fd));
  }
  return chunks;
}

}  // namespace

std::string name_of_chunk(const tracer& skeleton, ChunkOf of, size_t number) {
  return name_of_chunks(skeleton, of) + std::to_string(number);
}

std::string name_of_key_table(const tracer& skeleton, const char* kind) {
  return "keys." + digest_of(skeleton) + '.' + kind;
}

std::vector<SavedDescriptor> take_key_tables(const tracer& skeleton, DescriptorStore& store) {
  return store.take(name_of_key_table(skeleton, ""));
}

std::string name_of_saved_program(const tracer& skeleton) {
  return "program." + digest_of(skeleton);
}

namespace {

// Whether the store has all that the programs work with.
bool are_complete(const tracer& skeleton, const DescriptorStore& store) {
  const std::string digest = digest_of(skeleton);
  auto saved = store.look("map." + digest + ".");
  const auto tables = tables_of(skeleton);
  for (size_t i = 0; i < tables.size(); ++i) {
    const SavedDescriptor* table = find(saved, name_of_table(digest, i));
    if (!table) return false;
    for (const ChunkOf of : kAllChunks)
      if (tables[i] == place_of(skeleton, of) &&
          !chunks_of(skeleton, of, table->fd.get(), store.look(name_of_chunks(skeleton, of))))
        return false;
  }
  return !store.look(name_of_saved_program(skeleton)).empty();
}

}  // namespace

// What is incomplete is forgotten: the tables that replace it will be saved under the same names.
Result<SavedTables> take_tables(tracer& skeleton, DescriptorStore& store) {
  SavedTables taken;
  if (!are_complete(skeleton, store)) {
    forget_tables(skeleton, store);
    return taken;
  }
  const std::string digest = digest_of(skeleton);
  auto saved = store.take("map." + digest + ".");
  const auto tables = tables_of(skeleton);
  for (size_t i = 0; i < tables.size(); ++i) {
    const int table = find(saved, name_of_table(digest, i))->fd.get();
    for (const ChunkOf of : kAllChunks) {
      if (tables[i] != place_of(skeleton, of)) continue;
      auto chunks = chunks_of(skeleton, of, table, store.take(name_of_chunks(skeleton, of)));
      if (!chunks) return Error{Code::kernel, "the chunks of tables have changed meanwhile"};
      taken.chunks[of] = std::move(*chunks);
    }
    if (bpf_map__reuse_fd(tables[i], table) != 0)
      return Error::from_errno(std::string("take over the table ") + bpf_map__name(tables[i]));
  }
  for (SavedDescriptor& one : store.take(name_of_saved_program(skeleton)))
    taken.links.push_back(std::move(one.fd));
  return taken;
}

Status save_tables(const tracer& skeleton, DescriptorStore& store) {
  const std::string digest = digest_of(skeleton);
  const auto tables = tables_of(skeleton);
  for (size_t i = 0; i < tables.size(); ++i)
    if (auto saved = store.save(name_of_table(digest, i), bpf_map__fd(tables[i])); !saved)
      return saved;
  for (int i = 0; i < skeleton.skeleton->prog_cnt; ++i) {
    const bpf_link* link = *skeleton.skeleton->progs[i].link;
    if (!link) continue;
    if (auto saved = store.save(name_of_saved_program(skeleton), bpf_link__fd(link)); !saved)
      return saved;
  }
  return ok();
}

void forget_tables(const tracer& skeleton, DescriptorStore& store) {
  const std::string digest = digest_of(skeleton);
  for (size_t i = 0; i < tables_of(skeleton).size(); ++i) store.forget(name_of_table(digest, i));
  for (const char* kind : kKeyTables) store.forget(name_of_key_table(skeleton, kind));
  for (const ChunkOf of : kAllChunks)
    for (const auto& prefix = name_of_chunks(skeleton, of); const auto& one : store.look(prefix))
      store.forget(one.name);
  store.forget(name_of_saved_program(skeleton));
}

}  // namespace tracectl
