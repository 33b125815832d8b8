// SPDX-License-Identifier: BSD-2-Clause
//
// The encoding of matches. Data that many sites share, arguments above all, is written once, and
// the decoder shares it again: specs are kept once for each list of arguments.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "daemon/object/return_planner.h"
#include "daemon/sandbox/wire.h"
#include "daemon/sandbox/wire_parts.h"

namespace tracectl::wire {
namespace {

// Answers beyond these limits are invalid.
constexpr size_t kMostNameBytes = 512 << 10;  // also of a demangled name
constexpr size_t kMostTextBytes = 16 << 10;
constexpr size_t kMostItems =
    1 << 20;  // probes; sites, exits and enumerators of all of them; refusals
constexpr size_t kMostArguments = 64;    // of one probe
constexpr uint64_t kFarthest = 1 << 20;  // bytes from a function's start, or on the stack
constexpr unsigned kMostWords = 254;
constexpr uint8_t kNone = 0;

// ---- writing ----

// Assigns numbers to objects when they are first written.
template <class T> class Numbers {
 public:
  // The number, and whether it is new; 0 for null.
  std::pair<uint64_t, bool> of(const std::shared_ptr<const T>& shared) {
    if (!shared) return {kNone, false};
    const auto [at, is_new] = numbers_.try_emplace(shared.get(), numbers_.size() + 1);
    return {at->second, is_new};
  }

 private:
  std::unordered_map<const T*, uint64_t> numbers_;
};

class Writer {
 public:
  explicit Writer(std::string& bytes) : to_(bytes) {}

  void write(const ProbeMatch& match) {
    to_.varint(match.probes.size());
    for (const Probe& probe : match.probes) write(probe);
    to_.varint(match.refused.size());
    for (const Refusal& refusal : match.refused) write(refusal);
  }

 private:
  void write(const Probe& probe) {
    to_.text(probe.name);
    to_.fixed(static_cast<uint8_t>(probe.demangled.has_value()));
    if (probe.demangled) to_.text(*probe.demangled);
    to_.varint(probe.sites.size());
    for (const Site& site : probe.sites) write(site);
  }

  void write(const Site& site) {
    to_.varint(site.offset);
    to_.varint(site.moved_bytes);
    to_.varint(site.semaphore);
    to_.fixed(static_cast<uint8_t>(site.cost));
    to_.varint(site.words_below_caller ? *site.words_below_caller + 1 : 0);
    write_shared(site.args, arguments_);
    write_shared(site.returns, plans_);
  }

  template <class T>
  void write_shared(const std::shared_ptr<const T>& shared, Numbers<T>& numbers) {
    const auto [number, is_new] = numbers.of(shared);
    to_.varint(number);
    if (is_new) write(*shared);
  }

  void write(const Arguments& arguments) {
    to_.varint(arguments.size());
    for (const Argument& argument : arguments) write(argument);
  }

  void write(const Argument& argument) {
    to_.fixed(static_cast<uint8_t>(argument.place));
    to_.fixed(static_cast<uint8_t>(argument.kind));
    to_.fixed(argument.size_bytes);
    to_.fixed(flags_of(argument));
    to_.fixed(argument.byte_count);
    to_.fixed(static_cast<uint8_t>(argument.base));
    to_.fixed(static_cast<uint8_t>(argument.index));
    to_.fixed(argument.scale);
    to_.varint(recording::zigzag(argument.offset));
    to_.text(argument.text);
    to_.text(argument.name);
    to_.text(argument.declared_type);
    write_shared(argument.enumerators, enumerators_);
  }

  static uint8_t flags_of(const Argument& argument) {
    const std::array flags{argument.is_signed,    argument.is_float,         argument.high_byte,
                           argument.is_string,    argument.is_shown_as_text, argument.length_behind,
                           argument.link_relative};
    uint8_t bits = 0;
    for (size_t i = 0; i < flags.size(); ++i) bits |= static_cast<uint8_t>(flags[i] << i);
    return bits;
  }

  void write(const Enumerators& enumerators) {
    to_.varint(enumerators.size());
    for (const Enumerator& one : enumerators) {
      to_.text(one.name);
      to_.varint(recording::zigzag(one.value));
    }
  }

  void write(const ReturnPlan& plan) {
    to_.fixed(static_cast<uint8_t>(plan.way));
    to_.fixed(number_of_reason(plan.reason));
    to_.varint(plan.pushed_bytes);
    to_.varint(plan.moved_bytes);
    to_.varint(plan.exits.size());
    for (const ExitSite& exit : plan.exits) write(exit);
    to_.fixed(static_cast<uint8_t>(plan.result.has_value()));
    if (plan.result) write(*plan.result);
  }

  static uint8_t number_of_reason(const char* reason) {
    const auto at = std::ranges::find(kReturnReasons, std::string_view(reason));
    return static_cast<uint8_t>(at - kReturnReasons.begin());
  }

  void write(const ExitSite& exit) {
    to_.varint(exit.offset);
    to_.fixed(static_cast<uint8_t>(exit.has_result));
    write_optional(to_, exit.condition);
    to_.fixed(exit.jump_bytes);
  }

  void write(const Refusal& refusal) {
    to_.text(refusal.probe);
    to_.fixed(static_cast<uint8_t>(refusal.offset.has_value()));
    if (refusal.offset) to_.varint(*refusal.offset);
    to_.text(std::string_view(refusal.reason).substr(0, kMostTextBytes));
  }

  ByteWriter to_;
  Numbers<Arguments> arguments_;
  Numbers<ReturnPlan> plans_;
  Numbers<Enumerators> enumerators_;
};

// ---- reading ----

bool is_size(uint8_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

bool is_register(Register reg) { return reg <= Register::r15; }

// Whether the kernel's programs can handle it.
bool is_sound(const Argument& argument) {
  using Place = Argument::Place;
  if (argument.place == Place::unreadable) return true;
  const bool has_base = is_register(argument.base) || argument.base == Register::rip;
  const bool has_index = is_register(argument.index);
  if (!is_size(argument.size_bytes) || !is_size(argument.scale)) return false;
  if (!has_base && argument.base != Register::none) return false;
  if (!has_index && argument.index != Register::none) return false;
  return argument.place != Place::in_register || is_register(argument.base);
}

class Reader {
 public:
  Reader(ByteReader& from, const Asked& asked) : from_(from), asked_(asked) {
    prefix_ = (asked.kind == ProbeKind::usdt ? "usdt:" : "uprobe:") + asked.path + ":";
  }

  // Checks what was read, even if reading failed.
  Status check_bounds() const { return count_.check(asked_.most); }

  bool read(ProbeMatch& match) {
    return read_list(match.probes) && read_list(match.refused) && is_sorted(match.probes);
  }

 private:
  // Each item takes a byte at least, so a false count cannot allocate memory.
  template <class T> bool read_list(std::vector<T>& list, size_t most = kMostItems) {
    const uint64_t count = from_.varint();
    if (from_.failed() || count > most || count > items_left_) return false;
    items_left_ -= count;
    for (uint64_t i = 0; i < count; ++i)
      if (!read(list.emplace_back())) return false;
    return true;
  }

  static bool is_sorted(const std::vector<Probe>& probes) {
    const auto not_before = [](const Probe& a, const Probe& b) { return a.name >= b.name; };
    return std::ranges::adjacent_find(probes, not_before) == probes.end();
  }

  bool read_flag() { return from_.fixed<uint8_t>() != 0; }

  // Reads the name of a probe of this file.
  bool read_name(std::string& name) {
    name = read_text(from_, kMostNameBytes);
    return !from_.failed() && name.starts_with(prefix_) && name.size() > prefix_.size();
  }

  bool read_place(uint64_t& offset) {
    offset = from_.varint();
    return !from_.failed() && offset < asked_.size_bytes;
  }

  bool read(Probe& probe) {
    if (!read_name(probe.name)) return false;
    if (read_flag()) probe.demangled = read_text(from_, kMostNameBytes);
    if (!read_list(probe.sites) || probe.sites.empty()) return false;
    count_.add(probe);
    return count_.check(asked_.most).has_value();
  }

  bool read(Site& site) {
    if (!read_place(site.offset)) return false;
    site.moved_bytes = from_.varint();
    if (site.moved_bytes > kFarthest || !read_place(site.semaphore)) return false;
    if (!read_enum(from_, site.cost, CostClass::slow)) return false;
    const uint64_t words = from_.varint();
    if (words > kMostWords + 1) return false;
    if (words) site.words_below_caller = static_cast<unsigned>(words - 1);
    return read_shared(site.args, arguments_) && site.args && read_shared(site.returns, plans_);
  }

  template <class T> using Known = std::vector<std::shared_ptr<const T>>;

  template <class T> bool read_shared(std::shared_ptr<const T>& shared, Known<T>& known) {
    const uint64_t number = from_.varint();
    if (from_.failed() || number > known.size() + 1) return false;
    if (number == kNone) return true;
    if (number <= known.size()) {
      shared = known[number - 1];
      return true;
    }
    auto made = std::make_shared<T>();
    shared = known.emplace_back(made);
    return read(*made);
  }

  bool read(Arguments& arguments) { return read_list(arguments, kMostArguments); }

  bool read(Argument& argument) {
    if (!read_enum(from_, argument.place, Argument::Place::memory) ||
        !read_enum(from_, argument.kind, Argument::Kind::aggregate))
      return false;
    argument.size_bytes = from_.fixed<uint8_t>();
    read_flags(argument);
    argument.byte_count = from_.fixed<uint8_t>();
    argument.base = static_cast<Register>(from_.fixed<uint8_t>());
    argument.index = static_cast<Register>(from_.fixed<uint8_t>());
    argument.scale = from_.fixed<uint8_t>();
    argument.offset = recording::unzigzag(from_.varint());
    for (std::string* text : {&argument.text, &argument.name, &argument.declared_type})
      *text = read_text(from_, kMostTextBytes);
    return !from_.failed() && is_sound(argument) && read_shared(argument.enumerators, enumerators_);
  }

  void read_flags(Argument& argument) {
    const auto bits = from_.fixed<uint8_t>();
    const std::array flags{&argument.is_signed,        &argument.is_float,
                           &argument.high_byte,        &argument.is_string,
                           &argument.is_shown_as_text, &argument.length_behind,
                           &argument.link_relative};
    for (size_t i = 0; i < flags.size(); ++i) *flags[i] = bits >> i & 1;
  }

  bool read(Enumerators& enumerators) { return read_list(enumerators); }

  bool read(Enumerator& one) {
    one.name = read_text(from_, kMostTextBytes);
    one.value = recording::unzigzag(from_.varint());
    return !from_.failed();
  }

  bool read(ReturnPlan& plan) {
    if (!read_enum(from_, plan.way, Way::exits)) return false;
    const auto reason = from_.fixed<uint8_t>();
    if (reason >= kReturnReasons.size()) return false;
    plan.reason = kReturnReasons[reason];
    plan.pushed_bytes = from_.small<uint32_t>();
    plan.moved_bytes = from_.small<uint32_t>();
    if (plan.pushed_bytes > kFarthest || plan.moved_bytes > kFarthest) return false;
    if (!read_list(plan.exits)) return false;
    return !read_flag() || read(plan.result.emplace());
  }

  bool read(ExitSite& exit) {
    if (!read_place(exit.offset)) return false;
    exit.has_result = read_flag();
    exit.condition = read_optional<uint8_t>(from_);
    exit.jump_bytes = from_.fixed<uint8_t>();
    constexpr uint8_t kConditions = 16, kLongestInstruction = 15;
    return exit.condition.value_or(0) < kConditions && exit.jump_bytes <= kLongestInstruction;
  }

  bool read(Refusal& refusal) {
    if (!read_name(refusal.probe)) return false;
    if (read_flag()) refusal.offset = from_.varint();
    refusal.reason = read_text(from_, kMostTextBytes);
    count_.add(refusal);
    return !from_.failed() && count_.check(asked_.most).has_value();
  }

  ByteReader& from_;
  const Asked& asked_;
  std::string prefix_;
  MatchCount count_;
  size_t items_left_ = 2 * kMostItems;
  Known<Arguments> arguments_;
  Known<ReturnPlan> plans_;
  Known<Enumerators> enumerators_;
};

}  // namespace

std::string encode(const Result<ProbeMatch>& match) {
  if (!match) return encode(match.error());
  std::string bytes;
  ByteWriter(bytes).fixed(uint8_t{1});
  Writer(bytes).write(*match);
  return bytes;
}

Result<ProbeMatch> decode_match(std::string_view answer, const Asked& asked) {
  ByteReader from(answer);
  if (auto error = read_error(from)) return *error;
  ProbeMatch match;
  Reader reader(from, asked);
  const bool is_read = reader.read(match);
  if (auto within = reader.check_bounds(); !within) return within.error();
  if (!is_read || from.failed() || !from.at_end()) return untrue();
  return match;
}

}  // namespace tracectl::wire
