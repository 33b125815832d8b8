// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <variant>

#include "client/connection/backend.h"
#include "client/output/output.h"

namespace tracectl {

// Runs `body` with a backend; prints the error if there is none.
template <class Body>
int with_backend(const CommonOptions& common, Backend::Needs needs, Body&& body) {
  auto opened = Backend::open(common, needs);
  if (auto* failure = std::get_if<Backend::Failure>(&opened)) {
    print_error(error_text(failure->error));
    return failure->status;
  }
  return body(std::get<Backend>(opened));
}

// The usual verb: sends one request and shows its reply. `files` are sent with it, and still belong to the
// caller.
template <class Request>
int ask(const CommonOptions& common, Backend::Needs needs, const Request& request,
        const std::function<std::string(const typename Request::Reply&)>& as_text,
        std::span<const int> files = {}) {
  return with_backend(common, needs, [&](Backend& backend) -> int {
    auto reply = backend.call_with(request, files);
    if (!reply) return fail(reply.error());
    show<typename Request::Reply>(common, *reply, as_text);
    return kDone;
  });
}

}  // namespace tracectl
