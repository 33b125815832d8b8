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

// The client's side of a stream: events, with the names of their arguments where `probe` has told.
class NotificationReader {
 public:
  // None of a `probe`, which is remembered for the events behind it.
  Result<std::optional<StreamItem>> read(const Notification& notification);

 private:
  Status remember(const Notification& notification);
  void name_arguments(Event& event) const;

  struct Described {
    std::shared_ptr<const EventSource> numbers;  // all arguments as they are
    std::shared_ptr<const EventSource> texts;  // those that are the addresses of text, as the text
  };

  // By session and probe.
  std::map<std::pair<std::string, std::string>, Described> described_;
};

}  // namespace tracectl::protocol
