// SPDX-License-Identifier: BSD-2-Clause
//
// The keys of rows under names for people.
#pragma once

#include <string>
#include <vector>

#include "daemon/protocol/messages.h"

namespace tracectl {

struct KeyView {
  std::string key;            // the expression
  std::string title;          // of its column
  bool is_type_name = false;  // of C++, mangled as std::type_info has it
};

// Type names of C++ as in source code.
void name_types(protocol::ReadReply& reply, const std::vector<KeyView>& keys);

// Keys by their titles. Rows of several settings whose keys have one title go into one table.
protocol::ReadReply titled(protocol::ReadReply reply, const std::vector<KeyView>& keys);

}  // namespace tracectl
