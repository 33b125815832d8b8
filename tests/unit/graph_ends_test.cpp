// SPDX-License-Identifier: BSD-2-Clause
//
// The ends of calls in graphs, also with lost events.
#include <gtest/gtest.h>

#include "tests/support/graph_text.h"

using namespace tracectl;

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
