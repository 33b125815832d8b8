// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "client/connection/ask.h"
#include "client/connection/wait.h"
#include "client/options/duration.h"
#include "client/output/screen.h"
#include "client/render/top.h"
#include "client/verbs/all.h"
#include "client/verbs/shared_options.h"

namespace tracectl {
namespace {

using namespace protocol;

struct TopOptions {
  std::optional<uint64_t> iterations = {};  // tables; none: until ^C
  size_t rows = SIZE_MAX;                   // of a table
};

// Adds the current names of the processes; those that have ended get none.
void name_processes(TopTablePart& table) {
  std::map<int64_t, std::optional<std::string>> names;
  for (TopRowPart& row : table.rows) {
    if (!row.pid) continue;
    auto [known, is_new] = names.try_emplace(*row.pid);
    std::ifstream comm("/proc/" + std::to_string(*row.pid) + "/comm");
    if (std::string name; is_new && std::getline(comm, name)) known->second = name;
    row.comm = known->second;
  }
}

class TopTables {
 public:
  TopTables(const CommonOptions& common, const TopOptions& options, Backend& backend)
      : common_(common), options_(options), backend_(backend) {}

  Status begin() {
    auto read = backend_.call(DaemonTop{});
    if (!read) return read.error();
    last_ = std::move(*read);
    return ok();
  }

  // Prints one more table. False: it was the last one.
  Result<bool> go_on() {
    auto read = backend_.call(DaemonTop{});
    if (!read) return read.error();
    TopTablePart table = top_table(last_, *read);
    last_ = std::move(*read);
    name_processes(table);
    if (common_.json)
      print(text_of(to_json(table)) + "\n");
    else
      print_in_place(top_text(table, options_.rows));
    return std::fflush(stdout) == 0 && (!options_.iterations || ++shown_ < *options_.iterations);
  }

 private:
  const CommonOptions& common_;
  const TopOptions& options_;
  Backend& backend_;
  TopReply last_;
  uint64_t shown_ = 0;
};

class ShowTop final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("--interval", interval_, "between two tables: 1s, 500ms")
        .check(check_interval)
        .shows_default();
    grammar.option("--iterations", options_.iterations, "end after so many tables")
        .in_range(uint64_t{1}, UINT64_MAX);
    add_rows(grammar, options_.rows);
  }
  int run(const CommonOptions& common) override {
    auto waiter = Waiter::open();
    if (!waiter) return fail(waiter.error());
    return with_backend(common, Backend::Needs::daemon, [&](Backend& backend) -> int {
      TopTables tables(common, options_, backend);
      if (auto begun = tables.begin(); !begun) return fail(begun.error());
      const int every_ms = static_cast<int>(std::lround(*parse_duration(interval_) * 1000));
      const auto ended = waiter->run(
          -1, [&] { return tables.go_on(); }, every_ms);
      if (!ended) return fail(ended.error());
      return *ended == Ended::interrupted ? kInterrupted : kDone;
    });
  }

 private:
  std::string interval_ = "1s";
  TopOptions options_;
};

}  // namespace

void add_top(Grammar grammar) {
  grammar.verb<ShowTop>("top", "armed probes as they are hit, those that cost most first");
}

}  // namespace tracectl
