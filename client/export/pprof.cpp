// SPDX-License-Identifier: BSD-2-Clause
//
// Profiles for pprof: calls have their number and their own time, stacks their count.
#include <algorithm>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <unordered_map>
#include <vector>

#include "client/export/formats.h"
#include "client/export/ways.h"
#include "client/output/output_file.h"
#include "daemon/protocol/json_text.h"

namespace tracectl {
namespace {

// The field numbers are from github.com/google/pprof/proto/profile.proto.
enum ProfileField : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
};
enum ValueTypeField : uint32_t { kValueType = 1, kUnit = 2 };
enum SampleField : uint32_t { kLocationIds = 1, kValues = 2 };
enum MappingField : uint32_t { kMappingId = 1, kFilename = 5, kBuildId = 6, kHasFunctions = 7 };
enum LocationField : uint32_t { kLocationId = 1, kLocationMapping = 2, kAddress = 3, kLine = 4 };
enum LineField : uint32_t { kLineFunction = 1, kLineNumber = 2 };
enum FunctionField : uint32_t { kFunctionId = 1, kFunctionName = 2, kSystemName = 3, kFile = 4 };

// The strings of a profile, without repetition; other messages refer to them by number.
class TextTable {
 public:
  TextTable() { number_of(""); }  // the format requires that this is the first
  int64_t number_of(const std::string& text) {
    const auto [found, is_new] = numbers_.emplace(text, static_cast<int64_t>(texts_.size()));
    if (is_new) texts_.push_back(&found->first);
    return found->second;
  }
  void write(protozero::pbf_writer& profile) const {
    for (const std::string* text : texts_)
      profile.add_string(kStringTable, protocol::valid_utf8(*text));
  }

 private:
  std::unordered_map<std::string, int64_t> numbers_;
  std::vector<const std::string*> texts_;
};

// A profile under construction: its tables refer to each other by numbers.
class ProfileWriter {
 public:
  ProfileWriter() : profile_(bytes_) {}

  void add_type(const std::string& type, const std::string& unit) {
    protozero::pbf_writer to(profile_, kSampleType);
    to.add_int64(kValueType, texts_.number_of(type));
    to.add_int64(kUnit, texts_.number_of(unit));
  }

  // Locations from the innermost outwards.
  void add_sample(const std::vector<uint64_t>& locations, std::initializer_list<int64_t> values) {
    protozero::pbf_writer to(profile_, kSample);
    to.add_packed_uint64(kLocationIds, locations.begin(), locations.end());
    to.add_packed_int64(kValues, values.begin(), values.end());
  }

  uint64_t location_of(const Frame& frame) {
    const auto [found, is_new] = locations_.try_emplace(frame, locations_.size() + 1);
    if (!is_new) return found->second;
    const uint64_t mapping = mapping_of(frame.module, frame.build_id);
    const uint64_t function = function_of(frame.function, frame.file);
    protozero::pbf_writer to(profile_, kLocation);
    to.add_uint64(kLocationId, found->second);
    if (mapping) to.add_uint64(kLocationMapping, mapping);
    to.add_uint64(kAddress, frame.offset);
    protozero::pbf_writer line(to, kLine);
    line.add_uint64(kLineFunction, function);
    if (frame.line) line.add_int64(kLineNumber, frame.line);
    return found->second;
  }

  std::string take(const Recorded& recorded) {
    texts_.write(profile_);
    // Added as unsigned numbers, so that nonsensical times wrap around.
    const uint64_t wall_ns = recorded.first_ns + static_cast<uint64_t>(recorded.wall_minus_boot_ns);
    profile_.add_int64(kTimeNanos, static_cast<int64_t>(wall_ns));
    profile_.add_int64(kDurationNanos, static_cast<int64_t>(recorded.last_ns - recorded.first_ns));
    return std::move(bytes_);
  }

 private:
  uint64_t mapping_of(const std::string& file, const std::string& build_id) {
    if (file.empty()) return 0;
    const auto [found, is_new] = mappings_.try_emplace({file, build_id}, mappings_.size() + 1);
    if (!is_new) return found->second;
    protozero::pbf_writer to(profile_, kMapping);
    to.add_uint64(kMappingId, found->second);
    to.add_int64(kFilename, texts_.number_of(file));
    to.add_int64(kBuildId, texts_.number_of(build_id));
    to.add_bool(kHasFunctions, true);
    return found->second;
  }

  uint64_t function_of(const std::string& name, const std::string& file) {
    const auto [found, is_new] = functions_.try_emplace({name, file}, functions_.size() + 1);
    if (!is_new) return found->second;
    protozero::pbf_writer to(profile_, kFunction);
    to.add_uint64(kFunctionId, found->second);
    to.add_int64(kFunctionName, texts_.number_of(name.empty() ? "[unknown]" : name));
    to.add_int64(kSystemName, texts_.number_of(name));
    to.add_int64(kFile, texts_.number_of(file));
    return found->second;
  }

  using TwoTexts = std::pair<std::string, std::string>;
  std::string bytes_;
  protozero::pbf_writer profile_;
  TextTable texts_;
  std::map<TwoTexts, uint64_t> mappings_, functions_;
  std::map<Frame, uint64_t> locations_;
};

Frame frame_named(const std::string& function) {
  Frame frame;
  frame.function = function;
  return frame;
}

// Counts equal stacks; the way in which they were unwound does not matter. Each frame is kept once, because
// most are in many stacks.
class CountedStacks {
 public:
  void add(const Stack& stack) {
    Numbers numbers;
    for (const Frame& frame : stack.frames) numbers.push_back(number_of(frame));
    auto counted = counts_.find(numbers);
    if (counted == counts_.end()) {
      const bool has_room = kept_numbers_ + numbers.size() <= kMostKeptNumbers;
      if (!has_room) numbers = {number_of(kOthers)};
      kept_numbers_ += numbers.size() + kOfAStack;
      counted = counts_.try_emplace(std::move(numbers)).first;
    }
    ++counted->second;
  }

  // `put` gets the frames of each stack, the innermost first, and its count.
  template <class Put> void for_each(Put&& put) const {
    for (const auto& [numbers, count] : counts_) {
      std::vector<const Frame*> frames;
      for (const uint32_t number : numbers) frames.push_back(frames_[number]);
      put(frames, count);
    }
  }

 private:
  using Numbers = std::vector<uint32_t>;  // of frames

  // A bound, because calls can differ in any number of ways.
  static constexpr size_t kMostKeptNumbers = 16 << 20;
  static constexpr size_t kOfAStack = 20;  // memory besides the numbers, in the same unit
  static inline const Frame kOthers = frame_named("[others]");

  uint32_t number_of(const Frame& frame) {
    const auto [known, is_new] = numbers_.try_emplace(frame, static_cast<uint32_t>(frames_.size()));
    if (is_new) frames_.push_back(&known->first);
    return known->second;
  }

  std::map<Frame, uint32_t> numbers_;
  std::vector<const Frame*> frames_;  // by number
  std::map<Numbers, uint64_t> counts_;
  size_t kept_numbers_ = 0;
};

class PprofExport final : public Export {
 public:
  PprofExport(OutputFile file, const Recorded& recorded)
      : file_(std::move(file)), recorded_(recorded) {}

  Status add(const Event& event) override {
    ways_.add(event);
    if (!event.call && event.stack) stacks_.add(*event.stack);
    return ok();
  }
  Status add(const Lost&) override { return ok(); }
  Status finish() override {
    if (auto has_ways = ways_.check(); !has_ways) return has_ways;
    ways_.has_calls() ? put_calls() : put_stacks();
    if (auto written = file_.write(profile_.take(recorded_)); !written) return written;
    return file_.commit();
  }

 private:
  static constexpr size_t kMostLevels = 1000;  // calls below are merged: samples list all around

  void put_calls() {
    profile_.add_type("calls", "count");
    profile_.add_type("time", "nanoseconds");
    std::vector<uint64_t> around;  // locations, the outermost first
    for (const CallTree::Place& place : ways_.calls().places(CallTree::Order::name)) {
      around.resize(std::min(place.depth, kMostLevels));
      const bool is_shown = place.depth < kMostLevels;
      around.push_back(profile_.location_of(frame_named(is_shown ? *place.name : "[deeper]")));
      profile_.add_sample({around.rbegin(), around.rend()},
                          {static_cast<int64_t>(place.figures->calls),
                           static_cast<int64_t>(place.figures->self_ns)});
    }
  }

  void put_stacks() {
    profile_.add_type("hits", "count");
    stacks_.for_each([&](const std::vector<const Frame*>& frames, uint64_t count) {
      std::vector<uint64_t> locations;
      for (const Frame* frame : frames) locations.push_back(profile_.location_of(*frame));
      profile_.add_sample(locations, {static_cast<int64_t>(count)});
    });
  }

  OutputFile file_;
  const Recorded recorded_;
  Ways ways_;
  CountedStacks stacks_;
  ProfileWriter profile_;
};

}  // namespace

OpenedExport open_pprof(const std::string& path, const Recorded& recorded) {
  auto file = OutputFile::open(path);
  if (!file) return file.error();
  return std::unique_ptr<Export>(new PprofExport(std::move(*file), recorded));
}

}  // namespace tracectl
