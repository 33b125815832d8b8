// SPDX-License-Identifier: BSD-2-Clause
//
// watch: shows a session's events, or its rows, also across restarts of the daemon if the session is saved.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "client/connection/ask.h"
#include "client/connection/budget.h"
#include "client/connection/event_printer.h"
#include "client/connection/proofs.h"
#include "client/connection/rejoin.h"
#include "client/options/duration.h"
#include "client/output/output.h"
#include "client/output/screen.h"
#include "client/render/probe_names.h"
#include "client/render/row_order.h"
#include "client/render/rows.h"
#include "client/target/container_keys.h"
#include "client/target/debug_files.h"
#include "client/verbs/all.h"
#include "client/verbs/interval.h"
#include "client/verbs/shared_options.h"
#include "daemon/protocol/codec.h"

namespace tracectl {
namespace {

struct WatchOptions {
  std::string session;
  double reconnect_s;                // how long it tries after a daemon has ended; 0: not at all
  std::optional<double> interval_s;  // rows instead of events, so often
  size_t rows;                       // of each table
};

// A session's rows, again and again.
class RowsSoFar {
 public:
  RowsSoFar(const CommonOptions& common, const WatchOptions& options, double interval_s)
      : common_(common), options_(options), interval_(interval_s), names_(common) {}

  int every_ms() const { return interval_.every_ms(); }
  // False: nobody reads them any more.
  Result<bool> print_if_due(Backend& backend) {
    const auto after_s = interval_.due();
    return after_s ? print(backend, *after_s) : true;
  }
  // Stays on a terminal.
  Status print_last(Backend& backend) {
    auto rows = read(backend);
    if (!rows) return rows.error();
    if (common_.json)
      tracectl::print(protocol::text_of(protocol::to_json(*rows)) + "\n");
    else
      print_last_in_place(first_rows_text(*rows, options_.rows));
    return ok();
  }

 private:
  Result<protocol::ReadReply> read(Backend& backend) {
    auto rows = backend.call(protocol::SessionRead{.session = options_.session});
    if (!rows) return rows.error();
    add_demangled(rows->rows);
    sort_rows(rows->rows, RowOrder::total);
    names_.complete(*rows);
    if (!common_.json) name_containers(*rows);
    return rows;
  }
  Result<bool> print(Backend& backend, double after_s) {
    auto rows = read(backend);
    if (!rows) return rows.error();
    return print_rows_so_far(common_, *rows, after_s,
                             [&] { return first_rows_text(*rows, options_.rows); });
  }

  const CommonOptions& common_;
  const WatchOptions& options_;
  Interval interval_;
  DebugFiles names_;
};

class Watch {
 public:
  Watch(const CommonOptions& common, const WatchOptions& options, Waiter& waiter, Backend& backend)
      : common_(common),
        options_(options),
        waiter_(waiter),
        backend_(backend),
        subscribe_{options.session, !common.json},
        show_{options.session},
        printer_(common, options.session),
        budget_(backend, options.session, common.json),
        proofs_(backend, options.session) {}

  Status begin();
  // Until it is ended, or the session is not continued.
  Result<Ended> run();
  // After the end.
  Status finish();
  // Empty if it shows rows.
  std::string summary() const { return rows_ ? "" : printer_.summary(); }

 private:
  Status look();
  void choose_rows();
  Result<Ended> follow();
  Result<bool> go_on_with_rows();
  int every_ms() const;
  bool goes_on() const;
  bool print_rest();
  Result<std::optional<Ended>> rejoin();
  void report(const std::string& text) const;
  void report_restore() const;

  const CommonOptions& common_;
  const WatchOptions& options_;
  Waiter& waiter_;
  Backend& backend_;
  const protocol::SessionSubscribe subscribe_;
  const protocol::SessionShow show_;
  EventPrinter printer_;
  BudgetWatch budget_;
  Proofs proofs_;
  protocol::SessionPart session_;  // as it was when this began, or went on
  std::optional<RowsSoFar> rows_;  // are shown instead of events
};

Status Watch::begin() {
  auto session = backend_.call(show_);
  if (!session) return session.error();
  session_ = std::move(*session);
  choose_rows();
  if (!rows_)
    if (auto subscribed = backend_.call(subscribe_); !subscribed) return subscribed.error();
  return look();
}

Status Watch::finish() {
  return rows_ && !backend_.is_closed() ? rows_->print_last(backend_) : ok();
}

void Watch::choose_rows() {
  constexpr double kUsualInterval_s = 1;
  const bool has_rows_only = !session_.settings.empty() && !session_.streams.value_or(true);
  if (options_.interval_s || has_rows_only)
    rows_.emplace(common_, options_, options_.interval_s.value_or(kUsualInterval_s));
}

Status Watch::look() {
  auto session = backend_.call(show_);
  if (!session) return session.error();
  session_ = std::move(*session);
  if (auto proven = proofs_.go_on(); !proven) return proven;
  return budget_.look();
}

Result<Ended> Watch::run() {
  for (;;) {
    auto ended = follow();
    if (ended || !goes_on()) return ended;
    if (!print_rest()) return Ended::output_closed;
    auto stopped = rejoin();
    if (!stopped) return stopped.error();
    if (*stopped) return **stopped;
  }
}

Result<Ended> Watch::follow() {
  return waiter_.run(
      backend_.events_fd(),
      [&]() -> Result<bool> {
        if (budget_.has_budget())
          if (auto looked = budget_.go_on(); !looked) return looked.error();
        if (auto proven = proofs_.go_on(); !proven) return proven.error();
        return rows_ ? go_on_with_rows() : printer_.print_from(backend_);
      },
      every_ms());
}

// Nothing comes but the end of the connection, which is noticed by looking.
Result<bool> Watch::go_on_with_rows() {
  if (auto none = backend_.take_arrived([](const auto&) { return ok(); }); !none)
    return none.error();
  return rows_->print_if_due(backend_);
}

int Watch::every_ms() const {
  std::vector<int> wanted;
  if (proofs_.are_needed()) wanted.push_back(Proofs::kEveryMs);
  if (budget_.has_budget()) wanted.push_back(BudgetWatch::kEveryMs);
  if (rows_) wanted.push_back(rows_->every_ms());
  return wanted.empty() ? -1 : std::ranges::min(wanted);
}

bool Watch::goes_on() const {
  return backend_.is_closed() && session_.saved && options_.reconnect_s > 0;
}

// Prints what the daemon sent before it ended. False: the reader of our output is gone.
bool Watch::print_rest() {
  if (rows_) return true;
  for (;;) {
    auto more = printer_.print_from(backend_);
    if (!more) return true;
    if (!*more) return false;
  }
}

// If the new daemon ends meanwhile, follow() notices it and waits for the next one.
Result<std::optional<Ended>> Watch::rejoin() {
  report("the daemon has closed the connection; waiting for session " + options_.session +
         " to go on");
  printer_.begin_anew();
  const auto join = [&](const auto& request) {
    return Rejoin(common_.socket, request, waiter_, options_.reconnect_s).run(backend_);
  };
  auto ended = rows_ ? join(show_) : join(subscribe_);
  if (!ended || *ended) return ended;
  if (auto looked = look())
    report_restore();
  else if (!backend_.is_closed())
    return looked.error();
  return std::optional<Ended>{};
}

void Watch::report(const std::string& text) const {
  if (!common_.quiet) print_error("tracectl: " + text + "\n");
}

void Watch::report_restore() const {
  if (!session_.gap) return report("session " + options_.session + " goes on");
  report(fmt::format(
      "session {} was begun anew by the next daemon: nothing was counted for at most {:.3f} s",
      options_.session, static_cast<double>(session_.gap->ns) / 1e9));
  for (const std::string& one : session_.not_resumed) report("not resumed: " + one);
  if (common_.json)
    print("{\"gap\":" + protocol::text_of(protocol::to_json(*session_.gap)) + "}\n");
}

class WatchSession final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("SESSION", session_, "its name").required();
    grammar.option("--for", duration_, "end after this time: 10s, 500ms, 2m").check(check_duration);
    grammar
        .option("--reconnect", reconnect_,
                "how long to try to go on with a saved session after the daemon has ended")
        .check(check_duration)
        .shows_default();
    add_interval(grammar, interval_,
                 "print the rows so far instead of events, each time when this is over: 1s, 500ms; "
                 "1s for a session that streams no events");
    add_rows(grammar, rows_);
  }
  int run(const CommonOptions& common) override {
    const WatchOptions options{.session = session_,
                               .reconnect_s = *parse_duration(reconnect_),
                               .interval_s = parse_duration(interval_),
                               .rows = rows_};
    auto waiter = Waiter::open();
    if (!waiter) return fail(waiter.error());
    return with_backend(common, Backend::Needs::daemon, [&](Backend& backend) -> int {
      Watch watch(common, options, *waiter, backend);
      if (auto begun = watch.begin(); !begun) return fail(begun.error());
      if (auto set = end_in_time(*waiter); !set) return fail(set.error());
      const auto ended = watch.run();
      if (!ended) return fail(ended.error());
      if (*ended != Ended::output_closed)
        if (auto finished = watch.finish(); !finished) return fail(finished.error());
      if (!common.quiet) print_error(watch.summary());
      return *ended == Ended::interrupted ? kInterrupted : kDone;
    });
  }

 private:
  Status end_in_time(Waiter& waiter) const {
    const auto seconds = parse_duration(duration_);
    return seconds ? waiter.end_after(*seconds) : ok();
  }

  std::string session_;
  std::string duration_;
  std::string reconnect_ = "10s";
  std::string interval_;
  size_t rows_ = SIZE_MAX;
};

}  // namespace

void add_watch(Grammar grammar) {
  grammar.verb<WatchSession>("watch", "show a session's events, or its rows, until ^C");
}

}  // namespace tracectl
