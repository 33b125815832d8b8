// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/saved_tables.h"

#include <bpf/libbpf.h>

#include <cstdint>
#include <cstdio>

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

const SavedDescriptor* find(const std::vector<SavedDescriptor>& saved, const std::string& name) {
  for (const SavedDescriptor& one : saved)
    if (one.name == name) return &one;
  return nullptr;
}

}  // namespace

std::string name_of_key_table(const tracer& skeleton, const char* kind) {
  return "keys." + digest_of(skeleton) + '.' + kind;
}

std::vector<SavedDescriptor> take_key_tables(const tracer& skeleton, DescriptorStore& store) {
  return store.take(name_of_key_table(skeleton, ""));
}

std::string name_of_saved_program(const tracer& skeleton) {
  return "program." + digest_of(skeleton);
}

Result<std::vector<Fd>> take_tables(tracer& skeleton, DescriptorStore& store) {
  const std::string digest = digest_of(skeleton);
  const auto saved = store.take("map." + digest + ".");
  auto programs = store.take(name_of_saved_program(skeleton));
  const auto tables = tables_of(skeleton);
  std::vector<Fd> links;
  if (programs.empty()) return links;
  for (size_t i = 0; i < tables.size(); ++i)
    if (!find(saved, name_of_table(digest, i))) return links;
  for (size_t i = 0; i < tables.size(); ++i)
    if (bpf_map__reuse_fd(tables[i], find(saved, name_of_table(digest, i))->fd.get()) != 0)
      return Error::from_errno(std::string("take over the table ") + bpf_map__name(tables[i]));
  for (SavedDescriptor& one : programs) links.push_back(std::move(one.fd));
  return links;
}

Status save_tables(const tracer& skeleton, const std::vector<Fd>& restored,
                   DescriptorStore& store) {
  if (!restored.empty()) return ok();  // the store still has them
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
  store.forget(name_of_saved_program(skeleton));
}

}  // namespace tracectl
