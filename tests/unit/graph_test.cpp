// SPDX-License-Identifier: BSD-2-Clause
//
// The look of graphs.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/graph_text.h"

using namespace tracectl;

namespace {

class GraphWithValues : public Graph {
 protected:
  GraphWithValues() : Graph({.arguments = true, .results = true}) {}
};

class GraphInColour : public Graph {
 protected:
  GraphInColour() : Graph({.colour = true}) {}
};

std::shared_ptr<EventSource> source_of(const Event& event) {
  return std::make_shared<EventSource>(*event.source);
}

Event returning(uint64_t value, Event event) {
  const auto source = source_of(event);
  source->result = Argument{.place = Argument::Place::in_register, .is_signed = true};
  event.source = source;
  event.retval = value;
  return event;
}

Event on_cpu(unsigned cpu, Event event) {
  event.cpu = cpu;
  return event;
}

}  // namespace

TEST_F(Graph, LooksLikeThatOfTheKernel) {
  add(begin_of("query", {1, 0}, 1000));
  add(begin_of("parse", {2, 1}, 2000));
  add(end_of("parse", {2, 1}, 4637, 2637));
  add(begin_of("run", {3, 1}, 5000));
  add(begin_of("fetch", {4, 2}, 6000));
  add(end_of("fetch", {4, 2}, 106'001, 100'001));
  add(end_of("run", {3, 1}, 107'000, 102'000));
  add(end_of("query", {1, 0}, 2'000'001'000, 2'000'000'000));
  EXPECT_EQ(out_,
            "CPU  TID             DURATION |  FUNCTION CALLS\n"
            "  1) 4711                     |  query() {\n"
            "  1) 4711            2.637 us |    parse();\n"
            "  1) 4711                     |    run() {\n"
            "  1) 4711        ! 100.001 us |      fetch();\n"
            "  1) 4711        ! 102.000 us |    }\n"
            "  1) 4711    $ 2000000.000 us |  }\n");
}

TEST_F(Graph, MarksWhatTookLong) {
  for (const uint64_t ns : {10'000ul, 10'001ul, 100'000ul, 100'001ul, 12'345'678'901ul}) {
    add(begin_of("f", {1, 0}, 0));
    add(end_of("f", {1, 0}, ns, ns));
  }
  EXPECT_EQ(text(),
            "  1) 4711           10.000 us |  f();\n"
            "  1) 4711         + 10.001 us |  f();\n"
            "  1) 4711        + 100.000 us |  f();\n"
            "  1) 4711        ! 100.001 us |  f();\n"
            "  1) 4711       $ 12345678 us |  f();\n");
}

TEST_F(Graph, NamesAreThoseOfTheSource) {
  add(begin_of("_ZN2ns5queryEi", {1, 0}, 0));
  add(end_of("_ZN2ns5queryEi", {1, 0}, 1, 1));
  EXPECT_EQ(text(), "  1) 4711            0.001 us |  ns::query();\n");
}

TEST_F(Graph, AThreadOnAnotherCpuIsMarked) {
  add(on_cpu(1, begin_of("f", {1, 0}, 0)));
  add(on_cpu(1, begin_of("g", {2, 1}, 1)));
  add(on_cpu(3, end_of("g", {2, 1}, 2, 1)));
  add(on_cpu(3, end_of("f", {1, 0}, 3, 3)));
  EXPECT_EQ(text(),
            "  1) 4711                     |  f() {\n"
            "  3> 4711            0.001 us |    g();\n"
            "  3) 4711            0.003 us |  }\n");
}

TEST_F(GraphWithValues, ShowsArgumentsAndResults) {
  Event begin = begin_of("query", {1, 0}, 0);
  const auto source = source_of(begin);
  source->arguments.resize(2);
  source->arguments[0].name = "sql";
  source->arguments[0].is_string = true;
  begin.source = source;
  begin.args = {0, 5};
  begin.strings = {"SELECT 1\x1b"};
  add(begin);
  add(begin_of("leaf", {2, 1}, 0));
  add(returning(42, end_of("leaf", {2, 1}, 1, 1)));
  add(returning(static_cast<uint64_t>(-1), end_of("query", {1, 0}, 2, 2)));
  EXPECT_EQ(text(),
            "  1) 4711                     |  query(sql=\"SELECT 1\\x1b\", 5) {\n"
            "  1) 4711            0.001 us |    leaf() = 42;\n"
            "  1) 4711            0.002 us |  } = -1\n");
}

TEST_F(GraphWithValues, ShowsOfAResultOnlyWhatIsKnown) {
  const auto show = [&](const std::optional<Argument>& result, Value value) {
    add(begin_of("f", {1, 0}, 0));
    Event end = end_of("f", {1, 0}, 1, 1);
    const auto source = source_of(end);
    source->result = result;
    end.source = source;
    end.retval = value;
    add(end);
  };
  Argument of_double{.is_float = true};
  of_double.text = "double in xmm0, which no probe sees";
  show(bare_register("rax"), 27);
  show(of_double, std::nullopt);
  show(Argument{.place = Argument::Place::nothing}, std::nullopt);
  show(std::nullopt, 27);
  EXPECT_EQ(text(),
            "  1) 4711            0.001 us |  f() rax=27;\n"
            "  1) 4711            0.001 us |  f() = ? (double in xmm0, which no probe sees);\n"
            "  1) 4711            0.001 us |  f();\n"
            "  1) 4711            0.001 us |  f() register=27;\n");
}

TEST_F(Graph, WithoutValuesHasNone) {
  Event begin = begin_of("query", {1, 0}, 0);
  begin.args = {7};
  add(begin);
  Event end = end_of("query", {1, 0}, 1, 1);
  end.retval = 42;
  add(end);
  EXPECT_EQ(text(), "  1) 4711            0.001 us |  query();\n");
}

TEST_F(Graph, OtherProbesStandWhereTheyFired) {
  add(note_of("db:start", 0));
  add(begin_of("query", {1, 0}, 0));
  Event note = note_of("db:row", 0);
  note.args = {3};
  add(note);
  add(end_of("query", {1, 0}, 1, 1));
  EXPECT_EQ(text(),
            "  1) 4711                     |  /* db:start() */\n"
            "  1) 4711                     |  query() {\n"
            "  1) 4711                     |    /* db:row(3) */\n"
            "  1) 4711            0.001 us |  }\n");
}

TEST_F(Graph, ATagIsShownWhereItIsAnother) {
  add(tagged("a\x1b", begin_of("f", {1, 0}, 0)));
  add(tagged("a\x1b", begin_of("g", {2, 1}, 0)));
  add(tagged("a\x1b", end_of("g", {2, 1}, 1, 1)));
  add(tagged("b", end_of("f", {1, 0}, 2, 2)));
  add(tagged("b", begin_of("h", {3, 0}, 3)));
  add(tagged("?", end_of("h", {3, 0}, 4, 1)));
  EXPECT_EQ(text(),
            "  1) 4711                     |  /* tag = \"a\\x1b\" */\n"
            "  1) 4711                     |  f() {\n"
            "  1) 4711            0.001 us |    g();\n"
            "  1) 4711                     |    /* tag = \"b\" */\n"
            "  1) 4711            0.002 us |  }\n"
            "  1) 4711                     |  h() {\n"
            "  1) 4711                     |    /* tag = ? */\n"
            "  1) 4711            0.001 us |  }\n");
}

TEST_F(Graph, ATagThatCameLaterIsNotThatOfACallWhoseEndWasLost) {
  add(begin_of("f", {1, 0}, 0));
  add(tagged("a", begin_of("g", {2, 0}, 1)));
  add(tagged("a", end_of("g", {2, 0}, 2, 1)));
  EXPECT_EQ(text(),
            "  1) 4711                     |  f(); /* its end was lost */\n"
            "  1) 4711                     |  /* tag = \"a\" */\n"
            "  1) 4711            0.001 us |  g();\n");
}

TEST_F(Graph, ABraceNamesWhatItClosesWhereThatIsOutOfSight) {
  for (const uint32_t leaves : {18u, 19u}) {
    add(begin_of("outer", {1, 0}, 0));
    for (uint32_t i = 0; i < leaves; ++i) {
      add(begin_of("leaf", {i + 2, 1}, 0));
      add(end_of("leaf", {i + 2, 1}, 1, 1));
    }
    add(end_of("outer", {1, 0}, 2, 2));
    const std::string text = this->text();
    const std::string last = text.substr(text.rfind('|'));
    EXPECT_EQ(last, leaves == 18 ? "|  }\n" : "|  } /* outer */\n");
  }
}

TEST_F(Graph, NothingTheProgramNamedCommandsTheTerminal) {
  const std::string evil = "\x1b[2J\x07\xc2\x9b";
  add(of_process(1, evil, begin_of("f" + evil, {1, 0}, 0)));
  add(of_process(1, evil, end_of("f" + evil, {1, 0}, 0, 0)));
  add(of_process(2, evil, tagged(evil, note_of("a:b" + evil, 0))));
  const std::string text = finished();
  EXPECT_EQ(text.find_first_of("\x1b\x07\x9b"), text.npos) << text;
}

TEST_F(GraphInColour, DimsTheColumnsAndMarksWhatTookLong) {
  add(begin_of("f", {1, 0}, 0));
  add(unwound_of("f", {1, 0}, 20'000, 20'000));
  EXPECT_EQ(text(),
            "\x1b[2mCPU  TID             DURATION |  FUNCTION CALLS\x1b[0m\n"
            "\x1b[2m  1) 4711   \x1b[0m      \x1b[33m+ \x1b[0m\x1b[2m20.000 us\x1b[0m |  f(); "
            "\x1b[2m/* unwound */\x1b[0m\n");
}
