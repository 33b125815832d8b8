// SPDX-License-Identifier: BSD-2-Clause
//
// Writes the fields that arguments and results of random functions of a file lead to, for gdb to find the same
// (fields.py): a line of JSON each.
//
//   fields FILE [FIELDS] [SEED]      1000 fields; without a file it does nothing
#include <fcntl.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "daemon/base/fd.h"
#include "daemon/object/elf_file.h"
#include "daemon/object/parameters.h"

namespace tracectl {
namespace {

constexpr size_t kMostTried = 200'000;  // functions
constexpr size_t kMostOfOne = 5;        // fields of an argument

nlohmann::json json_of(const Function& function, const std::string& base,
                       const ReachedField& field) {
  return {{"function", function.name},
          {"base", base},
          {"path", field.path},
          {"offsets", field.offsets},
          {"is_address", field.is_address},
          {"is_text", field.text.has_value()},
          {"size", field.type.size_bytes},
          {"is_signed", field.type.is_signed},
          {"first_bit", field.first_bit},
          {"bit_count", field.bit_count},
          {"why_not", field.why_not}};
}

int run(const char* path, size_t wanted, unsigned seed) {
  auto file = ElfFile::open(Fd{::open(path, O_RDONLY | O_CLOEXEC)}.get(), path, "/usr/lib/debug");
  if (!file || file->functions().empty()) return 1;
  const auto& functions = file->functions();
  FunctionParameters parameters(*file, {.paths = {}, .levels = 2});
  std::mt19937 random(seed);
  size_t written = 0;
  for (size_t i = 0; i < kMostTried && written < wanted; ++i) {
    const Function& function = functions[random() % functions.size()];
    Arguments all = parameters.of(function).value_or(Arguments{});
    all.push_back(parameters.result_of(function));
    for (size_t index = 0; index < all.size(); ++index) {
      const auto& fields = all[index].asked_fields;
      for (size_t taken = 0; fields && !fields->empty() && taken < kMostOfOne; ++taken) {
        const ReachedField& field = (*fields)[random() % fields->size()];
        const bool is_result = index + 1 == all.size();
        std::puts(
            json_of(function, is_result ? "retval" : std::to_string(index), field).dump().c_str());
        written += field.why_not.empty();
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace tracectl

int main(int argc, char** argv) {
  if (argc < 2) return 0;
  const size_t wanted = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1000;
  return tracectl::run(argv[1], wanted,
                       argc > 3 ? static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)) : 1);
}
