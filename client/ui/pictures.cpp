// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/pictures.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/render/shortened.h"
#include "client/ui/key_names.h"
#include "client/ui/sheets.h"

namespace tracectl::ui {
namespace {

// Title, what is typed or which view it is, heading, status, keys.
constexpr size_t kLinesBesideRows = 5;
constexpr size_t kMargin = 1;  // blanks at the left and at the right

std::string blanks(size_t count) { return std::string(count, ' '); }

// `left` is shortened if there is no room for both.
std::string both_ends(const std::string& left, const std::string& right, size_t width) {
  constexpr size_t kLeast = 12;  // of `left`, and the blank after it
  if (width_of(right) + kLeast > width) return beginning_of(left, width);
  const std::string begun = beginning_of(left, width - width_of(right) - 1);
  return begun + blanks(width - width_of(begun) - width_of(right)) + right;
}

Line with_margin(Line line) {
  line.spans.insert(line.spans.begin(), {blanks(kMargin), line.rest});
  return line;
}

Line choice_line(const Sheet& sheet, size_t width) {
  Line line = sheet.choice;
  Span& last = line.spans.back();
  const size_t before = width_of(text_of(line)) - width_of(last.text);
  last.text = both_ends(last.text, sheet.found, width - std::min(width, before));
  return line;
}

Line status_line(const Model& model, size_t width) {
  const Said said = model.status();
  return line_of(beginning_of(said.text, width), said.is_error ? Style::error : Style::plain);
}

std::string question_of(const Prompt& prompt) {
  return prompt.what == Prompt::For::session
             ? "Save as (NAME: a session of the daemon, NAME.json: a file of one): "
             : "Record to the file: ";
}

Line last_line(const Model& model, size_t width) {
  const auto& prompt = model.prompt();
  if (!prompt) return line_of(beginning_of(key_names(model), width), Style::quiet);
  return line_of(question_of(*prompt) + prompt->answer.text(), Style::plain);
}

std::optional<Place> cursor_of(const Model& model, const Sheet& sheet, size_t lines) {
  if (model.prompt())
    return Place{lines - 1, kMargin + width_of(text_of(last_line(model, SIZE_MAX)))};
  if (sheet.is_typed) return Place{1, kMargin + width_of(text_of(sheet.choice))};
  return std::nullopt;
}

Picture too_small(Size size) {
  Picture picture;
  picture.lines.push_back(
      line_of(fmt::format("too small: {} x {}, {} x {} are needed", size.columns, size.lines,
                          kLeastSize.columns, kLeastSize.lines)));
  return picture;
}

}  // namespace

Picture picture_of(Model& model, Size size) {
  if (size.lines < kLeastSize.lines || size.columns < kLeastSize.columns) return too_small(size);
  const size_t width = size.columns - 2 * kMargin, height = size.lines - kLinesBesideRows;
  const Sheet sheet = sheet_of(model, width, height);
  Picture picture;
  picture.lines.push_back(with_margin(
      line_of(both_ends("tracectl  " + sheet.title, sheet.about, width), Style::title)));
  picture.lines.push_back(with_margin(choice_line(sheet, width)));
  picture.lines.push_back(with_margin(sheet.heading));
  for (const Line& row : sheet.rows) picture.lines.push_back(with_margin(row));
  picture.lines.resize(size.lines - 2);
  picture.lines.push_back(with_margin(status_line(model, width)));
  picture.lines.push_back(with_margin(last_line(model, width)));
  picture.cursor = cursor_of(model, sheet, size.lines);
  return picture;
}

}  // namespace tracectl::ui
