// build: -O2 -g -fcf-protection=none -Wno-psabi
// SPDX-License-Identifier: BSD-2-Clause
//
// returned
//
// Functions with results of many types, each called once. The JSON has for each the members that its event shall
// have: `retval`, the value that the caller got, or null with the reason in `retval_is`; neither of a function that
// returns nothing. With the argument `plain` (the program has no debug information): the 64-bit results only, each as
// the register that it was in.
#include <complex.h>
#include <inttypes.h>
#include <stdbool.h>

#include "stdin_protocol.h"

#ifdef __clang__
#define KEPT __attribute__((noinline, minsize, used))
#else
#define KEPT __attribute__((noinline, noclone, used))
#endif

#define UNSEEN ", which no probe sees"

enum color { RED, GREEN = 7 };
typedef void no_value;
typedef float four_floats __attribute__((vector_size(16)));

struct small {
  int a, b;
};
struct pair {
  long a, b;
};
struct floats {
  float x, y;
};
struct doubles {
  double x, y;
};
struct mixed {
  double x;
  long n;
};
struct mixed_behind {
  long n;
  double x;
};
struct narrow {
  int low : 3;
  unsigned middle : 7;
  bool is_set : 1;
  signed char byte;
  short all[2];
};
struct nested {
  struct {
    float x;
    enum color color;
  } at;
  const char* text;
};
struct tagged {
  union {
    int n;
    float x;
  } value;
  int kind;
};
union word {
  long n;
  double x;
};
struct large {
  long n[4];
};
struct of_x87 {
  long double x;
};
union x87_or_int {
  long double x;
  int n;
};
struct empty {};

volatile long sink = 27;

// Expect: %al, %ax, %eax, %rax
KEPT signed char of_s8(void) { return (signed char)-sink; }
KEPT unsigned char of_u8(void) { return (unsigned char)(sink + 200); }
KEPT short of_s16(void) { return (short)-sink; }
KEPT int of_s32(void) { return (int)-sink; }
KEPT unsigned of_u32(void) { return 4000000000u + (unsigned)sink; }
KEPT long of_s64(void) { return INT64_MIN + sink; }
KEPT unsigned long of_u64(void) { return UINT64_MAX - (unsigned long)sink; }
KEPT bool of_bool(void) { return sink == 27; }
KEPT enum color of_enum(void) { return sink == 27 ? GREEN : RED; }
KEPT char of_char(void) { return (char)('A' + sink - 27); }
KEPT const char* of_text(void) { return sink == 27 ? "a text" : 0; }
KEPT void* of_pointer(void) {
  sink = sink + 0;  // else clang leaves the call out
  return (void*)&sink;
}
KEPT static int of_local(void) { return (int)sink; }
// Expect: nothing, whatever %rax has
KEPT void of_nothing(void) { sink = sink + 0; }
KEPT no_value of_no_value(void) { sink = sink + 0; }
KEPT struct empty of_empty(void) {
  sink = sink + 0;
  return (struct empty){};
}
// Expect: %xmm0; %st(0)
KEPT float of_float(void) { return (float)sink; }
KEPT double of_double(void) { return (double)sink; }
KEPT long double of_long_double(void) { return (long double)sink; }
KEPT four_floats of_vector(void) { return (four_floats){(float)sink}; }
// Expect: %xmm0; %xmm0 and %xmm1; %st(0) and %st(1)
KEPT float complex of_float_complex(void) { return (float)sink + 2.0f * I; }
KEPT double complex of_double_complex(void) { return (double)sink + 2.0 * I; }
KEPT long double complex of_long_double_complex(void) { return (long double)sink + 2.0L * I; }
// Expect: %rax; %rax and %rdx; %xmm0; %xmm0 and %xmm1; %xmm0 and %rax; %rax and %xmm0; then %rax with or without %rdx
KEPT struct small of_small(void) { return (struct small){(int)sink, 2}; }
KEPT struct pair of_pair(void) { return (struct pair){sink, 2}; }
KEPT __int128 of_wide(void) { return (__int128)sink << 64; }
KEPT struct floats of_floats(void) { return (struct floats){(float)sink, 2}; }
KEPT struct doubles of_doubles(void) { return (struct doubles){(double)sink, 2}; }
KEPT struct mixed of_mixed(void) { return (struct mixed){(double)sink, 2}; }
KEPT struct mixed_behind of_mixed_behind(void) { return (struct mixed_behind){sink, 2}; }
KEPT struct narrow of_narrow(void) {
  return (struct narrow){-(sink == 27), 100, sink == 27, -5, {(short)sink, -2}};
}
KEPT struct nested of_nested(void) {
  return (struct nested){{(float)sink + 0.5f, GREEN}, sink == 27 ? "a text" : 0};
}
KEPT struct tagged of_tagged(void) { return (struct tagged){{(int)sink}, 2}; }
KEPT union word of_word(void) { return (union word){sink}; }
// Expect: %st(0), and `n` in %rdi as there is no address of a result
KEPT struct of_x87 of_x87(long n) { return (struct of_x87){(long double)(sink + n)}; }
// Expect: memory at %rax, and `n` in %rsi behind that address
KEPT struct large of_large(long n) { return (struct large){{sink + n, 2, 3, 4}}; }
KEPT union x87_or_int of_union(int n) { return (union x87_or_int){.n = (int)sink + n}; }

static const char* separator = "{";
static void begin(const char* name) {
  printf("%s\"%s\":{", separator, name);
  separator = ",";
}
static void tell_signed(const char* name, int64_t value) {
  begin(name);
  printf("\"retval\":%" PRId64 "}", value);
}
static void tell_unsigned(const char* name, uint64_t value) {
  begin(name);
  printf("\"retval\":%" PRIu64 "}", value);
}
static void tell_unknown(const char* name, const char* why) {
  begin(name);
  printf("\"retval\":null,\"retval_is\":\"%s\"}", why);
}
static void tell_text(const char* name, const char* text) {
  begin(name);
  printf("\"retval\":\"%s\"}", text);
}
static void tell_register(const char* name, int64_t value) {
  begin(name);
  printf("\"retval\":%" PRId64 ",\"retval_is\":\"rax\"}", value);
}
static void tell_nothing(const char* name) {
  begin(name);
  printf("}");
}

static void tell_numbers(void) {
  tell_signed("of_s8", of_s8());
  tell_unsigned("of_u8", of_u8());
  tell_signed("of_s16", of_s16());
  tell_signed("of_s32", of_s32());
  tell_unsigned("of_u32", of_u32());
  tell_signed("of_s64", of_s64());
  tell_unsigned("of_u64", of_u64());
  tell_unsigned("of_bool", of_bool());
  tell_unsigned("of_enum", of_enum());
  tell_signed("of_char", of_char());
  tell_unsigned("of_text", (uintptr_t)of_text());
  tell_unsigned("of_pointer", (uintptr_t)of_pointer());
#ifdef __clang__  // which may make it return nothing
  tell_register("of_local", of_local());
#else
  tell_signed("of_local", of_local());
#endif
}

static void tell_nothings(void) {
  of_nothing();
  tell_nothing("of_nothing");
  of_no_value();
  tell_nothing("of_no_value");
  of_empty();
  tell_nothing("of_empty");
}

static void tell_floats(void) {
  const bool all =
      of_float() == 27 && of_double() == 27 && of_long_double() == 27 && of_vector()[0] == 27;
  if (!all || of_float_complex() != 27 + 2 * I || of_double_complex() != 27 + 2 * I) abort();
  if (of_long_double_complex() != 27 + 2 * I) abort();
  tell_unknown("of_float", "float in xmm0" UNSEEN);
  tell_unknown("of_double", "double in xmm0" UNSEEN);
  tell_unknown("of_long_double", "long double in st(0)" UNSEEN);
  tell_unknown("of_vector", "four_floats in xmm0" UNSEEN);
#ifdef __clang__
  tell_unknown("of_float_complex", "complex in xmm0" UNSEEN);
#else
  tell_unknown("of_float_complex", "complex float in xmm0" UNSEEN);
#endif
#ifdef __clang__
  tell_unknown("of_double_complex", "complex in xmm0 and xmm1" UNSEEN);
  tell_unknown("of_long_double_complex", "complex in a place that is not understood");
#else
  tell_unknown("of_double_complex", "complex double in xmm0 and xmm1" UNSEEN);
  tell_unknown("of_long_double_complex", "complex long double in st(0) and st(1)" UNSEEN);
#endif
}

static void tell_structs(void) {
  const bool all = of_small().a == 27 && of_pair().a == 27 && of_wide() >> 64 == 27 &&
                   of_floats().x == 27 && of_doubles().x == 27 && of_mixed().x == 27;
  if (!all || of_x87(1).x != 28) abort();
  tell_text("of_small", "{a = 27, b = 2}");
  tell_text("of_pair", "{a = 27, b = 2}");
  tell_text("of_wide", "{rax = 0, rdx = 27}");
  tell_unknown("of_floats", "struct floats in xmm0" UNSEEN);
  tell_unknown("of_doubles", "struct doubles in xmm0 and xmm1" UNSEEN);
  tell_text("of_mixed", "{x = ?, n = 2}");
  tell_unknown("of_x87", "struct of_x87 in st(0)" UNSEEN);
}

static void tell_members(void) {
  const struct narrow narrow = of_narrow();
  const struct nested nested = of_nested();
  const bool all = of_mixed_behind().x == 2 && narrow.low == -1 && narrow.all[1] == -2 &&
                   nested.at.x == 27.5f && of_tagged().kind == 2 && of_word().n == 27;
  if (!all) abort();
  tell_text("of_mixed_behind", "{n = 27, x = ?}");
  tell_text("of_narrow",
            "{low = -1, middle = 100, is_set = true, byte = -5, all[0] = 27, all[1] = -2}");
  begin("of_nested");
  printf("\"retval\":\"{at.x = 27.5, at.color = GREEN, text = %p}\"}", (const void*)nested.text);
  tell_text("of_tagged", "{value = ?, kind = 2}");
  tell_unknown("of_word", "union word in rax, and nothing says which of its members it has");
}

// Calls it with a place of its own for the result, as compilers do.
static uintptr_t place_of_large(void) {
  static struct large place;
  register uintptr_t address asm("rax");
  asm volatile("call of_large"
               : "=a"(address)
               : "D"(&place), "S"(1L)
               : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
  if (address != (uintptr_t)&place || place.n[0] != 28) abort();
  return address;
}

static uintptr_t place_of_union(void) {
  static union x87_or_int place;
  register uintptr_t address asm("rax");
  asm volatile("call of_union"
               : "=a"(address)
               : "D"(&place), "S"(1)
               : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
  if (address != (uintptr_t)&place || place.n != 28) abort();
  return address;
}

int main(int argc, char** argv) {
  ready_and_wait_for_go();
  if (argc > 1 && strcmp(argv[1], "plain") == 0) {
    const long number = of_s64();
    void* const pointer = of_pointer();
    printf("done\n");
    tell_register("of_s64", number);
    tell_register("of_pointer", (int64_t)(uintptr_t)pointer);
  } else {
    printf("done\n");
    tell_numbers();
    tell_nothings();
    tell_floats();
    tell_structs();
    tell_members();
    tell_unsigned("of_large", place_of_large());
    tell_unsigned("of_union", place_of_union());
  }
  printf("}\n");
  wait_for_exit();
}
