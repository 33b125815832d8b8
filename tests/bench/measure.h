// SPDX-License-Identifier: BSD-2-Clause
//
// Shared by the measurements: alternating values, and a table with their spread.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace tracectl::bench {

using Values = std::vector<double>;

inline double quantile(Values values, double part) {
  std::sort(values.begin(), values.end());
  const double at = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

inline double median(const Values& values) { return quantile(values, 0.5); }

// Our values and those for comparison, measured in turn: A B A B.
struct Pairs {
  Values ours, other;

  Values ratios() const {
    Values all;
    for (size_t i = 0; i < ours.size(); ++i) all.push_back(ours[i] / other[i]);
    return all;
  }
  Values differences() const {
    Values all;
    for (size_t i = 0; i < ours.size(); ++i) all.push_back(ours[i] - other[i]);
    return all;
  }
};

template <class Ours, class Other> Pairs in_turn(int rounds, Ours ours, Other other) {
  Pairs pairs;
  for (int i = 0; i < rounds; ++i) {
    pairs.other.push_back(other());
    pairs.ours.push_back(ours());
  }
  return pairs;
}

template <class Measure> Values repeat(int rounds, Measure measure) {
  Values values;
  for (int i = 0; i < rounds; ++i) values.push_back(measure());
  return values;
}

// `0.98 (0.97-1.01)`: the median and the quartiles.
inline std::string spread(const Values& values, const char* format = "%.0f") {
  char text[3][32];
  const double parts[] = {0.5, 0.25, 0.75};
  for (int i = 0; i < 3; ++i)
    std::snprintf(text[i], sizeof(text[i]), format, quantile(values, parts[i]));
  return std::string(text[0]) + " (" + text[1] + "-" + text[2] + ")";
}

inline void print_heading() {
  std::printf("%-54s  %-16s  %-20s  %-17s  %s\n", "median (quartiles)", "tracectl", "other",
              "ratio", "reach");
}

// A bound for the median: `<= 1.06`, and whether it holds.
inline std::string reach(double value, double bound, const char* format = "%g") {
  char text[48];
  std::snprintf(text, sizeof(text), format, bound);
  return "<= " + std::string(text) + (value <= bound ? "  met" : "  MISSED");
}

inline std::string reach_at_least(double value, double bound) {
  char text[48];
  std::snprintf(text, sizeof(text), ">= %g", bound);
  return std::string(text) + (value >= bound ? "  met" : "  MISSED");
}

inline void print_row(const std::string& what, const std::string& ours, const std::string& other,
                      const std::string& ratio, const std::string& reached) {
  std::printf("%-54s  %-16s  %-20s  %-17s  %s\n", what.c_str(), ours.c_str(), other.c_str(),
              ratio.c_str(), reached.c_str());
  std::fflush(stdout);
}

inline void print_row(const std::string& what, const Pairs& pairs, const std::string& reached,
                      const char* format = "%.0f") {
  print_row(what, spread(pairs.ours, format), spread(pairs.other, format),
            spread(pairs.ratios(), "%.2f"), reached);
}

}  // namespace tracectl::bench
