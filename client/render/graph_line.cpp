// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/graph_line.h"

#include <fmt/format.h>

#include "client/render/text.h"

namespace tracectl {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kDurationWidth = 16;
constexpr const char* kDim = "2";
constexpr const char* kYellow = "33";
constexpr const char* kRed = "31";

std::string painted(bool colour, const char* how, const std::string& text) {
  return !colour || text.empty() ? text : fmt::format("\x1b[{}m{}\x1b[0m", how, text);
}

// Of the marks of the kernel's function_graph, those that differ visibly: over 10 us, over 100 us, over 1 s.
struct Mark {
  std::string text;
  const char* colour;
};

Mark mark_of(uint64_t ns) {
  if (ns > 1'000'000'000) return {"$ ", kRed};
  if (ns > 100'000) return {"! ", kRed};
  if (ns > 10'000) return {"+ ", kYellow};
  return {"", kDim};
}

// In microseconds. From ten seconds on nanoseconds are left out, to fit the column.
std::string microseconds(uint64_t ns) {
  if (ns >= 10'000'000'000) return fmt::format("{} us", ns / 1000);
  return fmt::format("{}.{:03} us", ns / 1000, ns % 1000);
}

std::string duration_cell(bool colour, std::optional<uint64_t> ns) {
  if (!ns) return std::string(kDurationWidth, ' ');
  const Mark mark = mark_of(*ns);
  const std::string number = microseconds(*ns);
  const size_t width = mark.text.size() + number.size();
  const std::string pad(width < kDurationWidth ? kDurationWidth - width : 0, ' ');
  return pad + painted(colour, mark.colour, mark.text) + painted(colour, kDim, number);
}

std::string comment_text(bool colour, const std::string& comment) {
  return comment.empty() ? "" : painted(colour, kDim, "/* " + comment + " */");
}

std::string off_cpu_text(const OffCpu& parts) {
  std::string text;
  if (parts.blocked_ns) text = "blocked " + microseconds(parts.blocked_ns);
  if (parts.runnable_ns)
    text += (text.empty() ? "runnable " : ", runnable ") + microseconds(parts.runnable_ns);
  return text.empty() ? "running" : text;
}

std::string remarks_on(const GraphLine& line) {
  if (!line.off_cpu) return line.comment;
  return line.comment + (line.comment.empty() ? "" : "; ") + off_cpu_text(*line.off_cpu);
}

}  // namespace

std::string GraphColumns::header() const {
  const std::string titles =
      fmt::format("CPU  {:<7} {:>{}} |  FUNCTION CALLS", "TID", "DURATION", kDurationWidth);
  return painted(colour, kDim, titles) + "\n";
}

std::string GraphColumns::line(const GraphLine& line, pid_t tid, bool other_cpu) const {
  const std::string where = fmt::format("{:>3}{} {:<7}", line.cpu, other_cpu ? '>' : ')', tid);
  const std::string comment = comment_text(colour, remarks_on(line));
  const char* gap = line.code.empty() || comment.empty() ? "" : " ";
  return painted(colour, kDim, where) + " " + duration_cell(colour, line.duration_ns) + " |  " +
         std::string(kIndent * line.depth, ' ') + line.code + gap + comment + "\n";
}

std::string GraphColumns::remark(const std::string& what, std::optional<unsigned> cpu) const {
  const std::string where = cpu ? fmt::format("{:>3})", *cpu) : "";
  return painted(colour, kDim, fmt::format("{:<12}", where)) + " " + duration_cell(colour, {}) +
         " |  " + comment_text(colour, what) + "\n";
}

std::string GraphColumns::separator(const std::string& from, const std::string& to) const {
  const std::string rule = " " + std::string(42, '-') + "\n";
  return painted(colour, kDim, rule + " " + from + " => " + to + "\n" + rule) + "\n";
}

}  // namespace tracectl
