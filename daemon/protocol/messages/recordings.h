// SPDX-License-Identifier: BSD-2-Clause
//
// record.start, show, stop. The rules of these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tracectl::protocol {

// What has come of a recording.
struct RecordingPart {
  std::string session;
  std::string state;    // "recording", "ending", "done", "failed"
  uint64_t events = 0;  // that are, or will be, in the file
  uint64_t lost =
      0;  // of these the file tells only how many: their ring was full, or the disk slow
  uint64_t bytes = 0;                // written
  std::optional<std::string> error;  // why it failed
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f("state", s.state);
    f("events", s.events);
    f("lost", s.lost);
    f("bytes", s.bytes);
    f("error", s.error);
  }
};

// From now on the session's events go to a file: to the descriptor that comes with this request
// (SCM_RIGHTS, one). It is to be of an empty regular file, and open for writing without O_APPEND. A
// session has one recording at a time; it ends with the session, or by record.stop.
struct RecordStart {
  static constexpr const char* kMethod = "record.start";
  using Reply = RecordingPart;
  std::string session;
  bool compress = false;  // by zstd
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f.optional("compress", s.compress);
  }
};
// How far a recording is. Known until the session is deleted, or another recording begun.
struct RecordShow {
  static constexpr const char* kMethod = "record.show";
  using Reply = RecordingPart;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};
// No later event is recorded. What has come is being written: it is in the file when record.show says
// that it is done. Does not wait for the disk.
struct RecordStop {
  static constexpr const char* kMethod = "record.stop";
  using Reply = RecordingPart;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

}  // namespace tracectl::protocol
