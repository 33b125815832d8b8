// SPDX-License-Identifier: BSD-2-Clause
//
// Perfetto's trace packets. Packets need not be in time order, so the beginning of a call is written together
// with its end.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <utility>
#include <vector>

#include "client/export/field_value.h"
#include "client/export/formats.h"
#include "client/export/slices.h"
#include "client/output/output_file.h"
#include "daemon/protocol/json_text.h"

namespace tracectl {
namespace {

using protocol::valid_utf8;
using protozero::pbf_writer;

// The field numbers are from perfetto/protos/perfetto/trace/perfetto_trace.proto.
enum TraceField : uint32_t { kPacket = 1 };
enum PacketField : uint32_t {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequence = 10,
  kTrackEvent = 11,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
};
enum ClocksField : uint32_t { kClocks = 1 };
enum ClockField : uint32_t { kClockId = 1, kClockTimestamp = 2 };
enum TrackField : uint32_t { kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5 };
enum ProcessField : uint32_t { kProcessPid = 1, kProcessName = 6 };
enum ThreadField : uint32_t { kThreadPid = 1, kThreadTid = 2, kThreadName = 5 };
enum TrackEventField : uint32_t {
  kAnnotations = 4,
  kType = 9,
  kTrackUuid = 11,
  kCategories = 22,
  kEventName = 23,
};
enum AnnotationField : uint32_t {
  kUnsignedValue = 3,
  kSignedValue = 4,
  kDoubleValue = 5,
  kTextValue = 6,
  kAnnotationName = 10,
};

enum TrackEventType : int32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3 };
constexpr uint32_t kRealtime = 1, kBoottime = 6;  // of ClockSnapshot.Clock.BuiltinClocks
constexpr uint32_t kStateCleared = 1;             // SEQ_INCREMENTAL_STATE_CLEARED
constexpr uint32_t kOurSequence = 1;

// The members of an event besides its name and time.
class Annotations {
 public:
  explicit Annotations(pbf_writer& event) : event_(event) {}

  void add(const std::string& name, const FieldValue& value) {
    if (std::holds_alternative<std::monostate>(value)) return put(name, std::string_view("?"));
    std::visit([&](const auto& held) { put(name, held); }, value);
  }
  void add_text(const std::string& name, const std::string& text) {
    if (!text.empty()) put(name, std::string_view(text));
  }

 private:
  void put(const std::string&, std::monostate) {}
  void put(const std::string& name, uint64_t value) {
    open(name).add_uint64(kUnsignedValue, value);
  }
  void put(const std::string& name, int64_t value) { open(name).add_int64(kSignedValue, value); }
  void put(const std::string& name, double value) { open(name).add_double(kDoubleValue, value); }
  void put(const std::string& name, std::string_view text) {
    open(name).add_string(kTextValue, valid_utf8(text));
  }
  pbf_writer open(const std::string& name) {
    pbf_writer annotation(event_, kAnnotations);
    annotation.add_string(kAnnotationName, valid_utf8(name));
    return annotation;
  }

  pbf_writer& event_;
};

// Places overlapping spans on as few tracks of a name as possible. Spans are added in the order of their
// ends.
class Lanes {
 public:
  static constexpr size_t kMost = 1 << 14;  // more tracks are of no use to anybody

  // The number of a track that is free from `begin_ns` on, if there is one. It is removed until put() returns
  // it.
  std::optional<uint64_t> take(uint64_t parent, const std::string& name, uint64_t begin_ns) {
    Ends& ends = lanes_[{parent, name}];
    // The track with the latest end before `begin_ns`: those that ended earlier are left for spans that begin
    // earlier.
    auto free = ends.upper_bound(begin_ns);
    if (free == ends.begin()) return std::nullopt;
    const uint64_t track = (--free)->second;
    ends.erase(free);
    --count_;
    return track;
  }
  void put(uint64_t parent, const std::string& name, uint64_t end_ns, uint64_t track) {
    lanes_[{parent, name}].emplace(end_ns, track);
    ++count_;
  }
  bool has_room() const { return count_ < kMost; }

 private:
  using Ends = std::multimap<uint64_t, uint64_t>;  // tracks, by the ends of their last spans

  std::map<std::pair<uint64_t, std::string>, Ends> lanes_;
  size_t count_ = 0;
};

class PerfettoExport final : public Export {
 public:
  PerfettoExport(OutputFile file, const Recorded& recorded)
      : file_(std::move(file)),
        recorded_(recorded),
        slices_([this](const Slice& slice) { return put(slice); }) {}

  // The clocks come first: they map times since boot to the time of day.
  Status begin() {
    return put_packet([&](pbf_writer& packet) {
      packet.add_uint32(kSequenceFlags, kStateCleared);
      pbf_writer clocks(packet, kClockSnapshot);
      put_clock(clocks, kBoottime, recorded_.first_ns);
      put_clock(clocks, kRealtime,
                recorded_.first_ns + static_cast<uint64_t>(recorded_.wall_minus_boot_ns));
    });
  }

  Status add(const Event& event) override {
    if (auto track = name_thread(event); !track) return track;
    auto is_of_call = slices_.add(event);
    if (!is_of_call) return is_of_call.error();
    if (*is_of_call) return ok();
    return event.kind == EventKind::latency && event.duration_ns ? put_latency(event)
                                                                 : put_hit(event);
  }

  Status add(const Lost& lost) override {
    if (!losses_) {
      losses_ = ++last_track_;
      if (auto named = put_track(losses_, 0, "lost events"); !named) return named;
    }
    return put_event(lost.ts_ns, losses_, kInstant, [&](pbf_writer& event) {
      event.add_string(kEventName, fmt::format("{} lost", lost.count));
      Annotations about(event);
      about.add("count", lost.count);
      about.add("cause", std::string_view(name_of(lost.cause)));
      if (lost.cpu) about.add("cpu", uint64_t{*lost.cpu});
    });
  }

  Status finish() override {
    if (auto ended = slices_.finish(recorded_.last_ns); !ended) return ended;
    return file_.commit();
  }

 private:
  template <class Fill> Status put_packet(Fill&& fill) {
    packet_.clear();
    {
      pbf_writer trace(packet_);
      pbf_writer packet(trace, kPacket);
      packet.add_uint32(kSequence, kOurSequence);
      fill(packet);
    }
    return file_.write(packet_);
  }

  static void put_clock(pbf_writer& clocks, uint32_t id, uint64_t ns) {
    pbf_writer clock(clocks, kClocks);
    clock.add_uint32(kClockId, id);
    clock.add_uint64(kClockTimestamp, ns);
  }

  Status put_track(uint64_t track, uint64_t parent, const std::string& name) {
    return put_packet([&](pbf_writer& packet) {
      pbf_writer descriptor(packet, kTrackDescriptor);
      descriptor.add_uint64(kUuid, track);
      if (parent) descriptor.add_uint64(kParent, parent);
      descriptor.add_string(kName, valid_utf8(name));
    });
  }

  template <class Fill>
  Status put_event(uint64_t ts_ns, uint64_t track, TrackEventType type, Fill&& fill) {
    return put_packet([&](pbf_writer& packet) {
      packet.add_uint64(kTimestamp, ts_ns);
      pbf_writer event(packet, kTrackEvent);
      event.add_enum(kType, type);
      event.add_uint64(kTrackUuid, track);
      fill(event);
    });
  }

  // Names the tracks of the process and of the thread when they are first seen.
  Status name_thread(const Event& event) {
    uint64_t& process = processes_[event.pid];
    if (!process) {
      process = ++last_track_;
      const auto named = put_packet([&](pbf_writer& packet) {
        pbf_writer descriptor(packet, kTrackDescriptor);
        descriptor.add_uint64(kUuid, process);
        pbf_writer about(descriptor, kProcess);
        about.add_int32(kProcessPid, event.pid);
        if (event.pid == event.tid) about.add_string(kProcessName, valid_utf8(event.comm));
      });
      if (!named) return named;
    }
    uint64_t& thread = threads_[{event.pid, event.tid}];
    if (thread) return ok();
    thread = ++last_track_;
    return put_packet([&](pbf_writer& packet) {
      pbf_writer descriptor(packet, kTrackDescriptor);
      descriptor.add_uint64(kUuid, thread);
      descriptor.add_uint64(kParent, process);
      pbf_writer about(descriptor, kThread);
      about.add_int32(kThreadPid, event.pid);
      about.add_int32(kThreadTid, event.tid);
      about.add_string(kThreadName, valid_utf8(event.comm));
    });
  }

  Status put(const Slice& slice) {
    const uint64_t thread = threads_[{slice.pid, slice.tid}];
    const auto fill = [&](pbf_writer& event) {
      event.add_string(kCategories, "call");
      event.add_string(kEventName, valid_utf8(slice.name));
      Annotations about(event);
      about.add_text("arguments", slice.arguments);
      about.add_text("result", slice.result);
      if (slice.end != Slice::End::returned)
        about.add_text("end", slice.end == Slice::End::unwound ? "unwound" : "not seen");
    };
    if (!slice.is_crossing) return put_span(thread, slice.begin_ns, slice.end_ns, fill);
    return put_in_lane(thread, "calls that end before calls within them", slice.begin_ns,
                       slice.end_ns, fill);
  }

  Status put_latency(const Event& event) {
    const std::string& name = names_.of(event.source->probe);
    const uint64_t begin_ns = event.ts_ns - std::min(event.ts_ns, *event.duration_ns);
    return put_in_lane(processes_[event.pid], "until " + name, begin_ns, event.ts_ns,
                       [&](pbf_writer& to) {
                         to.add_string(kCategories, name_of(event.kind));
                         describe(to, event, name);
                       });
  }

  Status put_hit(const Event& event) {
    return put_event(event.ts_ns, threads_[{event.pid, event.tid}], kInstant, [&](pbf_writer& to) {
      to.add_string(kCategories, name_of(event.kind));
      describe(to, event, names_.of(event.source->probe));
    });
  }

  static void describe(pbf_writer& to, const Event& event, const std::string& name) {
    to.add_string(kEventName, valid_utf8(name));
    Annotations about(to);
    for (size_t i = 0; i < event.args.size(); ++i)
      about.add(name_of_argument(event, i), argument_value(event, i));
    const std::string what(what_retval_is(event));
    if (event.retval || !what.empty()) about.add("result", result_value(event));
    about.add_text("result_is", what);
    about.add_text("tag", event.tag);
    if (event.stack) about.add_text("stack", stack_lines(*event.stack));
  }

  template <class Fill>
  Status put_span(uint64_t track, uint64_t begin_ns, uint64_t end_ns, Fill&& fill) {
    if (auto begun = put_event(begin_ns, track, kSliceBegin, fill); !begun) return begun;
    return put_event(end_ns, track, kSliceEnd, [](pbf_writer&) {});
  }

  template <class Fill>
  Status put_in_lane(uint64_t parent, const std::string& name, uint64_t begin_ns, uint64_t end_ns,
                     Fill&& fill) {
    std::optional<uint64_t> track = lanes_.take(parent, name, begin_ns);
    // Without a track, the span becomes an instant at its end.
    if (!track && !lanes_.has_room()) return put_event(end_ns, parent, kInstant, fill);
    if (!track) {
      track = ++last_track_;
      if (auto named = put_track(*track, parent, name); !named) return named;
    }
    lanes_.put(parent, name, end_ns, *track);
    return put_span(*track, begin_ns, end_ns, fill);
  }

  OutputFile file_;
  const Recorded recorded_;
  Slices slices_;
  CallNames names_;
  Lanes lanes_;
  std::map<pid_t, uint64_t> processes_;                  // the tracks of processes
  std::map<std::pair<pid_t, pid_t>, uint64_t> threads_;  // the tracks of threads, by pid and tid
  uint64_t losses_ = 0;
  uint64_t last_track_ = 0;
  std::string packet_;  // that is being built
};

}  // namespace

OpenedExport open_perfetto(const std::string& path, const Recorded& recorded) {
  auto file = OutputFile::open(path);
  if (!file) return file.error();
  auto made = std::make_unique<PerfettoExport>(std::move(*file), recorded);
  if (auto begun = made->begin(); !begun) return begun.error();
  return std::unique_ptr<Export>(std::move(made));
}

}  // namespace tracectl
