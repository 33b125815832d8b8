// SPDX-License-Identifier: BSD-2-Clause
//
// Saves the tables of the BPF programs, and the links of programs that follow processes, over a restart of the daemon.
// The names under which they are saved contain a digest of the programs: the next daemon can use them only if it has
// the same programs, and so the same layouts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/base/descriptor_store.h"
#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/kernel/chunks.h"

struct tracer;

namespace tracectl {

struct SavedTables {
  std::vector<Fd> links;  // of programs that follow processes; none if there were no such tables
  std::map<ChunkOf, std::vector<Fd>> chunks;  // in their order
};

// Call it before the programs are loaded. They then use the tables that a former daemon left: all of them, or none
// if any is missing.
Result<SavedTables> take_tables(tracer& skeleton, DescriptorStore& store);

// For new tables: the store still has those that were taken from it.
Status save_tables(const tracer& skeleton, DescriptorStore& store);
// Also forgets the links of programs that follow processes.
void forget_tables(const tracer& skeleton, DescriptorStore& store);

// The tables that are made later (KeyTables), by tc_table.
inline constexpr const char* kKeyTables[] = {"counts", "sums", "times"};
std::string name_of_key_table(const tracer& skeleton, const char* kind);
std::vector<SavedDescriptor> take_key_tables(const tracer& skeleton, DescriptorStore& store);

// Chunks of tables, which are made later too.
std::string name_of_chunk(const tracer& skeleton, ChunkOf of, size_t number);

// The name for the link of another program that follows processes or threads.
std::string name_of_saved_program(const tracer& skeleton);

}  // namespace tracectl
