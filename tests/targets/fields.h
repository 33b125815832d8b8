// SPDX-License-Identifier: BSD-2-Clause
//
// The types of fields.c, whose places the unit tests ask a compiler for.
#pragma once

#include <stdbool.h>

enum state { IDLE, RUNNING = 7 };
enum level { LOW = -3, HIGH = 5 };
struct opaque;
struct uri {
  const char* text;
  unsigned long len;
};
typedef struct {
  const char* name;
  short weight;
} item;
struct request {
  unsigned id : 5;
  int delta : 7;
  unsigned long wide : 40;
  bool urgent;
  signed char grade;
  unsigned char octet;
  enum state state;
  enum level level;
  const struct uri uri;
  struct uri* other;
  struct {
    int inner;
    union {
      unsigned short number;
      char bytes[2];
    };
  };
  item list[4];
  int grid[2][3];
  char label[16];
  double ratio;
  struct request* next;
  struct opaque* hidden;
  void* any;
};
struct large {
  long n[4];
};
