// SPDX-License-Identifier: BSD-2-Clause
//
// The encoding of questions about stacks and their answers, like wire.h for probes. Answers about a
// stack cannot be verified; only impossible ones are refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/object/stack_reader.h"

namespace tracectl::wire {

// A program's mappings of the file behind a descriptor.
struct LoadedPlace {
  std::string path;
  std::vector<LoadedFile::Range> ranges;

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("path", s.path);
    f("ranges", s.ranges);
  }
};
std::string encode(const LoadedPlace& place);
std::optional<LoadedPlace> decode_place(std::string_view bytes);

std::string encode(const StackQuestion& question);
std::optional<StackQuestion> decode_stack_question(std::string_view bytes);

std::string encode(const StackAnswer& answer);
// Fails if the answer does not fit the question.
Result<StackAnswer> decode_stack_answer(std::string_view answer, const StackQuestion& question);

}  // namespace tracectl::wire
