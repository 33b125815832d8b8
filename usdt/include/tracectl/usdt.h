// SPDX-License-Identifier: BSD-2-Clause
//
// <tracectl/usdt.h>: typed USDT probes for C11 and C++17, and later, by gcc 9 and clang 11, and
// later, on x86-64 and aarch64 Linux. One header; it includes nothing and needs no library.
//
//     TRACECTL_PROBE_DECLARE(shop, order__placed, (const char*, customer), (uint32_t, items));
//
//     void place(const struct order* order) {
//       TRACECTL_PROBE(shop, order__placed, name_of(order->customer), order->count);
//     }
//
// A declaration defines a probe's name and arguments, once, in a header or a source file. A
// statement that passes the probe tests a 16-bit counter (its semaphore), which the kernel raises
// while some tracer has the probe armed. While it is not armed, nothing else happens: no argument
// is computed. While it is armed, the arguments are computed, and a function is called that belongs
// to the probe and does nothing.
//
// That function is the probe's site. To the program's compiler it is a call with the types of the
// declaration, so that:
//   - wrong types and counts are compile errors;
//   - the arguments are where the machine's calling convention has them, which every tool can read;
//   - a probe has one site in each executable or shared library, however often it is passed there,
//     also in headers, templates and code that is inlined or linked with -flto;
//   - on x86-64 it has nops of 1, 10 and 5 bytes and a return, so that a tracer has a choice, and
//     each of them means the same. The note names the 1-byte nop, where a probe is a trap that
//     harms no program. Linux 7.2 replaces a probe on the 10-byte nop by a call of its own instead
//     of a trap. Linux 6.18 to 7.1 do so with the 5-byte nop, but a child that the program forks
//     meanwhile dies of that call, and it writes below the stack pointer, where a function that
//     calls no other may keep variables (the red zone of the System V ABI for x86-64, section
//     3.2.2): tracectl uses it only if --fast-nops allows it, and nothing is kept there at a site.
//
// Probes are found by `tracectl list 'usdt:PATH:PROVIDER:NAME'`, and by readelf -n, bpftrace, perf,
// gdb and SystemTap: their notes are those of SystemTap's <sys/sdt.h> (.note.stapsdt, see
// https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation). Next to each is a note of
// tracectl's own with the declared types and names of the arguments; see "Notes" below.
//
// All macros here may be used by any thread, in signal handlers and in constructors that run before
// main(). They take no lock, allocate nothing and leave errno alone.
#ifndef TRACECTL_USDT_H
#define TRACECTL_USDT_H

#if !defined(__GNUC__) || !defined(__ELF__) || !(defined(__x86_64__) || defined(__aarch64__))
#error "tracectl/usdt.h is for gcc and clang, ELF, x86-64 and aarch64"
#endif
#if defined(__x86_64__) && defined(__ILP32__)
#error "tracectl/usdt.h is not for the x32 ABI"
#endif

#ifndef __ASSEMBLER__

#if defined(__cplusplus) ? __cplusplus < 201703L : __STDC_VERSION__ < 201112L
#error "tracectl/usdt.h needs C++17 or C11, or later: -std=c++17, -std=c11"
#endif

// ---- what programs use ----

// TRACECTL_PROBE_DECLARE(PROVIDER, NAME, (TYPE, ARGUMENT)...);
//
// Declares a probe, at file scope (in C++ in any namespace). PROVIDER, NAME and the names of its
// arguments are identifiers. `__` in NAME is shown as it is, and `-` in a pattern matches it, too,
// as in DTrace. The declaration alone defines no probe: the first use of TRACECTL_PROBE or
// TRACECTL_PROBE_ENABLED does.
//
// Up to 12 arguments: integers of up to 64 bits, bool, enumerations and pointers. `const char*`
// (and `char*`) is text that ends with a 0. In C++ also std::string_view, or any type that has
// data() and size() of chars: passed as an address and a length, which count as two arguments. A
// TYPE with a comma in it needs a typedef. The compiler refuses floating-point numbers and other
// classes.
#define TRACECTL_PROBE_DECLARE(provider, ...)                                 \
  TRACECTL_USDT_CAT_(TRACECTL_USDT_DECLARE_, TRACECTL_USDT_ANY_(__VA_ARGS__)) \
  (provider, __VA_ARGS__)

// TRACECTL_PROBE(PROVIDER, NAME, ARGUMENT...);
//
// A statement that passes a declared probe. The arguments are evaluated only while the probe is
// armed, in a part of the function that the compiler treats as unlikely.
#define TRACECTL_PROBE(provider, ...)                                      \
  TRACECTL_USDT_CAT_(TRACECTL_USDT_PASS_, TRACECTL_USDT_ANY_(__VA_ARGS__)) \
  (provider, __VA_ARGS__)

// TRACECTL_PROBE_ENABLED(PROVIDER, NAME)
//
// True while some tracer has the declared probe armed; may change at any time. Use it if the
// arguments take more than an expression to compute. It is no constant: in a C++ function that is
// also evaluated as one, test std::is_constant_evaluated() first. (If the macro were false there,
// it would also be false in `const bool is_enabled = ...`, because compilers first try to evaluate
// that as a constant.)
#define TRACECTL_PROBE_ENABLED(provider, name) \
  __builtin_expect(TRACECTL_USDT_ID_(enabled, provider, name)(), 0)

// TRACECTL_PROBE_INLINE(PROVIDER, NAME, ARGUMENT...);
//
// A statement that is a probe itself, without a declaration, a test or a branch: a 1-byte nop, and
// up to 12 arguments of the types above except std::string_view, which are evaluated each time.
// Each use is a site of its own. While it is armed, a hit takes a trap, which costs at least twice
// as much as a hit of TRACECTL_PROBE. Not for functions that are evaluated as constants.
#define TRACECTL_PROBE_INLINE(provider, ...)                                 \
  TRACECTL_USDT_CAT_(TRACECTL_USDT_INLINE_, TRACECTL_USDT_ANY_(__VA_ARGS__)) \
  (provider, __VA_ARGS__)

// ---- how it is done; nothing below is for users ----
//
// Notes. An asm statement without instructions, next to each test of the semaphore, defines the
// probe: its semaphore, its function and its notes, all in sections of one COMDAT group under the
// function's name. The assembler skips all but the first in a file, and the linker keeps one group
// of each name.
//
// The note of tracectl: section .note.tracectl, owner "tracectl", type 1. Its contents:
//     8 bytes   the address of the site, as in the note of stapsdt next to it
//     8 bytes   the address of .stapsdt.base at link time, as there
//     text      for each declared argument: its type, a 0, its name, a 0, and a byte: how many
//               arguments of the stapsdt note it stands for (2: an address and a length)

#define TRACECTL_USDT_STRING_(...) TRACECTL_USDT_STRING_1_(__VA_ARGS__)
#define TRACECTL_USDT_STRING_1_(...) #__VA_ARGS__
#define TRACECTL_USDT_CAT_(a, b) TRACECTL_USDT_CAT_1_(a, b)
#define TRACECTL_USDT_CAT_1_(a, b) a##b
#define TRACECTL_USDT_ID_(what, provider, name) tracectl_usdt_##what##_##provider##_##name
#define TRACECTL_USDT_SITE_(provider, name) "_tracectl.site." #provider "." #name
#define TRACECTL_USDT_SEMAPHORE_(provider, name) "_tracectl.semaphore." #provider "." #name

// Whether there are arguments after the first: NONE or SOME. The number of arguments, from 1 to 12.
#define TRACECTL_USDT_14TH_(a, b, c, d, e, f, g, h, i, j, k, l, m, it, ...) it
#define TRACECTL_USDT_ANY_(...)                                                                \
  TRACECTL_USDT_14TH_(__VA_ARGS__, SOME, SOME, SOME, SOME, SOME, SOME, SOME, SOME, SOME, SOME, \
                      SOME, SOME, NONE, NONE)
#define TRACECTL_USDT_COUNT_(...) \
  TRACECTL_USDT_14TH_(a, __VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

// Expands to m(INDEX, X) for each X, separated by s(): nothing, a comma, or the text of a space.
#define TRACECTL_USDT_EACH_(m, ...) TRACECTL_USDT_EACH_BY_(m, TRACECTL_USDT_NOTHING_, __VA_ARGS__)
#define TRACECTL_USDT_LIST_(m, ...) TRACECTL_USDT_EACH_BY_(m, TRACECTL_USDT_COMMA_, __VA_ARGS__)
#define TRACECTL_USDT_TEXT_(m, ...) TRACECTL_USDT_EACH_BY_(m, TRACECTL_USDT_SPACE_, __VA_ARGS__)
#define TRACECTL_USDT_NOTHING_()
#define TRACECTL_USDT_COMMA_() ,
#define TRACECTL_USDT_SPACE_() ".ascii \" \"\n"
#define TRACECTL_USDT_EACH_BY_(m, s, ...) \
  TRACECTL_USDT_CAT_(TRACECTL_USDT_EACH_, TRACECTL_USDT_COUNT_(__VA_ARGS__))(m, s, __VA_ARGS__)
#define TRACECTL_USDT_EACH_1(m, s, a) m(0, a)
#define TRACECTL_USDT_EACH_2(m, s, a, b) m(0, a) s() m(1, b)
#define TRACECTL_USDT_EACH_3(m, s, a, b, c) TRACECTL_USDT_EACH_2(m, s, a, b) s() m(2, c)
#define TRACECTL_USDT_EACH_4(m, s, a, b, c, d) TRACECTL_USDT_EACH_3(m, s, a, b, c) s() m(3, d)
#define TRACECTL_USDT_EACH_5(m, s, a, b, c, d, e) TRACECTL_USDT_EACH_4(m, s, a, b, c, d) s() m(4, e)
#define TRACECTL_USDT_EACH_6(m, s, a, b, c, d, e, f) \
  TRACECTL_USDT_EACH_5(m, s, a, b, c, d, e) s() m(5, f)
#define TRACECTL_USDT_EACH_7(m, s, a, b, c, d, e, f, g) \
  TRACECTL_USDT_EACH_6(m, s, a, b, c, d, e, f) s() m(6, g)
#define TRACECTL_USDT_EACH_8(m, s, a, b, c, d, e, f, g, h) \
  TRACECTL_USDT_EACH_7(m, s, a, b, c, d, e, f, g) s() m(7, h)
#define TRACECTL_USDT_EACH_9(m, s, a, b, c, d, e, f, g, h, i) \
  TRACECTL_USDT_EACH_8(m, s, a, b, c, d, e, f, g, h) s() m(8, i)
#define TRACECTL_USDT_EACH_10(m, s, a, b, c, d, e, f, g, h, i, j) \
  TRACECTL_USDT_EACH_9(m, s, a, b, c, d, e, f, g, h, i) s() m(9, j)
#define TRACECTL_USDT_EACH_11(m, s, a, b, c, d, e, f, g, h, i, j, k) \
  TRACECTL_USDT_EACH_10(m, s, a, b, c, d, e, f, g, h, i, j) s() m(10, k)
#define TRACECTL_USDT_EACH_12(m, s, a, b, c, d, e, f, g, h, i, j, k, l) \
  TRACECTL_USDT_EACH_11(m, s, a, b, c, d, e, f, g, h, i, j, k) s() m(11, l)

// Parts of a pair (TYPE, ARGUMENT).
#define TRACECTL_USDT_TYPE_OF_(type, argument) type
#define TRACECTL_USDT_NAME_OF_(type, argument) argument
#define TRACECTL_USDT_PARAMETER_OF_(type, argument) type argument
#define TRACECTL_USDT_TEXT_OF_(type, argument) ".asciz \"" #type "\", \"" #argument "\"\n"
#define TRACECTL_USDT_TYPE_(index, pair) TRACECTL_USDT_TYPE_OF_ pair
#define TRACECTL_USDT_NAME_(index, pair) TRACECTL_USDT_NAME_OF_ pair
#define TRACECTL_USDT_PARAMETER_(index, pair) TRACECTL_USDT_PARAMETER_OF_ pair

// The places of arguments at a function's first instruction, by the calling convention.
#ifdef __x86_64__
#define TRACECTL_USDT_PLACE_0 "@%%rdi"
#define TRACECTL_USDT_PLACE_1 "@%%rsi"
#define TRACECTL_USDT_PLACE_2 "@%%rdx"
#define TRACECTL_USDT_PLACE_3 "@%%rcx"
#define TRACECTL_USDT_PLACE_4 "@%%r8"
#define TRACECTL_USDT_PLACE_5 "@%%r9"
#define TRACECTL_USDT_PLACE_6 "@8(%%rsp)"
#define TRACECTL_USDT_PLACE_7 "@16(%%rsp)"
#define TRACECTL_USDT_PLACE_8 "@24(%%rsp)"
#define TRACECTL_USDT_PLACE_9 "@32(%%rsp)"
#define TRACECTL_USDT_PLACE_10 "@40(%%rsp)"
#define TRACECTL_USDT_PLACE_11 "@48(%%rsp)"
#define TRACECTL_USDT_BODY_                                            \
  "nop\n"                                                              \
  ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00\n" \
  ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"                               \
  "ret\n"
// No nop lies in two pages: the kernel turns none of those into a call.
#define TRACECTL_USDT_SITE_BYTES_ "32"
#else
#define TRACECTL_USDT_PLACE_0 "@x0"
#define TRACECTL_USDT_PLACE_1 "@x1"
#define TRACECTL_USDT_PLACE_2 "@x2"
#define TRACECTL_USDT_PLACE_3 "@x3"
#define TRACECTL_USDT_PLACE_4 "@x4"
#define TRACECTL_USDT_PLACE_5 "@x5"
#define TRACECTL_USDT_PLACE_6 "@x6"
#define TRACECTL_USDT_PLACE_7 "@x7"
#define TRACECTL_USDT_PLACE_8 "@[sp]"
#define TRACECTL_USDT_PLACE_9 "@[sp, 8]"
#define TRACECTL_USDT_PLACE_10 "@[sp, 16]"
#define TRACECTL_USDT_PLACE_11 "@[sp, 24]"
#define TRACECTL_USDT_BODY_ "nop\nret\n"
#define TRACECTL_USDT_SITE_BYTES_ "8"
#endif

// As in SystemTap's header: the mark from which tools see that a file was moved.
#define TRACECTL_USDT_BASE_                                               \
  ".ifndef _.stapsdt.base\n"                                              \
  ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
  ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"                        \
  "_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n"                   \
  ".popsection\n"                                                         \
  ".endif\n"

#define TRACECTL_USDT_BEGIN_NOTE_(section, owner, type, site) \
  section ".balign 4\n"                                       \
          ".4byte 992f-991f, 994f-993f, " type "\n"           \
          "991: .asciz \"" owner "\"\n"                       \
          "992: .balign 4\n"                                  \
          "993: .8byte " site ", _.stapsdt.base\n"
#define TRACECTL_USDT_END_NOTE_ "994: .balign 4\n.popsection\n"

#define TRACECTL_USDT_STAPSDT_NOTE_(section, site, semaphore, provider, name, arguments) \
  TRACECTL_USDT_BEGIN_NOTE_(section, "stapsdt", "3", site)                               \
  ".8byte " semaphore "\n"                                                               \
  ".asciz \"" provider "\", \"" name "\"\n" arguments ".byte 0\n" TRACECTL_USDT_END_NOTE_

// A symbol that is local to the object, and the same in all of its files.
#define TRACECTL_USDT_SYMBOL_(symbol, type) \
  ".weak " symbol "\n.hidden " symbol "\n.type " symbol ", \"" type "\"\n" symbol ":\n"

// Unwind information for the site, which is in the middle of another function's text but in a
// section of its own. clang's assembler accepts no function in the middle of another.
#ifdef __clang__
#define TRACECTL_USDT_WITH_CFI_(body) body
#else
#define TRACECTL_USDT_WITH_CFI_(body) ".cfi_startproc\n" body ".cfi_endproc\n"
#endif

#define TRACECTL_USDT_GROUP_(section, flags, type, site) \
  ".pushsection " section ",\"" flags "G\",\"" type "\"," site ",comdat\n"

// The complete probe, in one group under its site's name.
#define TRACECTL_USDT_DEFINITION_(provider, name, slots, entries)                                \
  TRACECTL_USDT_DEFINITION_1_(TRACECTL_USDT_SITE_(provider, name),                               \
                              TRACECTL_USDT_SEMAPHORE_(provider, name), #provider, #name, slots, \
                              entries)
// clang-format off
#define TRACECTL_USDT_DEFINITION_1_(site, semaphore, provider, name, slots, entries)             \
  ".ifndef " site "\n"                                                                           \
  TRACECTL_USDT_BASE_                                                                            \
  TRACECTL_USDT_GROUP_(".probes", "aw", "progbits", site)                                        \
  ".balign 2\n"                                                                                  \
  TRACECTL_USDT_SYMBOL_(semaphore, "object")                                                     \
  ".2byte 0\n"                                                                                   \
  ".size " semaphore ", 2\n"                                                                     \
  ".popsection\n"                                                                                \
  TRACECTL_USDT_GROUP_(".text.unlikely.tracectl", "ax", "progbits", site)                        \
  ".balign " TRACECTL_USDT_SITE_BYTES_ "\n"                                                       \
  TRACECTL_USDT_SYMBOL_(site, "function")                                                        \
  TRACECTL_USDT_WITH_CFI_(TRACECTL_USDT_BODY_)                                                   \
  ".size " site ", .-" site "\n"                                                                 \
  ".popsection\n"                                                                                \
  TRACECTL_USDT_STAPSDT_NOTE_(TRACECTL_USDT_GROUP_(".note.stapsdt", "", "note", site),           \
                              site, semaphore, provider, name, slots)                            \
  TRACECTL_USDT_BEGIN_NOTE_(TRACECTL_USDT_GROUP_(".note.tracectl", "", "note", site),            \
                            "tracectl", "1", site)                                               \
  entries                                                                                        \
  TRACECTL_USDT_END_NOTE_                                                                        \
  ".endif\n"
// clang-format on

// Inline, because the statement has almost no code; the compiler would estimate it by its lines.
#if defined(__clang__) ? __clang_major__ >= 11 : __GNUC__ >= 9
#define TRACECTL_USDT_ASM_ __asm__ __inline__ __volatile__
#else
#define TRACECTL_USDT_ASM_ __asm__ __volatile__
#endif

// Volatile: the kernel changes the semaphore while the program runs.
#ifdef __x86_64__
#define TRACECTL_USDT_TEST_(definition, counter, ...)                         \
  TRACECTL_USDT_BOOL_ armed;                                                  \
  TRACECTL_USDT_ASM_(definition "{cmpw $0, %[semaphore]|cmp %[semaphore], 0}" \
                     : "=@ccne"(armed)                                        \
                     : [semaphore] "m"(counter)__VA_ARGS__);                  \
  return armed
#else
#define TRACECTL_USDT_TEST_(definition, counter, ...)   \
  TRACECTL_USDT_ASM_(definition : : "i"(0)__VA_ARGS__); \
  return *(const volatile unsigned short*)&counter != 0
#endif

#define TRACECTL_USDT_HIDDEN_ __attribute__((visibility("hidden")))
#define TRACECTL_USDT_ALWAYS_INLINE_ inline __attribute__((always_inline, unused))

#ifdef __cplusplus

#define TRACECTL_USDT_BOOL_ bool
#define TRACECTL_USDT_CODE_(...) (::tracectl::usdt::detail::code<__VA_ARGS__>())
#define TRACECTL_USDT_VALUE_(x) (::tracectl::usdt::detail::value(x))
#define TRACECTL_USDT_TYPE_OF_VALUE_(x) decltype(::tracectl::usdt::detail::value(x))

namespace tracectl::usdt::detail {

template <class T> struct Plain { using type = T; };
template <class T> struct Plain<const T> { using type = T; };
template <class T> struct Plain<T&> : Plain<T> {};
template <class T> struct Plain<T&&> : Plain<T> {};

template <class T> struct IsPointer { static constexpr bool yes = false; };
template <class T> struct IsPointer<T*> { static constexpr bool yes = true; };

// Types with a remainder are integers, or enumerations that convert to integers.
template <class T, class = void> struct IsInteger { static constexpr bool yes = false; };
template <class T> struct IsInteger<T, decltype(void(T(1) % T(1)))> {
  static constexpr bool yes = !__is_class(T) && !__is_union(T);
};

template <class T> const T& some();  // used only in types
template <class T, class = void> struct IsView { static constexpr bool yes = false; };
template <class T>
struct IsView<T, decltype(void(static_cast<const char*>(some<T>().data())),
                          void(some<T>().size() + 1ul))> {
  static constexpr bool yes = true;
};
template <class T> constexpr bool is_view = IsView<typename Plain<T>::type>::yes;

template <class T, bool is_enumeration> struct Integer { using type = T; };
template <class T> struct Integer<T, true> { using type = __underlying_type(T); };

// The code of an argument that is one word: its size in bytes, negative if signed.
template <class Declared> constexpr int code() {
  using T = typename Plain<Declared>::type;
  static_assert(IsPointer<T>::yes || IsInteger<T>::yes || __is_enum(T),
                "a probe takes integers, enumerations, pointers and views of text");
  static_assert(sizeof(T) <= 8, "a probe takes no integer of more than 64 bits");
  if constexpr (IsPointer<T>::yes) {
    return sizeof(T);
  } else {
    using Number = typename Integer<T, __is_enum(T)>::type;
    constexpr int size = sizeof(Number);
    return static_cast<Number>(-1) < static_cast<Number>(1) ? -size : size;
  }
}

template <class T> constexpr int words = is_view<T> ? 2 : 1;

// The words of all arguments, in order.
template <class... T> struct Slots {
  static constexpr int count = (0 + ... + words<T>);
  static_assert(count <= 12, "a probe takes 12 arguments; a view of text is two");
  struct Codes {
    int of[13] = {};
  };
  template <class U> static constexpr void add(Codes& to, int& at) {
    if constexpr (is_view<U>) {
      to.of[at++] = sizeof(const char*);
      to.of[at++] = sizeof(unsigned long);
    } else {
      to.of[at++] = code<U>();
    }
  }
  static constexpr Codes all() {
    Codes made;
    int at = 0;
    (add<T>(made, at), ...);
    return made;
  }
  static constexpr Codes codes = all();
};

template <class T> constexpr TRACECTL_USDT_ALWAYS_INLINE_ T value(T x) { return x; }

// Casts through a type that may be cast to any other without a warning.
template <class Site, class... T> TRACECTL_USDT_ALWAYS_INLINE_ void call(Site* site, T... words) {
  reinterpret_cast<void (*)(T...)>(reinterpret_cast<void (*)()>(site))(words...);
}

// Calls the site. Moves each of the first `left` arguments to the end, a view as an address and a
// length, until all have been moved.
template <int left, class Site, class First, class... More>
TRACECTL_USDT_ALWAYS_INLINE_ void spread(Site* site, const First& first, const More&... more) {
  if constexpr (left == 0)
    call(site, first, more...);
  else if constexpr (is_view<First>)
    spread<left - 1>(site, more..., static_cast<const char*>(first.data()),
                     static_cast<unsigned long>(first.size()));
  else
    spread<left - 1>(site, more..., first);
}

// Calls the declared function, if no argument is a view.
template <class Site, class... T>
TRACECTL_USDT_ALWAYS_INLINE_ void pass(Site* site, const T&... arguments) {
  if constexpr ((false || ... || is_view<T>))
    spread<sizeof...(T)>(site, arguments...);
  else
    site(arguments...);
}

}  // namespace tracectl::usdt::detail

#define TRACECTL_USDT_SLOT_(index, gap)                                                        \
  ".if %c[count] > " #index "\n.ascii \"" gap "%c[slot" #index "]" TRACECTL_USDT_PLACE_##index \
      "\"\n.endif\n"
// clang-format off
#define TRACECTL_USDT_SLOTS_                                                           \
  TRACECTL_USDT_SLOT_(0, "") TRACECTL_USDT_SLOT_(1, " ") TRACECTL_USDT_SLOT_(2, " ")   \
  TRACECTL_USDT_SLOT_(3, " ") TRACECTL_USDT_SLOT_(4, " ") TRACECTL_USDT_SLOT_(5, " ")  \
  TRACECTL_USDT_SLOT_(6, " ") TRACECTL_USDT_SLOT_(7, " ") TRACECTL_USDT_SLOT_(8, " ")  \
  TRACECTL_USDT_SLOT_(9, " ") TRACECTL_USDT_SLOT_(10, " ") TRACECTL_USDT_SLOT_(11, " ")
// clang-format on
#define TRACECTL_USDT_CODES_(...)                                                                 \
  [slot0] "n"(__VA_ARGS__.of[0]), [slot1] "n"(__VA_ARGS__.of[1]), [slot2] "n"(__VA_ARGS__.of[2]), \
      [slot3] "n"(__VA_ARGS__.of[3]), [slot4] "n"(__VA_ARGS__.of[4]),                             \
      [slot5] "n"(__VA_ARGS__.of[5]), [slot6] "n"(__VA_ARGS__.of[6]),                             \
      [slot7] "n"(__VA_ARGS__.of[7]), [slot8] "n"(__VA_ARGS__.of[8]),                             \
      [slot9] "n"(__VA_ARGS__.of[9]), [slot10] "n"(__VA_ARGS__.of[10]),                           \
      [slot11] "n"(__VA_ARGS__.of[11])
#define TRACECTL_USDT_ENTRY_(index, pair) TRACECTL_USDT_TEXT_OF_ pair ".byte %c[words" #index "]\n"
#define TRACECTL_USDT_WORDS_(index, pair) \
  , [words##index] "n"(::tracectl::usdt::detail::words<TRACECTL_USDT_TYPE_OF_ pair>)

#define TRACECTL_USDT_DECLARE_NONE(provider, name) \
  TRACECTL_USDT_DECLARE_(provider, name, (), (TRACECTL_USDT_ID_(site, provider, name)), "", "", )
#define TRACECTL_USDT_DECLARE_SOME(provider, name, ...)                                      \
  TRACECTL_USDT_DECLARE_(                                                                    \
      provider, name, (TRACECTL_USDT_LIST_(TRACECTL_USDT_PARAMETER_, __VA_ARGS__)),          \
      (TRACECTL_USDT_ID_(site, provider, name),                                              \
       TRACECTL_USDT_LIST_(TRACECTL_USDT_NAME_, __VA_ARGS__)),                               \
      TRACECTL_USDT_SLOTS_, TRACECTL_USDT_EACH_(TRACECTL_USDT_ENTRY_, __VA_ARGS__), ,        \
      [count] "n"(::tracectl::usdt::detail::Slots<TRACECTL_USDT_LIST_(TRACECTL_USDT_TYPE_,   \
                                                                      __VA_ARGS__)>::count), \
      TRACECTL_USDT_CODES_(::tracectl::usdt::detail::Slots<TRACECTL_USDT_LIST_(              \
                               TRACECTL_USDT_TYPE_, __VA_ARGS__)>::codes)                    \
          TRACECTL_USDT_EACH_(TRACECTL_USDT_WORDS_, __VA_ARGS__))

#define TRACECTL_USDT_DECLARE_(provider, name, parameters, site_and_arguments, slots, entries, \
                               ...)                                                            \
  extern unsigned short TRACECTL_USDT_ID_(semaphore, provider, name) __asm__(                  \
      TRACECTL_USDT_SEMAPHORE_(provider, name)) TRACECTL_USDT_HIDDEN_;                         \
  void TRACECTL_USDT_ID_(site, provider, name)                                                 \
      parameters __asm__(TRACECTL_USDT_SITE_(provider, name)) TRACECTL_USDT_HIDDEN_            \
      __attribute__((cold));                                                                   \
  TRACECTL_USDT_ALWAYS_INLINE_ bool TRACECTL_USDT_ID_(enabled, provider, name)() {             \
    TRACECTL_USDT_TEST_(TRACECTL_USDT_DEFINITION_(provider, name, slots, entries),             \
                        TRACECTL_USDT_ID_(semaphore, provider, name), __VA_ARGS__);            \
  }                                                                                            \
  constexpr TRACECTL_USDT_ALWAYS_INLINE_ bool TRACECTL_USDT_ID_(passes, provider, name)() {    \
    return !__builtin_is_constant_evaluated() && TRACECTL_PROBE_ENABLED(provider, name);       \
  }                                                                                            \
  TRACECTL_USDT_ALWAYS_INLINE_ void TRACECTL_USDT_ID_(pass, provider, name) parameters {       \
    ::tracectl::usdt::detail::pass site_and_arguments;                                         \
  }                                                                                            \
  static_assert(true, "")

#define TRACECTL_USDT_PASSES_(provider, name) \
  __builtin_expect(TRACECTL_USDT_ID_(passes, provider, name)(), 0)
#define TRACECTL_USDT_PASS_NONE(provider, name)                                           \
  do {                                                                                    \
    if (TRACECTL_USDT_PASSES_(provider, name)) TRACECTL_USDT_ID_(pass, provider, name)(); \
  } while (0)
#define TRACECTL_USDT_PASS_SOME(provider, name, ...)        \
  do {                                                      \
    if (TRACECTL_USDT_PASSES_(provider, name))              \
      TRACECTL_USDT_ID_(pass, provider, name)(__VA_ARGS__); \
  } while (0)

#else  // C

#define TRACECTL_USDT_BOOL_ _Bool
// An argument's size in bytes, negative if signed.
#define TRACECTL_USDT_CODE_(type)                                                               \
  ((int)sizeof(type) * _Generic((type)0, char                                                   \
                                : (char)-1 < 0 ? -1 : 1, signed char                            \
                                : -1, short                                                     \
                                : -1, int                                                       \
                                : -1, long                                                      \
                                : -1, long long                                                 \
                                : -1, default : 1) +                                            \
   0 * (int)sizeof(struct {                                                                     \
     _Static_assert(sizeof(type) <= 8 &&                                                        \
                        _Generic((type)0, float : 0, double : 0, long double : 0, default : 1), \
                    "a probe takes integers of up to 64 bits, enumerations and pointers");      \
     int member;                                                                                \
   }))
// After a comma an array is a pointer.
#define TRACECTL_USDT_VALUE_(x) ((void)0, (x))
#define TRACECTL_USDT_TYPE_OF_VALUE_(x) __typeof__((void)0, (x))

#define TRACECTL_USDT_SLOT_(index, pair) \
  ".ascii \"%c[slot" #index "]" TRACECTL_USDT_PLACE_##index "\"\n"
#define TRACECTL_USDT_ENTRY_(index, pair) TRACECTL_USDT_TEXT_OF_ pair ".byte 1\n"
#define TRACECTL_USDT_SIZE_(index, pair) \
  , [slot##index] "n"(TRACECTL_USDT_CODE_(TRACECTL_USDT_TYPE_OF_ pair))

#define TRACECTL_USDT_DECLARE_NONE(provider, name) \
  TRACECTL_USDT_DECLARE_(provider, name, (void), "", "", )
#define TRACECTL_USDT_DECLARE_SOME(provider, name, ...)                                \
  TRACECTL_USDT_DECLARE_(provider, name,                                               \
                         (TRACECTL_USDT_LIST_(TRACECTL_USDT_PARAMETER_, __VA_ARGS__)), \
                         TRACECTL_USDT_TEXT_(TRACECTL_USDT_SLOT_, __VA_ARGS__),        \
                         TRACECTL_USDT_EACH_(TRACECTL_USDT_ENTRY_, __VA_ARGS__),       \
                         TRACECTL_USDT_EACH_(TRACECTL_USDT_SIZE_, __VA_ARGS__))

#define TRACECTL_USDT_DECLARE_(provider, name, parameters, slots, entries, ...)                \
  extern unsigned short TRACECTL_USDT_ID_(semaphore, provider, name) __asm__(                  \
      TRACECTL_USDT_SEMAPHORE_(provider, name)) TRACECTL_USDT_HIDDEN_;                         \
  void TRACECTL_USDT_ID_(site, provider, name)                                                 \
      parameters __asm__(TRACECTL_USDT_SITE_(provider, name)) TRACECTL_USDT_HIDDEN_            \
      __attribute__((cold));                                                                   \
  static TRACECTL_USDT_ALWAYS_INLINE_ _Bool TRACECTL_USDT_ID_(enabled, provider, name)(void) { \
    TRACECTL_USDT_TEST_(TRACECTL_USDT_DEFINITION_(provider, name, slots, entries),             \
                        TRACECTL_USDT_ID_(semaphore, provider, name), __VA_ARGS__);            \
  }                                                                                            \
  _Static_assert(1, "")

// Mistakes that C only warns about are errors here.
#define TRACECTL_USDT_PASS_NONE(provider, name) TRACECTL_USDT_PASS_(provider, name, ())
#define TRACECTL_USDT_PASS_SOME(provider, name, ...) \
  TRACECTL_USDT_PASS_(provider, name, (__VA_ARGS__))
// clang-format off
#define TRACECTL_USDT_PASS_(provider, name, arguments)                  \
  do {                                                                  \
    _Pragma("GCC diagnostic push")                                      \
    _Pragma("GCC diagnostic error \"-Wint-conversion\"")                \
    _Pragma("GCC diagnostic error \"-Wincompatible-pointer-types\"")    \
    _Pragma("GCC diagnostic error \"-Wimplicit-function-declaration\"") \
    if (TRACECTL_PROBE_ENABLED(provider, name))                         \
      TRACECTL_USDT_ID_(site, provider, name) arguments;                \
    _Pragma("GCC diagnostic pop")                                       \
  } while (0)
// clang-format on

#endif  // C

#define TRACECTL_USDT_OPERAND_(index, x)                                     \
  , [code##index] "n"(TRACECTL_USDT_CODE_(TRACECTL_USDT_TYPE_OF_VALUE_(x))), \
      [value##index] "nor"(TRACECTL_USDT_VALUE_(x))
#define TRACECTL_USDT_OPERAND_TEXT_(index, x) ".ascii \"%c[code" #index "]@%[value" #index "]\"\n"
#define TRACECTL_USDT_INLINE_NONE(provider, name) TRACECTL_USDT_INLINE_(#provider, #name, "", )
#define TRACECTL_USDT_INLINE_SOME(provider, name, ...)                                 \
  TRACECTL_USDT_INLINE_(#provider, #name,                                              \
                        TRACECTL_USDT_TEXT_(TRACECTL_USDT_OPERAND_TEXT_, __VA_ARGS__), \
                        TRACECTL_USDT_EACH_(TRACECTL_USDT_OPERAND_, __VA_ARGS__))
#define TRACECTL_USDT_INLINE_(provider, name, arguments, ...)                                    \
  TRACECTL_USDT_ASM_(                                                                            \
      "990: nop\n" TRACECTL_USDT_BASE_ TRACECTL_USDT_STAPSDT_NOTE_(                              \
          ".pushsection .note.stapsdt,\"?\",\"note\"\n", "990b", "0", provider, name, arguments) \
      :                                                                                          \
      : "i"(0)__VA_ARGS__)

#else  // __ASSEMBLER__

// tracectl_probe PROVIDER, NAME, "ARGUMENTS": a probe at this place, like TRACECTL_PROBE_INLINE.
// ARGUMENTS are written as in a note: "8@%rdi -4@8(%rsp)"; "" for none.
// clang-format off
.macro tracectl_probe provider, name, arguments
990:	nop
.ifndef _.stapsdt.base
.pushsection .stapsdt.base, "aG", "progbits", .stapsdt.base, comdat
.weak _.stapsdt.base
.hidden _.stapsdt.base
_.stapsdt.base: .space 1
.size _.stapsdt.base, 1
.popsection
.endif
.pushsection .note.stapsdt, "?", "note"
.balign 4
.4byte 992f-991f, 994f-993f, 3
991:	.asciz "stapsdt"
992:	.balign 4
993:	.8byte 990b, _.stapsdt.base, 0
.asciz "\provider", "\name", "\arguments"
994:	.balign 4
.popsection
.endm
// clang-format on

#endif  // __ASSEMBLER__

#endif  // TRACECTL_USDT_H
