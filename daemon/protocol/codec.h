// SPDX-License-Identifier: BSD-2-Clause
//
// Values to JSON and back, by the structs' lists of fields (daemon/base/fields.h). Reading is strict: a member that
// is missing, ill-typed, out of range or unknown is refused, and the error names its path, as in `target.pids[2]`.
// Nothing here throws on bad input; a list with a member of a type without JSON is a bug, and throws.
#pragma once

#include "daemon/base/fields.h"
#include "daemon/base/result.h"
#include "daemon/protocol/json.h"

namespace tracectl::protocol {

namespace codec {

// `value` and `out` point to a value of the type.
Json write(const Type& type, const void* value);
Status read(const Json& in, const Type& type, void* out);

}  // namespace codec

template <class T> Json to_json(const T& value) { return codec::write(type_of<T>(), &value); }

template <class T> Result<T> from_json(const Json& in) {
  T out;
  if (Status status = codec::read(in, type_of<T>(), &out); !status) return status.error();
  return out;
}

}  // namespace tracectl::protocol
