// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/sheets.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/render/shortened.h"
#include "client/render/text.h"
#include "client/ui/grid.h"

namespace tracectl::ui {
namespace {

// The rows of a list that are seen, from the first of them up to `end`.
struct Seen {
  size_t first, end, selected;
};

Seen seen_of(ListPlace& place, size_t rows, size_t height) {
  const size_t first = place.first(rows, height);
  return {first, std::min(rows, first + height), place.selected()};
}

Style style_of(const Seen& seen, size_t index, Style usual) {
  return index == seen.selected ? Style::selected : usual;
}

void add_rows(Sheet& sheet, const Grid& grid, const Seen& seen, size_t width,
              const std::vector<Style>& styles) {
  size_t index = seen.first;
  for (const std::string& text : grid.texts(width)) {
    const Style usual = styles.empty() ? Style::plain : styles[index - seen.first];
    sheet.rows.push_back(line_of(text, style_of(seen, index, usual)));
    ++index;
  }
}

Line field_line(const std::string& name, const std::string& text) {
  return {{{name, Style::quiet}, {text, Style::plain}}};
}

// ---- processes ----

Sheet process_sheet(ProcessScreen& screen, size_t width, size_t height) {
  const Seen seen = seen_of(screen.place(), screen.shown().size(), height);
  Grid grid(
      {{"PID", true, 7}, {"USER", false, 8}, {"CPU %", true, 5}, {"COMMAND", false, 0, true}});
  for (size_t i = seen.first; i < seen.end; ++i) {
    const ProcessRow& row = screen.shown()[i];
    grid.add({std::to_string(row.pid), row.user,
              row.percent ? fmt::format("{:.1f}", *row.percent) : "", row.command});
  }
  Sheet sheet{.title = "processes",
              .choice = field_line("Filter: ", screen.filter()),
              .found = fmt::format("{} of {}", screen.shown().size(), screen.all()),
              .is_typed = screen.is_typing(),
              .heading = grid.heading(width)};
  add_rows(sheet, grid, seen, width, {});
  return sheet;
}

// ---- functions ----

std::string process_text(const Model& model) {
  return fmt::format("{}  {}", model.pid(), model.command());
}

Sheet function_sheet(Model& model, size_t width, size_t height) {
  FunctionScreen& screen = model.functions();
  const Seen seen = seen_of(screen.place(), screen.shown().size(), height);
  Grid grid({{"", false, 1}, {"SITES", true, 5}, {"CLASS", false, 8}, {"PROBE"}});
  std::vector<Style> styles;
  for (size_t i = seen.first; i < seen.end; ++i) {
    const FoundProbe& found = screen.shown()[i];
    const bool is_marked = screen.marks().has(found.probe);
    grid.add({is_marked ? "*" : "", std::to_string(found.sites), found.cost, found.name});
    styles.push_back(is_marked ? Style::marked : Style::plain);
  }
  Sheet sheet{
      .title = process_text(model),
      .about = fmt::format("{} marked", screen.marks().size()),
      .choice = field_line("Pattern: ", screen.typed()),
      .found = screen.is_known() ? fmt::format("{} found", screen.shown().size()) : "searching...",
      .is_typed = screen.is_typing(),
      .heading = grid.heading(width)};
  add_rows(sheet, grid, seen, width, styles);
  return sheet;
}

// ---- what they do ----

Line views_line(const LiveScreen& screen) {
  Line line;
  for (const auto& [view, name] :
       {std::pair{View::counts, "counts"}, std::pair{View::times, "times"},
        std::pair{View::stacks, "stacks"}}) {
    const bool is_shown = view == screen.view();
    line.spans.push_back({is_shown ? fmt::format("[{}]", name) : fmt::format(" {} ", name),
                          is_shown ? Style::sorted : Style::quiet});
    line.spans.push_back({" ", Style::plain});
  }
  return line;
}

void add_table(Sheet& sheet, LiveScreen& screen, size_t width, size_t height) {
  const Seen seen = seen_of(screen.place(), screen.rows().size(), height);
  std::vector<Grid::Column> columns;
  for (const LiveColumn& column : screen.columns())
    columns.push_back({column.title, column.is_number, column.is_number ? size_t{8} : 0});
  Grid grid(std::move(columns));
  for (size_t i = seen.first; i < seen.end; ++i) {
    std::vector<std::string> cells;
    for (const LiveColumn& column : screen.columns())
      cells.push_back(column.text(screen.rows()[i]));
    grid.add(std::move(cells));
  }
  sheet.heading = grid.heading(width, screen.sorted_by());
  add_rows(sheet, grid, seen, width, {});
}

void add_stacks(Sheet& sheet, LiveScreen& screen, size_t width, size_t height) {
  const Seen seen = seen_of(screen.place(), screen.stack_lines().size(), height);
  sheet.heading = line_of(shortened("STACKS OF " + screen.name_of_stacks(), width), Style::heading);
  for (size_t i = seen.first; i < seen.end; ++i) {
    const StackLine& line = screen.stack_lines()[i];
    sheet.rows.push_back(line_of(shortened(line.text, width),
                                 style_of(seen, i, line.begins ? Style::marked : Style::plain)));
  }
}

Sheet live_sheet(Model& model, size_t width, size_t height) {
  LiveScreen& screen = model.live();
  Sheet sheet{.title = process_text(model),
              .about = fmt::format("{} marked", model.functions().marks().size()),
              .choice = views_line(screen),
              .found = model.is_recording() ? "recording to " + model.recording()->file : ""};
  if (screen.view() == View::stacks)
    add_stacks(sheet, screen, width, height);
  else
    add_table(sheet, screen, width, height);
  return sheet;
}

}  // namespace

Sheet sheet_of(Model& model, size_t width, size_t height) {
  switch (model.screen()) {
    case Screen::processes: return process_sheet(model.processes(), width, height);
    case Screen::functions: return function_sheet(model, width, height);
    case Screen::live: break;
  }
  return live_sheet(model, width, height);
}

}  // namespace tracectl::ui
