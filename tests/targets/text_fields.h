// SPDX-License-Identifier: BSD-2-Clause
//
// Functions that get texts as objects: by value, by reference, by pointer and as members. `Text` and `View` are the
// classes: those of the library that the program is built with, or others of the same layout. The JSON has, for each
// function, the texts of the paths at each of its calls; of each its first 64 bytes.
#pragma once

#include <cstddef>
#include <cstdio>

#include "stdin_protocol.h"

#ifdef __clang__
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noipa, used))
#endif

namespace texts {

volatile unsigned long sink;

struct Request {
  Request(const Text& name_, const View& view_) : name(name_), view(view_) {}
  int id = 7;
  Text name;
  View view;
  Text* other = &name;
  const Request* self = this;
};

KEPT void by_value(Text name, int n) { sink = name.size() + static_cast<unsigned long>(n); }
KEPT void by_reference(const Text& name) { sink = name.size(); }
KEPT void by_pointer(Text* name, Text** list) { sink = name->size() + list[1]->size(); }
KEPT void member(Request* request, const Request& same) {
  sink = request->name.size() + same.view.size();
}
KEPT void view(const View& view, View* pointer) { sink = view.size() + pointer->size(); }
KEPT void seen(int n, View view, double ratio, View after) {
  sink = view.size() + after.size() + static_cast<unsigned long>(n) + (ratio > 1);
}
KEPT Text made(const Text& name) { return name; }
KEPT unsigned long local(const char* bytes, unsigned long length) {
  Text text(bytes, length);
  Text* pointer = &text;
  sink = pointer->size();  // LOCAL
  return text.size();
}

inline void print(const char* path, const char* bytes, unsigned long length, const char* end) {
  printf("\"%s\":\"", path);
  for (unsigned long i = 0; i < length && i < 64; ++i)
    printf("\\u%04x", static_cast<unsigned char>(bytes[i]));
  printf("\"%s", end);
}

inline void print_all(const char* function, const char* const* paths, const char* bytes,
                      const unsigned long* lengths, unsigned long calls) {
  static bool is_first = true;
  printf("%s\"%s\":[", is_first ? "" : ",", function);
  is_first = false;
  for (unsigned long call = 0; call < calls; ++call) {
    printf(call ? ",{" : "{");
    for (const char* const* path = paths; *path; ++path)
      print(*path, bytes, lengths[call], path[1] ? "," : "");
    printf("}");
  }
  printf("]");
}

inline int run() {
  // Around the lengths up to which the libraries keep texts within the object.
  static const unsigned long lengths[] = {0, 1, 5, 15, 16, 21, 22, 23, 24, 40, 63, 64, 65, 90};
  constexpr unsigned long kCalls = sizeof(lengths) / sizeof(lengths[0]);
  static char bytes[100];
  for (unsigned long i = 0; i < sizeof(bytes); ++i) bytes[i] = static_cast<char>('A' + i % 50);
  ready_and_wait_for_go();
  for (unsigned long call = 0; call < kCalls; ++call) {
    Text text(bytes, lengths[call]);
    View whole(bytes, lengths[call]);
    Text* list[2] = {nullptr, &text};
    Request request(text, whole);
    by_value(text, 3);
    by_reference(text);
    by_pointer(&text, list);
    member(&request, request);
    view(whole, &whole);
    seen(5, whole, 0.5, whole);
    sink = made(text).size();
    sink = local(bytes, lengths[call]);
  }
  static const char* const value[] = {"arg.name", nullptr};
  static const char* const pointer[] = {"*arg.name", "*arg.list[1]", nullptr};
  static const char* const of_member[] = {"arg.request->name",
                                          "*arg.request->other",
                                          "arg.request->self->self->name",
                                          "arg.same.name",
                                          "arg.request->view",
                                          "arg.same.view",
                                          nullptr};
  static const char* const of_view[] = {"arg.view", "*arg.pointer", nullptr};
  static const char* const by_registers[] = {"arg.view", "arg.after", nullptr};
  static const char* const of_made[] = {"retval", "arg.name", nullptr};
  static const char* const of_local[] = {"var.text", "*var.pointer", nullptr};
  printf("done\n{");
  print_all("by_value", value, bytes, lengths, kCalls);
  print_all("by_reference", value, bytes, lengths, kCalls);
  print_all("by_pointer", pointer, bytes, lengths, kCalls);
  print_all("member", of_member, bytes, lengths, kCalls);
  print_all("view", of_view, bytes, lengths, kCalls);
  print_all("seen", by_registers, bytes, lengths, kCalls);
  print_all("made", of_made, bytes, lengths, kCalls);
  print_all("local", of_local, bytes, lengths, kCalls);
  printf("}\n");
  wait_for_exit();
  return 0;
}

}  // namespace texts
