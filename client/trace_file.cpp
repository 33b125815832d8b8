// SPDX-License-Identifier: BSD-2-Clause
#include "client/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "client/output.h"
#include "client/stream.h"
#include "client/verbs.h"

namespace tracectl {

using recording::Damage;
using recording::Reader;
using recording::TimeRange;

namespace {

// Since the first event.
TimeRange range_of(const ShowOptions& options, uint64_t first_ns) {
  const auto at = [&](double seconds) { return first_ns + static_cast<uint64_t>(seconds * 1e9); };
  TimeRange range;
  if (options.from_s) range.from_ns = at(*options.from_s);
  if (options.to_s) range.to_ns = at(*options.to_s);
  return range;
}

}  // namespace

bool is_trace_file(const std::string& path) {
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)};
  std::string begin(recording::kFileMagic.size(), '\0');
  return file && ::pread(file.get(), begin.data(), begin.size(), 0) > 0 &&
         begin == recording::kFileMagic;
}

Result<Reader> open_trace_file(const std::string& path) {
  Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)};
  if (!file) return Error::from_errno("open " + path);
  auto reader = Reader::open(std::move(file));
  if (!reader) return reader.error().in(path);
  return reader;
}

void tell_damage(const std::string& path, const Damage& damage) {
  const auto tell = [&](const std::string& what) {
    print_error("tracectl: note: " + path + ": " + what + "\n");
  };
  if (damage.unfinished_bytes)
    tell("its last " + plural(damage.unfinished_bytes, "byte") +
         " were still being written: who wrote it was stopped, or writes on");
  if (damage.bytes) tell(plural(damage.bytes, "byte") + " are damaged, and left out");
  if (damage.blocks)
    tell(plural(damage.blocks, "block") + " with " + plural(damage.records, "event") +
         " cannot be read, and are left out");
  if (damage.unknown)
    tell(plural(damage.unknown, "part") + " of kinds that only a newer tracectl knows left out");
}

int run_show(const CommonOptions& common, const ShowOptions& options) {
  auto reader = open_trace_file(options.file);
  if (!reader) return fail(reader.error());
  EventPrinter printer(
      common, options.file,
      options.graph ? EventPrinter::Shown::graph : EventPrinter::Shown::events,
      {.arguments = options.arguments, .results = options.results, .colour = is_coloured()});
  printer.use(protocol::WallClock(reader->header().wall_minus_boot_ns));
  auto shown = reader->read(range_of(options, reader->first_ns()),
                            [&](const StreamItem& item) { return printer.print_item(item); });
  if (!shown) return fail(shown.error().in(options.file));
  printer.finish();
  tell_damage(options.file, reader->damage());
  if (!common.quiet) print_error(printer.summary());
  return kDone;
}

}  // namespace tracectl
