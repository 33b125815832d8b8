// SPDX-License-Identifier: BSD-2-Clause
//
// The numbered probes of Erlang's dyntrace:pn(NUMBER, ...). Erlang compiles them in, as a switch of
// 951 cases; here a number is an index.
#include <stdlib.h>
#include <tracectl/runtime.h>

#include "usdt/runtime/provider.h"

struct tracectl_user_trace {
  struct owned owned;
  const tracectl_probe* numbered;
  size_t many;
  const tracectl_probe* unnumbered;
};

enum { INTEGERS = 4, TEXTS = 4 };

static const tracectl_argument user_trace_arguments[] = {
    {TRACECTL_TEXT, "pid"}, {TRACECTL_TEXT, "tag"}, {TRACECTL_INT64, "i1"}, {TRACECTL_INT64, "i2"},
    {TRACECTL_INT64, "i3"}, {TRACECTL_INT64, "i4"}, {TRACECTL_TEXT, "s1"},  {TRACECTL_TEXT, "s2"},
    {TRACECTL_TEXT, "s3"},  {TRACECTL_TEXT, "s4"}};
enum { USER_TRACE_ARGUMENTS = sizeof user_trace_arguments / sizeof *user_trace_arguments };

tracectl_user_trace* tracectl_user_trace_add(tracectl_provider* provider, size_t many) {
  tracectl_user_trace* const trace = calloc(1, sizeof *trace);
  if (!trace) return NULL;
  trace->many = many;
  trace->numbered = tracectl_probe_add_numbered(provider, "user_trace__n", many,
                                                user_trace_arguments, USER_TRACE_ARGUMENTS);
  if (trace->numbered)
    trace->unnumbered = tracectl_probe_add(provider, "user_trace__i4s4", user_trace_arguments,
                                           USER_TRACE_ARGUMENTS);
  if (!trace->unnumbered) {
    free(trace);
    return NULL;
  }
  provider_own(provider, &trace->owned);
  return trace;
}

static const tracectl_probe* user_trace_probe(const tracectl_user_trace* trace, size_t number) {
  if (!trace) return NULL;
  if (number == TRACECTL_USER_TRACE_NO_NUMBER) return trace->unnumbered;
  return tracectl_probe_at(trace->numbered, trace->many, number);
}

bool tracectl_user_trace_enabled(const tracectl_user_trace* trace, size_t number) {
  return tracectl_probe_enabled(user_trace_probe(trace, number));
}

static const char* text_or_empty(const char* text) { return text ? text : ""; }

void tracectl_user_trace_fire(const tracectl_user_trace* trace, size_t number, const char* pid,
                              const char* tag, const int64_t* integers, size_t integer_count,
                              const char* const* texts, size_t text_count) {
  const tracectl_probe* const probe = user_trace_probe(trace, number);
  if (!tracectl_probe_enabled(probe)) return;
  int64_t i[INTEGERS] = {0};
  const char* s[TEXTS] = {"", "", "", ""};
  for (size_t n = 0; n < INTEGERS && n < integer_count; ++n) i[n] = integers[n];
  for (size_t n = 0; n < TEXTS && n < text_count; ++n) s[n] = text_or_empty(texts[n]);
  TRACECTL_FIRE(probe, text_or_empty(pid), text_or_empty(tag), i[0], i[1], i[2], i[3], s[0], s[1],
                s[2], s[3]);
}
