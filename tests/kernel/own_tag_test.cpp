// SPDX-License-Identifier: BSD-2-Clause
//
// The tags that programs give their own threads (<tracectl/tag.h>), as shown by sessions: each
// event's argument says what its tag must be (tests/targets/tags.cpp, tag_steps.c).
#include <map>

#include "tests/support/collected.h"
#include "tests/support/held_reader.h"
#include "tests/support/other_tracer.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

class OwnTags : public KernelTest {
 protected:
  std::shared_ptr<Collected> watch(const std::string& session) {
    const auto collected = std::make_shared<Collected>();
    must(engine->streams().subscribe(session, collected));
    return collected;
  }
  std::vector<Event> seen(const std::string& session, const Collected& collected) {
    must(engine->streams().flush(session));
    return collected.events();
  }
};

uint64_t number_of(const Event& event) { return event.args.at(0).value_or(~uint64_t{0}); }

std::string name_of_probe(const Event& event) { return function_of(event.source->probe); }

std::string expected_tag(const std::string& probe, uint64_t n) {
  if (probe == "idle") return "";
  if (probe == "part")
    return ("part " + std::to_string(n) + " of a request of many parts").substr(0, 31);
  return "request " + std::to_string(n);
}

// ---- many threads, and the queue between them ----

constexpr uint64_t kRequests = 3000;  // for each client

TEST_F(OwnTags, EveryEventHasTheTagItsThreadHadWhoeverPutIt) {
  Program program("tags", {"2", "3", std::to_string(kRequests)});
  create("s");
  const auto collected = watch("s");
  for (const char* function : {"receive", "handle", "part", "idle"})
    must(stage("s", std::string("uprobe::") + function, process(program.pid()), "event"));
  set("s", "usdt::tags:handled", process(program.pid()), "event");
  const auto said = parsed(program.run());
  const uint64_t requests = said["requests"].get<uint64_t>();
  ASSERT_EQ(requests, 2 * kRequests);
  EXPECT_EQ(said["tag"], "");
  std::map<std::string, uint64_t> hits;
  uint64_t wrong = 0;
  for (const Event& event : seen("s", *collected)) {
    const std::string probe = name_of_probe(event);
    ++hits[probe];
    if (event.tag != expected_tag(probe, number_of(event)) && ++wrong < 5)
      ADD_FAILURE() << probe << ' ' << number_of(event) << ": \"" << event.tag << '"';
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(hits, (std::map<std::string, uint64_t>{{"receive", requests},
                                                   {"handle", 2 * requests},
                                                   {"part", requests},
                                                   {"idle", requests},
                                                   {"handled", requests}}));
  EXPECT_EQ(engine->counting().totals(*must(engine->sessions().find("s"))).hits, 6 * requests);
}

TEST_F(OwnTags, CountsAndConditionsAreByThem) {
  Program program("tags", {"2", "2", "50"});
  create("counts");
  set("counts", "uprobe::handle", process(program.pid()), "count by tag");
  create("one");
  Setting one = setting("uprobe::handle", process(program.pid()), "count");
  one.spec.when = must(parse_condition("tag == \"request 42\""));
  must(engine->drafts().set("one", {one}));
  must(engine->commits().commit("one", {}));
  program.run();
  std::map<std::string, uint64_t> expected, counts;
  for (int n = 0; n < 100; ++n) expected["request " + std::to_string(n)] = 2;
  for (const auto& [key, row] : read("counts").rows)
    counts[std::get<std::string>(key.by.at(0).value)] += row.count;
  EXPECT_EQ(counts, expected);
  EXPECT_EQ(sum(read("one")), 2u);
}

// If a reader is behind by more tags than the table has, the tags are reported as unknown, and are
// never those of other events.
TEST_F(OwnTags, TheOldestOfTooManyAreUnknown) {
  start({.ring_bytes = 64 << 20});
  constexpr uint64_t kMany = TC_OWN_TAGS + 5000;
  Program first("tags", {"1", "1", "1"}), program("tags", {"1", "1", std::to_string(kMany)});
  create("s");
  HeldReader reader(*engine, "s");
  set("s", "uprobe::receive", process(first.pid()), "event");
  set("s", "uprobe::receive", process(program.pid()), "event");
  first.run();
  reader.wait_until_held();
  program.run();
  reader.let_go();
  must(engine->streams().flush("s"));
  uint64_t unknown = 0;
  const auto events = reader.events();
  for (const Event& event : events)
    if (event.tag == "?")
      ++unknown;
    else
      ASSERT_EQ(event.tag, expected_tag("receive", number_of(event)));
  EXPECT_EQ(events.size(), kMany + 1);
  EXPECT_GT(unknown, 0u);
  EXPECT_LE(unknown, kMany - TC_OWN_TAGS);
  EXPECT_EQ(events.back().tag, expected_tag("receive", kMany - 1));
}

// So that their programs pay no cost.
TEST_F(OwnTags, SessionsThatAskForNoTagsDoNotArmTheirProbe) {
  Program program("tags", {"1", "1", "10"});
  create("s");
  EXPECT_EQ(set("s", "uprobe::handle", process(program.pid()), "count").sites, 1u);
  EXPECT_EQ(set("s", "uprobe::handle", process(program.pid()), "event").sites, 2u);
  EXPECT_EQ(set("s", "uprobe::handle", process(program.pid()), "count").sites, 1u);
  EXPECT_EQ(program.run(), "{\"requests\":10,\"tag\":\"\"}");
}

// ---- one thread, step by step ----

class OwnTagSteps : public OwnTags {
 protected:
  std::string order(const std::string& line) {
    program_.send(line);
    return parsed(program_.finish())["tag"];
  }
  // The tags of the events of work(), in order.
  std::vector<std::string> tags(const Collected& collected) {
    std::vector<std::string> all;
    for (const Event& event : seen("s", collected)) all.push_back(event.tag);
    return all;
  }
  std::shared_ptr<Collected> trace(const std::string& action = "event") {
    return trace_in(process(program_.pid()), "uprobe::work", action);
  }
  std::shared_ptr<Collected> trace_in(const Target& target, const std::string& pattern,
                                      const std::string& action = "event") {
    create("s");
    auto collected = watch("s");
    set("s", pattern, target, action);
    return collected;
  }
  using Tags = std::vector<std::string>;

  Program program_{"tag_steps", {}};
};

TEST_F(OwnTagSteps, PutGetSpreadAndRestore) {
  const auto collected = trace();
  EXPECT_EQ(order("work 0"), "");
  EXPECT_EQ(order("put a"), "a");
  order("work 1");
  order("spread");
  EXPECT_EQ(order("put b"), "b");
  order("work 2");
  order("thread 3");
  EXPECT_EQ(order("restore"), "a");
  order("work 4");
  EXPECT_EQ(order("put nothing"), "");
  order("work 5");
  EXPECT_EQ(tags(*collected), (Tags{"", "a", "b", "a", "a", ""}));
}

TEST_F(OwnTagSteps, LongTextsAreCutBetweenCharacters) {
  const auto collected = trace();
  const std::string thirty(30, 'x');
  EXPECT_EQ(order("put " + thirty + "yz"), thirty + "y");
  order("work 0");
  EXPECT_EQ(order("put " + thirty + "\xc3\xa9"), thirty);
  order("work 0");
  EXPECT_EQ(order("put " + thirty.substr(1) + "\xc3\xa9"), thirty.substr(1) + "\xc3\xa9");
  order("work 0");
  EXPECT_EQ(tags(*collected), (Tags{thirty + "y", thirty, thirty.substr(1) + "\xc3\xa9"}));
}

TEST_F(OwnTagSteps, NothingIsPutWhileNobodyTraces) {
  EXPECT_EQ(order("put a"), "");
  order("spread");
  EXPECT_EQ(order("restore"), "");
  const auto collected = trace();
  order("work 0");
  EXPECT_EQ(tags(*collected), (Tags{""}));
}

// A thread whose tag changed while nobody traced must not have the one from before.
TEST_F(OwnTagSteps, ATagOfAnEarlierTraceIsOverWhenItWasChangedUnseen) {
  create("s");
  set("s", "uprobe::work", process(program_.pid()), "event");
  EXPECT_EQ(order("put a"), "a");
  order("work 9");
  order("spread");
  must(engine->delete_session("s"));
  EXPECT_EQ(order("put b"), "");
  const auto collected = trace();
  EXPECT_EQ(order("work 0"), "");
  order("put c");
  order("work 1");
  EXPECT_EQ(tags(*collected), (Tags{"", "c"}));
}

TEST_F(OwnTagSteps, WhatWasPutInAPauseIsSeenBehindIt) {
  const auto collected = trace();
  order("put a");
  order("work 0");
  must(engine->gates().pause("s"));
  order("put b");
  order("work 1");
  must(engine->gates().resume("s"));
  order("work 2");
  EXPECT_EQ(tags(*collected), (Tags{"a", "b"}));
}

TEST_F(OwnTagSteps, ATagOfTheSessionGoesBeforeTheProgramsOwn) {
  const auto collected = trace("event, tag(\"session's\")");
  order("put own");
  order("work 0");
  order("work 1");
  EXPECT_EQ(tags(*collected), (Tags{"own", "session's"}));
}

TEST_F(OwnTagSteps, AChildHasTheTagThatWasSpreadToIt) {
  Target family = process(program_.pid());
  family.follow = Follow::children;
  const auto collected = trace_in(family, "uprobe::work");
  order("put a");
  order("spread");
  order("put b");
  order("fork 7");
  order("work 8");
  EXPECT_EQ(tags(*collected), (Tags{"a", "b"}));
}

TEST_F(OwnTagSteps, NoTagOutlivesItsProgram) {
  const auto collected = trace_in({.pids = {}, .executables = {program_.path()}, .will_map = {}},
                                  "uprobe:" + program_.path() + ":work");
  order("put a");
  order("work 0");
  program_.send("execute");
  order("work 1");
  order("put b");
  order("work 2");
  EXPECT_EQ(tags(*collected), (Tags{"a", "", "b"}));
}

TEST_F(OwnTagSteps, CanBeAskedForInFull) {
  const std::string longest(31, 'x');
  create("s");
  Setting asked = setting("uprobe::work", process(program_.pid()), "count");
  asked.spec.when = must(parse_condition("tag == \"" + longest + "\""));
  must(engine->drafts().set("s", {asked}));
  must(engine->commits().commit("s", {}));
  order("put " + longest);
  order("work 0");
  order("put " + longest.substr(1));
  order("work 1");
  EXPECT_EQ(sum(read("s")), 1u);
}

TEST_F(OwnTagSteps, WhatStandsInThePlaceOfOneIsNone) {
  const auto collected = trace();
  order("put a");
  order("work 0");
  program_.send("spoil");
  program_.finish();
  order("work 1");
  order("put b");
  order("work 2");
  EXPECT_EQ(tags(*collected), (Tags{"a", "", "b"}));
}

// The session knows the tag already at the request that resumes it.
TEST_F(OwnTagSteps, APausedSessionListensToThem) {
  const auto collected = trace();
  must(engine->gates().pause("s"));
  create("starts");
  Setting starts = setting("uprobe::work", process(program_.pid()), "trigger(s)");
  starts.spec.when = must(parse_condition("arg0 == 2"));
  must(engine->drafts().set("starts", {starts}));
  must(engine->commits().commit("starts", {}));
  order("put a");
  order("work 1");
  order("work 2");
  order("work 3");
  for (const std::string& tag : tags(*collected)) EXPECT_EQ(tag, "a");
  EXPECT_GE(collected->events().size(), 1u);
  EXPECT_EQ(collected->events().back().args.at(0), 3u);
}

TEST_F(OwnTagSteps, AreSeenBesideEveryFunctionOfTheirProgram) {
  create("s");
  const auto collected = watch("s");
  must(stage("s", "uprobe::*", process(program_.pid()), "event"));
  must(engine->commits().commit("s", {.partial = true}));
  order("put a");
  order("work 1");
  std::vector<std::string> works;
  for (const Event& event : seen("s", *collected))
    if (name_of_probe(event) == "work") works.push_back(event.tag);
  EXPECT_EQ(works, (Tags{"a"}));
}

// Everything else that the user has requested is traced nevertheless.
TEST_F(OwnTagSteps, AreNotSeenWhereAnotherTracerHasTheirProbe) {
  const auto listed =
      must(engine->list({must(parse_pattern("usdt::tracectl:tag"))}, process(program_.pid()), {}));
  const uint64_t offset = listed.parts.at(0).probes->at(0).sites.at(0).offset;
  const OtherTracer other(program_.pid(), program_.path(), offset, 0);
  create("s");
  const auto collected = watch("s");
  const auto commit = set("s", "uprobe::work", process(program_.pid()), "event");
  ASSERT_EQ(commit.notes.size(), 1u);
  EXPECT_NE(commit.notes[0].find("another tracer holds this probe"), std::string::npos)
      << commit.notes[0];
  order("put a");
  order("work 1");
  EXPECT_EQ(tags(*collected), (Tags{""}));
}

TEST_F(OwnTags, OfThreadsThatAreInterruptedAreWhole) {
  Program program("tag_signals", {"300000"});
  create("s");
  set("s", "uprobe::work", process(program.pid()), "count by tag");
  const auto said = parsed(program.run());
  std::map<std::string, uint64_t> counts;
  uint64_t all = 0;
  for (const auto& [key, row] : read("s").rows) {
    counts[std::get<std::string>(key.by.at(0).value)] += row.count;
    all += row.count;
  }
  EXPECT_EQ(all, said["worked"].get<uint64_t>());
  counts.erase("");
  counts.erase("two");
  counts.erase("one tag of many bytes, of 29.");
  EXPECT_EQ(counts, (std::map<std::string, uint64_t>{}));
}

// Users can also trace the probe of tags itself.
TEST_F(OwnTagSteps, PutsThemselvesCanBeTraced) {
  create("s");
  const auto collected = watch("s");
  must(stage("s", "uprobe::work", process(program_.pid()), "event"));
  set("s", "usdt::tracectl:tag", process(program_.pid()), "event");
  order("put a");
  order("work 1");
  order("put b");
  std::vector<std::string> names;
  for (const Event& event : seen("s", *collected))
    names.push_back(name_of_probe(event) + ' ' + event.tag);
  EXPECT_EQ(names, (Tags{"tag a", "work a", "tag b"}));
}

}  // namespace
}  // namespace tracectl::on_kernel
