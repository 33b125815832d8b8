// SPDX-License-Identifier: BSD-2-Clause
//
// Provider files in the style of real programs, and the messages for wrong ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "usdt/generator/header.h"
#include "usdt/generator/lexer.h"
#include "usdt/generator/options.h"
#include "usdt/generator/provider_file.h"

using namespace tracectl;
using namespace tracectl::generator;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

ProviderFile parsed_file(std::string_view text) {
  auto file = parse_provider_file(text, "shop.d");
  EXPECT_TRUE(file) << file.error().message;
  return file ? *file : ProviderFile{};
}

// The arguments of the only probe of provider p: "int a, const char* b".
std::string arguments_of(std::string_view text) {
  const ProviderFile file = parsed_file(text);
  if (file.probes.size() != 1) return "probes: " + std::to_string(file.probes.size());
  std::string all;
  for (const ProbeArgument& argument : file.probes[0].arguments)
    all += (all.empty() ? "" : ", ") + argument.type + " " + argument.name;
  return all;
}

std::string probe_with(std::string_view arguments) {
  return arguments_of("provider p { probe q(" + std::string{arguments} + "); };");
}

Error error_of(std::string_view text) {
  auto file = parse_provider_file(text, "shop.d");
  EXPECT_FALSE(file) << text;
  return file ? Error{} : file.error();
}

std::string complaint_about(std::string_view text) { return error_of(text).message; }

std::vector<std::string> macros_of(std::string_view text) {
  std::vector<std::string> macros;
  for (const ProbeDeclaration& probe : parsed_file(text).probes) macros.push_back(probe.macro);
  return macros;
}

Options options_of(const std::vector<std::string>& words) {
  auto options = read_options(words);
  EXPECT_TRUE(options) << options.error().message;
  return options ? *options : Options{};
}

}  // namespace

TEST(ProviderFile, ProbesHaveNamesAsWrittenAndMacrosAsDtraceMakesThem) {
  const auto file =
      parsed_file("provider database { probe query__start(char *query); probe idle(); };");
  ASSERT_EQ(file.probes.size(), 2u);
  EXPECT_EQ(file.probes[0].provider, "database");
  EXPECT_EQ(file.probes[0].name, "query__start");
  EXPECT_EQ(file.probes[0].macro, "DATABASE_QUERY_START");
  EXPECT_EQ(file.probes[0].arguments, (std::vector<ProbeArgument>{{"const char*", "query"}}));
  EXPECT_EQ(file.probes[1].macro, "DATABASE_IDLE");
  EXPECT_THAT(file.probes[1].arguments, IsEmpty());
}

TEST(ProviderFile, TwoUnderscoresOfAProbeAreOneInItsMacroAndThoseOfAProviderStay) {
  EXPECT_THAT(macros_of("provider my__shop { probe a__b_c__d; probe x___y; };"),
              ElementsAre("MY__SHOP_A_B_C_D", "MY__SHOP_X__Y"));
}

TEST(ProviderFile, AProbeWithoutArgumentsIsWrittenInThreeWays) {
  for (const char* probe : {"probe a;", "probe a();", "probe a(void);"})
    EXPECT_EQ(arguments_of("provider p { " + std::string{probe} + " };"), "") << probe;
}

TEST(ProviderFile, SeveralProvidersAndProvidersInPiecesAreTaken) {
  const auto file =
      parsed_file("provider a { probe x; }; provider b { probe x; } provider a { probe y; };");
  EXPECT_THAT(file.providers, ElementsAre("a", "b"));
  EXPECT_EQ(file.probes.size(), 3u);
}

TEST(ProviderFile, CommentsAndLinesThatBeginWithAHashAreLeftOut) {
  EXPECT_EQ(arguments_of("#!/usr/sbin/dtrace -s\n"
                         "#include <sys/types.h>\n"
                         "#pragma D depends_on library procfs.d\n"
                         "/* it's a shop */ provider p {\n"
                         "  # file: src/it's_here.c\n"
                         "  probe q(int a /* a \"b */, // c }\n"
                         "          int d);\n"
                         "};\n"
                         "#pragma D attributes Evolving/Evolving/Common provider p provider\n"),
            "int a, int d");
}

TEST(ProviderFile, AFileOfTooManyWordsIsRefused) {
  std::string text;
  for (int i = 0; i <= 1 << 18; i++) text += "; ";
  EXPECT_THAT(complaint_about(text), HasSubstr("too many words; 262144 are taken"));
}

TEST(ProviderFile, ALineMayBeginWithACommentBeforeItsHash) {
  EXPECT_EQ(arguments_of(" /* a\n b */ #define T int\n/* c */ # file: it's\n"
                         "provider p { probe q(T x); };"),
            "int x");
}

TEST(ProviderFile, DefinesAreReplacedFromWhereTheyStandOn) {
  EXPECT_EQ(arguments_of("#define Oid unsigned int\n#define Id \\\n  Oid\n#define bool char\n"
                         "provider p { probe q(Oid, bool yes, Id *);\n#undef Oid\n};"),
            "unsigned int arg0, char yes, const unsigned int* arg2");
  EXPECT_EQ(
      arguments_of("#define a a\n#define b c\n#define c b\nprovider p { probe q(a x, b y); };"),
      "a x, b y");
  EXPECT_EQ(arguments_of("#define T int\n#undef T\nprovider p { probe q(T x); };"), "T x");
}

TEST(ProviderFile, ACommentBehindADefinitionMayEndInAnotherLine) {
  EXPECT_EQ(arguments_of("#define T int /* one */ /* two\n lines */ unsigned\n"
                         "#define U T // and\n"
                         "provider p { probe q(T, U x); };"),
            "int unsigned arg0, int unsigned x");
}

TEST(ProviderFile, DefinitionsThatGrowWithoutEndAreRefused) {
  std::string text = "#define a0 int int\n";
  for (int i = 1; i < 40; i++) {
    const std::string before = "a" + std::to_string(i - 1);
    text += "#define a" + std::to_string(i) + " " + before + " " + before + "\n";
  }
  EXPECT_THAT(complaint_about(text + "provider p { probe q(a39 x); };"),
              HasSubstr("grows too large"));
}

TEST(ProviderFile, DefinitionsAreNestedSixtyFourDeepAtMost) {
  std::string text = "#define a0 int\n";
  for (int i = 1; i < 65; i++)
    text += "#define a" + std::to_string(i) + " a" + std::to_string(i - 1) + "\n";
  EXPECT_EQ(arguments_of(text + "provider p { probe q(a63 x); };"), "int x");
  EXPECT_THAT(complaint_about(text + "provider p { probe q(a64 x); };"),
              HasSubstr("nested too deep"));
}

TEST(ProviderFile, ConditionalLinesNeedThePreprocessor) {
  EXPECT_EQ(complaint_about("provider p {\n#ifdef DEBUG\n probe q;\n#endif\n};"),
            "shop.d:2:1: error: #ifdef is for the C preprocessor; -C has it run first");
}

// ---- types ----

TEST(ProviderFile, TypesAreThoseOfC) {
  EXPECT_EQ(probe_with("unsigned int a, long long b, const unsigned char c, uint32_t d, size_t e"),
            "unsigned int a, long long b, unsigned char c, uint32_t d, size_t e");
  EXPECT_EQ(probe_with("int const a, volatile int b, unsigned, _Bool"),
            "int a, int b, unsigned arg2, _Bool arg3");
}

TEST(ProviderFile, WhatIsPointedToIsConst) {
  EXPECT_EQ(probe_with("char *a, const char *b, void *c, struct request *d, uint8_t e[16]"),
            "const char* a, const char* b, const void* c, const struct request* d, "
            "const uint8_t* e");
  EXPECT_EQ(probe_with("char **a, const char **b, char *const *c, double *d"),
            "char* const* a, const char* const* b, char* const* c, const double* d");
}

TEST(ProviderFile, TypesOfDHaveTheirNamesInC) {
  EXPECT_EQ(probe_with("string a, boolean_t b, uint_t c, zoneid_t d, hrtime_t e"),
            "const char* a, bool b, unsigned int c, int d, long long e");
}

TEST(ProviderFile, ATypedefOfTheFileIsWhatItStandsFor) {
  EXPECT_EQ(
      arguments_of("typedef unsigned long word, *word_p; typedef word id; typedef int string;\n"
                   "typedef const uint8_t *bytes; typedef char name[32];\n"
                   "provider p { probe q(word, word_p, id x, bytes, name, string); };"),
      "unsigned long arg0, const unsigned long* arg1, unsigned long x, const uint8_t* arg3, "
      "const char* arg4, int arg5");
}

// The program has the definition; a second one would not compile.
TEST(ProviderFile, StructsAreDeclaredAndNotDefined) {
  const auto file = parsed_file(
      "typedef struct conn { int fd; struct { int x; } in; } conn_t;\n"
      "typedef struct { int dummy; } nameless_t;\n"
      "struct other { int x; };\n"
      "provider p { probe q(conn_t *, nameless_t *, struct other *, union u *, nameless_t **); };");
  EXPECT_EQ(file.probes[0].arguments, (std::vector<ProbeArgument>{{"const struct conn*", "arg0"},
                                                                  {"const void*", "arg1"},
                                                                  {"const struct other*", "arg2"},
                                                                  {"const union u*", "arg3"},
                                                                  {"void* const*", "arg4"}}));
  EXPECT_THAT(file.tags, ElementsAre("struct conn", "struct other", "union u"));
}

TEST(ProviderFile, AnEnumerationIsAnInt) {
  EXPECT_EQ(
      arguments_of("typedef enum { red, green } color;\n"
                   "provider p { probe q(color c, enum shape s, color *p, enum shape *o); };"),
      "int c, int s, const void* p, const void* o");
}

TEST(ProviderFile, NamesThatAreNotKnownRemain) {
  EXPECT_EQ(probe_with("zend_string *a, Oid b"), "const zend_string* a, Oid b");
}

TEST(ProviderFile, HeadersAreThoseThatTheArgumentsNeed) {
  EXPECT_THAT(parsed_file("provider p { probe q(int, char *); };").headers, IsEmpty());
  EXPECT_THAT(parsed_file("provider p { probe q(uint8_t *, pid_t, bool, ptrdiff_t); };").headers,
              ElementsAre("stdbool.h", "stddef.h", "stdint.h", "sys/types.h"));
}

TEST(ProviderFile, DeclarationsOfDOutsideOfProvidersAreSteppedOver) {
  EXPECT_EQ(arguments_of("translator info_t < struct req *r > { name = r->n ? \"}\" : \"{\"; };\n"
                         "inline int LIMIT = 5;\n"
                         "extern int f(int (*)(void)); static inline int g(void) { return 1; }\n"
                         "typedef int (*callback)(int);\n"
                         "provider p { probe q(int a) : (int b, char *c); };"),
            "int a");
}

// ---- output of the preprocessor ----

TEST(ProviderFile, WhatIncludedFilesDeclareIsTakenInWithoutARule) {
  const char* text =
      "# 1 \"shop.d\"\n"
      "# 1 \"/usr/include/sys/types.h\" 1 3 4\n"
      "typedef unsigned int word;\n"
      "__attribute__((x)) whatever f(void); word g(void) { return 0; }\n"
      "# 2 \"shop.d\" 2\n"
      "# 1 \"my.h\" 1\n"
      "typedef unsigned short mine;\n"
      "# 3 \"shop.d\" 2\n"
      "provider p { probe q(word a, mine b); };\n";
  EXPECT_EQ(arguments_of(text), "word a, unsigned short b");
}

TEST(ProviderFile, PlacesAreThoseBeforeThePreprocessor) {
  EXPECT_THAT(
      complaint_about("# 1 \"shop.d\"\n# 1 \"my.h\" 1\nint x;\n# 7 \"shop.d\" 2\n\n  oops\n"),
      HasSubstr("shop.d:8:3: error:"));
  EXPECT_THAT(complaint_about("# 4 \"my.h\" 1\ntypedef struct;\n"), HasSubstr("my.h:4:15: error:"));
}

// ---- names of arguments ----

TEST(ProviderFile, ArgumentsWithoutANameAreCalledByTheirPlace) {
  EXPECT_EQ(probe_with("int, int b, char *"), "int arg0, int b, const char* arg2");
  EXPECT_EQ(probe_with("int arg1, int"), "int arg1, int arg1_");
}

TEST(ProviderFile, NamesThatAreWordsOfCOrCxxOrMacrosGetAnUnderscore) {
  EXPECT_EQ(probe_with("int class, int errno, char *new, int other"),
            "int class_, int errno_, const char* new_, int other");
}

// ---- errors and their places ----

TEST(ProviderFile, AnErrorHasItsPlaceAndItsLine) {
  const Error error = error_of("provider p {\n\tprobe q(int a;\n};\n");
  EXPECT_EQ(error.message,
            "shop.d:2:15: error: expected \",\" or \")\" behind the argument, found \";\"");
  ASSERT_TRUE(error.spot);
  EXPECT_EQ(error.spot->text, "\tprobe q(int a;");
  EXPECT_EQ(error.spot->column, 14u);
}

TEST(ProviderFile, WhatIsMissingIsSaid) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "shop.d:1:1: error: there is no provider in this file"},
      {"typedef int x;\n", "shop.d:2:1: error: there is no provider"},
      {"provider", "1:9: error: expected the provider's name, found the end of the file"},
      {"provider p probe",
       "1:12: error: expected \"{\" behind the provider's name, found \"probe\""},
      {"provider p { probe a; ", "1:23: error: expected \"probe\" or \"}\", found the end"},
      {"provider p { prove a; };", "1:14: error: expected \"probe\" or \"}\", found \"prove\""},
      {"provider p { probe 7; };", "1:20: error: expected the probe's name, found \"7\""},
      {"provider p { probe a(int) };", "1:27: error: expected \";\" behind the probe"},
      {"provider p { probe a(int,); };", "1:26: error: expected the type of an argument"},
      {"provider p { probe a(struct); };", "1:28: error: expected the name of this struct"},
      {"provider p { probe a(int x[3); };", "1:29: error: expected \"]\", found \")\""},
      {"provider p { probe a(int) : 3; };", "1:29: error: expected \"(\" behind \":\""},
      {"prowider p { };", "1:1: error: expected \"provider\" or a declaration, found \"prowider\""},
      {"struct x { int a; }", "1:1: error: this declaration is never ended"},
      {"/* provider", "1:1: error: this comment is never closed"},
      {"inline string x = \"abc\nd\";", "1:19: error: this quote is never closed"},
      {"provider p { \x01 };", "1:14: error: this character has no meaning here"},
  };
  for (const auto& [text, complaint] : cases)
    EXPECT_THAT(complaint_about(text), HasSubstr(complaint)) << text;
}

TEST(ProviderFile, TypesThatNoProbeTakesAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"int a, double b", "1:29: error: a probe takes no floating-point numbers"},
      {"float", "a probe takes no floating-point numbers"},
      {"long double x", "a probe takes no floating-point numbers"},
      {"struct big b", "1:22: error: a probe takes no struct or union; declare a pointer to it"},
      {"void, int", "a probe takes no void"},
      {"void (*callback)(int)", "1:27: error: a probe takes no pointer to a function"},
      {"int a, int a", "1:33: error: there are two arguments named a"},
      {"char *a : int b", "1:30: error: arguments are not translated"},
      {"...", "expected the type of an argument, found \".\""},
      {"int *********a", "too many pointers"},
  };
  for (const auto& [arguments, complaint] : cases)
    EXPECT_THAT(complaint_about("provider p { probe q(" + std::string{arguments} + "); };"),
                HasSubstr(complaint))
        << arguments;
  EXPECT_THAT(complaint_about("typedef struct { int a; } t; provider p { probe q(t x); };"),
              HasSubstr("a probe takes no struct"));
}

TEST(ProviderFile, TwelveArgumentsAreTakenAndNoMore) {
  std::string arguments = "int";
  for (int i = 1; i < 12; i++) arguments += ", int";
  EXPECT_EQ(parsed_file("provider p { probe q(" + arguments + "); };").probes[0].arguments.size(),
            12u);
  EXPECT_THAT(complaint_about("provider p { probe q(" + arguments + ", long); };"),
              HasSubstr("a probe takes 12 arguments at most"));
}

TEST(ProviderFile, MacrosThatMeetAreRefused) {
  EXPECT_EQ(complaint_about("provider p {\n  probe a__b;\n  probe a_b;\n};"),
            "shop.d:3:9: error: the macro P_A_B stands already for the probe a__b at shop.d:2; "
            "rename one");
  EXPECT_THAT(complaint_about("provider p { probe a; probe a; };"),
              HasSubstr("P_A stands already"));
  EXPECT_THAT(complaint_about("provider p { probe a; probe a__enabled; };"),
              HasSubstr("P_A_ENABLED stands already"));
}

TEST(ProviderFile, NamesThatProgramsReplaceAreRefused) {
  EXPECT_THAT(complaint_about("provider linux { probe a; };"),
              HasSubstr("1:10: error: the provider's name cannot be linux"));
  EXPECT_THAT(complaint_about("provider p { probe errno; };"), HasSubstr("cannot be errno"));
  EXPECT_THAT(macros_of("provider p { probe delete; probe return(int); };"),
              ElementsAre("P_DELETE", "P_RETURN"));
}

// ---- the header ----

TEST(ProbeHeader, DeclaresEachProbeAndItsMacros) {
  const std::string text = header_text(
      parsed_file("provider shop { probe sale__done(string who, struct cart *); };"), "shop.d");
  EXPECT_THAT(text, HasSubstr("\nstruct cart;\n"));
  EXPECT_THAT(text, HasSubstr("\nTRACECTL_PROBE_DECLARE(shop, sale__done, (const char*, who), "
                              "(const struct cart*, arg1));\n"));
}

// Python's build renames by the first occurrence in a line, Erlang's turns lines of #define to
// lower case.
TEST(ProbeHeader, LinesOfDefineHaveTheMacrosNameOnceAndNothingElse) {
  const std::string text =
      header_text(parsed_file("provider shop { probe sale(int); probe idle; };"), "x");
  for (const char* line : {"\n#define SHOP_SALE(...) \\\n", "\n#define SHOP_SALE_ENABLED() \\\n",
                           "\n#define SHOP_IDLE() \\\n", "\n#define SHOP_IDLE_ENABLED() \\\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(ProbeHeader, HeadersOfOneProviderHaveGuardsOfTheirOwn) {
  EXPECT_THAT(header_text(parsed_file("provider shop { probe a; };"), "x"),
              HasSubstr("#ifndef TRACECTL_USDT_OF_shop_a\n"));
  EXPECT_THAT(header_text(parsed_file("provider shop { probe b; };"), "x"),
              HasSubstr("#ifndef TRACECTL_USDT_OF_shop_b\n"));
  EXPECT_THAT(header_text(parsed_file("provider shop { };"), "x"),
              HasSubstr("#ifndef TRACECTL_USDT_OF_shop\n"));
}

TEST(ProbeHeader, AFileNameDoesNotEndItsComment) {
  EXPECT_THAT(header_text(parsed_file("provider shop { };"), "a*/b\n"), Not(HasSubstr("a*/b")));
}

// ---- options ----

TEST(GeneratorOptions, AreThoseOfDtrace) {
  const Options header =
      options_of({"-C", "-Iinclude", "-I", "more", "-DA=1", "-D", "B", "-h", "-s", "src/shop.d"});
  EXPECT_EQ(header.action, Options::Action::header);
  EXPECT_EQ(header.input, "src/shop.d");
  EXPECT_EQ(header.output, "shop.h");
  EXPECT_TRUE(header.is_preprocessed);
  EXPECT_THAT(header.preprocessor, ElementsAre("-Iinclude", "-Imore", "-DA=1", "-DB"));
  const Options object = options_of({"-64", "-fPIC", "-xnolibs", "-x", "nolibs", "-k", "-q", "-v",
                                     "--types", "-G", "-sshop.d", "a.o", "b.o", "-o", "out.o"});
  EXPECT_EQ(object.action, Options::Action::object);
  EXPECT_EQ(object.input, "shop.d");
  EXPECT_EQ(object.output, "out.o");
  EXPECT_FALSE(object.is_preprocessed);
  EXPECT_EQ(options_of({"-G", "-s", "shop.d", "a.o"}).output, "shop.o");
  EXPECT_EQ(options_of({"-hs", "probes", "-o-"}).output, "-");
  EXPECT_EQ(options_of({"-h", "--help"}).action, Options::Action::help);
  EXPECT_EQ(options_of({"-V"}).action, Options::Action::version);
}

TEST(GeneratorOptions, WhatIsWrongIsSaid) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{}, "one of -h"},
      {{"-s", "x.d"}, "one of -h"},
      {{"-h", "-G", "-s", "x.d"}, "one of -h"},
      {{"-h"}, "-s FILE is needed"},
      {{"-h", "-s"}, "-s needs a value"},
      {{"-h", "-s", "x.d", "-n"}, "there is no option -n"},
      {{"-h", "-s", "x.d", "--nothing"}, "there is no option --nothing"},
  };
  for (const auto& [words, complaint] : cases) {
    const auto options = read_options(words);
    ASSERT_FALSE(options) << complaint;
    EXPECT_THAT(options.error().message, HasSubstr(complaint));
  }
}
