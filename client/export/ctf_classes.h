// SPDX-License-Identifier: BSD-2-Clause
//
// The event classes of the Common Trace Format, and the fields of an event. CTF has no optional fields, so
// events of one probe that have different members belong to different classes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "client/render/probe_names.h"
#include "daemon/model/event.h"

namespace tracectl {

class CtfClasses {
 public:
  // The number of the event's class; the first event of a class declares it.
  uint64_t number_of(const Event& event);
  // In TSDL, for stream class 0.
  const std::string& declarations() const { return declarations_; }

 private:
  struct Key {
    std::shared_ptr<const EventSource> source;
    EventKind kind;
    bool has_call, has_duration, has_result, has_stack, says_what_result_is, has_tag, lacks_some;
    size_t arguments;

    auto operator<=>(const Key&) const = default;
  };
  static Key key_of(const Event& event);
  void declare(const Key& key, const Event& event);

  StreamNames names_;
  std::map<Key, uint64_t> numbers_;
  std::string declarations_;
};

// The fields of an event as its class declares them.
void append_ctf_fields(std::string& to, const Event& event);
// Any text, terminated by a zero byte.
void append_ctf_text(std::string& to, std::string_view text);
// Little endian, as the metadata declares.
template <class Number> void append_ctf_number(std::string& to, Number number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}
// The text as a TSDL string, with quotes.
std::string tsdl_text(std::string_view text);

}  // namespace tracectl
