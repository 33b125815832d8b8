// SPDX-License-Identifier: BSD-2-Clause
//
// The JSON of verbs whose result is a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracectl::protocol {

// Of `tracectl export` and `tracectl report --html`.
struct WrittenFilePart {
  std::string file;  // or directory
  std::string format;
  uint64_t events = 0, lost = 0;         // of the recording
  std::optional<bool> unknown_end = {};  // true: more may be missing at the end of the recording
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("file", s.file);
    f("format", s.format);
    f("events", s.events);
    f("lost", s.lost);
    f("unknown_end", s.unknown_end);
  }
};

// Of `tracectl export --to` without a format.
struct ExportFormatsPart {
  std::vector<std::string> formats;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("formats", s.formats); }
};

}  // namespace tracectl::protocol
