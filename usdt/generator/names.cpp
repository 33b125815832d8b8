// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/generator/names.h"

#include <algorithm>
#include <array>

namespace tracectl::generator {
namespace {

constexpr std::array<std::string_view, 31> kReplaced{
    "NULL",  "EOF",    "and",      "and_eq", "assert",   "bitand", "bitor",   "bool",
    "compl", "errno",  "false",    "i386",   "linux",    "major",  "makedev", "minor",
    "not",   "not_eq", "offsetof", "or",     "or_eq",    "stderr", "stdin",   "stdout",
    "true",  "unix",   "va_arg",   "va_end", "va_start", "xor",    "xor_eq",
};

constexpr std::array<std::string_view, 85> kWords{
    "alignas",       "alignof",      "asm",       "auto",
    "break",         "case",         "catch",     "char",
    "char16_t",      "char32_t",     "char8_t",   "class",
    "co_await",      "co_return",    "co_yield",  "concept",
    "const",         "const_cast",   "consteval", "constexpr",
    "constinit",     "continue",     "decltype",  "default",
    "delete",        "do",           "double",    "dynamic_cast",
    "else",          "enum",         "explicit",  "export",
    "extern",        "float",        "for",       "friend",
    "goto",          "if",           "inline",    "int",
    "long",          "mutable",      "namespace", "new",
    "noexcept",      "nullptr",      "operator",  "private",
    "protected",     "public",       "register",  "reinterpret_cast",
    "requires",      "restrict",     "return",    "short",
    "signed",        "sizeof",       "static",    "static_assert",
    "static_cast",   "struct",       "switch",    "template",
    "this",          "thread_local", "throw",     "try",
    "typedef",       "typeid",       "typename",  "typeof",
    "union",         "unsigned",     "using",     "virtual",
    "void",          "volatile",     "wchar_t",   "while",
    "_Bool",         "_Generic",     "_Noreturn", "_Static_assert",
    "_Thread_local",
};

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

bool is_replaced(std::string_view name) {
  return std::find(kReplaced.begin(), kReplaced.end(), name) != kReplaced.end();
}

bool is_reserved(std::string_view name) {
  return is_replaced(name) || std::find(kWords.begin(), kWords.end(), name) != kWords.end();
}

std::string macro_of(std::string_view provider, std::string_view probe) {
  std::string macro{provider};
  macro += '_';
  for (size_t i = 0; i < probe.size(); i++) {
    if (probe.substr(i, 2) == "__") i++;
    macro += probe[i];
  }
  std::transform(macro.begin(), macro.end(), macro.begin(), upper);
  return macro;
}

}  // namespace tracectl::generator
