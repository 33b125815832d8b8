// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "daemon/kernel/counters.h"
#include "daemon/model/rows.h"
#include "daemon/spec/assemble.h"

namespace tracectl {

// The strings in keys, by the numbers that stand for them; zero bytes may follow.
using Texts = std::unordered_map<uint64_t, std::string>;

// The value that a part of a kernel's key stands for, if it is not a stack.
KeyValue value_of(uint64_t part, const AggregateMeaning::Key& key, const Texts& texts);

StackAddresses addresses_of(const tc_key_stack& stack, bool begins_with_caller);

}  // namespace tracectl
