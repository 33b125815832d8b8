// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/pattern.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "client/options/whole_object.h"

using namespace tracectl;

namespace {

Pattern parsed_pattern(std::string_view text) {
  auto pattern = parse_pattern(text);
  EXPECT_TRUE(pattern) << text << ": " << (pattern ? "" : pattern.error().message);
  return pattern ? *pattern : Pattern{};
}

// The message of the refusal, whose spot must be at `column` of the same text.
std::string refusal_of_pattern(std::string_view text, size_t column) {
  auto pattern = parse_pattern(text);
  if (pattern) return "accepted";
  EXPECT_EQ(pattern.error().code, Code::invalid);
  EXPECT_TRUE(pattern.error().spot.has_value());
  EXPECT_EQ(pattern.error().spot.value_or(Spot{}), (Spot{std::string{text}, column}));
  return pattern.error().message;
}

}  // namespace

TEST(Pattern, FunctionHasObjectNameAndOffset) {
  Pattern pattern = parsed_pattern("uprobe:/usr/bin/python3:PyEval_*+0x1F");
  EXPECT_EQ(pattern.kind, ProbeKind::function);
  EXPECT_EQ(pattern.object, "/usr/bin/python3");
  EXPECT_EQ(pattern.function, "PyEval_*");
  EXPECT_EQ(pattern.offset, 31u);
  EXPECT_EQ(parsed_pattern("u:/x:f+12").offset, 12u);
}

TEST(Pattern, UsdtHasObjectProviderAndName) {
  Pattern pattern = parsed_pattern("usdt:libpython3*:python:gc__*");
  EXPECT_EQ(pattern.kind, ProbeKind::usdt);
  EXPECT_EQ(pattern.object, "libpython3*");
  EXPECT_EQ(pattern.provider, "python");
  EXPECT_EQ(pattern.name, "gc__*");
}

// The kernel shows such a file as "/memfd:NAME (deleted)".
TEST(Pattern, FileInMemoryHasAColonInItsName) {
  const Pattern usdt = parsed_pattern("usdt:/memfd:usdt-shop:shop:order__placed");
  EXPECT_EQ(usdt.object, "/memfd:usdt-shop");
  EXPECT_EQ(usdt.provider, "shop");
  EXPECT_EQ(usdt.name, "order__placed");
  EXPECT_EQ(to_string(usdt), "usdt:/memfd:usdt-shop:shop:order__placed");
  EXPECT_EQ(parsed_pattern("uprobe:/memfd:jit:a::b+4").object, "/memfd:jit");
  EXPECT_EQ(parsed_pattern("uprobe:/memfd:jit:a::b+4").function, "a::b");
  EXPECT_EQ(parsed_pattern("u:/memfd/x:f").object, "/memfd/x");
  EXPECT_NE(refusal_of_pattern("u:/memfd:jit", 12).find("a function is missing"),
            std::string::npos);
  EXPECT_NE(refusal_of_pattern("U:/memfd:p:n", 12).find("a name is missing"), std::string::npos);
}

TEST(Pattern, ShortKindsMeanTheLongOnes) {
  EXPECT_EQ(parsed_pattern("u:a:f"), parsed_pattern("uprobe:a:f"));
  EXPECT_EQ(parsed_pattern("U:a:p:n"), parsed_pattern("usdt:a:p:n"));
}

TEST(Pattern, EmptyObjectIsTheMainExecutable) {
  EXPECT_EQ(parsed_pattern("u::main").object, "");
  EXPECT_EQ(parsed_pattern("U::p:n").object, "");
}

TEST(Pattern, ScopeIsKept) {
  EXPECT_EQ(parse_pattern("u::f", Scope::global)->scope, Scope::global);
}

TEST(Pattern, CxxNamesKeepTheirColonsAndParentheses) {
  Pattern pattern = parsed_pattern("u:libx.so:ns::Type<int>::call(std::string const&)");
  EXPECT_EQ(pattern.object, "libx.so");
  EXPECT_EQ(pattern.function, "ns::Type<int>::call(std::string const&)");
  EXPECT_TRUE(wants_demangled(pattern));
  EXPECT_TRUE(wants_demangled(parsed_pattern("u::f(*")));
  EXPECT_FALSE(wants_demangled(parsed_pattern("u::_ZN2ns4callEv")));
  EXPECT_FALSE(wants_demangled(parsed_pattern("U::p:n(")));
}

TEST(Pattern, OperatorPlusIsANameNotAnOffset) {
  for (const char* name :
       {"operator+", "operator++", "ns::operator+(A, B)", "f+", "f+0x", "f+1a"}) {
    EXPECT_EQ(parsed_pattern(std::string{"u::"} + name).function, name);
  }
  EXPECT_EQ(parsed_pattern("u::operator++4").function, "operator+");
  EXPECT_EQ(parsed_pattern("u::operator++4").offset, 4u);
}

TEST(Pattern, CanonicalTextReadsBackAsTheSamePattern) {
  for (const char* text :
       {"u:/a/b:f", "u::f+0x10", "u:lib*:A::b(int)", "U::p:n__x", "U:/a:p*:[a-c]?", "u::operator+",
        "u::f+1+0", "f", "f+3", "f+1+0", "A::b(int)"}) {
    Pattern pattern = parsed_pattern(text);
    EXPECT_EQ(parsed_pattern(to_string(pattern)), pattern) << text;
  }
  EXPECT_EQ(to_string(parsed_pattern("u:/a/b:f+0x10")), "uprobe:/a/b:f+16");
  EXPECT_EQ(to_string(parsed_pattern("U::p:n")), "usdt::p:n");
}

TEST(Pattern, UnknownKindIsNamed) {
  EXPECT_EQ(refusal_of_pattern("ubrobe:/a:f", 0),
            "unknown kind of probe \"ubrobe\": uprobe (u) traces functions, uretprobe (ur) their "
            "returns too, usdt (U) USDT probes");
  EXPECT_EQ(to_string(parsed_pattern("ur:/a:f")), "uprobe:/a:f");
}

TEST(Pattern, ProbesOfTheKernelAreLeftToOtherTools) {
  for (const char* text : {"kprobe:vfs_read", "tracepoint:sched:sched_switch", "profile:hz:99"}) {
    const std::string refusal = refusal_of_pattern(text, 0);
    EXPECT_NE(refusal.find("traces user programs"), std::string::npos);
    EXPECT_NE(refusal.find(std::string("bpftrace -e '") + text), std::string::npos);
  }
}

TEST(Pattern, BareNameIsAFunction) {
  for (const char* name : {"malloc", "mall*", "demo::run_round", "demo::run_round()", "operator+",
                           "main.(*T).Close", "github.com/x/y.Func", "kprobe"}) {
    const Pattern pattern = parsed_pattern(name);
    EXPECT_TRUE(pattern.bare);
    EXPECT_EQ(pattern.object, "");
    EXPECT_EQ(pattern.function, name);
    EXPECT_EQ(to_string(pattern), name);
  }
  EXPECT_EQ(parsed_pattern("malloc+4").offset, 4u);
  EXPECT_FALSE(parsed_pattern("u::malloc").bare);
}

TEST(Pattern, ObjectBeforeAFunctionNeedsNoKind) {
  for (const char* text :
       {"libc:malloc", "/usr/bin/a:main", "lib*:demo::run_round(int)", "/memfd:jit:f+8"}) {
    const Pattern pattern = parsed_pattern(text);
    EXPECT_EQ(pattern, parsed_pattern("uprobe:" + std::string(text))) << text;
    EXPECT_FALSE(pattern.bare);
  }
}

TEST(Pattern, NameOfALibraryStandsForItsVersions) {
  EXPECT_TRUE(names_file_name("libc", "libc.so.6"));
  EXPECT_TRUE(names_file_name("libc.so", "libc.so.6"));
  EXPECT_TRUE(names_file_name("libc", "libc"));
  EXPECT_FALSE(names_file_name("libc", "libcrypt.so.1"));
  EXPECT_FALSE(names_file_name("lib*c", "libc.so.6"));
}

TEST(Pattern, MissingAndEmptyPartsAreShownWhereTheyShouldBe) {
  EXPECT_EQ(refusal_of_pattern("", 0), "the function is empty");
  EXPECT_NE(refusal_of_pattern("u:malloc", 8).find("a function is missing"), std::string::npos);
  EXPECT_EQ(refusal_of_pattern("u:/a:", 5), "the function is empty");
  EXPECT_EQ(refusal_of_pattern("u:/a:+5", 5), "the function is empty");
  EXPECT_NE(refusal_of_pattern("U:/a", 4).find("a provider and a name are missing"),
            std::string::npos);
  EXPECT_NE(refusal_of_pattern("U:/a:p", 6).find("a name is missing"), std::string::npos);
  EXPECT_EQ(refusal_of_pattern("U:/a::n", 5), "the provider is empty");
  EXPECT_EQ(refusal_of_pattern("U:/a:p:", 7), "the name is empty");
  EXPECT_NE(refusal_of_pattern("U:/a:p:n:x", 8).find("one part too many"), std::string::npos);
}

TEST(Pattern, UnclosedBracketIsShown) {
  EXPECT_NE(refusal_of_pattern("u:/a:f[ab", 6).find("no ] closes this ["), std::string::npos);
  EXPECT_NE(refusal_of_pattern("u:/a:[]", 5).find("no ] closes this ["), std::string::npos);
  EXPECT_NE(refusal_of_pattern("U:lib[x:p:n", 5).find("no ] closes this ["), std::string::npos);
  EXPECT_EQ(parsed_pattern("u::operator[[]](int)").function, "operator[[]](int)");
}

TEST(Pattern, RelativePathIsRefused) {
  EXPECT_NE(refusal_of_pattern("u:bin/x:f", 2).find("give an absolute path or a file name"),
            std::string::npos);
  EXPECT_NE(refusal_of_pattern("u:./x:f", 2).find("give an absolute path or a file name"),
            std::string::npos);
}

TEST(Pattern, HostileTextIsRefused) {
  EXPECT_NE(refusal_of_pattern(std::string_view{"u:/a:f\0x", 8}, 6).find("control"),
            std::string::npos);
  EXPECT_NE(refusal_of_pattern("u:/a\n:f", 4).find("control"), std::string::npos);
  EXPECT_NE(refusal_of_pattern("u::f+99999999999999999999", 5).find("64 bits"), std::string::npos);
  EXPECT_TRUE(parse_pattern("u::" + std::string(4093, 'f')));
  EXPECT_FALSE(parse_pattern("u::" + std::string(4094, 'f')));
}

// Expected values by fnmatch(3) of POSIX.
TEST(Glob, MatchesTheWholeText) {
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("a*c", "abbc"));
  EXPECT_FALSE(glob_match("a*c", "abbcd"));
  EXPECT_TRUE(glob_match("*ab*ab", "xabyabab"));
  EXPECT_TRUE(glob_match("a?c", "abc"));
  EXPECT_FALSE(glob_match("a?c", "ac"));
  EXPECT_FALSE(glob_match("abc", "ab"));
}

TEST(Glob, SetsHaveRangesAndNegation) {
  EXPECT_TRUE(glob_match("[a-c]x", "bx"));
  EXPECT_FALSE(glob_match("[a-c]x", "dx"));
  EXPECT_TRUE(glob_match("[!a-c]", "d"));
  EXPECT_FALSE(glob_match("[^a-c]", "b"));
  EXPECT_TRUE(glob_match("[]x]", "]"));
  EXPECT_TRUE(glob_match("[a-]", "-"));
  EXPECT_TRUE(glob_match("[[]", "["));
  EXPECT_FALSE(glob_match("[a]", ""));
}

TEST(Glob, HostileGlobsAreMatchedAtOnce) {
  std::string glob, text(4096, 'a');
  for (int i = 0; i < 2000; i++) glob += "a*";
  auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(glob_match(glob + "b", text));
  // Exponential time would never end; the limit leaves room for a busy machine.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{10});
}

TEST(Glob, IsGlobTellsPlainNames) {
  EXPECT_TRUE(is_glob("a*"));
  EXPECT_TRUE(is_glob("a?"));
  EXPECT_TRUE(is_glob("[a]"));
  EXPECT_FALSE(is_glob("operator+(int)"));
}

TEST(UsdtName, DashMatchesTwoUnderscores) {
  EXPECT_TRUE(usdt_name_match("query-start", "query__start"));
  EXPECT_TRUE(usdt_name_match("query__start", "query__start"));
  EXPECT_TRUE(usdt_name_match("query-start", "query-start"));
  EXPECT_TRUE(usdt_name_match("*-start", "query__start"));
  EXPECT_TRUE(usdt_name_match("query-*", "query__"));
  EXPECT_TRUE(usdt_name_match("a-b-c", "a__b__c"));
  EXPECT_FALSE(usdt_name_match("query-start", "query_start"));
  EXPECT_FALSE(usdt_name_match("query-start", "query___start"));
}

TEST(Pattern, LineHasObjectFileNumberAndColumn) {
  const Pattern line = parsed_pattern("uprobe:/usr/bin/server@src/net.c:120:7");
  EXPECT_EQ(line.kind, ProbeKind::line);
  EXPECT_EQ(line.object, "/usr/bin/server");
  EXPECT_EQ(line.function, "");
  EXPECT_EQ(line.file, "src/net.c");
  EXPECT_EQ(line.line, 120u);
  EXPECT_EQ(line.column, 7u);
  EXPECT_EQ(to_string(parsed_pattern("server@net.c:120")), "uprobe:server@net.c:120");
  EXPECT_EQ(to_string(parsed_pattern("@net.c:120:1")), "uprobe:@net.c:120:1");
  EXPECT_EQ(parsed_pattern("u:libx*@*.c:*").line, 0u);
  EXPECT_EQ(parsed_pattern("u:/memfd:jit@a.c:1").object, "/memfd:jit");
}

TEST(Pattern, LineCanBeOfAFunction) {
  const Pattern line = parsed_pattern("uprobe:/x:ns::f(int)@net.c:120");
  EXPECT_EQ(line.object, "/x");
  EXPECT_EQ(line.function, "ns::f(int)");
  EXPECT_EQ(line.file, "net.c");
  EXPECT_EQ(parsed_pattern(to_string(line)), line);
  EXPECT_EQ(parsed_pattern("u::f@net.c:*").function, "f");
}

// Both kinds of paths exist: /opt/openssl@3, and modules of Go.
TEST(Pattern, PathsMayHaveAnAtSign) {
  EXPECT_EQ(parsed_pattern("u:/opt/ssl@3/lib/libssl.so@ssl.c:12").object,
            "/opt/ssl@3/lib/libssl.so");
  EXPECT_EQ(parsed_pattern("u:/x@/go/mod/y@v1.2/z.go:12").file, "/go/mod/y@v1.2/z.go");
  for (const char* text :
       {"u:/opt/ssl@3/lib/libssl.so:*", "u:/opt/ssl@3/lib/libssl.so.3:*",
        "u:/opt/ssl@3/bin/openssl:*", "u:/node/@scope/x.node:*",
        "u:/opt/python@3.11/bin/python3.11:*", "u:/opt/python@3.11/bin/python*:*"})
    EXPECT_EQ(parsed_pattern(text).kind, ProbeKind::function) << text;
  for (const char* text : {"u:/x@src/net.c:*", "u:/x@src/*.rs:*", "u:/x@net.*:*", "u:/x@/src/*:*"})
    EXPECT_EQ(parsed_pattern(text).kind, ProbeKind::line) << text;
}

TEST(Pattern, CopyHasFunctionHostAndCall) {
  const Pattern copy = parsed_pattern("uprobe:/x:ns::f(int) in main@src/net.c:120:7");
  EXPECT_EQ(copy.kind, ProbeKind::inlined);
  EXPECT_EQ(copy.object, "/x");
  EXPECT_EQ(copy.function, "ns::f(int)");
  EXPECT_EQ(copy.host, "main");
  EXPECT_EQ(copy.file, "src/net.c");
  EXPECT_EQ(copy.line, 120u);
  EXPECT_EQ(copy.column, 7u);
  EXPECT_FALSE(copy.bare);
  EXPECT_TRUE(parsed_pattern("ns::f in ns::g@net.c:1").bare);
  for (const char* text :
       {"uprobe:/x:f in main", "uprobe:/x:f in *@*.c:*", "f in main", "f in main@net.c:120",
        "ns::f in ns::g", "ns::f in ns::g@net.c:1", "uprobe::f in operator new(unsigned long)"})
    EXPECT_EQ(to_string(parsed_pattern(text)), text);
  EXPECT_EQ(to_string(parsed_pattern("server:f in main")), "uprobe:server:f in main");
}

TEST(Pattern, WrongCopiesAreRefusedWhereTheyAre) {
  EXPECT_EQ(refusal_of_pattern("u:/x:f in ", 10), "the function after \" in \" is empty");
  EXPECT_EQ(refusal_of_pattern("u:/x: in g", 5), "the function is empty");
  EXPECT_EQ(refusal_of_pattern("u:/x:f in g+4", 11),
            "a copy of an inlined function has no offset: leave it away");
  EXPECT_EQ(refusal_of_pattern("ur:/x:f in g", 0),
            "an inlined function has no return: uprobe: traces where it begins");
}

TEST(Pattern, WrongLinesAreRefusedWhereTheyAre) {
  EXPECT_EQ(refusal_of_pattern("u:/x@net.c:0", 11), "lines are numbers from 1 to 2147483647");
  EXPECT_EQ(refusal_of_pattern("u:/x@net.c:5:99999999999", 13),
            "columns are numbers from 1 to 2147483647");
  EXPECT_EQ(refusal_of_pattern("u:/x@:5", 5), "the file is empty");
  EXPECT_EQ(refusal_of_pattern("u:/x:f@/a@v1/net.c:1+0", 0),
            "a line has no offset: leave what follows its + away");
  EXPECT_EQ(refusal_of_pattern("ur:/x@net.c:5", 0),
            "a line has no return: uprobe:OBJECT@FILE:LINE traces it");
}

TEST(NamesSource, ByTheEndOfAPathFromASlashOn) {
  EXPECT_TRUE(names_source("net.c", "/src/net.c"));
  EXPECT_TRUE(names_source("src/net.c", "/a/src/net.c"));
  EXPECT_TRUE(names_source("./net.c", "net.c"));
  EXPECT_TRUE(names_source("/src/net.c", "/src/net.c"));
  EXPECT_TRUE(names_source("n?t.*", "/src/net.c"));
  EXPECT_FALSE(names_source("net.c", "/src/subnet.c"));
  EXPECT_FALSE(names_source("/net.c", "/src/net.c"));
  EXPECT_FALSE(names_source("/n*.c", "/src/net.c"));
  EXPECT_TRUE(names_source("src/n*.c", "/a/src/net.c"));
  EXPECT_FALSE(names_source("rc/n*.c", "/a/src/net.c"));
  std::string path;
  for (int part = 0; part < 2000; ++part) path += "/a";
  std::string glob = "*";
  for (int part = 0; part < 1000; ++part) glob += "/?";
  EXPECT_FALSE(names_source(glob + "b", path)) << "and not only after seconds";
}

// FILE of a line may have slashes too.
TEST(WholeObject, IsThePathOfTheObjectAlone) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(with_whole_object("./nothing@src/net.c:12"), here + "/nothing@src/net.c:12");
  EXPECT_EQ(with_whole_object("u:x/nothing:f@src/net.c:*"),
            "u:" + here + "/x/nothing:f@src/net.c:*");
  for (const char* text : {"@src/net.c:12", "u:@src/net.c:12", "server@src/net.c:12",
                           "server:f@src/net.c:12:1", "u:server@src/net.c:12"})
    EXPECT_EQ(with_whole_object(text), text);
}
