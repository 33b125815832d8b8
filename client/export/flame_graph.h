// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tracectl {

// Draws chains of calls as a picture (SVG): the width of each function is the total of itself and its
// callees.
class FlameGraph {
 public:
  // `shown` formats a number with its unit: "12 hits", "1.2 ms".
  explicit FlameGraph(std::function<std::string(uint64_t)> shown) : shown_(std::move(shown)) {}

  // A line in the input format of flame graphs, without its line feed: `main;query;parse 1234`.
  void add(std::string_view line);
  std::string svg(const std::string& title) const;

 private:
  struct Node {
    uint64_t total = 0;
    std::map<std::string, Node, std::less<>> children = {};
  };
  struct Box;

  std::string box_text(const Box& box, size_t levels) const;
  std::vector<Box> boxes() const;

  std::function<std::string(uint64_t)> shown_;
  Node all_;
};

}  // namespace tracectl
