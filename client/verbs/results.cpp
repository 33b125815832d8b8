// SPDX-License-Identifier: BSD-2-Clause
//
// What sessions have counted and stream, and what their probes cost.
#include "client/options/duration.h"
#include "client/verbs.h"
#include "client/verbs/all.h"
#include "client/verbs/session_verb.h"

namespace tracectl {
namespace {

class ReadSession final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("NAME", session_, "of the session").required();
    grammar.flag("--clear", clear_, "read and zero, in one cut");
  }
  int run(const CommonOptions& common) override { return run_read(common, session_, clear_); }

 private:
  std::string session_;
  bool clear_ = false;
};

class WatchSession final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("NAME", session_, "of the session").required();
    grammar.option("--for", duration_, "end after this time: 10s, 500ms, 2m").check(check_duration);
    grammar
        .option("--reconnect", reconnect_,
                "how long to try to go on with a saved session after the daemon has ended")
        .check(check_duration)
        .shows_default();
  }
  int run(const CommonOptions& common) override {
    return run_watch(common, {session_, parse_duration(duration_), *parse_duration(reconnect_)});
  }

 private:
  std::string session_;
  std::string duration_;
  std::string reconnect_ = "10s";
};

std::string check_interval(const std::string& text) {
  const auto seconds = parse_duration(text);
  if (!seconds) return check_duration(text);
  return *seconds >= 0.01 && *seconds <= 86400 ? "" : "an interval is from 10ms to a day";
}

class Top final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("--interval", interval_, "between two tables: 1s, 500ms")
        .check(check_interval)
        .shows_default();
    grammar.option("-n,--iterations", top_.iterations, "end after so many tables")
        .in_range(uint64_t{1}, UINT64_MAX);
    grammar.option("--rows", top_.rows, "how many rows of a table are printed");
  }
  int run(const CommonOptions& common) override {
    top_.interval_s = *parse_duration(interval_);
    return run_top(common, top_);
  }

 private:
  std::string interval_ = "1s";
  TopOptions top_;
};

}  // namespace

void add_results(Grammar grammar) {
  grammar.verb<ReadSession>("read", "counts so far");
  grammar.verb<WatchSession>("watch", "stream a session's events until ^C");
  grammar.verb<SessionVerb>("flush", "return once every event fired before has been delivered",
                            run_flush);
  grammar.verb<Top>("top", "armed probes as they are hit, those that cost most first");
}

}  // namespace tracectl
