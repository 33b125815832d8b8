// SPDX-License-Identifier: BSD-2-Clause
//
// Matches, and whether they can be true of a file.
#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_set>

#include "daemon/sandbox/wire.h"
#include "daemon/sandbox/wire_parts.h"

namespace tracectl::wire {
namespace {

// Answers beyond these limits are invalid.
constexpr size_t kMostTextBytes = 16 << 10;
constexpr size_t kMostArguments = 64;  // of one probe
constexpr size_t kMostMembers = 128;   // of a struct in registers: one for each of their bits
constexpr size_t kMostFields = 1024;  // of an argument: as many as a setting's expressions can name
constexpr uint64_t kFarthest = 1 << 20;  // bytes from a function's start, or on the stack
constexpr size_t kMostOffsets = 128;     // of a path: pointers and references that it follows
constexpr unsigned kMostWords = 254;
constexpr uint8_t kConditions = 16, kLongestInstruction = 15;

bool is_size(uint8_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

// Whether the kernel's programs can handle it.
bool is_handled(const Argument& argument) {
  using Place = Argument::Place;
  if (!is_readable(argument)) return true;
  const bool has_base = is_general(argument.base) || argument.base == kInstructionPointer;
  const bool has_index = is_general(argument.index);
  if (!is_size(argument.size_bytes) || !is_size(argument.scale)) return false;
  if (!has_base && argument.base != Register::none) return false;
  if (!has_index && argument.index != Register::none) return false;
  return argument.place != Place::in_register || is_general(argument.base);
}

bool is_short(const std::string& text) { return text.size() <= kMostTextBytes; }

// ---- what a file allows ----

class Check {
 public:
  explicit Check(const Asked& asked)
      : size_bytes_(asked.size_bytes),
        symbols_(asked.symbols),
        kind_(asked.kind),
        prefix_((asked.kind == ProbeKind::usdt ? "usdt:" : "uprobe:") + asked.path) {}

  // Without the objects that sites share.
  bool is_possible(const Probe& probe) const {
    // A copy of an inlined function is named with its host.
    const bool has_variables = kind_ == ProbeKind::line || kind_ == ProbeKind::inlined ||
                               probe.name.find(" in ") != std::string::npos;
    return is_name(probe.name) && !probe.sites.empty() &&
           std::ranges::all_of(probe.sites, [&](const Site& site) {
             return is_possible(site) && (has_variables || has_texts_only(site));
           });
  }

  bool is_possible(const Refusal& refusal) const {
    return is_name(refusal.probe) && !refusal.pid && is_short(refusal.reason);
  }

  bool is_possible(const Arguments& arguments) const {
    return arguments.size() <= kMostArguments && are_possible(arguments);
  }

  bool is_possible(const Enumerators& enumerators) const { return are_possible(enumerators); }

  bool is_possible(const Members& members) const {
    return members.size() <= kMostMembers && are_possible(members);
  }

  bool is_possible(const Argument& argument) const {
    return is_handled(argument) && is_short(argument.text) && is_short(argument.name) &&
           is_short(argument.declared_type);
  }

  bool is_possible(const ReachedFields& fields) const {
    return fields.size() <= kMostFields && are_possible(fields);
  }

  bool is_possible(const ReturnPlan& plan) const {
    return plan.pushed_bytes <= kFarthest && plan.moved_bytes <= kFarthest &&
           are_possible(plan.exits) && (!plan.result || is_possible(*plan.result));
  }

 private:
  template <class T> bool are_possible(const std::vector<T>& all) const {
    return std::ranges::all_of(all, [this](const T& one) { return is_possible(one); });
  }

  bool is_name(const std::string& name) const {
    if (!name.starts_with(prefix_) || name.size() <= prefix_.size() + 1) return false;
    const char next = name[prefix_.size()];
    return next == ':' || (next == '@' && kind_ == ProbeKind::line);
  }

  bool is_in_file(uint64_t offset) const { return offset < size_bytes_; }

  bool is_possible(const Site& site) const {
    return is_in_file(site.offset) && site.moved_bytes <= kFarthest && is_in_file(site.semaphore) &&
           site.words_below_caller.value_or(0) <= kMostWords && site.args &&
           count_of_probe(*site.args) == site.args->size() && has_symbols(site);
  }

  // Those that were asked for, in that order; the places of variables at a line, or of texts, follow.
  bool has_symbols(const Site& site) const {
    if (!site.symbols) return !symbols_ || symbols_->empty();
    const bool fits = site.args->size() + site.symbols->size() <= kMostOperands;
    const auto variables = std::ranges::find_if(*site.symbols, has_fields);
    const std::span symbols(site.symbols->begin(), variables);
    return fits && std::ranges::all_of(symbols, is_symbol) &&
           std::all_of(variables, site.symbols->end(), is_variable_place) &&
           (!symbols_ || std::ranges::equal(symbols, *symbols_, {}, &Argument::name));
  }

  // Of what follows the symbols that were asked for.
  static bool has_texts_only(const Site& site) {
    return !site.symbols || std::ranges::all_of(*site.symbols, [](const Argument& one) {
      return !has_fields(one) ||
             std::ranges::all_of(*one.asked_fields,
                                 [](const ReachedField& field) { return field.text.has_value(); });
    });
  }

  static bool has_fields(const Argument& one) { return one.asked_fields != nullptr; }

  static bool is_symbol(const Argument& one) {
    return one.place == Argument::Place::symbol && one.size_bytes == sizeof(uint64_t) &&
           (one.base == kInstructionPointer || one.base == Register::none);
  }

  static bool is_variable_place(const Argument& one) {
    return one.place == Argument::Place::symbol && has_fields(one);
  }

  bool is_possible(const Enumerator& one) const { return is_short(one.name); }

  bool is_possible(const Member& one) const {
    return is_short(one.name) && is_possible(one.type) && !one.type.members &&
           !one.type.asked_fields;
  }

  static bool is_possible(const BitsOfByte& bits) {
    return bits.at <= kFarthest && bits.first_bit < 8 && bits.bit_count <= 8 - bits.first_bit;
  }

  static bool is_possible(const TextPlace& text) {
    const auto& inside = text.when_short;
    return text.pointer_at <= kFarthest && text.length_at <= kFarthest &&
           (!inside || (is_possible(inside->is_long) && is_possible(inside->length) &&
                        inside->text_at <= kFarthest));
  }

  bool is_possible(const ReachedField& one) const {
    const unsigned bits = one.type.size_bytes * 8u;
    return is_short(one.path) && is_short(one.why_not) && one.column <= one.path.size() &&
           one.offsets.size() <= kMostOffsets && is_size(one.type.size_bytes) &&
           one.first_bit < bits && one.bit_count <= bits - one.first_bit &&
           (!one.text || is_possible(*one.text)) && is_possible(one.type) && !one.type.members &&
           !one.type.asked_fields;
  }

  bool is_possible(const ExitSite& exit) const {
    return is_in_file(exit.offset) && exit.condition.value_or(0) < kConditions &&
           exit.jump_bytes <= kLongestInstruction;
  }

  uint64_t size_bytes_;
  const std::vector<std::string>* symbols_;
  ProbeKind kind_;
  std::string prefix_;  // of names, before the : or @
};

bool is_sorted(const std::vector<Probe>& probes) {
  const auto not_before = [](const Probe& a, const Probe& b) { return a.name >= b.name; };
  return std::ranges::adjacent_find(probes, not_before) == probes.end();
}

// Reads no more than the asker wants.
class MatchReader {
 public:
  MatchReader(binary::Reader& from, const Asked& asked)
      : from_(from), check_(asked), most_(asked.most) {}

  // Checks what was read, even if reading failed.
  Status check_bounds() const { return count_.check(most_); }

  bool read(ProbeMatch& match) {
    return from_.read(match.depends_on_nops) && read_texts(match) && read_list(match.probes) &&
           read_list(match.refused) && from_.at_end() && is_sorted(match.probes);
  }

 private:
  bool read_texts(ProbeMatch& match) {
    if (!from_.read(match.notes) || !from_.read(match.why_none) || !from_.read(match.imports))
      return false;
    return match.notes.size() <= kMostMatchNotes && is_short(match.why_none) &&
           match.imports.size() <= kMostReached && std::ranges::all_of(match.notes, is_short) &&
           std::ranges::all_of(match.imports, is_short);
  }

  template <class T> bool read_list(std::vector<T>& list) {
    const auto count = from_.read_count();
    for (uint64_t i = 0; count && i < *count; ++i) {
      if (!from_.read(list.emplace_back()) || !check_.is_possible(list.back())) return false;
      if (!are_new_possible<Arguments>() || !are_new_possible<Enumerators>() ||
          !are_new_possible<Members>() || !are_new_possible<ReachedFields>() ||
          !are_new_possible<ReturnPlan>() || !are_new_possible<Argument>())
        return false;
      count_.add(list.back());
      if (!check_bounds()) return false;
    }
    return count.has_value();
  }

  // The shared objects that were not checked before.
  template <class T> bool are_new_possible() {
    size_t& checked = std::get<Checked<T>>(checked_).count;
    for (const auto& all = from_.objects<T>(); checked < all.size(); ++checked)
      if (!check_.is_possible(*static_cast<const T*>(all[checked].get()))) return false;
    return true;
  }

  template <class T> struct Checked { size_t count = 0; };

  binary::Reader& from_;
  Check check_;
  MatchBounds most_;
  MatchCount count_;
  std::tuple<Checked<Arguments>, Checked<Enumerators>, Checked<Members>, Checked<ReachedFields>,
             Checked<ReturnPlan>, Checked<Argument>>
      checked_;
};

// Probes with the objects that their sites share. Each object is looked at once.
class ProbesCheck {
 public:
  explicit ProbesCheck(const Asked& asked) : check_(asked) {}

  bool is_possible(const Probe& probe) {
    return check_.is_possible(probe) && std::ranges::all_of(probe.sites, [this](const Site& site) {
             return is_possible(*site.args) && (!site.symbols || is_possible(*site.symbols)) &&
                    (!site.returns || is_possible(*site.returns)) &&
                    (!site.result || is_possible(*site.result));
           });
  }

 private:
  bool is_new(const void* object) { return seen_.insert(object).second; }

  bool is_possible(const Arguments& arguments) {
    return !is_new(&arguments) || (check_.is_possible(arguments) &&
                                   std::ranges::all_of(arguments, [this](const Argument& one) {
                                     return has_possible(one);
                                   }));
  }
  bool is_possible(const Argument& result) {
    return !is_new(&result) || (check_.is_possible(result) && has_possible(result));
  }
  bool is_possible(const ReturnPlan& plan) {
    return !is_new(&plan) ||
           (check_.is_possible(plan) && (!plan.result || has_possible(*plan.result)));
  }
  bool has_possible(const Argument& argument) {
    return has_possible_enumerators(argument) && has_possible_members(argument) &&
           has_possible_fields(argument);
  }
  bool has_possible_enumerators(const Argument& argument) {
    const auto& enumerators = argument.enumerators;
    return !enumerators || !is_new(enumerators.get()) || check_.is_possible(*enumerators);
  }
  bool has_possible_fields(const Argument& argument) {
    const auto& fields = argument.asked_fields;
    if (!fields || !is_new(fields.get())) return true;
    return check_.is_possible(*fields) &&
           std::ranges::all_of(*fields, [this](const ReachedField& one) {
             return has_possible_enumerators(one.type);
           });
  }
  bool has_possible_members(const Argument& argument) {
    const auto& members = argument.members;
    if (!members || !is_new(members.get())) return true;
    return check_.is_possible(*members) && std::ranges::all_of(*members, [this](const Member& one) {
             return has_possible_enumerators(one.type);
           });
  }

  Check check_;
  std::unordered_set<const void*> seen_;
};

std::string cut(std::string text) {
  text.resize(std::min(text.size(), kMostTextBytes));
  return text;
}

Refusal cut(Refusal refusal) {
  refusal.reason = cut(std::move(refusal.reason));
  return refusal;
}

std::vector<std::string> all_cut(std::vector<std::string> texts) {
  for (std::string& text : texts) text = cut(std::move(text));
  return texts;
}

}  // namespace

std::string encode(const Result<ProbeMatch>& match) {
  if (!match) return encode(match.error());
  std::string bytes;
  binary::Writer to(bytes);
  to.write(true);
  to.write(match->depends_on_nops);
  to.write(all_cut(match->notes));
  to.write(cut(match->why_none));
  to.write(all_cut(match->imports));
  to.write(match->probes);
  to.write_count(match->refused.size());
  for (const Refusal& refusal : match->refused) to.write(cut(refusal));
  return bytes;
}

Result<ProbeMatch> decode_match(std::string_view answer, const Asked& asked) {
  binary::Reader from(answer, kBounds);
  if (auto error = read_error(from)) return *error;
  ProbeMatch match;
  MatchReader reader(from, asked);
  const bool is_read = reader.read(match);
  if (auto within = reader.check_bounds(); !within) return within.error();
  if (!is_read) return untrue();
  return match;
}

bool are_possible(const std::vector<Probe>& probes, const Asked& asked) {
  ProbesCheck check(asked);
  return is_sorted(probes) &&
         std::ranges::all_of(probes, [&](const Probe& one) { return check.is_possible(one); });
}

}  // namespace tracectl::wire
