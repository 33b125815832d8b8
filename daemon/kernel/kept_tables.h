// SPDX-License-Identifier: BSD-2-Clause
//
// The tables of the BPF programs, and the links of those that follow processes, as they outlive the daemon. The
// names under which they are kept have a digest of the programs: layouts, and what the programs make of them, are
// those of another daemon where it has the very same programs.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/descriptor_store.h"

struct tracer;

namespace tracectl {

// Before the programs are loaded, which then use the tables that a former daemon has left: all of them or, where
// any is missing, none. The links of its programs that follow processes; none where there were no such tables.
Result<std::vector<Fd>> take_tables(tracer& skeleton, DescriptorStore& store);

// `adopted`: what take_tables() has given, if anything.
Status keep_tables(const tracer& skeleton, const std::vector<Fd>& adopted, DescriptorStore& store);
// With all links that follow.
void forget_tables(const tracer& skeleton, DescriptorStore& store);

// Of those that are made later: KeyTables.
std::string name_of_key_table(const tracer& skeleton, const char* kind);
std::vector<KeptDescriptor> take_key_tables(const tracer& skeleton, DescriptorStore& store);

// For the link of one more that follows processes or threads.
std::string name_of_kept_program(const tracer& skeleton);

}  // namespace tracectl
