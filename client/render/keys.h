// SPDX-License-Identifier: BSD-2-Clause
//
// Readable titles and values for the keys of rows.
#pragma once

#include <string>
#include <vector>

#include "daemon/protocol/messages.h"

namespace tracectl {

struct KeyView {
  std::string key;            // the expression
  std::string title;          // of its column
  bool is_type_name = false;  // a C++ type, mangled as in std::type_info
};

// Demangles C++ type names.
void name_types(protocol::ReadReply& reply, const std::vector<KeyView>& keys);

// Replaces keys by their titles. Rows of several settings whose keys have the same title go into one table.
protocol::ReadReply titled(protocol::ReadReply reply, const std::vector<KeyView>& keys);

}  // namespace tracectl
