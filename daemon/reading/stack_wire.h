// SPDX-License-Identifier: BSD-2-Clause
//
// Questions about stacks and their answers, as wire.h has those about probes. What is said of a stack
// cannot be known to be true; it is held to what could be.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/reading/stack_reader.h"

namespace tracectl::wire {

// Of the file behind a descriptor: where a program has it.
struct LoadedPlace {
  std::string path;
  std::vector<LoadedFile::Range> ranges;
};
std::string encode(const LoadedPlace& place);
std::optional<LoadedPlace> decode_place(std::string_view bytes);

std::string encode(const StackQuestion& question);
std::optional<StackQuestion> decode_stack_question(std::string_view bytes);

std::string encode(const StackAnswer& answer);
// An answer that cannot be one to the question is an error.
Result<StackAnswer> decode_stack_answer(std::string_view answer, const StackQuestion& question);

}  // namespace tracectl::wire
