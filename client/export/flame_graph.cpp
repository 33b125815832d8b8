// SPDX-License-Identifier: BSD-2-Clause
#include "client/export/flame_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "client/export/flame_graph_script.h"
#include "daemon/protocol/json_text.h"

namespace tracectl {
namespace {

constexpr double kWidth = 1200;
constexpr double kMargin = 10;
constexpr double kTop = 40;  // for the title
constexpr double kRow = 17;
constexpr double kLetter = 6.6;      // the width at 11 px, monospaced
constexpr double kNarrowest = 0.05;  // narrower boxes are not drawn, however far one zooms

constexpr std::string_view kStyle = R"(<style>
svg { background: #fff; color: #222; }
text { font: 11px ui-monospace, "DejaVu Sans Mono", monospace; fill: #1b1b1b; pointer-events: none; }
.title { font-size: 16px; fill: currentColor; }
.note { fill: currentColor; }
#search { fill: currentColor; pointer-events: auto; cursor: pointer; text-decoration: underline; }
#matched { fill: currentColor; }
g { cursor: zoom-in; }
rect { stroke: #fff; stroke-width: 0.5; }
g:hover > rect { stroke: #000; stroke-width: 1; }
@media (prefers-color-scheme: dark) {
  svg { background: #16181d; color: #ddd; }
  rect { stroke: #16181d; }
  g:hover > rect { stroke: #fff; }
}
</style>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : protocol::valid_utf8(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      // XML 1.0 cannot represent the other control characters.
      default: out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return out;
}

// A function has the same colour in all pictures, so that they can be compared.
std::string colour_of(std::string_view name) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  const unsigned hue = 8 + hash % 46;              // red to yellow
  const unsigned lightness = 58 + hash / 64 % 14;  // percent
  return fmt::format("hsl({},82%,{}%)", hue, lightness);
}

// The part of the name that fits; empty if it would be too short to recognise.
std::string fitting(std::string_view name, double width) {
  const auto letters = static_cast<size_t>(std::max(0.0, (width - 4) / kLetter));
  if (name.size() <= letters) return std::string(name);
  if (letters < 4) return "";
  return std::string(name.substr(0, letters - 2)) + "..";
}

}  // namespace

void FlameGraph::add(std::string_view line) {
  const size_t space = line.rfind(' ');
  if (space == std::string_view::npos) return;
  uint64_t count = 0;
  std::from_chars(line.data() + space + 1, line.data() + line.size(), count);
  Node* node = &all_;
  node->total += count;
  for (std::string_view way = line.substr(0, space); !way.empty();) {
    const size_t end = std::min(way.find(';'), way.size());
    const std::string_view name = way.substr(0, end);
    const auto child = node->children.find(name);
    node = child == node->children.end() ? &node->children[std::string(name)] : &child->second;
    node->total += count;
    way.remove_prefix(std::min(end + 1, way.size()));
  }
}

struct FlameGraph::Box {
  const std::string* name;
  const Node* node;
  double left, width;
  size_t level;
};

// The boxes that are wide enough to be seen. Chains may be thousands of calls deep, so this is not recursive.
std::vector<FlameGraph::Box> FlameGraph::boxes() const {
  static const std::string kAll = "all";
  std::vector<Box> boxes{{&kAll, &all_, 0, kWidth - 2 * kMargin, 0}};
  for (size_t i = 0; i < boxes.size(); ++i) {
    const Box box = boxes[i];
    double left = box.left;
    for (const auto& [name, child] : box.node->children) {
      const double width = all_.total ? (kWidth - 2 * kMargin) * static_cast<double>(child.total) /
                                            static_cast<double>(all_.total)
                                      : 0;
      if (width >= kNarrowest) boxes.push_back({&name, &child, left, width, box.level + 1});
      left += width;
    }
  }
  return boxes;
}

std::string FlameGraph::box_text(const Box& box, size_t levels) const {
  const double x = kMargin + box.left;
  const double y = kTop + kRow * static_cast<double>(levels - box.level);
  const double share =
      all_.total ? 100.0 * static_cast<double>(box.node->total) / static_cast<double>(all_.total)
                 : 0;
  std::string text = fmt::format(
      "<g><title>{} ({}, {:.1f} %)</title><rect x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" "
      "height=\"{:.0f}\" fill=\"{}\"/>",
      escaped(*box.name), escaped(shown_(box.node->total)), share, x, y, box.width, kRow,
      colour_of(*box.name));
  if (const std::string label = fitting(*box.name, box.width); !label.empty())
    text += fmt::format("<text x=\"{:.2f}\" y=\"{:.0f}\">{}</text>", x + 3, y + 12, escaped(label));
  return text + "</g>\n";
}

std::string FlameGraph::svg(const std::string& title) const {
  const std::vector<Box> all = boxes();
  size_t levels = 0;
  for (const Box& box : all) levels = std::max(levels, box.level);
  const double height = kTop + kRow * static_cast<double>(levels + 1) + kMargin;
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" data-left=\"{3:.0f}\" "
      "data-width=\"{5:.0f}\" role=\"img\">\n{2}"
      "<text class=\"title\" x=\"{3:.0f}\" y=\"24\">{4}</text>\n"
      "<text id=\"matched\" x=\"{6:.0f}\" y=\"24\" text-anchor=\"end\"></text>\n"
      "<text id=\"search\" x=\"{7:.0f}\" y=\"24\" text-anchor=\"end\">Search</text>\n",
      kWidth, height, kStyle, kMargin, escaped(title), kWidth - 2 * kMargin, kWidth - kMargin - 60,
      kWidth - kMargin);
  for (const Box& box : all) text += box_text(box, levels);
  text += kFlameGraphScript;
  return text + "</svg>\n";
}

}  // namespace tracectl
