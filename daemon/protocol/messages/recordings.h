// SPDX-License-Identifier: BSD-2-Clause
//
// record.start, show, stop, dump, dumped. The rules for these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tracectl::protocol {

// The state of a recording.
struct RecordingPart {
  std::string session;
  std::string state;    // "recording", "ending", "done", "failed"
  uint64_t events = 0;  // that are, or will be, in the file
  uint64_t lost = 0;    // the file has only their count: their ring was full, or the disk slow
  uint64_t bytes = 0;   // in the files
  std::optional<std::string> error;  // why it failed
  // With `rotate`: how many times a file was begun, and how many events were in files that have been
  // overwritten.
  std::optional<uint64_t> files_begun = {}, overwritten = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f("state", s.state);
    f("events", s.events);
    f("lost", s.lost);
    f("bytes", s.bytes);
    f("error", s.error);
    f("files_begun", s.files_begun);
    f("overwritten", s.overwritten);
  }
};

// Several files, filled in turn: when one has this many bytes the next is begun, and after the last one the
// first is overwritten. Each is a complete trace file.
struct RotatePart {
  static constexpr uint64_t kLeastBytes = 1 << 20;
  static constexpr uint64_t kLeastFiles = 2, kMostFiles = 64;
  uint64_t bytes = 0;
  uint64_t files = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("bytes", s.bytes);
    f("files", s.files);
  }
};

// From now on the session's events go to a file: to the descriptor that comes with this request (SCM_RIGHTS,
// one; with `rotate` as many as that says). It must be of an empty regular file, open for writing without
// O_APPEND. A session has one recording at a time; it ends with the session, or by record.stop.
struct RecordStart {
  static constexpr const char* kMethod = "record.start";
  using Reply = RecordingPart;
  std::string session;
  bool compress = false;  // with zstd
  std::optional<RotatePart> rotate = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f.optional("compress", s.compress);
    f("rotate", s.rotate);
  }
};
// The state of a recording. Known until the session is deleted, or another recording is begun.
struct RecordShow {
  static constexpr const char* kMethod = "record.show";
  using Reply = RecordingPart;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};
// Stops recording later events. Earlier ones are still being written: they are all in the file when
// record.show reports "done". Does not wait for the disk.
struct RecordStop {
  static constexpr const char* kMethod = "record.stop";
  using Reply = RecordingPart;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

// The state of a dump.
struct DumpPart {
  std::string session;
  uint64_t dump = 0;  // its number, for record.dumped
  std::string state;  // "writing", "done", "failed"
  uint64_t events = 0;
  uint64_t lost = 0;                 // the file has only their count: their ring was full
  uint64_t bytes = 0;                // in the file
  std::string reason;                // why it was made, as in the file
  std::optional<std::string> error;  // why it failed
  std::optional<std::string> note;   // what may be missing at its end, and why
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f("dump", s.dump);
    f("state", s.state);
    f("events", s.events);
    f("lost", s.lost);
    f("bytes", s.bytes);
    f("reason", s.reason);
    f("error", s.error);
    f("note", s.note);
  }
};

// Writes the contents of the session's flight recorder to a file, every event fired before this request
// included: to the descriptor that comes with this request, as for record.start. The recorder goes on. Waits
// neither for those events to arrive nor for the disk: the file is complete when record.dumped reports
// "done". If the session is deleted before they have arrived, the note of record.dumped says so. A session
// can have one unfinished dump at a time.
struct RecordDump {
  static constexpr const char* kMethod = "record.dump";
  using Reply = DumpPart;
  std::string session;
  bool compress = false;  // with zstd
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f.optional("compress", s.compress);
  }
};
// The state of a dump. Known for some time after its end, also if its session is deleted.
struct RecordDumped {
  static constexpr const char* kMethod = "record.dumped";
  using Reply = DumpPart;
  uint64_t dump = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("dump", s.dump); }
};

}  // namespace tracectl::protocol
