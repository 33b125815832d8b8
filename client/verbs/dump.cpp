// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "client/connection/ask.h"
#include "client/connection/wait.h"
#include "client/options/trace_file_name.h"
#include "client/recording/recorded_file.h"
#include "client/verbs/all.h"

namespace tracectl {
namespace {

using namespace protocol;

constexpr int kAskEveryMs = 10;

// Checks this before a file is made.
Status check_recorder(Backend& backend, const std::string& session) {
  auto part = backend.call(SessionShow{session});
  if (!part) return part.error();
  if (part->recorder) return ok();
  return Error{Code::invalid, "the session \"" + session +
                                  "\" has no flight recorder: tracectl session new NAME "
                                  "--recorder 64M makes a session that has one"};
}

Result<DumpPart> begin_dump(Backend& backend, const std::string& session, const RecordTo& to) {
  const std::string& name = to.file;
  if (auto there = check_recorder(backend, session); !there) return there.error();
  auto file = open_to_write(name);
  if (!file) return file.error();
  const int descriptor = file->get();
  auto dump = backend.call_with(RecordDump{session, to.compress}, {&descriptor, 1});
  if (!dump) return dump.error().in(name);
  return dump;
}

// Waits until the dump is written: the daemon writes it even if nobody waits any more.
Result<DumpPart> wait_for(Backend& backend, Waiter& waiter, uint64_t dump) {
  Result<DumpPart> part = DumpPart{};
  const auto go_on = [&]() -> Result<bool> {
    part = backend.call(RecordDumped{dump});
    if (!part) return part.error();
    return part->state == "writing";
  };
  const auto ended = waiter.run(-1, go_on, kAskEveryMs);
  if (!ended) return ended.error();
  if (*ended == Ended::interrupted)
    return Error{Code::busy, "interrupted: the daemon goes on writing the file"};
  return part;
}

// The daemon writes the file, which is opened with this user's rights.
class DumpRecorder final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("SESSION", session_, "its name").required();
    grammar
        .option("-o,--output", to_.file,
                "the trace file; in a directory the file is named by the time")
        .value_name("FILE");
    grammar.flag("--compress", to_.compress, "its blocks, by zstd");
  }
  int run(const CommonOptions& common) override {
    to_.file = trace_file_name(to_.file);
    auto waiter = Waiter::open();
    if (!waiter) return fail(waiter.error());
    return with_backend(common, Backend::Needs::daemon, [&](Backend& backend) -> int {
      auto begun = begin_dump(backend, session_, to_);
      if (!begun) return fail(begun.error());
      auto done = wait_for(backend, *waiter, begun->dump);
      if (!done) return fail(done.error());
      if (done->state == "failed")
        return fail(Error{Code::kernel, to_.file + ": " + done->error.value_or("") + "; " +
                                            in_file_text(*done) +
                                            " are in the file; the recorder still has all: dump "
                                            "to another place"});
      if (done->note) print_error("tracectl: note: " + *done->note + "\n");
      show<DumpPart>(common, *done, [&](const DumpPart& part) {
        return to_.file + ": " + in_file_text(part) + "\n";
      });
      return kDone;
    });
  }

 private:
  std::string session_;
  RecordTo to_{.file = "."};
};

}  // namespace

void add_dump(Grammar grammar) {
  grammar.verb<DumpRecorder>("dump",
                             "write what a session's flight recorder holds to a trace file");
}

}  // namespace tracectl
