// SPDX-License-Identifier: BSD-2-Clause
//
// The memory of slots, counters and further hooks (bpf/chunks.bpf.h): chunks of the same size, which are made when a
// number in them is first needed. A chunk stays until the programs are gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/descriptor_store.h"
#include "daemon/base/fd.h"
#include "daemon/base/long_work.h"
#include "daemon/base/mapping.h"
#include "daemon/base/result.h"

struct bpf_map;
struct tracer;

namespace tracectl {

enum class ChunkOf { slots, stats, hooks };
inline constexpr ChunkOf kAllChunks[] = {ChunkOf::slots, ChunkOf::stats, ChunkOf::hooks};
const char* name_of(ChunkOf of);
// The map in which the programs find the chunks.
bpf_map* place_of(const tracer& skeleton, ChunkOf of);

class Chunks {
 public:
  // Call it before the programs are loaded: it declares the chunks as KeyTables::declare() does its tables.
  static Result<std::vector<Fd>> declare(tracer& skeleton);

  // `skeleton` is loaded, and borrowed, as are `long_work` and the store; `saved` are the chunks of a former daemon, in
  // their order. `store` keeps those, or is null.
  static Result<Chunks> open(const tracer& skeleton, ChunkOf of, std::vector<Fd> saved,
                             DescriptorStore* store);

  size_t count() const { return memory_.size(); }
  size_t bytes_each() const;
  template <class T> std::span<T> at(size_t chunk) const {
    const Mapping& memory = memory_[chunk];
    return {static_cast<T*>(memory.data()), memory.size() / sizeof(T)};
  }
  // Makes one more. Fails, as Code::exhausted, when memory is short.
  Status add(LongWork& work);

  // Keeps them in the store, and from then on each that is made.
  Status save_in(DescriptorStore& store);

 private:
  Chunks(const tracer& skeleton, ChunkOf of) : skeleton_(&skeleton), of_(of) {}

  Status map(Fd made);
  Status save(size_t chunk, DescriptorStore& store) const;

  const tracer* skeleton_;
  ChunkOf of_;
  std::vector<Fd> made_;
  std::vector<Mapping> memory_;
  DescriptorStore* store_ = nullptr;  // keeps them
};

}  // namespace tracectl
