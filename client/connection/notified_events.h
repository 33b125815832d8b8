// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "client/render/probe_names.h"
#include "daemon/base/result.h"
#include "daemon/model/event.h"
#include "daemon/protocol/notification_reader.h"

namespace tracectl {

// The events in lines from the daemon.
class NotifiedEvents {
 public:
  // `names` is borrowed.
  explicit NotifiedEvents(StreamNames& names) : names_(names) {}

  // None for a line that only describes later ones.
  Result<std::optional<StreamItem>> read(std::string_view line);
  // Another daemon follows, which describes its probes anew.
  void forget_descriptions() { reader_ = {}; }
  // Appends the line of JSON that append_event() would make of the event, without reading all of it. False if there is
  // more to do than adding a name: if it is no event, has a stack, or has other characters than printable ASCII. The
  // daemon is trusted to send JSON.
  bool append(std::string& out, std::string_view line);

 private:
  const std::string* demangled(std::string_view probe, std::string_view line);

  StreamNames& names_;
  protocol::NotificationReader reader_;
  // By the JSON of the probe: the member of its demangled name, or empty.
  std::unordered_map<std::string, std::string> demangled_;
  const std::pair<const std::string, std::string>* last_ = nullptr;
};

}  // namespace tracectl
