// SPDX-License-Identifier: BSD-2-Clause
//
// What is on the screen, without a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracectl::ui {

enum class Style : uint8_t { plain, title, heading, sorted, selected, marked, quiet, error };
constexpr Style last_of(Style) { return Style::error; }

struct Span {
  std::string text;
  Style style = Style::plain;
};
// Of the whole width: `rest` is the style after its last span.
struct Line {
  std::vector<Span> spans;
  Style rest = Style::plain;
};
inline Line line_of(std::string text, Style style = Style::plain) {
  return {{{std::move(text), style}}, style};
}
std::string text_of(const Line& line);
// The beginning of the text that is no wider than this.
std::string beginning_of(const std::string& text, size_t width);

struct Place {
  size_t line = 0, column = 0;
};
struct Picture {
  std::vector<Line> lines;
  std::optional<Place> cursor = {};  // none: it is not shown
};
struct Size {
  size_t lines = 0, columns = 0;
};

}  // namespace tracectl::ui
