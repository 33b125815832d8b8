// SPDX-License-Identifier: BSD-2-Clause
//
// The methods of the protocol as data: what is the same for all of them is compiled once, and not in each source that
// calls one.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "daemon/base/fields.h"
#include "daemon/protocol/messages.h"

namespace tracectl::protocol {

struct Method {
  const char* name;
  TypeGetter request, reply;
};

// In the order of AllRequests.
std::span<const Method> all_methods();

template <class Request, class... Requests> constexpr size_t number_in(RequestList<Requests...>) {
  constexpr bool kIsIt[] = {std::is_same_v<Request, Requests>...};
  size_t number = 0;
  while (!kIsIt[number]) ++number;  // a request that is not in the list does not compile
  return number;
}
template <class Request> inline constexpr size_t kNumberOf = number_in<Request>(AllRequests{});

template <class Request> const Method& method_of() { return all_methods()[kNumberOf<Request>]; }

}  // namespace tracectl::protocol
