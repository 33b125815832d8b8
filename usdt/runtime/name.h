// SPDX-License-Identifier: BSD-2-Clause
//
// Valid names: such that the patterns of all tools can contain them.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NAME_LONGEST 128  // readers accept 256

static inline bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// For a provider or a probe.
static inline bool is_name(const char* text) {
  size_t size = 0;
  for (; text[size]; ++size)
    if (size == NAME_LONGEST ||
        !(is_word_character(text[size]) || text[size] == '-' || text[size] == '.'))
      return false;
  return size > 0;
}

// For an argument.
static inline bool is_identifier(const char* text) {
  size_t size = 0;
  for (; text[size]; ++size)
    if (size == NAME_LONGEST || !is_word_character(text[size])) return false;
  return size > 0 && !(text[0] >= '0' && text[0] <= '9');
}
