// SPDX-License-Identifier: BSD-2-Clause
#include "client/recording/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "client/options/size.h"
#include "client/output/output.h"
#include "client/render/call_names.h"
#include "client/render/text.h"
#include "daemon/base/clock.h"

namespace tracectl {

using recording::Damage;
using recording::Reader;
using recording::TimeRange;

namespace {

// Shows how much of the time has been read, on one line.
class ReadingProgress {
 public:
  ReadingProgress(const CommonOptions& common, const std::string& path, const Reader& reader,
                  const TimeRange& range, Prints prints)
      : path_(path),
        from_ns_(std::max(range.from_ns, reader.first_ns())),
        to_ns_(std::min(range.to_ns, reader.last_ns())),
        is_seen_(!common.quiet && !common.json && ::isatty(STDERR_FILENO) &&
                 (prints == Prints::at_the_end || !::isatty(STDOUT_FILENO))),
        shown_ns_(boot_ns()) {}
  ~ReadingProgress() {
    if (has_line_) print_error("\r\x1b[K");
  }

  void at(const StreamItem& item) {
    // The clock is read only once in a while.
    constexpr uint64_t kEvery = 1 << 14;
    if (is_seen_ && ++items_ % kEvery == 0) report(ts_of(item));
  }

 private:
  static uint64_t ts_of(const StreamItem& item) {
    return std::visit([](const auto& part) { return part.ts_ns; }, item);
  }

  void report(uint64_t ts_ns) {
    constexpr uint64_t kEveryNs = 200'000'000;
    const uint64_t now_ns = boot_ns();
    if (now_ns - shown_ns_ < kEveryNs || to_ns_ <= from_ns_) return;
    shown_ns_ = now_ns;
    const double share =
        static_cast<double>(ts_ns - from_ns_) / static_cast<double>(to_ns_ - from_ns_);
    constexpr size_t kCells = 30;
    const auto done = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * kCells);
    print_error("\r\x1b[K" + path_ + " [" + std::string(done, '#') +
                std::string(kCells - done, '.') + "] " + plural(items_, "event"));
    has_line_ = true;
  }

  const std::string path_;
  const uint64_t from_ns_, to_ns_;
  const bool is_seen_;
  uint64_t shown_ns_;
  uint64_t items_ = 0;
  bool has_line_ = false;
};

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

void report_reason(const CommonOptions& common, const std::string& path, const Reader& reader) {
  if (common.quiet || reader.reason().empty()) return;
  print_error("tracectl: " + path + ": dumped because " + printable(reader.reason()) + "\n");
}

void report_damage(const std::string& path, const Reader& reader) {
  const Damage& damage = reader.damage();
  const auto report = [&](const std::string& what) {
    print_error("tracectl: note: " + path + ": " + what + "\n");
  };
  if (!reader.ended_early().empty())
    report("its recording ended early: " + printable(reader.ended_early()));
  if (!reader.is_end_known()) report(std::string{kUnknownEnd});
  if (damage.unfinished_bytes)
    report("its last " + plural(damage.unfinished_bytes, "byte") +
           " are incomplete: its writer was killed, or is still writing");
  if (damage.bytes) report(plural(damage.bytes, "byte") + " are damaged, and left out");
  if (damage.blocks)
    report(plural(damage.blocks, "block") + " with " + plural(damage.records, "event") +
           " cannot be read, and are left out");
  if (damage.no_room_bytes)
    report("its names take more than " + size_text(damage.no_room_bytes) +
           " of memory: events with later names are among these");
  if (damage.cut)
    report(plural(damage.cut, "name") + " and stacks are longer than is read, and cut off");
  if (damage.unknown)
    report(plural(damage.unknown, "part") + " of kinds that only a newer tracectl knows left out");
}

Status check_other_file(const std::string& trace_file, const std::string& output) {
  std::error_code none;
  if (!std::filesystem::equivalent(trace_file, output, none)) return ok();
  return Error{Code::invalid, output + " is the trace file: choose another name"};
}

Status read_events(const CommonOptions& common, const std::string& path, Reader& reader,
                   const TimeRange& range, const Reader::Take& take, Prints prints) {
  report_reason(common, path, reader);
  ReadingProgress progress(common, path, reader, range, prints);
  auto read = reader.read(range, [&](const StreamItem& item) {
    progress.at(item);
    return take(item);
  });
  return read ? read : read.error().in(path);
}

void report_misfit(const std::optional<Error>& misfit) {
  if (misfit) print_error("tracectl: note: left out: " + misfit->message + "\n");
}

Status read_trace_file(const CommonOptions& common, const std::string& path,
                       const Reader::Take& take) {
  auto reader = open_trace_file(path);
  if (!reader) return reader.error();
  auto read = read_events(common, path, *reader, {}, take);
  report_damage(path, *reader);
  return read;
}

}  // namespace tracectl
