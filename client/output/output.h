// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "client/options/options.h"
#include "client/output/pager.h"
#include "client/render/text.h"
#include "daemon/protocol/codec.h"

namespace tracectl {

void print(const std::string& text);        // to standard output
void print_error(const std::string& text);  // to standard error
int fail(const Error& error);               // prints it, and returns the exit status
// Of the terminal on standard output; 0: it is none.
struct TerminalSize {
  size_t lines = 0, columns = 0;
};
TerminalSize terminal_size();
bool is_terminal();  // standard output
// Standard output shows colours: on a terminal, unless $NO_COLOR or TERM=dumb forbid it.
bool is_coloured();

// Prints a reply as JSON or as text.
template <class Reply>
void show(const CommonOptions& common, const Reply& reply,
          const std::function<std::string(const Reply&)>& as_text) {
  if (common.json) return print(protocol::text_of(protocol::to_json(reply)) + "\n");
  print_paged(as_text(reply), common.pager);
}

}  // namespace tracectl
