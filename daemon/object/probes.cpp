// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/probes.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "daemon/object/call_graph.h"
#include "daemon/object/code/caller.h"
#include "daemon/object/code/copy_entry.h"
#include "daemon/object/code/go_entry.h"
#include "daemon/object/code/indirect_calls.h"
#include "daemon/object/code/instruction.h"
#include "daemon/object/code/placement.h"
#include "daemon/object/copy_parameters.h"
#include "daemon/object/data_map.h"
#include "daemon/object/demangle.h"
#include "daemon/object/function_arguments.h"
#include "daemon/object/go_program.h"
#include "daemon/object/ifuncs.h"
#include "daemon/object/inlined_copies.h"
#include "daemon/object/line_finder.h"
#include "daemon/object/line_variables.h"
#include "daemon/object/none_fits.h"
#include "daemon/object/pattern_names.h"
#include "daemon/object/return_planner.h"

namespace tracectl {
namespace {

// The names of functions that are sites of USDT probes (<tracectl/usdt.h>).
constexpr std::string_view kSiteOfUsdt = "_tracectl.site.";
constexpr size_t kMostUnknownCalls = kMostReached;  // probes at them are slow
constexpr uint64_t kMostFunctionBytes = 1 << 20;    // of code read to place one probe
constexpr uint64_t kReadWithoutSizeBytes = 4096;    // read if a symbol has no size
constexpr uint64_t kSiteBytes = 32;                 // read at the site of a USDT probe

using Bytes = std::span<const uint8_t>;

// A function's bytes and those of its parts elsewhere, kept alive for the decoder's spans.
struct FunctionBytes {
  std::vector<uint8_t> body;
  std::vector<std::vector<uint8_t>> other_bytes;
  std::vector<CodeRange> others;
  FunctionCode view;

  // The code of the body or the part that begins there.
  std::span<const uint8_t> at(uint64_t address) const {
    for (const CodeRange& other : others)
      if (other.address == address) return other.bytes;
    return view.body.bytes;
  }
};

// A function that has copies of inlined ones.
struct Host {
  Host(const Function* of, Result<FunctionBytes> bytes, const ElfFile& file)
      : function(of), code(std::move(bytes)) {
    if (code) flow.emplace(code->view, reader_of(file));
  }

  std::string why_not(const InlinedCopy& copy) const {
    if (copy.may_be_repeated)
      return "its first line begins in several pieces of it, as where a loop around it was "
             "unrolled";
    return flow ? flow->why_not_entered_there(copy.code, copy.address, copy.is_said)
                : "the code around it cannot be read";
  }

  const Function* function;
  Result<FunctionBytes> code;
  std::optional<HostFlow> flow;
};

constexpr uint64_t kMostDecodedForLines = 128 << 20;  // a third of the CPU time that a reader has

class FunctionFinder {
 public:
  FunctionFinder(const ObjectFilePtr& object, const Pattern& pattern,
                 std::optional<Returns> returns, const SiteCosts& costs, const FieldsAsked& fields)
      : object_(object),
        pattern_(pattern),
        offset_(pattern.offset),
        lists_types_(fields.levels > 0),
        all_(object->elf().functions()),
        costs_(costs),
        arguments_(object->elf(), fields),
        variables_(object->elf(), fields),
        ifuncs_(object) {
    if (returns) return_planner_.emplace(*object, all_, *returns, costs);
    index_cold_parts();
  }

  ProbeMatch run() { return run_without({}); }

  // At the pattern's offset in this function only, and not in others with its name.
  ProbeMatch run_in(const Function& function) {
    add(function, function);
    return finish();
  }

  // At these places, which the pattern of lines names in functions of any name.
  ProbeMatch run_at(const LinesFound& lines) {
    std::optional<Function> function;
    std::optional<Result<FunctionBytes>> code;
    for (const LinePlace& place : lines.places) {
      if (!function || place.address - function->address >= function->size) {
        function = object_->elf().function_at(place.address);
        if (function) code.emplace(read_code(*function));
      }
      if (!function && pattern_.function.empty())
        refuse_line(place, lines,
                    "no function that the file names contains the code, so it is not known where "
                    "its instructions begin");
      if (!function) continue;
      if (const auto named = wanted_name_of(*function)) add_line(place, lines, *named, *code);
    }
    match_.why_none = lines.why_none;
    if (probes_.empty() && match_.refused.empty() && !lines.places.empty())
      match_.why_none = "the code of these lines is in functions of other names";
    note_files(lines);
    return finish();
  }

  // The functions that the pattern names, if it names some, and these copies of inlined ones.
  ProbeMatch run_with(const InlinedFound& inlined) {
    if (pattern_.kind == ProbeKind::function) add_named({});
    for (const InlinedCopy& copy : inlined.copies) add_copy(copy);
    note_copies(inlined);
    if (pattern_.kind == ProbeKind::inlined || inlined.are_removed)
      match_.why_none = inlined.why_none;
    if (probes_.empty() && match_.refused.empty() && !inlined.copies.empty())
      match_.why_none = "the copies are in functions of other names";
    ProbeMatch match = finish();
    settle_parameters(match);
    return match;
  }

  ProbeMatch run(const Below& below) {
    if (!below.named.empty()) return run_named(below);
    if (!below.reached) return run_without(below.skip);
    for (const Pattern& grown : below.grown)
      if (grown.object == object_->path()) grown_.insert(grown.function);
    const auto functions = nearest_first(below);
    if (below.unknown_calls)
      add_unknown_calls(functions, below.most);
    else if (functions.size() > below.most)
      add_most(functions, below.most);
    else
      for (const Function* function : functions) add(*function, *function);
    return finish();
  }

 private:
  // gcc and clang name the unlikely part of f `f.cold` or `f.cold.N`.
  void index_cold_parts() {
    for (const Function& function : all_) names_.insert(function.name);
    for (const Function& function : all_)
      if (const size_t at = function.name.find(".cold"); at != std::string::npos)
        cold_parts_.emplace(std::string_view(function.name).substr(0, at), &function);
  }

  // Whether it is the cold part of another function in the table. It is jumped to, and never
  // called.
  bool is_cold_part(const Function& function) const {
    const size_t at = function.name.find(".cold");
    return at != std::string::npos &&
           names_.contains(std::string_view(function.name).substr(0, at));
  }

  // A part of a function matches only by its full name.
  bool matches(const Function& function) const {
    if (function.name.starts_with(kSiteOfUsdt)) return false;
    if (is_left_out_part(function)) return false;
    if (pattern_.scope == Scope::global && !function.exported) return false;
    return names_function(pattern_, function.name);
  }

  bool is_left_out_part(const Function& function) const {
    return function.name != pattern_.function && is_cold_part(function);
  }

  static bool is_any_of(const std::vector<std::string>& globs, const Function& function) {
    return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
      Pattern pattern;
      pattern.function = glob;
      return names_function(pattern, function.name);
    });
  }

  ProbeMatch run_without(const std::vector<std::string>& skip) {
    add_named(skip);
    return finish();
  }

  void add_named(const std::vector<std::string>& skip) {
    for (const Function& function : all_)
      if (matches(function) && !is_any_of(skip, function)) add(function, function);
    for (const Function& function : object_->elf().indirect_functions())
      if (matches(function) && !is_any_of(skip, function)) add_indirect(function);
    note_indirect();
    note_parts();
  }

  ProbeMatch run_named(const Below& below) {
    const std::unordered_set<std::string_view> named(below.named.begin(), below.named.end());
    for (const Function& function : all_)
      if (named.contains(function.name) && !is_any_of(below.skip, function))
        add(function, function);
    for (const Function& function : object_->elf().indirect_functions())
      if (named.contains(function.name) && !is_any_of(below.skip, function)) add_indirect(function);
    return finish();
  }

  // A glob that fits f also fits its parts.
  void note_parts() {
    const auto fits = [&](const Function& function) {
      return is_left_out_part(function) && names_function(pattern_, function.name);
    };
    const auto count = std::ranges::count_if(all_, fits);
    if (count > 0)
      match_.notes.push_back(object_->path() + ": " + std::to_string(count) +
                             (count == 1 ? " part" : " parts") +
                             " .cold left out: a part is jumped to, and no call; its full name "
                             "traces it");
  }

  // Armed at each implementation: which of them a process uses is decided when the file is loaded.
  void add_indirect(const Function& function) {
    const auto all = ifuncs_.implementations_of(function);
    if (pattern_.offset || all.empty())
      return leave_out(function, pattern_.offset
                                     ? "it is one of several functions, chosen when the file is "
                                       "loaded (IFUNC): an offset needs the name of that one"
                                     : "it is chosen when the file is loaded (IFUNC), and the file "
                                       "does not show among which functions: name that which runs");
    std::string names;
    for (const Function& one : all) {
      add(one, function);
      names += (names.empty() ? "" : ", ") + (one.name.empty() ? "one without a name" : one.name);
    }
    indirect_.push_back(function.name + " is chosen when " + object_->path() +
                        " is loaded (IFUNC), and armed at all that it can be: " + names);
  }

  void note_indirect() {
    constexpr size_t kMostNamed = 3;
    for (size_t i = 0; i < std::min(indirect_.size(), kMostNamed); ++i)
      match_.notes.push_back(std::move(indirect_[i]));
    if (indirect_.size() > kMostNamed)
      match_.notes.push_back(std::to_string(indirect_.size() - kMostNamed) +
                             " more functions are chosen so, and armed at all that they can be");
  }

  bool is_grown(const Function& function) const { return grown_.contains(function.name); }

  std::vector<uint64_t> roots() {
    std::vector<uint64_t> addresses;
    for (const Function& function : all_)
      if (matches(function) || is_grown(function)) addresses.push_back(function.address);
    for (const Function& function : object_->elf().indirect_functions())
      if (matches(function))
        for (const Function& one : ifuncs_.implementations_of(function))
          addresses.push_back(one.address);
    return addresses;
  }

  // Roots have a setting of their own, except those that the user did not name.
  bool is_below(const Reached& reached, const Below& below) const {
    const Function& function = *reached.function;
    if (reached.distance == 0 && !is_grown(function)) return false;
    if (reached.distance > below.most_calls.value_or(UINT32_MAX)) return false;
    return !function.name.starts_with(kSiteOfUsdt) && !is_cold_part(function) &&
           !is_any_of(below.skip, function);
  }

  std::vector<const Function*> nearest_first(const Below& below) {
    std::vector<const Function*> direct, by_address;
    const auto from = roots();
    if (from.empty()) return direct;
    const Reach reach = CallGraph(object_).reach(from);
    for (const Reached& reached : reach.functions)
      if (is_below(reached, below))
        (reached.by_address ? by_address : direct).push_back(reached.function);
    if (below.with_imports) take_imports(reach, below);
    direct.insert(direct.end(), by_address.begin(), by_address.end());
    return direct;
  }

  void take_imports(const Reach& reach, const Below& below) {
    for (const ReachedImport& import : reach.imports)
      if (import.distance <= below.most_calls.value_or(UINT32_MAX) &&
          match_.imports.size() < kMostReached)
        match_.imports.push_back(import.name);
  }

  void add_most(const std::vector<const Function*>& functions, size_t most) {
    const std::string many = std::to_string(functions.size()) + " functions can be reached";
    std::vector<const Function*> others;
    for (const Function* function : functions)
      if (is_slow(*function))
        leave_out(*function, many + ", and a probe here would be slow");
      else
        others.push_back(function);
    for (size_t i = 0; i < others.size(); ++i)
      if (i < most)
        add(*others[i], *others[i]);
      else
        leave_out(*others[i], many + ", and " + std::to_string(most) +
                                  " are nearer; name it, or fewer by --only, --skip or --depth");
  }

  // Adds them in the named functions, then in as many of the reached ones as are shown.
  void add_unknown_calls(const std::vector<const Function*>& below, size_t most) {
    const DataMap data(*object_);
    for (const Function& function : all_)
      if (matches(function) && !add_unknown_calls(function, data)) return;
    for (size_t i = 0; i < std::min(below.size(), most); ++i)
      if (!add_unknown_calls(*below[i], data)) return;
  }

  // Returns false when the limit is reached.
  bool add_unknown_calls(const Function& function, const DataMap& data) {
    const auto code = read_code(function);
    if (!code) return true;
    for (const IndirectCall& call : indirect_calls(code->view, reader_of(object_->elf()))) {
      const bool is_known = call.slot && data.is_of_linker(*call.slot);
      if (is_known) continue;
      if (probes_.size() == kMostUnknownCalls) {
        leave_out(function, "its calls by pointers, and those of functions further away: " +
                                std::to_string(kMostUnknownCalls) + " are looked at in a file");
        return false;
      }
      add_unknown_call(part_around(function, call.address), *code, call);
    }
    return true;
  }

  // The function, or that part of it elsewhere which contains the address.
  const Function& part_around(const Function& function, uint64_t address) const {
    const auto [first, last] = cold_parts_.equal_range(function.name);
    for (auto part = first; part != last; ++part)
      if (address - part->second->address < part->second->size) return *part->second;
    return function;
  }

  void add_unknown_call(const Function& part, const FunctionBytes& code, const IndirectCall& call) {
    const uint64_t within = call.address - part.address;
    Pattern exact = exactly(part);
    exact.offset = within;
    const std::string name = to_string(exact);
    const auto placed = place(code.at(part.address), within, costs_);
    if (!placed) {
      match_.refused.push_back({name, part.offset + within, std::nullopt, placed.error().message});
      return;
    }
    Probe& probe = probes_[name];
    probe.name = name;
    probe.sites = {{.offset = part.offset + within,
                    .cost = placed->cost,
                    .args = std::make_shared<const Arguments>(Arguments{call.callee}),
                    .returns = nullptr}};
  }

  bool is_slow(const Function& function) {
    const auto code = read_code(function);
    if (!code) return false;
    const auto placed = place_entry_of(function, *code);
    return placed && placed->cost == CostClass::slow;
  }

  // ---- lines ----

  // The function by the name that fits: the same code can have several.
  std::optional<Function> wanted_name_of(const Function& function) const {
    if (pattern_.function.empty() && pattern_.scope == Scope::local) return function;
    const auto fits = [&](const Function& one) {
      if (pattern_.scope == Scope::global && !one.exported) return false;
      return pattern_.function.empty() || names_function(pattern_, one.name);
    };
    Function named = function;
    auto at = std::ranges::lower_bound(all_, function.address, {}, &Function::address);
    for (; at != all_.end() && at->address == function.address; ++at) {
      if (!fits(*at)) continue;
      named.name = at->name;
      return named;
    }
    return std::nullopt;
  }

  std::string name_of(const LinePlace& place, const LinesFound& lines,
                      const std::string& function) const {
    Pattern exact = pattern_;
    exact.object = object_->path();
    exact.function = function;
    exact.file = source_in_name(lines.files[place.file]);
    exact.line = place.line;
    return to_string(exact);
  }

  void add_line(const LinePlace& place, const LinesFound& lines, const Function& function,
                const Result<FunctionBytes>& code) {
    offset_ = place.address - function.address;
    decoded_bytes_ += offset_;
    if (decoded_bytes_ > kMostDecodedForLines)
      return refuse_line(place, lines,
                         "a function is decoded from its beginning for each line, which takes too "
                         "long for so many: name fewer lines");
    line_.line = place.line;
    line_.source = lines.files[place.file];
    line_.is_shared = place.is_shared;
    add_as(name_of(place, lines, function.name), function, function, code);
  }

  void refuse_line(const LinePlace& place, const LinesFound& lines, const char* why) {
    match_.refused.push_back(
        {name_of(place, lines, ""), object_->elf().offset_of(place.address), std::nullopt, why});
  }

  // One FILE can be the end of several paths.
  void note_files(const LinesFound& lines) {
    constexpr size_t kMostNamed = 3;
    if (is_glob(pattern_.file)) return;
    std::set<std::string_view> files;
    for (const LinePlace& place : lines.places) files.insert(lines.files[place.file]);
    if (files.size() < 2) return;
    std::string text = pattern_.file +
                       " is several files, and each is traced; more of its path "
                       "names one: ";
    size_t named = 0;
    for (const std::string_view file : files)
      if (++named <= kMostNamed) text += (named == 1 ? "" : ", ") + std::string(file);
    if (named > kMostNamed) text += " and " + std::to_string(named - kMostNamed) + " more";
    match_.notes.push_back(std::move(text));
  }

  // ---- copies of inlined functions ----

  // The function whose code it is; of its part elsewhere, the whole one.
  const Function* host_of(uint64_t address, const Function& around) const {
    const Function* named = nullptr;
    auto at = std::ranges::lower_bound(all_, around.address, {}, &Function::address);
    for (; at != all_.end() && at->address == around.address; ++at)
      if (at->name == around.name) named = &*at;
    if (!named || !is_cold_part(*named)) return named;
    const std::string_view whole =
        std::string_view(named->name).substr(0, named->name.find(".cold"));
    for (const Function& one : all_)
      if (one.name == whole && &part_around(one, address) == named) return &one;
    return named;
  }

  void add_copy(const InlinedCopy& copy) {
    const auto around = object_->elf().function_at(copy.address);
    const Function* const host = around ? host_of(copy.address, *around) : nullptr;
    if (!host) {
      if (pattern_.host.empty())
        refuse_copy(copy, name_of(copy, "?"),
                    "no function that the file names contains the code, so it is not known where "
                    "its instructions begin");
      return;
    }
    if (!pattern_.host.empty() && !names_host(pattern_, host->name)) return;
    const std::string name = name_of(copy, host->name);
    if (!host_ || host_->function != host) host_.emplace(host, read_code(*host), object_->elf());
    decoded_bytes_ += host->size;
    if (decoded_bytes_ > kMostDecodedForLines)
      return refuse_copy(copy, name,
                         "functions around so many copies take too long to decode: name fewer");
    const std::string why = host_->why_not(copy);
    if (!why.empty()) return refuse_copy(copy, name, "its hits might not be its calls: " + why);
    offset_ = copy.address - around->address;
    line_ = {.function = *around, .line = copy.begins, .source = copy.file, .copy = &copy};
    const Function named{.name = copy.function};
    if (host->address == around->address)
      add_as(name, named, *around, host_->code);
    else
      add_as(name, named, *around, read_code(*around));
    offset_ = 0;
    line_ = {};
  }

  void refuse_copy(const InlinedCopy& copy, const std::string& name, const std::string& why) {
    match_.refused.push_back({name, object_->elf().offset_of(copy.address), std::nullopt, why});
  }

  std::string name_of(const InlinedCopy& copy, const std::string& host) const {
    Pattern exact = pattern_;
    exact.kind = ProbeKind::inlined;
    exact.bare = false;
    exact.object = object_->path();
    exact.function = copy.function;
    exact.host = host;
    exact.file = copy.line ? source_in_name(copy.file) : "";
    exact.line = copy.line;
    return to_string(exact);
  }

  void note_copies(const InlinedFound& inlined) {
    const auto shared = std::ranges::count_if(
        inlined.copies, [](const InlinedCopy& one) { return one.others_there > 0; });
    if (shared > 0)
      match_.notes.push_back(
          object_->path() + ": " + std::to_string(shared) +
          (shared == 1 ? " instruction begins" : " instructions begin") +
          " several inlined copies of a function, which a hit does not tell apart");
    if (inlined.without_code > 0 && !inlined.copies.empty())
      match_.notes.push_back(
          object_->path() + ": " + std::to_string(inlined.without_code) +
          (inlined.without_code == 1 ? " inlined copy has" : " inlined copies have") +
          " no code: the compiler or the linker has removed it");
  }

  void leave_out(const Function& function, const std::string& why) {
    match_.refused.push_back({name_of(function), function.offset, std::nullopt, why});
  }

  // The pattern that names this function of the file alone.
  Pattern exactly(const Function& function) const {
    Pattern exact = pattern_;
    exact.bare = false;
    exact.object = object_->path();
    exact.function = function.name;
    return exact;
  }

  std::string name_of(const Function& function) const { return to_string(exactly(function)); }

  // `named`: the function that the probe is named after.
  void add(const Function& function, const Function& named) {
    add_as(name_of(named), named, function, read_code(function));
  }

  void add_as(const std::string& name, const Function& named, const Function& function,
              const Result<FunctionBytes>& code) {
    Probe& probe = probes_[name];
    if (probe.name.empty()) {
      probe.name = name;
      probe.demangled = demangle(named.name);
    }
    auto placed = code ? place_call(function, *code) : code.error();
    if (!placed)
      match_.refused.push_back(
          {probe.name, function.offset + offset_, std::nullopt, placed.error().message});
    else
      add_site(probe, function, *placed, *code);
  }

  using Planned = ReturnPlanner::Planned;

  Result<Planned> place_call(const Function& function, const FunctionBytes& code) {
    auto placed = place_in(function, code);
    if (!placed) return placed.error();
    if (!return_planner_) return Planned{*placed, nullptr};
    if (offset_)
      return Error{Code::unsupported, "within a function there is no call to follow: leave +" +
                                          std::to_string(offset_) + " away"};
    if (is_cold_part(function))
      return Error{Code::unsupported, "this is a part of a function, which is jumped to: follow " +
                                          function.name.substr(0, function.name.find(".cold"))};
    return return_planner_->plan(function, code.view, *placed, arguments_.result_of(function));
  }

  // A symbol and its version alias name the same instruction.
  void add_site(Probe& probe, const Function& function, const Planned& planned,
                const FunctionBytes& code) {
    const Placement& placed = planned.placement;
    Site site{.offset = function.offset + offset_ + placed.moved_bytes,
              .moved_bytes = placed.moved_bytes,
              .semaphore = 0,
              .cost = placed.cost,
              .nop5 = is_nop5(Bytes(code.body).subspan(offset_ + placed.moved_bytes)),
              .args = nullptr,
              .returns = planned.plan};
    const auto same = [&](const Site& other) { return other.offset == site.offset; };
    if (std::any_of(probe.sites.begin(), probe.sites.end(), same)) return;
    if (!line_.copy) {
      site.args = offset_ == 0 ? arguments_.at_entry(function, placed.moved_bytes, code.body)
                               : arguments_.within(function);
      if (count_of_probe(*site.args) < site.args->size()) part_arguments(site);
    }
    site.words_below_caller = words_to_caller(function, code, placed);
    if (line_.line || line_.copy) add_variables(site, function, code);
    if (lists_types_ && offset_ == 0 && !line_.copy)
      site.result = std::make_shared<const Argument>(arguments_.result_of(function));
    if (!site.symbols || site.args->size() + site.symbols->size() <= kMostOperands)
      probe.sites.push_back(std::move(site));
    else
      match_.refused.push_back({probe.name, site.offset, std::nullopt,
                                "its arguments and variables are in " +
                                    std::to_string(site.args->size() + site.symbols->size()) +
                                    " places, and " + std::to_string(kMostOperands) +
                                    " can be used: name fewer variables"});
  }

  // What is behind the arguments of the probe are operands of other names.
  static void part_arguments(Site& site) {
    const auto behind = site.args->begin() + static_cast<ptrdiff_t>(count_of_probe(*site.args));
    site.symbols = std::make_shared<const Arguments>(behind, site.args->end());
    site.args = std::make_shared<const Arguments>(site.args->begin(), behind);
  }

  void add_variables(Site& site, const Function& function, const FunctionBytes& code) {
    line_.function = function;
    line_.address = function.address + (site.offset - function.offset);
    line_.is_shared |= site.moved_bytes > 0;
    line_.code = code.body;
    if (line_.copy) site.args = variables_.parameters_of(line_);
    site.symbols = variables_.at(line_);
  }

  // Behind the check of a Go function's stack, which is no straight-line code, the stack is as at the entry.
  std::optional<unsigned> words_to_caller(const Function& function, const FunctionBytes& code,
                                          const Placement& placed) {
    if (offset_ == 0 && has_go_entry(object_->elf(), function))
      return words_below_caller(Bytes(code.body).subspan(placed.moved_bytes), 0);
    return words_below_caller(code.body, offset_ + placed.moved_bytes);
  }

  Result<Placement> place_entry_of(const Function& function, const FunctionBytes& code) {
    if (has_go_entry(object_->elf(), function)) return place_go_entry(code.view, costs_);
    auto placed = place_entry(code.view, costs_);
    const uint64_t at = placed ? placed->moved_bytes : 0;
    match_.depends_on_nops |= is_long_nop(code.view.body.bytes.subspan(at));
    return placed;
  }

  Result<Placement> place_in(const Function& function, const FunctionBytes& code) {
    const Bytes body = code.view.body.bytes;
    if (offset_ == 0) return place_entry_of(function, code);
    if (function.size && offset_ >= function.size)
      return Error{Code::invalid, "the offset lies behind the function's end (" +
                                      std::to_string(function.size) + " bytes)"};
    auto placed = place(body, offset_, costs_);
    if (offset_ >= body.size()) return placed;
    const Bytes site = body.subspan(offset_);
    match_.depends_on_nops |= is_long_nop(site);
    if (!placed || !is_nop5(site)) return placed;
    if (auto safe = nop5_is_safe(code.view, offset_); !safe) return safe.error();
    return placed;
  }

  Result<FunctionBytes> read_code(const Function& function) {
    FunctionBytes code;
    const uint64_t wanted = function.size ? function.size : kReadWithoutSizeBytes;
    auto body = object_->elf().read_at_most(function.offset, std::min(wanted, kMostFunctionBytes));
    if (!body) return body.error();
    code.body = std::move(*body);
    read_cold_parts(function, code);
    const bool whole = function.size != 0 && code.body.size() == function.size;
    code.view = {
        {function.address, code.body}, whole ? Extent::whole : Extent::unknown, code.others};
    return code;
  }

  void read_cold_parts(const Function& function, FunctionBytes& code) {
    const auto [first, last] = cold_parts_.equal_range(function.name);
    for (auto it = first; it != last; ++it) {
      auto bytes = object_->elf().read_at_most(it->second->offset,
                                               std::min(it->second->size, kMostFunctionBytes));
      if (bytes) code.other_bytes.push_back(std::move(*bytes));
      if (bytes) code.others.push_back({it->second->address, {}});
    }
    for (size_t i = 0; i < code.others.size(); ++i) code.others[i].bytes = code.other_bytes[i];
  }

  ProbeMatch finish() {
    for (auto& [name, probe] : probes_)
      if (!probe.sites.empty()) match_.probes.push_back(std::move(probe));
    variables_.settle(match_);
    note_left_out();
    return std::move(match_);
  }

  // Units whose functions have no names and types here.
  void note_left_out() {
    constexpr size_t kMostNamed = 3;
    std::set<std::string> units;
    for (const auto& all : {arguments_.left_out(), variables_.left_out()})
      units.insert(all.begin(), all.end());
    if (units.empty() || match_.notes.size() == kMostMatchNotes) return;
    std::string text;
    size_t named = 0;
    for (const std::string& unit : units)
      if (++named <= kMostNamed) text += (named == 1 ? "" : ", ") + unit;
    if (named > kMostNamed) text += " and " + std::to_string(named - kMostNamed) + " more";
    match_.notes.push_back(object_->path() + ": the debug information of " + text +
                           " is damaged, and left out: the functions there have no names and "
                           "types of arguments");
  }

  const ObjectFilePtr& object_;
  const Pattern& pattern_;
  uint64_t offset_;  // of the probe in its function
  const bool lists_types_;
  uint64_t decoded_bytes_ = 0;  // for lines
  const std::vector<Function>& all_;
  const SiteCosts& costs_;
  FunctionArguments arguments_;
  LineVariables variables_;
  std::optional<Host> host_;  // of the copy that was added last
  LineCode line_;             // for which a probe is added; 0: none
  Ifuncs ifuncs_;
  std::vector<std::string> indirect_;  // notes
  std::optional<ReturnPlanner> return_planner_;
  std::unordered_set<std::string_view> names_;
  std::unordered_set<std::string_view> grown_;
  std::multimap<std::string_view, const Function*> cold_parts_;
  std::map<std::string, Probe> probes_;
  ProbeMatch match_;
};

class UsdtFinder {
 public:
  UsdtFinder(const ObjectFile& object, const Pattern& pattern, const std::vector<UsdtSite>& all,
             const SiteCosts& costs)
      : object_(object), pattern_(pattern), all_(all), costs_(costs) {}

  ProbeMatch run() {
    for (const UsdtSite& site : all_)
      if (glob_match(pattern_.provider, site.provider) && usdt_name_match(pattern_.name, site.name))
        add(site);
    for (auto& [name, probe] : probes_)
      if (!probe.sites.empty()) match_.probes.push_back(std::move(probe));
    return std::move(match_);
  }

 private:
  void add(const UsdtSite& site) {
    Pattern exact = pattern_;
    exact.object = object_.path();
    exact.provider = site.provider;
    exact.name = site.name;
    const std::string name = to_string(exact);
    auto bytes = object_.elf().read_at_most(site.offset, kSiteBytes);
    auto placed = bytes ? check(site, *bytes) : Result<Placement>(bytes.error());
    if (!placed) {
      match_.refused.push_back({name, site.offset, std::nullopt, placed.error().message});
      return;
    }
    Probe& probe = probes_[name];
    probe.name = name;
    probe.sites.push_back({.offset = site.offset + placed->moved_bytes,
                           .moved_bytes = placed->moved_bytes,
                           .semaphore = site.semaphore.value_or(0),
                           .cost = placed->cost,
                           .nop5 = is_nop5(Bytes(*bytes).subspan(placed->moved_bytes)),
                           .args = readable_arguments(site),
                           .returns = nullptr,
                           .words_below_caller = words_to_return(*bytes)});
  }

  // None if the code does not show where the return address is.
  static std::optional<unsigned> words_to_return(Bytes site) {
    return leads_to_return(site) ? std::optional(0u) : std::nullopt;
  }

  // The function around the site proves that an instruction starts there, and that the red zone is
  // not live. Without a symbol, a one-byte nop, which the note's own macro put there, is proof
  // enough, and so are nops with a return.
  Result<Placement> check(const UsdtSite& site, Bytes bytes) {
    auto instruction = decode_instruction(bytes, costs_);
    if (!instruction) return instruction.error();
    match_.depends_on_nops |= is_long_nop(bytes) || is_header_site(bytes);
    if (instruction->refusal) return Error{Code::unsupported, instruction->refusal};
    const auto function = object_.elf().function_at(site.address);
    if (!function || function->size > kMostFunctionBytes)
      return without_function(bytes, *instruction);
    auto body = object_.elf().read_at_most(function->offset, function->size);
    if (!body) return body.error();
    const FunctionCode code{{function->address, *body}, Extent::whole, {}};
    return within(code, site.address - function->address, bytes);
  }

  Result<Placement> within(const FunctionCode& function, uint64_t offset, Bytes bytes) {
    auto placed = place(function.body.bytes, offset, costs_);
    if (!placed) return placed;
    if (is_header_site(bytes)) return place_in_header_site(costs_);
    if (!is_nop5(bytes)) return placed;
    if (auto safe = nop5_is_safe(function, offset); !safe) return safe.error();
    return placed;
  }

  Result<Placement> without_function(Bytes bytes, const Instruction& found) {
    if (is_header_site(bytes)) return place_in_header_site(costs_);
    if (is_site_nop(bytes) || leads_to_return(bytes)) return Placement{0, found.cost, found.length};
    return Error{Code::unsupported,
                 is_nop5(bytes) ? "a 5-byte nop inside a function of unknown extent: a probe there "
                                  "can corrupt the red zone on some kernels; install the program's "
                                  "debug symbols"
                                : "no symbol tells where instructions start around it; install "
                                  "the program's debug symbols"};
  }

  // An address within the file is made relative to the instruction, so it holds wherever the file
  // is loaded.
  std::shared_ptr<const Arguments> readable_arguments(const UsdtSite& site) {
    Arguments arguments = site.args;
    for (Argument& argument : arguments) {
      if (!argument.link_relative) continue;
      if (argument.base != Register::none) {  // known only after the file is loaded
        argument.place = Argument::Place::unreadable;
        continue;
      }
      argument.link_relative = false;
      argument.base = kInstructionPointer;
      argument.offset -= static_cast<int64_t>(site.address);
    }
    return std::make_shared<const Arguments>(std::move(arguments));
  }

  const ObjectFile& object_;
  const Pattern& pattern_;
  const std::vector<UsdtSite>& all_;
  const SiteCosts& costs_;
  std::map<std::string, Probe> probes_;
  ProbeMatch match_;
};

Result<ProbeMatch> find_at_lines(const ObjectFilePtr& object, const Pattern& pattern,
                                 const SiteCosts& costs, const FieldsAsked& fields) {
  const auto lines = find_lines(object->elf(), pattern);
  if (!lines) return lines.error();
  return FunctionFinder(object, pattern, std::nullopt, costs, fields).run_at(*lines);
}

Result<ProbeMatch> find_copies(const ObjectFilePtr& object, const Pattern& pattern,
                               const SiteCosts& costs, const FieldsAsked& fields) {
  const auto inlined = find_inlined(object->elf(), pattern);
  if (!inlined) return inlined.error();
  return FunctionFinder(object, pattern, std::nullopt, costs, fields).run_with(*inlined);
}

// Calls of copies have no end that could be followed.
void note_unfollowed(ProbeMatch& match, const ObjectFile& object) {
  if (match.notes.size() < kMostMatchNotes)
    match.notes.push_back(object.path() +
                          ": copies of inlined functions are left out, because they have no return "
                          "at which a call ends");
}

Error no_return_of(const Pattern& pattern, const char* what) {
  return {Code::invalid, to_string(pattern) + " is no " + what +
                             ": it has no return, retval, duration or time; --from and --to "
                             "measure between two probes"};
}

ProbeMatch explained(ProbeMatch match, const ObjectFile& object, const Pattern& pattern) {
  if (match.probes.empty() && match.refused.empty())
    match.why_none = why_none_fits(object, pattern);
  return match;
}

ProbeMatch find_at(uint64_t address, const ObjectFilePtr& object, const Pattern& pattern,
                   std::optional<Returns> returns, const SiteCosts& costs,
                   const FieldsAsked& fields) {
  Pattern exact = pattern;
  exact.bare = false;
  exact.object = object->path();
  const auto function = object->elf().function_at(address);
  if (!function) {
    ProbeMatch none;
    none.refused.push_back({to_string(exact), std::nullopt, std::nullopt,
                            "no function that the file names contains this address, so it is not "
                            "known where its instructions begin"});
    return none;
  }
  exact.function = function->name;
  exact.offset = address - function->address;
  return FunctionFinder(object, exact, returns, costs, fields).run_in(*function);
}

}  // namespace

Result<ProbeMatch> find_probes(const ObjectFilePtr& object, const Pattern& pattern,
                               std::optional<Returns> returns, const Below* below,
                               const SiteCosts& costs, const FieldsAsked& fields) {
  if (pattern.kind == ProbeKind::usdt) {
    if (returns) return no_return_of(pattern, "function");
    const auto& sites = object->usdt_sites();
    if (!sites) return sites.error();
    return explained(UsdtFinder(*object, pattern, *sites, costs).run(), *object, pattern);
  }
  if (pattern.kind == ProbeKind::line) {
    if (returns || below) return no_return_of(pattern, "function, but a line");
    return find_at_lines(object, pattern, costs, fields);
  }
  const bool follows = returns || below;
  if (pattern.kind == ProbeKind::inlined && follows)
    return no_return_of(pattern, "function of its own, but a copy of an inlined one");
  if (names_copies(pattern) && !follows && !pattern.offset && !address_in(pattern)) {
    auto match = find_copies(object, pattern, costs, fields);
    const bool is_explained = !match || !match->why_none.empty();
    if (is_explained || pattern.kind == ProbeKind::inlined) return match;
    return explained(*std::move(match), *object, pattern);
  }
  if (const auto address = address_in(pattern); address && !below)
    return find_at(*address, object, pattern, returns, costs, fields);
  FunctionFinder finder(object, pattern, returns, costs, fields);
  auto match = below ? finder.run(*below) : explained(finder.run(), *object, pattern);
  if (names_copies(pattern) && follows) note_unfollowed(match, *object);
  return match;
}

}  // namespace tracectl
