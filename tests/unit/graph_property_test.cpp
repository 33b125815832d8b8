// SPDX-License-Identifier: BSD-2-Clause
//
// Graphs of programs with random calls, parsed again.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "client/render/graph.h"
#include "tests/support/graph_text.h"
#include "tests/support/random_calls.h"

using namespace tracectl;

namespace {

struct Shown {
  std::map<std::string, int> begun;  // by function: lines that open it, or show all of it
  std::set<std::string> unbegun;     // functions whose beginning is reported as lost
  std::vector<std::string> wrong;
};

// Parses a graph: each opened call must be closed, in its thread and at its indentation.
Shown read_back(const std::string& text, bool is_whole) {
  Shown shown;
  std::map<std::string, std::vector<size_t>> open;  // the columns of braces, by thread
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t bar = line.find(" |  ");
    if (bar == line.npos || line.starts_with("CPU")) continue;
    const std::string code = line.substr(bar + 4);
    const size_t place = code.find_first_not_of(' ');
    auto& braces = open[line.substr(5, 7)];
    if (const size_t f = code.find('f'); code.find("beginning") != code.npos && f != code.npos)
      shown.unbegun.insert(code.substr(f, code.find_first_not_of("0123456789", f + 1) - f));
    if (code[place] == '}') {
      if (braces.empty() || (is_whole && braces.back() != place)) shown.wrong.push_back(line);
      if (!braces.empty()) braces.pop_back();
      continue;
    }
    if (code.find('{') != code.npos) braces.push_back(place);
    if (code[place] == 'f') ++shown.begun[code.substr(place, code.find('(') - place)];
  }
  for (const auto& [tid, braces] : open)
    if (!braces.empty()) shown.wrong.push_back("left open: " + tid);
  return shown;
}

struct Printed {
  std::string text;
  std::vector<std::string> begun;  // functions whose beginnings were not lost
};

Printed run(unsigned seed, bool with_losses, bool with_coroutines) {
  RandomCalls program(seed, with_coroutines);
  GraphText graph({});
  Printed printed;
  for (int i = 0; i < 400; ++i) {
    const Event event = program.next();
    if (with_losses && program.below(5) == 0) continue;
    if (event.call && event.kind == EventKind::hit)
      printed.begun.push_back(event.source->probe.substr(event.source->probe.rfind(':') + 1));
    graph.add(printed.text, event);
    if (program.below(50) == 0) graph.show_held(printed.text, event.ts_ns + 200 * kMs);
  }
  if (!with_losses)
    for (const Event& event : program.rest()) graph.add(printed.text, event);
  graph.finish(printed.text);
  return printed;
}

}  // namespace

TEST(GraphOfAnyCalls, HasEachCallThatBeganOnceAndClosesWhatItOpens) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const bool with_losses = seed % 2, with_coroutines = seed % 4 < 2;
    const Printed done = run(seed, with_losses, with_coroutines);
    const Shown shown = read_back(done.text, !with_losses && !with_coroutines);
    ASSERT_TRUE(shown.wrong.empty()) << seed << ": " << shown.wrong.front() << "\n" << done.text;
    for (const std::string& function : done.begun)
      ASSERT_EQ(shown.begun.count(function) ? shown.begun.at(function) : 0, 1)
          << seed << ": " << function << "\n"
          << done.text;
    for (const std::string& function : done.begun)
      ASSERT_FALSE(shown.unbegun.contains(function)) << seed << ": " << function << done.text;
    const bool tells_losses = done.text.find("lost") != done.text.npos;
    ASSERT_EQ(tells_losses, with_losses) << done.text;
  }
}
