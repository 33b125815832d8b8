// SPDX-License-Identifier: BSD-2-Clause
//
// The Common Trace Format: a directory with a file for each CPU, and metadata that describes their layout.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <map>
#include <optional>

#include "client/export/ctf_classes.h"
#include "client/export/formats.h"
#include "client/output/output_file.h"

namespace tracectl {
namespace {

constexpr uint32_t kPacketMagic = 0xc1fc1fc1;
constexpr size_t kPacketBytes = 128 << 10;  // of events, after which a packet ends
constexpr size_t kMostDeclarationBytes = 64 << 20;
constexpr uint32_t kNoCpu = UINT32_MAX;
constexpr int64_t kNsPerSecond = 1'000'000'000;

using Uuid = std::array<uint8_t, 16>;

// Derived from the recording's number, so that exports of one recording have the same UUID.
Uuid uuid_of(uint64_t id) {
  Uuid uuid{};
  for (size_t i = 0; i < 8; ++i) uuid[i] = uuid[15 - i] = static_cast<uint8_t>(id >> (8 * i));
  uuid[6] = static_cast<uint8_t>((uuid[6] & 0x0f) | 0x40);  // RFC 9562: version 4
  uuid[8] = static_cast<uint8_t>((uuid[8] & 0x3f) | 0x80);  // and variant
  return uuid;
}

std::string text_of(const Uuid& uuid) {
  std::string text;
  for (size_t i = 0; i < uuid.size(); ++i)
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
  return text;
}

// One file of packets. Each packet has the count of events lost before its end.
class CtfStream {
 public:
  CtfStream(OutputFile file, const Uuid& uuid, uint32_t cpu)
      : file_(std::move(file)), uuid_(uuid), cpu_(cpu) {}

  Status add(const Event& event, uint64_t class_number) {
    begin_at(event.ts_ns);
    append_ctf_number(content_, static_cast<uint32_t>(class_number));
    append_ctf_number(content_, event.ts_ns);
    append_ctf_number(content_, static_cast<int32_t>(event.pid));
    append_ctf_number(content_, static_cast<int32_t>(event.tid));
    append_ctf_text(content_, event.comm);
    append_ctf_fields(content_, event);
    return content_.size() < kPacketBytes ? ok() : end_packet();
  }

  // A loss gets its own packet: readers place it between the ends of two packets.
  Status add(const Lost& lost) {
    if (!has_packet_ && content_.empty()) begin_at(lost.ts_ns);
    if (!has_packet_ || !content_.empty())
      if (auto ended = end_packet(); !ended) return ended;
    discarded_ += lost.count;
    begin_at(lost.ts_ns);
    return end_packet();
  }

  Status finish() {
    if (!content_.empty())
      if (auto ended = end_packet(); !ended) return ended;
    return file_.flush();
  }
  Status commit() { return file_.commit(); }

 private:
  void begin_at(uint64_t ts_ns) {
    if (content_.empty()) first_ns_ = ts_ns;
    last_ns_ = ts_ns;
  }

  Status end_packet() {
    std::string head;
    append_ctf_number(head, kPacketMagic);
    head.append(reinterpret_cast<const char*>(uuid_.data()), uuid_.size());
    append_ctf_number(head, uint32_t{0});  // of the stream class
    append_ctf_number(head, first_ns_);
    append_ctf_number(head, last_ns_);
    const uint64_t bits = 8 * (head.size() + 2 * sizeof(uint64_t) + sizeof discarded_ +
                               sizeof cpu_ + content_.size());
    append_ctf_number(head, bits);  // the content's size,
    append_ctf_number(head, bits);  // and the packet's
    append_ctf_number(head, discarded_);
    append_ctf_number(head, cpu_);
    has_packet_ = true;
    if (auto written = file_.write(head); !written) return written;
    auto written = file_.write(content_);
    content_.clear();
    return written;
  }

  OutputFile file_;
  const Uuid uuid_;
  const uint32_t cpu_;
  std::string content_;  // of the open packet
  uint64_t first_ns_ = 0, last_ns_ = 0;
  uint64_t discarded_ = 0;
  bool has_packet_ = false;
};

std::string head_of_metadata(const Uuid& uuid, const Recorded& recorded) {
  const std::string id = text_of(uuid);
  // The seconds may be negative, but not the nanoseconds.
  int64_t offset_s = recorded.wall_minus_boot_ns / kNsPerSecond;
  int64_t offset_ns = recorded.wall_minus_boot_ns % kNsPerSecond;
  if (offset_ns < 0) {
    --offset_s;
    offset_ns += kNsPerSecond;
  }
  return fmt::format(R"(/* CTF 1.8 */

typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
typealias integer {{ size = 64; align = 8; signed = false; base = 16; }} := uint64_hex_t;
typealias integer {{ size = 32; align = 8; signed = true; }} := int32_t;
typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;

trace {{
	major = 1;
	minor = 8;
	uuid = "{}";
	byte_order = le;
	packet.header := struct {{
		uint32_t magic;
		uint8_t uuid[16];
		uint32_t stream_id;
	}};
}};

env {{
	domain = "ust";
	tracer_name = "tracectl";
	tracer_version = "{}";
}};

clock {{
	name = "boottime";
	description = "CLOCK_BOOTTIME";
	freq = 1000000000;
	offset_s = {};
	offset = {};
}};

typealias integer {{ size = 64; align = 8; signed = false; map = clock.boottime.value; }} := boottime_t;

stream {{
	id = 0;
	event.header := struct {{
		uint32_t id;
		boottime_t timestamp;
	}};
	event.context := struct {{
		int32_t vpid;
		int32_t vtid;
		string procname;
	}};
	packet.context := struct {{
		boottime_t timestamp_begin;
		boottime_t timestamp_end;
		uint64_t content_size;
		uint64_t packet_size;
		uint64_t events_discarded;
		uint32_t cpu_id;
	}};
}};

)",
                     id, TRACECTL_VERSION, offset_s, offset_ns);
}

class CtfExport final : public Export {
 public:
  CtfExport(std::string directory, bool is_ours, const Recorded& recorded)
      : directory_(std::move(directory)),
        is_ours_(is_ours),
        recorded_(recorded),
        uuid_(uuid_of(recorded.id)) {}
  ~CtfExport() override {
    streams_.clear();  // deletes the files in the directory
    // Fails if the directory is not empty, as it is after a complete export.
    if (is_ours_) ::rmdir(directory_.c_str());
  }

  Status add(const Event& event) override {
    auto stream = stream_of(event.cpu);
    if (!stream) return stream.error();
    const uint64_t number = classes_.number_of(event);
    if (classes_.declarations().size() > kMostDeclarationBytes)
      return Error{Code::exhausted,
                   "the events need more event classes than readers of CTF support: choose another "
                   "format, such as jsonl"};
    return (*stream)->add(event, number);
  }

  Status add(const Lost& lost) override {
    auto stream = stream_of(lost.cpu.value_or(kNoCpu));
    if (!stream) return stream.error();
    return (*stream)->add(lost);
  }

  Status finish() override {
    auto metadata = OutputFile::open(directory_ + "/metadata");
    if (!metadata) return metadata.error();
    for (const std::string_view part :
         {head_of_metadata(uuid_, recorded_), classes_.declarations()})
      if (auto written = metadata->write(part); !written) return written;
    if (auto written = metadata->flush(); !written) return written;
    for (auto& [cpu, stream] : streams_)
      if (auto finished = stream.finish(); !finished) return finished;
    // All data is written; only renames remain.
    for (auto& [cpu, stream] : streams_)
      if (auto committed = stream.commit(); !committed) return committed;
    return metadata->commit();
  }

 private:
  Result<CtfStream*> stream_of(uint32_t cpu) {
    const auto found = streams_.find(cpu);
    if (found != streams_.end()) return &found->second;
    const std::string name = cpu == kNoCpu ? "no_cpu" : fmt::format("cpu{}", cpu);
    auto file = OutputFile::open(directory_ + "/" + name);
    if (!file) return file.error();
    return &streams_.try_emplace(cpu, std::move(*file), uuid_, cpu).first->second;
  }

  const std::string directory_;
  const bool is_ours_;  // created by us
  const Recorded recorded_;
  const Uuid uuid_;
  CtfClasses classes_;
  std::map<uint32_t, CtfStream> streams_;  // by CPU
};

}  // namespace

OpenedExport open_ctf(const std::string& path, const Recorded& recorded) {
  const bool is_made = ::mkdir(path.c_str(), 0777) == 0;
  if (!is_made && errno != EEXIST) return Error::from_errno("make the directory " + path);
  std::error_code unreadable;
  if (!is_made && !std::filesystem::is_empty(path, unreadable))  // the files are somebody else's
    return Error::from_errno("write into the directory " + path, ENOTEMPTY);
  return std::unique_ptr<Export>(new CtfExport(path, is_made, recorded));
}

}  // namespace tracectl
