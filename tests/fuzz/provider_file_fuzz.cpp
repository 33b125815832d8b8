// SPDX-License-Identifier: BSD-2-Clause
//
// Input: a DTrace provider file, original or preprocessed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "usdt/generator/header.h"
#include "usdt/generator/names.h"
#include "usdt/generator/provider_file.h"

using namespace tracectl;
using namespace tracectl::generator;

namespace {

void must(bool promise) {
  if (!promise) std::abort();
}

bool is_name(std::string_view text) {
  for (char c : text)
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      return false;
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9');
}

void check_error(const Error& error, std::string_view text) {
  must(error.message.find("error: ") != error.message.npos);
  if (!error.spot) return;
  must(error.spot->column <= error.spot->text.size());
  must(error.spot->text.find('\n') == std::string::npos);
  must(text.find(error.spot->text) != text.npos);
}

// The generated header is right, and no part of a probe can end a line or a comment in it.
void check_probe(const ProbeDeclaration& probe) {
  must(is_name(probe.provider) && is_name(probe.name) && is_name(probe.macro));
  must(probe.arguments.size() <= kMostArguments);
  std::set<std::string> names;
  for (const ProbeArgument& argument : probe.arguments) {
    must(is_name(argument.name) && !is_reserved(argument.name));
    must(names.insert(argument.name).second);
    must(!argument.type.empty());
    must(argument.type.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789_ *") == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto file = parse_provider_file(text, "fuzz.d");
  if (!file) return check_error(file.error(), text), 0;
  must(!file->providers.empty());
  std::set<std::string> macros;
  for (const ProbeDeclaration& probe : file->probes) {
    check_probe(probe);
    must(macros.insert(probe.macro).second);
  }
  for (const std::string& tag : file->tags)
    must(tag.starts_with("struct ") || tag.starts_with("union "));
  must(header_text(*file, "fuzz.d").ends_with("#endif\n"));
  return 0;
}
