// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/notified_events.h"

#include "daemon/protocol/events.h"
#include "daemon/protocol/frames.h"
#include "daemon/protocol/json_text.h"

namespace tracectl {

using namespace protocol;

namespace {

// What is printed unread must not reach a terminal as control characters, nor be invalid UTF-8.
bool is_printable_ascii(std::string_view line) {
  unsigned others = 0;
  for (const unsigned char c : line) others += c < 0x20 || c > 0x7e;
  return others == 0;
}

}  // namespace

Result<std::optional<StreamItem>> NotifiedEvents::read(std::string_view line) {
  auto incoming = parse_incoming(line);
  if (!incoming) return incoming.error();
  return reader_.read(std::get<Notification>(*incoming));
}

bool NotifiedEvents::append(std::string& out, std::string_view line) {
  if (!is_printable_ascii(line)) return false;
  const auto event = event_in(line);
  if (!event || has_stack(*event)) return false;
  const std::string_view probe = probe_in(*event);
  const std::string* name = demangled(probe, line);
  if (!name) return false;
  const size_t before_name = static_cast<size_t>(probe.data() + probe.size() - event->data());
  out.append(event->substr(0, before_name)).append(*name).append(event->substr(before_name)) +=
      '\n';
  return true;
}

// Null if the line cannot be read.
const std::string* NotifiedEvents::demangled(std::string_view probe, std::string_view line) {
  if (last_ && last_->first == probe) return &last_->second;
  auto known = demangled_.find(std::string(probe));
  if (known == demangled_.end()) {
    const auto item = read(line);
    const auto* event = item && *item ? std::get_if<Event>(&**item) : nullptr;
    if (probe.empty() || !event) return nullptr;
    std::string member;
    if (const auto& name = names_.demangled(event->source->probe); !name.empty())
      append_string(member += ",\"demangled\":", name);
    known = demangled_.emplace(probe, std::move(member)).first;
  }
  last_ = &*known;
  return &last_->second;
}

}  // namespace tracectl
