// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/fields.h"

namespace tracectl::types {

// Not inline, because it is called for each member of each struct: that would take long to compile.
void FieldList::add(const char* name, const void* member, const Type& type, bool has_default) {
  const auto offset = static_cast<const char*>(member) - start_;
  fields_.push_back({name, static_cast<size_t>(offset), &type, has_default});
}

}  // namespace tracectl::types
