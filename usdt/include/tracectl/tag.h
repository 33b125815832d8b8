// SPDX-License-Identifier: BSD-2-Clause
//
// <tracectl/tag.h>: tells tracers what a thread works for; they show it with its events. C11 and C++17,
// and later; needs no library.
//
//     void serve(const struct request* request) {
//       struct tracectl_tag before = tracectl_tag_spread();
//       tracectl_tag_put(request->id);
//       answer(request);                      // events of its functions and probes have tag="ID"
//       tracectl_tag_restore(&before);
//     }
//
//     void serve(const Request& request) {    // the same in C++
//       tracectl::Tag tag(request.id);
//       answer(request);
//     }
//
// Each thread has at most one tag: a text of up to 31 bytes. A longer text is cut, in UTF-8 between two
// characters. While a tracer looks, all events of the thread have it as `tag`, from whatever function or
// probe, and conditions and keys can use it: `tag == "ID"`, `count by tag`.
//
// Work that continues elsewhere takes the tag along. tracectl_tag_spread() returns it as plain bytes, a
// struct tracectl_tag, which can be put into a message, an entry of a queue, a task or shared memory. The
// thread that does the work takes it by tracectl_tag_restore(), or in C++ by a tracectl::Tag made from it.
// So does the child of a fork(). A program that is executed can get the text as an argument or in its
// environment.
//
// While nobody traces, each of these functions tests a flag and stores nothing. A tag that was put then is
// not known when somebody traces later, until the thread puts the next one. (The flag is the semaphore of the
// probe `tracectl:tag`, with a counter next to it: the number of threads that had a tag when tracing ended.
// While it is not 0, a change that nobody sees removes the thread's tag, so that no outdated tag is shown
// later. A thread that ends with a tag remains counted: later calls then also test the thread's own tag.)
//
// Any thread may call these functions, but not in signal handlers. They take no lock of their own and leave
// errno alone. In a library that was loaded by dlopen(), the first use in a thread may allocate memory, like
// that of any thread-local variable there.
//
// Files of one process that are linked together share the tags of its threads. A library whose symbols are
// not shared (by a version script, or loaded by dlopen() into an executable without -rdynamic) has tags of
// its own, and tracers show the tag that any of the files put last. If a tracer looks at one of the files only
// (tracectl -x, -a), a tag that another file puts removes the thread's tag.
//
// How tracers see it: each change passes the USDT probe tracectl:tag with two arguments, the new text and
// the address of the thread's struct tracectl_tag_state_. They may read that struct at any later stop of the
// thread, also in a signal handler that interrupted a change.
#ifndef TRACECTL_TAG_H
#define TRACECTL_TAG_H

#include <tracectl/usdt.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TRACECTL_TAG_BYTES = 32 };  // of a text, with the 0 behind it

// A tag to hand on: plain bytes, of which those before the first 0 count.
struct tracectl_tag {
  char text[TRACECTL_TAG_BYTES];  // empty: none
};

// ---- how it is done; programs use what follows below ----

// The text is texts[serial % 2]: a change writes the other one first.
struct tracectl_tag_state_ {
  unsigned long check;   // TRACECTL_TAG_CHECK_ and its own address, exclusive or
  unsigned long serial;  // of changes
  char texts[2][TRACECTL_TAG_BYTES];
};

#define TRACECTL_TAG_CHECK_ 0x7472616365637467ul
#ifdef __cplusplus
#define TRACECTL_TAG_ADDRESS_(of) reinterpret_cast<unsigned long>(of)
#else
#define TRACECTL_TAG_ADDRESS_(of) ((unsigned long)(of))
#endif

TRACECTL_PROBE_DECLARE(tracectl, tag, (const char*, text), (const void*, state));

extern __thread struct tracectl_tag_state_ tracectl_tag_of_thread_
    __attribute__((visibility("default")));
extern unsigned tracectl_tag_holders_
    __attribute__((visibility("default")));  // threads that have one

// Both are defined where they are used, by an asm statement without an instruction, in a COMDAT group: once
// in an executable or library, for all of its files. They are seen, so that those of a process use one.
#define TRACECTL_TAG_SYMBOL_(symbol, type, size)                                          \
  ".weak " symbol "\n.type " symbol ", \"" type "\"\n.size " symbol ", " size "\n" symbol \
  ": .zero " size "\n.popsection\n"
#define TRACECTL_TAG_GROUP_(section, flags) \
  ".pushsection " section ",\"" flags "G\",\"nobits\",tracectl_tag_of_thread_,comdat\n.balign 8\n"
// clang-format off
#define TRACECTL_TAG_DEFINITION_                                      \
  ".ifndef tracectl_tag_of_thread_\n"                                 \
  TRACECTL_TAG_GROUP_(".tbss.tracectl", "awT")                        \
  TRACECTL_TAG_SYMBOL_("tracectl_tag_of_thread_", "tls_object", "80") \
  TRACECTL_TAG_GROUP_(".bss.tracectl", "aw")                          \
  TRACECTL_TAG_SYMBOL_("tracectl_tag_holders_", "object", "4")        \
  ".endif\n"
// clang-format on

#define TRACECTL_TAG_COLD_ static __attribute__((noinline, cold, unused))
#define TRACECTL_TAG_INLINE_ static inline __attribute__((always_inline))

TRACECTL_TAG_INLINE_ struct tracectl_tag_state_* tracectl_tag_own_(void) {
  TRACECTL_USDT_ASM_(TRACECTL_TAG_DEFINITION_);
  return &tracectl_tag_of_thread_;
}

TRACECTL_TAG_INLINE_ unsigned* tracectl_tag_count_(void) {
  TRACECTL_USDT_ASM_(TRACECTL_TAG_DEFINITION_);
  return &tracectl_tag_holders_;
}

#define TRACECTL_TAG_IN_USE_                \
  (TRACECTL_PROBE_ENABLED(tracectl, tag) || \
   __builtin_expect(__atomic_load_n(tracectl_tag_count_(), __ATOMIC_RELAXED) != 0, 0))

// The number of the text's first bytes that fit, without a part of a UTF-8 character.
TRACECTL_TAG_COLD_ unsigned long tracectl_tag_fitting_(const char* text, unsigned long length) {
  unsigned long fitting = 0, most_back = 3;
  while (fitting < length && fitting < TRACECTL_TAG_BYTES - 1 && text[fitting]) ++fitting;
  if (fitting < TRACECTL_TAG_BYTES - 1 || fitting == length) return fitting;
  while (most_back-- && (text[fitting] & 0xc0) == 0x80) --fitting;
  return fitting;
}

// While nobody traces, the thread has no tag, because nobody would see it change.
TRACECTL_TAG_COLD_ void tracectl_tag_set_(const char* text, unsigned long length) {
  struct tracectl_tag_state_* own = tracectl_tag_own_();
  const char had = own->texts[own->serial % 2][0];
  char* to = own->texts[(own->serial + 1) % 2];
  unsigned long bytes = 0;
  if (TRACECTL_PROBE_ENABLED(tracectl, tag)) bytes = tracectl_tag_fitting_(text, length);
  if (bytes) __builtin_memmove(to, text, bytes);
  __builtin_memset(to + bytes, 0, TRACECTL_TAG_BYTES - bytes);
  own->check = TRACECTL_TAG_CHECK_ ^ TRACECTL_TAG_ADDRESS_(own);
  __atomic_signal_fence(__ATOMIC_RELEASE);
  __atomic_store_n(&own->serial, own->serial + 1, __ATOMIC_RELAXED);
  if ((had != 0) != (bytes != 0))
    __atomic_fetch_add(tracectl_tag_count_(), bytes ? 1u : ~0u, __ATOMIC_RELAXED);
  TRACECTL_PROBE(tracectl, tag, to, own);
}

TRACECTL_TAG_COLD_ const char* tracectl_tag_text_(void) {
  const struct tracectl_tag_state_* own = tracectl_tag_own_();
  return own->texts[own->serial % 2];
}

// ---- what programs use ----

// Sets the calling thread's tag to `text`, which ends with a 0. Null or an empty text removes the tag.
TRACECTL_TAG_INLINE_ void tracectl_tag_put(const char* text) {
  if (TRACECTL_TAG_IN_USE_) tracectl_tag_set_(text ? text : "", TRACECTL_TAG_BYTES);
}

// Returns the calling thread's tag; empty if it has none. Valid until the tag changes.
TRACECTL_TAG_INLINE_ const char* tracectl_tag_get(void) {
  return TRACECTL_TAG_IN_USE_ ? tracectl_tag_text_() : "";
}

// Returns the calling thread's tag, to hand it on or to restore it later.
TRACECTL_TAG_INLINE_ struct tracectl_tag tracectl_tag_spread(void) {
  struct tracectl_tag tag = {{0}};  // all of it: it may go to other processes
  if (TRACECTL_TAG_IN_USE_) __builtin_memcpy(tag.text, tracectl_tag_text_(), TRACECTL_TAG_BYTES);
  return tag;
}

// Sets the calling thread's tag to one that it or another thread has spread; removes the tag if that had none.
TRACECTL_TAG_INLINE_ void tracectl_tag_restore(const struct tracectl_tag* tag) {
  if (TRACECTL_TAG_IN_USE_) tracectl_tag_set_(tag->text, TRACECTL_TAG_BYTES);
}

#ifdef __cplusplus
}  // extern "C"

// Each file has its own flag and probe.
#define TRACECTL_TAG_MEMBER_ __attribute__((always_inline))

namespace tracectl {

// Gives the thread that makes it this tag, and at its end the previous one. The objects of a thread must end in
// the reverse order, like variables of blocks, and must not live while a coroutine is suspended that another
// thread may resume.
class [[nodiscard]] Tag {
 public:
  // `text`: std::string_view, std::string, or whatever has data() and size() of chars; up to its first
  // byte 0.
  template <class Text,
            class = decltype(tracectl_tag_put(static_cast<const Text*>(nullptr)->data()))>
  TRACECTL_TAG_MEMBER_ explicit Tag(const Text& text) : before_(tracectl_tag_spread()) {
    if (TRACECTL_TAG_IN_USE_)
      tracectl_tag_set_(text.data(), static_cast<unsigned long>(text.size()));
  }
  TRACECTL_TAG_MEMBER_ explicit Tag(const char* text) : before_(tracectl_tag_spread()) {
    tracectl_tag_put(text);
  }
  // Continues work that was handed on.
  TRACECTL_TAG_MEMBER_ explicit Tag(const tracectl_tag& handed) : before_(tracectl_tag_spread()) {
    tracectl_tag_restore(&handed);
  }
  TRACECTL_TAG_MEMBER_ ~Tag() { tracectl_tag_restore(&before_); }
  Tag(const Tag&) = delete;
  Tag& operator=(const Tag&) = delete;

  TRACECTL_TAG_MEMBER_ static void put(const char* text) { tracectl_tag_put(text); }
  TRACECTL_TAG_MEMBER_ static const char* get() { return tracectl_tag_get(); }
  TRACECTL_TAG_MEMBER_ static tracectl_tag spread() { return tracectl_tag_spread(); }
  TRACECTL_TAG_MEMBER_ static void restore(const tracectl_tag& tag) { tracectl_tag_restore(&tag); }

 private:
  tracectl_tag before_;
};

}  // namespace tracectl
#endif

#endif  // TRACECTL_TAG_H
