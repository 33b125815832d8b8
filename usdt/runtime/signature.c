// SPDX-License-Identifier: BSD-2-Clause
//
// The arguments in the notes: how to read each at a site (by the calling convention, as in
// <tracectl/usdt.h>), and its type.
#include "usdt/runtime/signature.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "usdt/runtime/machine.h"
#include "usdt/runtime/name.h"

static const struct {
  int size;  // bytes, negative if signed
  const char* name;
} types[] = {
    [TRACECTL_INT8] = {-1, "int8_t"},    [TRACECTL_INT16] = {-2, "int16_t"},
    [TRACECTL_INT32] = {-4, "int32_t"},  [TRACECTL_INT64] = {-8, "int64_t"},
    [TRACECTL_UINT8] = {1, "uint8_t"},   [TRACECTL_UINT16] = {2, "uint16_t"},
    [TRACECTL_UINT32] = {4, "uint32_t"}, [TRACECTL_UINT64] = {8, "uint64_t"},
    [TRACECTL_POINTER] = {8, "void*"},   [TRACECTL_TEXT] = {8, "const char*"},
};

enum {
  MOST_NAME = NAME_LONGEST + 1,
  MOST_PLACE = sizeof "-8@[sp, 24] ",
  MOST_ENTRY = sizeof "const char*" + MOST_NAME + 1,
};

static bool is_valid(const tracectl_argument* argument) {
  return argument->type >= TRACECTL_INT8 && argument->type <= TRACECTL_TEXT &&
         (!argument->name || is_identifier(argument->name));
}

static size_t write_entry(uint8_t* to, const tracectl_argument* argument, size_t index) {
  char name[MOST_NAME];
  snprintf(name, sizeof name, "arg%zu", index);
  const char* const shown = argument->name ? argument->name : name;
  const char* const type = types[argument->type].name;
  const size_t type_size = strlen(type) + 1, name_size = strlen(shown) + 1;
  memcpy(to, type, type_size);
  memcpy(to + type_size, shown, name_size);
  to[type_size + name_size] = 1;  // arguments of the stapsdt note
  return type_size + name_size + 1;
}

int signature_make(const tracectl_argument* arguments, size_t count, struct image_signature* made) {
  if (count > TRACECTL_MOST_ARGUMENTS || (count > 0 && !arguments)) return EINVAL;
  for (size_t i = 0; i < count; ++i)
    if (!is_valid(&arguments[i])) return EINVAL;
  char* const text = calloc(1, count * MOST_PLACE + 1);
  uint8_t* const entries = malloc(count * MOST_ENTRY + 1);
  if (!text || !entries) {
    free(text);
    free(entries);
    return ENOMEM;
  }
  char* at = text;
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) {
    at += sprintf(at, "%s%d@%s", i ? " " : "", types[arguments[i].type].size,
                  image_machine.places[i]);
    size += write_entry(entries + size, &arguments[i], i);
  }
  *made = (struct image_signature){.places = text, .entries = entries, .entries_size = size};
  return 0;
}

void signature_free(struct image_signature* signature) {
  free((void*)(uintptr_t)signature->places);
  free((void*)(uintptr_t)signature->entries);
  *signature = (struct image_signature){0};
}
