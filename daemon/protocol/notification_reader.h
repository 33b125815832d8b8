// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/model/event.h"
#include "daemon/protocol/frames.h"

namespace tracectl::protocol {

// The client's side of a stream: events, with the names of their arguments if a `probe` notification gave them.
class NotificationReader {
 public:
  // None for a `probe` notification, which is remembered for the events after it.
  Result<std::optional<StreamItem>> read(const Notification& notification);

 private:
  Status remember(const Notification& notification);
  void name_arguments(Event& event) const;

  struct Described {
    std::shared_ptr<const EventSource> numbers;  // all arguments as numbers
    std::shared_ptr<const EventSource> texts;    // addresses of texts as strings
  };

  // By session and probe.
  std::map<std::pair<std::string, std::string>, Described> described_;
};

}  // namespace tracectl::protocol
