// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <string>

#include "client/connection/backend.h"
#include "client/render/text.h"
#include "daemon/protocol/codec.h"

namespace tracectl {

void print(const std::string& text);        // to standard output
void print_error(const std::string& text);  // to standard error
int fail(const Error& error);               // prints it, and returns the exit status
// Standard output shows colours: on a terminal, unless $NO_COLOR or TERM=dumb forbid it.
bool is_coloured();

// Prints a reply as JSON or as text.
template <class Reply>
void show(const CommonOptions& common, const Reply& reply,
          const std::function<std::string(const Reply&)>& as_text) {
  print(common.json ? protocol::text_of(protocol::to_json(reply)) + "\n" : as_text(reply));
}

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
