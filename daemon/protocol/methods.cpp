// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/methods.h"

namespace tracectl::protocol {
namespace {

template <class... Requests> std::span<const Method> methods_of(RequestList<Requests...>) {
  static constexpr Method kAll[] = {
      {Requests::kMethod, &type_of<Requests>, &type_of<typename Requests::Reply>}...};
  return kAll;
}

}  // namespace

std::span<const Method> all_methods() { return methods_of(AllRequests{}); }

}  // namespace tracectl::protocol
