// SPDX-License-Identifier: BSD-2-Clause
//
// <tracectl/runtime.h>: USDT probes that a program makes while it runs, for interpreters, compilers
// and virtual machines, whose users name the probes. C11, or C++17, with gcc or clang on x86-64 and
// aarch64 Linux; link with -ltracectl-usdt. Probes that are known when a program is compiled are
// cheaper by <tracectl/usdt.h>.
//
//     tracectl_provider* shop = tracectl_provider_create("shop", NULL);
//     const tracectl_argument order[] = {{TRACECTL_TEXT, "customer"}, {TRACECTL_UINT32, "items"}};
//     const tracectl_probe* placed = tracectl_probe_add(shop, "order__placed", order, 2);
//     tracectl_provider_load(shop);
//     ...
//     TRACECTL_FIRE(placed, name, count);
//
// Probes can be listed and armed once they are loaded: by `tracectl list 'usdt:*:shop:*' -p PID`, and by
// other tools that find USDT probes in the files that a process maps. One load makes one ELF image, mapped
// like a shared library, in which tools find the notes of SystemTap's <sys/sdt.h> and those of
// <tracectl/usdt.h>. Add all probes that are known by then and load them at once. An image has two
// mappings and an open file descriptor (none in a directory, see tracectl_provider_create) and takes
// 12 KiB or more, and 200 to 500 bytes a probe. A load of more than 4096 probes makes several.
//
// Failures do no harm. If images cannot be made (no memfd_create, no memory, no right to map code) the
// functions fail. Every function accepts NULL for the provider and for the probe, and a probe that is NULL,
// not loaded or removed is never enabled. So a program need not check any result. Programs may close the
// descriptor of an image, but then tools may not find it.
//
// Threads. All functions but tracectl_provider_free may be called by any thread at any time. Those that
// fire or ask take no lock, allocate nothing, leave errno alone and may be called in signal handlers; all
// others share one lock.
//
// fork. A child has its parent's probes, which fire for tracers of the child. Neither process sees what the
// other adds or removes afterwards.
//
// Errors. Functions that return a pointer return NULL, those that return an int -1, and set errno:
// EINVAL if a rule below is broken, otherwise the error of memfd_create, mmap or malloc.
#ifndef TRACECTL_RUNTIME_H
#define TRACECTL_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRACECTL_RUNTIME_API_ __attribute__((visibility("default")))

// ---- providers ----

// A group of probes under one name. Names of providers and probes have 1 to 128 characters:
// letters, digits, `_`, `-` and `.`. `__` in a probe's name is shown as it is, and `-` in a pattern
// matches it too, as in DTrace.
typedef struct tracectl_provider tracectl_provider;

// Several may have the same name. NULL if the name breaks the rule.
//
// `directory`, which is copied, is where images are written as files, PROVIDER.BUILDID.so. NULL takes the
// environment's TRACECTL_USDT_DIRECTORY (which set-user-ID programs ignore); without it, images are in memory
// only. Tools that go by path can name a file, and trace it in all processes at once (`tracectl trace -a
// usdt:FILE:*:*`): processes with the same probes share it. Nobody removes it. An image that cannot be
// written there is made in memory.
TRACECTL_RUNTIME_API_ tracectl_provider* tracectl_provider_create(const char* name,
                                                                  const char* directory);

// Makes the probes that were added since the last load; tools that list probes see all of them at once. If it
// fails for some, another call may load them.
TRACECTL_RUNTIME_API_ int tracectl_provider_load(tracectl_provider* provider);

// Removes all of the provider's probes: tools no longer find them, and they are no longer enabled. Other
// threads may fire them at the same time and later. If it fails, the probes are not enabled, but tools still
// find some of them; call it again. More probes may be added afterwards.
TRACECTL_RUNTIME_API_ int tracectl_provider_remove(tracectl_provider* provider);

// Removes the probes and frees all memory, also theirs. The caller ensures that no thread fires one of them
// any more. Probes that are only removed keep their addresses: 24 bytes for each probe, and two mappings for
// each image. So a program that unloads code should have a provider for each piece of code, and free it
// together with the code.
TRACECTL_RUNTIME_API_ void tracectl_provider_free(tracectl_provider* provider);

// ---- probes ----

typedef enum tracectl_type {
  TRACECTL_INT8 = 1,
  TRACECTL_INT16,
  TRACECTL_INT32,
  TRACECTL_INT64,
  TRACECTL_UINT8,
  TRACECTL_UINT16,
  TRACECTL_UINT32,
  TRACECTL_UINT64,
  TRACECTL_POINTER,
  TRACECTL_TEXT,  // the address of chars that end with a 0, or NULL
} tracectl_type;

// The name is an identifier, or NULL: arg0, arg1 and so on.
typedef struct tracectl_argument {
  tracectl_type type;
  const char* name;
} tracectl_argument;

#define TRACECTL_MOST_ARGUMENTS 12

// Its members are not for users.
typedef struct tracectl_probe {
  const volatile uint16_t* semaphore;  // never NULL
  void (*site)(void);                  // may be called while the semaphore is not 0
  void* image;
} tracectl_probe;

// Adds a probe with `count` arguments, 12 at most. It belongs to the provider. Several of the same name are
// several sites of one probe.
TRACECTL_RUNTIME_API_ const tracectl_probe* tracectl_probe_add(tracectl_provider* provider,
                                                               const char* name,
                                                               const tracectl_argument* arguments,
                                                               size_t count);

// Adds `many` probes, 1 to 65536, named PREFIX0, PREFIX1 and so on, all with these arguments. Returns the
// first of an array of them.
TRACECTL_RUNTIME_API_ const tracectl_probe* tracectl_probe_add_numbered(
    tracectl_provider* provider, const char* prefix, size_t many,
    const tracectl_argument* arguments, size_t count);

// Removes a probe: it is no longer enabled. Other threads may fire it at the same time and later. Tools find it
// until all probes of the same load are removed. If it fails, the probe is not enabled, but tools still find
// that image; tracectl_provider_remove tries again.
TRACECTL_RUNTIME_API_ int tracectl_probe_remove(tracectl_provider* provider,
                                                const tracectl_probe* probe);

// True while a tracer has the probe armed; may change at any time.
static inline bool tracectl_probe_enabled(const tracectl_probe* probe) {
  // Acquire, because a load sets a probe's site before its semaphore.
  return probe && *__atomic_load_n(&probe->semaphore, __ATOMIC_ACQUIRE) != 0;
}

// Probe `number` of `many` that were added together, or NULL.
static inline const tracectl_probe* tracectl_probe_at(const tracectl_probe* first, size_t many,
                                                      size_t number) {
  return first && number < many ? first + number : NULL;
}

// TRACECTL_FIRE(PROBE, ARGUMENT...);
//
// A statement that passes the probe. Give it as many arguments as it was added with: integers, enumerations
// and pointers. They are evaluated only while the probe is enabled. (With fewer, tools show random values for
// the rest.)
#define TRACECTL_FIRE(...)                                                              \
  TRACECTL_RUNTIME_CAT_(                                                                \
      TRACECTL_RUNTIME_FIRE_,                                                           \
      TRACECTL_RUNTIME_COUNT_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, )) \
  (__VA_ARGS__)

// The same as functions, for callers in other languages. Integers are sign-extended to 64 bits.
TRACECTL_RUNTIME_API_ bool tracectl_probe_is_enabled(const tracectl_probe* probe);
TRACECTL_RUNTIME_API_ void tracectl_probe_fire(const tracectl_probe* probe,
                                               const uint64_t* arguments, size_t count);

// ---- the numbered probes of Erlang's dyntrace ----

// user_trace__n0, user_trace__n1 and so on, and user_trace__i4s4 for all that have no number, each with
// the arguments
//     pid, tag         text: the language's process, and its tag
//     i1 i2 i3 i4      int64
//     s1 s2 s3 s4      text
typedef struct tracectl_user_trace tracectl_user_trace;

#define TRACECTL_USER_TRACE_MANY 951  // as many as Erlang has
#define TRACECTL_USER_TRACE_NO_NUMBER ((size_t)-1)

// Adds `many` of them, 1 to 65536, and the one without a number. They belong to the provider.
TRACECTL_RUNTIME_API_ tracectl_user_trace* tracectl_user_trace_add(tracectl_provider* provider,
                                                                   size_t many);

// False also if there is no probe with this number.
TRACECTL_RUNTIME_API_ bool tracectl_user_trace_enabled(const tracectl_user_trace* trace,
                                                       size_t number);

// dyntrace:pn(NUMBER, INTEGER..., TEXT...): up to four of each; more are ignored. A missing integer is 0; a
// text that is missing or NULL is empty, as are `pid` and `tag`.
TRACECTL_RUNTIME_API_ void tracectl_user_trace_fire(const tracectl_user_trace* trace, size_t number,
                                                    const char* pid, const char* tag,
                                                    const int64_t* integers, size_t integer_count,
                                                    const char* const* texts, size_t text_count);

#ifdef __cplusplus
}
#endif

// ---- how it is done; nothing below is for users ----
//
// A site is a function of the image that does nothing. Its arguments are words, in the places of the calling
// convention.

#define TRACECTL_RUNTIME_CAT_(a, b) TRACECTL_RUNTIME_CAT_1_(a, b)
#define TRACECTL_RUNTIME_CAT_1_(a, b) a##b
#define TRACECTL_RUNTIME_COUNT_(probe, a, b, c, d, e, f, g, h, i, j, k, l, it, ...) it

#ifdef __cplusplus
namespace tracectl::runtime::detail {
template <class T> inline uint64_t word(T value) { return static_cast<uint64_t>(value); }
template <class T> inline uint64_t word(T* value) { return reinterpret_cast<uint64_t>(value); }
inline uint64_t word(decltype(nullptr)) { return 0; }
}  // namespace tracectl::runtime::detail
#define TRACECTL_RUNTIME_W_(x) ::tracectl::runtime::detail::word(x)
#define TRACECTL_RUNTIME_SITE_(site, types) reinterpret_cast<void(*) types>(site)
#else
#define TRACECTL_RUNTIME_W_(x) ((uint64_t)(x))
#define TRACECTL_RUNTIME_SITE_(site, types) ((void(*) types)(site))
#endif

#define TRACECTL_RUNTIME_PASS_(probe, types, words)                   \
  do {                                                                \
    const tracectl_probe* const tracectl_fired_ = (probe);            \
    if (__builtin_expect(tracectl_probe_enabled(tracectl_fired_), 0)) \
      TRACECTL_RUNTIME_SITE_(tracectl_fired_->site, types) words;     \
  } while (0)

#define TRACECTL_RUNTIME_T_1 uint64_t
#define TRACECTL_RUNTIME_T_2 TRACECTL_RUNTIME_T_1, uint64_t
#define TRACECTL_RUNTIME_T_3 TRACECTL_RUNTIME_T_2, uint64_t
#define TRACECTL_RUNTIME_T_4 TRACECTL_RUNTIME_T_3, uint64_t
#define TRACECTL_RUNTIME_T_5 TRACECTL_RUNTIME_T_4, uint64_t
#define TRACECTL_RUNTIME_T_6 TRACECTL_RUNTIME_T_5, uint64_t
#define TRACECTL_RUNTIME_T_7 TRACECTL_RUNTIME_T_6, uint64_t
#define TRACECTL_RUNTIME_T_8 TRACECTL_RUNTIME_T_7, uint64_t
#define TRACECTL_RUNTIME_T_9 TRACECTL_RUNTIME_T_8, uint64_t
#define TRACECTL_RUNTIME_T_10 TRACECTL_RUNTIME_T_9, uint64_t
#define TRACECTL_RUNTIME_T_11 TRACECTL_RUNTIME_T_10, uint64_t
#define TRACECTL_RUNTIME_T_12 TRACECTL_RUNTIME_T_11, uint64_t

#define TRACECTL_RUNTIME_W_1(a) TRACECTL_RUNTIME_W_(a)
#define TRACECTL_RUNTIME_W_2(a, ...) TRACECTL_RUNTIME_W_(a), TRACECTL_RUNTIME_W_1(__VA_ARGS__)
#define TRACECTL_RUNTIME_W_3(a, ...) TRACECTL_RUNTIME_W_(a), TRACECTL_RUNTIME_W_2(__VA_ARGS__)
#define TRACECTL_RUNTIME_W_4(a, ...) TRACECTL_RUNTIME_W_(a), TRACECTL_RUNTIME_W_3(__VA_ARGS__)
#define TRACECTL_RUNTIME_W_5(a, ...) TRACECTL_RUNTIME_W_(a), TRACECTL_RUNTIME_W_4(__VA_ARGS__)
#define TRACECTL_RUNTIME_W_6(a, ...) TRACECTL_RUNTIME_W_(a), TRACECTL_RUNTIME_W_5(__VA_ARGS__)
#define TRACECTL_RUNTIME_W_7(a, ...) TRACECTL_RUNTIME_W_(a), TRACECTL_RUNTIME_W_6(__VA_ARGS__)
#define TRACECTL_RUNTIME_W_8(a, ...) TRACECTL_RUNTIME_W_(a), TRACECTL_RUNTIME_W_7(__VA_ARGS__)
#define TRACECTL_RUNTIME_W_9(a, ...) TRACECTL_RUNTIME_W_(a), TRACECTL_RUNTIME_W_8(__VA_ARGS__)
#define TRACECTL_RUNTIME_W_10(a, ...) TRACECTL_RUNTIME_W_(a), TRACECTL_RUNTIME_W_9(__VA_ARGS__)
#define TRACECTL_RUNTIME_W_11(a, ...) TRACECTL_RUNTIME_W_(a), TRACECTL_RUNTIME_W_10(__VA_ARGS__)
#define TRACECTL_RUNTIME_W_12(a, ...) TRACECTL_RUNTIME_W_(a), TRACECTL_RUNTIME_W_11(__VA_ARGS__)

#define TRACECTL_RUNTIME_FIRE_0(probe) TRACECTL_RUNTIME_PASS_(probe, (void), ())
#define TRACECTL_RUNTIME_FIRE_1(probe, ...) \
  TRACECTL_RUNTIME_PASS_(probe, (TRACECTL_RUNTIME_T_1), (TRACECTL_RUNTIME_W_1(__VA_ARGS__)))
#define TRACECTL_RUNTIME_FIRE_2(probe, ...) \
  TRACECTL_RUNTIME_PASS_(probe, (TRACECTL_RUNTIME_T_2), (TRACECTL_RUNTIME_W_2(__VA_ARGS__)))
#define TRACECTL_RUNTIME_FIRE_3(probe, ...) \
  TRACECTL_RUNTIME_PASS_(probe, (TRACECTL_RUNTIME_T_3), (TRACECTL_RUNTIME_W_3(__VA_ARGS__)))
#define TRACECTL_RUNTIME_FIRE_4(probe, ...) \
  TRACECTL_RUNTIME_PASS_(probe, (TRACECTL_RUNTIME_T_4), (TRACECTL_RUNTIME_W_4(__VA_ARGS__)))
#define TRACECTL_RUNTIME_FIRE_5(probe, ...) \
  TRACECTL_RUNTIME_PASS_(probe, (TRACECTL_RUNTIME_T_5), (TRACECTL_RUNTIME_W_5(__VA_ARGS__)))
#define TRACECTL_RUNTIME_FIRE_6(probe, ...) \
  TRACECTL_RUNTIME_PASS_(probe, (TRACECTL_RUNTIME_T_6), (TRACECTL_RUNTIME_W_6(__VA_ARGS__)))
#define TRACECTL_RUNTIME_FIRE_7(probe, ...) \
  TRACECTL_RUNTIME_PASS_(probe, (TRACECTL_RUNTIME_T_7), (TRACECTL_RUNTIME_W_7(__VA_ARGS__)))
#define TRACECTL_RUNTIME_FIRE_8(probe, ...) \
  TRACECTL_RUNTIME_PASS_(probe, (TRACECTL_RUNTIME_T_8), (TRACECTL_RUNTIME_W_8(__VA_ARGS__)))
#define TRACECTL_RUNTIME_FIRE_9(probe, ...) \
  TRACECTL_RUNTIME_PASS_(probe, (TRACECTL_RUNTIME_T_9), (TRACECTL_RUNTIME_W_9(__VA_ARGS__)))
#define TRACECTL_RUNTIME_FIRE_10(probe, ...) \
  TRACECTL_RUNTIME_PASS_(probe, (TRACECTL_RUNTIME_T_10), (TRACECTL_RUNTIME_W_10(__VA_ARGS__)))
#define TRACECTL_RUNTIME_FIRE_11(probe, ...) \
  TRACECTL_RUNTIME_PASS_(probe, (TRACECTL_RUNTIME_T_11), (TRACECTL_RUNTIME_W_11(__VA_ARGS__)))
#define TRACECTL_RUNTIME_FIRE_12(probe, ...) \
  TRACECTL_RUNTIME_PASS_(probe, (TRACECTL_RUNTIME_T_12), (TRACECTL_RUNTIME_W_12(__VA_ARGS__)))

#endif  // TRACECTL_RUNTIME_H
