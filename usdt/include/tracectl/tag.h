// SPDX-License-Identifier: BSD-2-Clause
//
// <tracectl/tag.h>: what a thread works for, shown with all it does. C11 and C++17, and later; needs
// no library.
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
// Each thread has at most one tag: a text of up to 31 bytes; a longer one is cut, in UTF-8 between two
// characters. While a tracer looks, events of the thread bear it as `tag`, whatever function or probe
// they are of, and conditions and keys can ask for it: `tag == "ID"`, `count by tag`.
//
// Work that goes on elsewhere takes the tag along. tracectl_tag_spread() gives it as plain bytes, a
// struct tracectl_tag, to be put into a message, an entry of a queue, a task or shared memory; whoever
// does the work makes it its own by tracectl_tag_restore(), or in C++ by a tracectl::Tag of it. So does
// the child of a fork(), and a program that is executed can be given the text, as an argument or in its
// environment.
//
// While nobody traces, each of these functions tests a flag and does nothing else: no thread has a tag
// then. What is put while nobody traces is not known later, when somebody does, until the next is put.
// (The flag is the semaphore of the probe `tracectl:tag`, with a counter beside it: of threads that had a
// tag when tracing ended, and have not called one of these functions since. A thread that ends while it
// has a tag leaves it counted, and a test of the thread's own tag is added to later calls.)
//
// All functions may be called by any thread, not in signal handlers; they take no lock, allocate
// nothing and leave errno alone. Objects of one process that are linked together share the tags of its
// threads. A library that is loaded by dlopen() into an executable that does not export its symbols
// (-rdynamic) has tags of its own beside them, and what was put last, by any of them, is what is shown.
//
// How tracers see it: each change passes the USDT probe tracectl:tag with two arguments, the new text
// and the address of the thread's struct tracectl_tag_state_. What stands there they may read at any
// later stop of that thread.
#ifndef TRACECTL_TAG_H
#define TRACECTL_TAG_H

#include "tracectl/usdt.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TRACECTL_TAG_BYTES = 32 };  // of a text, with the 0 behind it

// A tag to hand on: plain bytes. Only what is before the first 0 means anything.
struct tracectl_tag {
  char text[TRACECTL_TAG_BYTES];  // empty: none
};

// ---- how it is done; programs use what follows below ----

struct tracectl_tag_state_ {
  unsigned long serial;  // of changes; 64 bits
  char text[TRACECTL_TAG_BYTES];
};

TRACECTL_PROBE_DECLARE(tracectl, tag, (const char*, text), (const void*, state));

#define TRACECTL_TAG_SHARED_ __attribute__((weak, visibility("default")))
// Weak, so that each object may define it, and seen, so that those of a process use one.
TRACECTL_TAG_SHARED_ __thread struct tracectl_tag_state_ tracectl_tag_of_thread_ = {0, {0}};
TRACECTL_TAG_SHARED_ unsigned tracectl_tag_holders_ = 0;  // threads that have one

#define TRACECTL_TAG_IN_USE_                \
  (TRACECTL_PROBE_ENABLED(tracectl, tag) || \
   __builtin_expect(__atomic_load_n(&tracectl_tag_holders_, __ATOMIC_RELAXED) != 0, 0))
#define TRACECTL_TAG_COLD_ static __attribute__((noinline, cold, unused))
#define TRACECTL_TAG_INLINE_ static inline __attribute__((always_inline, unused))

// How many of the text's first bytes fit, whole characters of UTF-8.
TRACECTL_TAG_COLD_ unsigned long tracectl_tag_fitting_(const char* text, unsigned long length) {
  unsigned long fitting = 0;
  while (fitting < length && text[fitting]) {
    if (fitting == TRACECTL_TAG_BYTES - 1) {
      while (fitting && (text[fitting] & 0xc0) == 0x80) --fitting;
      break;
    }
    ++fitting;
  }
  return fitting;
}

// While nobody traces the thread is left without one: nobody would see it change.
TRACECTL_TAG_COLD_ void tracectl_tag_set_(const char* text, unsigned long length) {
  struct tracectl_tag_state_* own = &tracectl_tag_of_thread_;
  const int had = own->text[0] != 0;
  const unsigned long bytes =
      TRACECTL_PROBE_ENABLED(tracectl, tag) ? tracectl_tag_fitting_(text, length) : 0;
  // A tag of the thread's own may be put again: the text may be where it is written.
  __builtin_memmove(own->text, text, bytes);
  __builtin_memset(own->text + bytes, 0, TRACECTL_TAG_BYTES - bytes);
  ++own->serial;
  if (had != (bytes != 0))
    __atomic_fetch_add(&tracectl_tag_holders_, bytes ? 1u : ~0u, __ATOMIC_RELAXED);
  TRACECTL_PROBE(tracectl, tag, own->text, own);
}

TRACECTL_TAG_COLD_ void tracectl_tag_copy_(struct tracectl_tag* to) {
  __builtin_memcpy(to->text, tracectl_tag_of_thread_.text, TRACECTL_TAG_BYTES);
}

// ---- what programs use ----

// The calling thread's tag is `text` from here on, which ends with a 0; none if it is empty or null.
TRACECTL_TAG_INLINE_ void tracectl_tag_put(const char* text) {
  if (TRACECTL_TAG_IN_USE_) tracectl_tag_set_(text ? text : "", TRACECTL_TAG_BYTES);
}

// The calling thread's tag; empty if it has none. Valid until it has another.
TRACECTL_TAG_INLINE_ const char* tracectl_tag_get(void) {
  return TRACECTL_TAG_IN_USE_ ? tracectl_tag_of_thread_.text : "";
}

// The calling thread's tag, to be handed on, or to be restored later.
TRACECTL_TAG_INLINE_ struct tracectl_tag tracectl_tag_spread(void) {
  struct tracectl_tag tag;
  tag.text[0] = 0;
  if (TRACECTL_TAG_IN_USE_) tracectl_tag_copy_(&tag);
  return tag;
}

// The calling thread's tag is again what was spread, by itself or another; none if none was.
TRACECTL_TAG_INLINE_ void tracectl_tag_restore(const struct tracectl_tag* tag) {
  if (TRACECTL_TAG_IN_USE_) tracectl_tag_set_(tag->text, TRACECTL_TAG_BYTES);
}

#ifdef __cplusplus
}  // extern "C"

namespace tracectl {

// As long as it lives, the thread that made it has this tag; then it has the one from before. Those of a
// thread end in the reverse order, as variables of blocks do.
class Tag {
 public:
  // `text`: std::string_view, std::string, or whatever has data() and size() of chars; up to its first
  // byte 0.
  template <class Text,
            class = decltype(static_cast<const char*>(static_cast<const Text*>(nullptr)->data()))>
  explicit Tag(const Text& text) : before_(tracectl_tag_spread()) {
    if (TRACECTL_TAG_IN_USE_) tracectl_tag_set_(text.data(), text.size());
  }
  explicit Tag(const char* text) : before_(tracectl_tag_spread()) { tracectl_tag_put(text); }
  // Goes on with work that was handed on.
  explicit Tag(const tracectl_tag& handed) : before_(tracectl_tag_spread()) {
    tracectl_tag_restore(&handed);
  }
  ~Tag() { tracectl_tag_restore(&before_); }
  Tag(const Tag&) = delete;
  Tag& operator=(const Tag&) = delete;

  static void put(const char* text) { tracectl_tag_put(text); }
  static const char* get() { return tracectl_tag_get(); }
  static tracectl_tag spread() { return tracectl_tag_spread(); }
  static void restore(const tracectl_tag& tag) { tracectl_tag_restore(&tag); }

 private:
  tracectl_tag before_;
};

}  // namespace tracectl
#endif

#endif  // TRACECTL_TAG_H
