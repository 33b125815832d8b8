// SPDX-License-Identifier: BSD-2-Clause
//
// Whole texts, as a terminal shows them, but for the header.
#include <gtest/gtest.h>

#include <utility>

#include "client/render/graph.h"
#include "tests/support/call_events.h"

using namespace tracectl;

namespace {

constexpr const char* kHeader = "CPU  TID             DURATION |  FUNCTION CALLS\n";
constexpr uint64_t kMs = 1'000'000;

class Graph : public testing::Test {
 protected:
  explicit Graph(GraphOptions options = {}) : graph_(options) {}

  void add(const Event& event) { graph_.add(out_, event); }
  void show_held(uint64_t now_ns) { graph_.show_held(out_, now_ns); }
  std::string finished() {
    graph_.finish(out_);
    return text();
  }
  // What was printed since the last time.
  std::string text() {
    std::string text = std::exchange(out_, "");
    if (text.starts_with(kHeader)) text.erase(0, std::string_view{kHeader}.size());
    return text;
  }

  GraphText graph_;
  std::string out_;
};

class GraphWithValues : public Graph {
 protected:
  GraphWithValues() : Graph({.arguments = true, .results = true}) {}
};

class GraphOfLongCalls : public Graph {
 protected:
  GraphOfLongCalls() : Graph({.min_duration_ns = 10'000}) {}
};

class GraphInColour : public Graph {
 protected:
  GraphInColour() : Graph({.colour = true}) {}
};

std::shared_ptr<EventSource> source_of(const Event& event) {
  return std::make_shared<EventSource>(*event.source);
}

Event on_cpu(unsigned cpu, Event event) {
  event.cpu = cpu;
  return event;
}

Event tagged(const std::string& tag, Event event) {
  event.tag = tag;
  return event;
}

Event of_process(pid_t pid, const std::string& comm, Event event) {
  event.pid = event.tid = pid;
  event.comm = comm;
  return event;
}

}  // namespace

// ---- how it looks ----

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
  Event leaf = end_of("leaf", {2, 1}, 1, 1);
  leaf.retval = 42;
  add(leaf);
  Event end = end_of("query", {1, 0}, 2, 2);
  end.retval = static_cast<uint64_t>(-1);
  add(end);
  EXPECT_EQ(text(),
            "  1) 4711                     |  query(sql=\"SELECT 1\\x1b\", 5) {\n"
            "  1) 4711            0.001 us |    leaf() = 42;\n"
            "  1) 4711            0.002 us |  } = -1\n");
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

// ---- how calls end ----

TEST_F(Graph, UnwoundCallsSaySo) {
  add(begin_of("f", {1, 0}, 0));
  add(begin_of("g", {2, 1}, 0));
  add(unwound_of("g", {2, 1}, 1, 1));
  add(unwound_of("f", {1, 0}, 2, 2));
  EXPECT_EQ(text(),
            "  1) 4711                     |  f() {\n"
            "  1) 4711            0.001 us |    g(); /* unwound */\n"
            "  1) 4711            0.002 us |  } /* f unwound */\n");
}

TEST_F(Graph, CutCallsSaySo) {
  add(begin_of("f", {1, 0}, 0));
  add(begin_of("deep", {0, 1}, 0));
  add(end_of("f", {1, 0}, 2, 2));
  EXPECT_EQ(text(),
            "  1) 4711                     |  f() {\n"
            "  1) 4711                     |    deep(); /* cut: deeper than is followed */\n"
            "  1) 4711            0.002 us |  }\n");
}

TEST_F(Graph, ALostEndIsToldWhereTheNextOneTellsOfIt) {
  add(begin_of("f", {1, 0}, 0));
  add(begin_of("g", {2, 1}, 1));
  add(begin_of("h", {3, 2}, 2));
  add(begin_of("i", {4, 1}, 3));
  add(end_of("f", {1, 0}, 4, 4));
  EXPECT_EQ(text(),
            "  1) 4711                     |  f() {\n"
            "  1) 4711                     |    g() {\n"
            "  1) 4711                     |      h(); /* its end was lost */\n"
            "  1) 4711                     |    } /* g: its end was lost */\n"
            "  1) 4711                     |    i(); /* its end was lost */\n"
            "  1) 4711            0.004 us |  }\n");
}

TEST_F(Graph, ALostBeginningIsToldAndTheRestStandsInItsPlace) {
  add(begin_of("f", {1, 0}, 0));
  add(begin_of("h", {3, 2}, 2));
  add(end_of("h", {3, 2}, 3, 1));
  add(end_of("g", {2, 1}, 4, 3));
  add(unwound_of("k", {4, 1}, 5, 1));
  add(end_of("f", {1, 0}, 6, 6));
  EXPECT_EQ(text(),
            "  1) 4711                     |  f() {\n"
            "  1) 4711                     |    ? { /* its beginning was lost */\n"
            "  1) 4711            0.001 us |      h();\n"
            "  1) 4711            0.003 us |    } /* g: its beginning was lost */\n"
            "  1) 4711            0.001 us |    k(); /* unwound: its beginning was lost */\n"
            "  1) 4711            0.006 us |  }\n");
}

TEST_F(Graph, ACoroutineGoesOnWhereTheCallThatBeganItHasEnded) {
  add(begin_of("resume", {1, 0}, 0));
  add(begin_of("body", {2, 1}, 1));
  add(begin_of("step", {3, 2}, 2));
  add(end_of("resume", {1, 2}, 3, 3));
  add(begin_of("more", {4, 2}, 4));
  add(end_of("more", {4, 2}, 5, 1));
  add(end_of("step", {3, 1}, 6, 4));
  add(end_of("body", {2, 0}, 7, 6));
  EXPECT_EQ(text(),
            "  1) 4711                     |  resume() {\n"
            "  1) 4711                     |    body() {\n"
            "  1) 4711                     |      step() {\n"
            "  1) 4711            0.003 us |  } /* resume */\n"
            "  1) 4711            0.001 us |      more();\n"
            "  1) 4711            0.004 us |    } /* step */\n"
            "  1) 4711            0.006 us |  } /* body */\n");
}

TEST_F(Graph, ACallThatWasTakenForLostHasItsEndTold) {
  add(begin_of("resume", {1, 0}, 0));
  add(begin_of("body", {2, 1}, 1));
  add(begin_of("resume", {3, 1}, 3));
  add(end_of("body", {2, 1}, 5, 4));
  add(end_of("resume", {3, 0}, 6, 3));
  EXPECT_EQ(text(),
            "  1) 4711                     |  resume() {\n"
            "  1) 4711                     |    body(); /* its end was lost */\n"
            "  1) 4711                     |    resume() {\n"
            "  1) 4711            0.004 us |      /* end of body */\n"
            "  1) 4711                     |  } /* resume: its end was lost */\n"
            "  1) 4711            0.003 us |  } /* resume */\n");
}

TEST_F(Graph, AThreadWithTheIdOfAnotherOneBeginsAnew) {
  add(begin_of("f", {1, 0}, 0));
  add(begin_of("g", {2, 1}, 0));
  add(begin_of("f", {1, 0}, 9));
  add(end_of("f", {1, 0}, 10, 1));
  EXPECT_EQ(text(),
            "  1) 4711                     |  f() {\n"
            "  1) 4711                     |    g(); /* its end was lost */\n"
            "  1) 4711                     |  } /* f: its end was lost */\n"
            "  1) 4711            0.001 us |  f();\n");
}

TEST_F(Graph, WhatIsOpenAtTheEndSaysSo) {
  add(begin_of("f", {1, 0}, 0));
  add(begin_of("h", {3, 2}, 1));
  EXPECT_EQ(finished(),
            "  1) 4711                     |  f() {\n"
            "  1) 4711                     |    ? { /* its beginning was lost */\n"
            "  1) 4711                     |      h(); /* still open */\n"
            "  1) 4711                     |    } /* ? is still open */\n"
            "  1) 4711                     |  } /* f is still open */\n");
}

TEST_F(Graph, LostEventsAreToldWhereTheyWereLost) {
  graph_.add_lost(out_, {.count = 1, .cpu = 3});
  graph_.add_lost(out_, {.count = 12, .cause = LossCause::slow_client, .cpu = {}});
  EXPECT_EQ(text(),
            "  3)                          |  /* 1 event lost */\n"
            "                              |  /* 12 events lost */\n");
}

// ---- threads, and what is held ----

TEST_F(Graph, TreesOfThreadsThatRunAtOnceStayWhole) {
  add(in_thread(7, begin_of("a", {1, 0}, 0)));
  add(in_thread(8, begin_of("b", {1, 0}, 1)));
  add(in_thread(7, begin_of("c", {2, 1}, 2)));
  add(in_thread(8, end_of("b", {1, 0}, 3, 2)));
  add(in_thread(7, end_of("c", {2, 1}, 4, 2)));
  add(in_thread(7, end_of("a", {1, 0}, 5, 5)));
  EXPECT_EQ(text(),
            "  1) 8               0.002 us |  b();\n"
            "  1) 7                        |  a() {\n"
            "  1) 7               0.002 us |    c();\n"
            "  1) 7               0.005 us |  }\n");
}

TEST_F(Graph, WhereAThreadComesBetweenASeparatorSaysSoAndTheBraceNamesItsCall) {
  add(in_thread(7, begin_of("a", {1, 0}, 0)));
  add(in_thread(7, begin_of("c", {2, 1}, 0)));
  show_held(200 * kMs);
  add(in_thread(8, begin_of("b", {1, 0}, 201 * kMs)));
  add(in_thread(8, end_of("b", {1, 0}, 202 * kMs, 1 * kMs)));
  add(in_thread(7, end_of("c", {2, 1}, 203 * kMs, 203 * kMs)));
  add(in_thread(7, end_of("a", {1, 0}, 203 * kMs, 203 * kMs)));
  EXPECT_EQ(text(),
            "  1) 7                        |  a() {\n"
            "  1) 7                        |    c() {\n"
            " ------------------------------------------\n"
            " 7 => 8\n"
            " ------------------------------------------\n"
            "\n"
            "  1) 8          ! 1000.000 us |  b();\n"
            " ------------------------------------------\n"
            " 8 => 7\n"
            " ------------------------------------------\n"
            "\n"
            "  1) 7        ! 203000.000 us |    } /* c */\n"
            "  1) 7        ! 203000.000 us |  } /* a */\n");
}

TEST_F(Graph, AnotherProcessIsNamed) {
  add(of_process(7, "mail", begin_of("a", {1, 0}, 0)));
  add(of_process(7, "mail", end_of("a", {1, 0}, 1, 1)));
  add(of_process(8, "web", begin_of("b", {1, 0}, 2)));
  add(of_process(8, "web", end_of("b", {1, 0}, 3, 1)));
  EXPECT_EQ(text(),
            "  1) 7               0.001 us |  a();\n"
            " ------------------------------------------\n"
            " mail-7 => web-8\n"
            " ------------------------------------------\n"
            "\n"
            "  1) 8               0.001 us |  b();\n");
}

TEST_F(Graph, OfVeryManyThreadsIsGivenUpWhereItWasQuietLongest) {
  constexpr auto kMost = static_cast<pid_t>(OpenCalls::kMostThreads);
  add(in_thread(1, begin_of("f", {1, 0}, 0)));
  add(in_thread(1, begin_of("g", {2, 1}, 0)));
  for (pid_t tid = 2; tid <= kMost; ++tid) add(in_thread(tid, begin_of("f", {1, 0}, 0)));
  EXPECT_EQ(text(), "");
  add(in_thread(kMost + 1, begin_of("f", {1, 0}, 0)));
  EXPECT_EQ(
      text(),
      "  1) 1                        |  f() {\n"
      "  1) 1                        |    g(); /* given up: too many threads have open calls */\n"
      "  1) 1                        |  } /* f: given up: too many threads have open calls */\n");
  add(in_thread(1, end_of("g", {2, 1}, 9, 9)));
  add(in_thread(1, end_of("f", {1, 0}, 9, 9)));
  EXPECT_EQ(
      text(),
      "  1) 2                        |  f(); /* given up: too many threads have open calls */\n"
      "  1) 1                        |  ? { /* its beginning was lost */\n"
      "  1) 1               0.009 us |    g(); /* its beginning was lost */\n"
      "  1) 1               0.009 us |  } /* f: its beginning was lost */\n");
}

TEST_F(Graph, IsHeldUntilTheOutermostCallEndsButNotForLong) {
  add(begin_of("f", {1, 0}, 10));
  add(begin_of("g", {2, 1}, 20));
  show_held(200 * kMs + 9);
  EXPECT_EQ(text(), "");
  show_held(200 * kMs + 10);
  EXPECT_EQ(text(), "  1) 4711                     |  f() {\n");
  show_held(200 * kMs + 20);
  EXPECT_EQ(text(), "  1) 4711                     |    g() {\n");
  add(end_of("g", {2, 1}, 300 * kMs, 300 * kMs));
  EXPECT_EQ(text(), "");
  show_held(500 * kMs);
  EXPECT_EQ(text(), "  1) 4711     ! 300000.000 us |    }\n");
  add(end_of("f", {1, 0}, 501 * kMs, 501 * kMs));
  EXPECT_EQ(text(), "  1) 4711     ! 501000.000 us |  }\n");
}

TEST_F(Graph, IsNotHeldWhereItIsLong) {
  add(begin_of("f", {1, 0}, 0));
  for (uint32_t number = 2; out_.empty() && number < 10'000; ++number) {
    add(begin_of("g", {number, 1}, 0));
    add(end_of("g", {number, 1}, 1, 1));
  }
  EXPECT_NE(out_, "");
}

// ---- calls that took long enough ----

TEST_F(GraphOfLongCalls, LeavesTheOthersOut) {
  add(begin_of("short", {1, 0}, 0));
  add(note_of("a:b", 1));
  add(end_of("short", {1, 0}, 9'999, 9'999));
  add(begin_of("f", {2, 0}, 10'000));
  add(begin_of("short", {3, 1}, 10'001));
  add(end_of("short", {3, 1}, 10'002, 1));
  add(begin_of("long", {4, 1}, 10'003));
  add(end_of("long", {4, 1}, 20'003, 10'000));
  add(end_of("f", {2, 0}, 30'000, 20'000));
  add(begin_of("g", {5, 0}, 30'000));
  add(begin_of("short", {6, 1}, 30'001));
  add(end_of("short", {6, 1}, 30'002, 1));
  add(end_of("g", {5, 0}, 50'000, 20'000));
  EXPECT_EQ(finished(),
            "  1) 4711                     |  f() {\n"
            "  1) 4711           10.000 us |    long();\n"
            "  1) 4711         + 20.000 us |  }\n"
            "  1) 4711         + 20.000 us |  g();\n");
}

TEST_F(GraphOfLongCalls, KeepsWhatFiredWithinThose) {
  add(begin_of("f", {1, 0}, 0));
  add(note_of("a:b", 1));
  add(begin_of("deep", {0, 1}, 2));
  add(end_of("f", {1, 0}, 10'000, 10'000));
  EXPECT_EQ(text(),
            "  1) 4711                     |  f() {\n"
            "  1) 4711                     |    /* a:b() */\n"
            "  1) 4711                     |    deep(); /* cut: deeper than is followed */\n"
            "  1) 4711           10.000 us |  }\n");
}

TEST_F(GraphOfLongCalls, ShowsAnOpenOneOnceItIsKnownToBe) {
  add(begin_of("f", {1, 0}, 0));
  add(begin_of("g", {2, 1}, 195 * kMs));
  show_held(200 * kMs);
  EXPECT_EQ(text(), "  1) 4711                     |  f() {\n");
  add(begin_of("short", {3, 2}, 200 * kMs));
  EXPECT_EQ(finished(),
            "  1) 4711                     |    g(); /* still open */\n"
            "  1) 4711                     |  } /* f is still open */\n");
}
