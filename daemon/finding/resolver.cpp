// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/resolver.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/object/code/patched_code.h"
#include "daemon/process/memory.h"

namespace tracectl {
namespace {

// Bounds of one request: its sites, if the user may trace every process; the bytes of their names, if not.
constexpr size_t kMostMatches = 1'000'000;
constexpr size_t kMostNameBytes = 64 << 20;
constexpr uint64_t kSliceNs = 5'000'000;  // for a request that is resolved in slices

std::optional<uint64_t> address_of(const std::vector<ExecutableRange>& ranges, uint64_t offset) {
  for (const ExecutableRange& range : ranges)
    if (offset >= range.file_offset && offset - range.file_offset < range.end - range.start)
      return range.start + (offset - range.file_offset);
  return std::nullopt;
}

// The file's bytes at each site, read at once for all sites that lie close together. The file can end
// after the last instruction.
class FileCode {
 public:
  explicit FileCode(const Object& object) : object_(object) {}

  // Valid until the next call.
  std::span<const uint8_t> at(uint64_t offset) {
    const bool held = offset >= start_ && offset - start_ + kPatchedBytes <= bytes_.size();
    if (!held && !move_to(offset)) return {};
    const auto rest = std::span<const uint8_t>(bytes_).subspan(offset - start_);
    return rest.first(std::min(rest.size(), kPatchedBytes));
  }

 private:
  static constexpr size_t kReadAtOnce = 4096;

  bool move_to(uint64_t offset) {
    bytes_ = object_.read_at_most(offset, kReadAtOnce);
    start_ = offset;
    return !bytes_.empty();
  }

  const Object& object_;
  uint64_t start_ = 0;
  std::vector<uint8_t> bytes_;
};

// Finds the sites whose bytes in a process are not the file's: the file's were decoded, so a process that runs others
// must not be armed.
class ByteCheck {
 public:
  ByteCheck(const Object& object, const TargetProcess& target, const std::vector<Probe>& probes)
      : file_(object), target_(target), probes_(probes) {}

  Result<std::vector<Refusal>> run() {
    plan_all();
    auto memory = read_memory(target_.process, ranges_);
    if (!memory) return memory.error();
    for (size_t i = 0; i < planned_.size(); ++i) compare(planned_[i], (*memory)[i]);
    return std::move(refused_);
  }

 private:
  struct Planned {
    const std::string* probe;
    uint64_t offset;
    std::array<uint8_t, kPatchedBytes> bytes;  // in the file
    size_t size;                               // how many of them the file has

    std::span<const uint8_t> code() const { return {bytes.data(), size}; }
  };

  // In the order of the file, so that neighbours are read together.
  void plan_all() {
    std::vector<std::pair<uint64_t, const std::string*>> sites;
    for (const Probe& probe : probes_)
      for (const Site& site : probe.sites) sites.emplace_back(site.offset, &probe.name);
    std::sort(sites.begin(), sites.end());
    planned_.reserve(sites.size());
    ranges_.reserve(sites.size());
    for (const auto& [offset, probe] : sites) plan(*probe, offset);
  }

  void plan(const std::string& probe, uint64_t offset) {
    const auto address = address_of(target_.ranges, offset);
    if (!address)
      return refuse(probe, offset, "this part of the file is not mapped in the process");
    const auto code = file_.at(offset);
    Planned& planned = planned_.emplace_back(Planned{&probe, offset, {}, code.size()});
    std::copy(code.begin(), code.end(), planned.bytes.begin());
    ranges_.push_back({*address, code.size()});
  }

  void compare(const Planned& planned, const Result<std::vector<uint8_t>>& memory) {
    if (!memory) return refuse(*planned.probe, planned.offset, memory.error().message);
    if (planned.size == 0 || !is_code_of_file(planned.code(), *memory))
      refuse(*planned.probe, planned.offset,
             "the process runs other code here than the file has: it was changed on disk or in "
             "memory after the process started; restart it");
  }

  void refuse(const std::string& probe, uint64_t offset, std::string reason) {
    refused_.push_back({probe, offset, target_.process.pid(), std::move(reason)});
  }

  FileCode file_;
  const TargetProcess& target_;
  const std::vector<Probe>& probes_;
  std::vector<Planned> planned_;
  std::vector<MemoryRange> ranges_;
  std::vector<Refusal> refused_;
};

bool is_where(const std::vector<ExecutableRange>& seen, const ExecutableRange& now) {
  return std::any_of(seen.begin(), seen.end(), [&](const ExecutableRange& one) {
    return one.start - one.file_offset == now.start - now.file_offset;
  });
}

// Whether the process still maps the file's code where it did, or this cannot be found out. A process that
// ends unmaps it before it has ended, and so does one that executes something else. Changes of its code
// may cut a range in two.
bool is_as_seen(const Object& object, const TargetProcess& seen) {
  const auto mapped = executable_files(seen.process);
  if (!mapped) return mapped.error().code != Code::not_found;
  return std::any_of(mapped->begin(), mapped->end(), [&](const MappedFile& one) {
    return one.inode == object.identity().inode &&
           std::any_of(one.ranges.begin(), one.ranges.end(),
                       [&](const ExecutableRange& now) { return is_where(seen.ranges, now); });
  });
}

// Checks every process that is going to hit the probes. A process that has not executed its program has
// nothing to compare yet, and one of many that ends meanwhile needs no check.
Result<std::vector<Refusal>> check_bytes(const TargetFile& file, const std::vector<Probe>& probes) {
  if (file.process && !file.process->ranges.empty())
    return ByteCheck(*file.object, *file.process, probes).run();
  std::vector<Refusal> refused;
  for (const TargetProcess& other : file.others) {
    auto checked = ByteCheck(*file.object, other, probes).run();
    const bool all_well = checked && checked->empty();
    if (all_well || !is_as_seen(*file.object, other)) continue;
    if (!checked) return checked.error();
    std::move(checked->begin(), checked->end(), std::back_inserter(refused));
  }
  return refused;
}

std::vector<Probe> without(std::vector<Probe> probes, const std::vector<Refusal>& refused) {
  std::set<std::optional<uint64_t>> offsets;
  for (const Refusal& one : refused) offsets.insert(one.offset);
  for (Probe& probe : probes)
    std::erase_if(probe.sites, [&](const Site& site) { return offsets.contains(site.offset); });
  std::erase_if(probes, [](const Probe& probe) { return probe.sites.empty(); });
  return probes;
}

constexpr const char* kPatterns = "patterns";  // the member of a request with what matches nothing

void add_once(const std::string& text, std::vector<std::string>& to) {
  if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
}

// "/bin/a, /lib/b.so and 7 other files"
std::string text_of(const TargetFiles& files) {
  constexpr size_t kMostPaths = 3;
  std::vector<std::string> paths;
  for (const TargetFile& file : files.files) add_once(file.object->path(), paths);
  const size_t shown = paths.size() > kMostPaths + 1 ? kMostPaths : paths.size();
  std::string text;
  for (size_t i = 0; i < shown; ++i) text += (i ? ", " : "") + paths[i];
  if (shown < paths.size()) text += " and " + std::to_string(paths.size() - shown) + " other files";
  return text;
}

// Why nothing of the file matches; of several files with the file's name.
std::string why_none_in(const TargetFile& file, const std::string& why, bool one_of_several) {
  const std::string& path = file.object->path();
  return one_of_several ? path.substr(path.rfind('/') + 1) + ": " + why : why;
}

// `why`: of each file without a match, if it is known.
Error nothing_matches(const Pattern& pattern, const TargetFiles& files,
                      std::vector<std::string> why) {
  constexpr size_t kMostReasons = 3;
  const std::string where = text_of(files);
  std::stable_partition(why.begin(), why.end(), [](const std::string& one) {
    return one.find("did you mean") != std::string::npos;
  });
  const char* what = pattern.kind == ProbeKind::usdt      ? "USDT probe"
                     : pattern.kind == ProbeKind::line    ? "line with code"
                     : pattern.kind == ProbeKind::inlined ? "inlined function"
                                                          : "function";
  std::string message =
      std::string("no ") + what + " matches " + to_string(pattern) + " in " + where;
  for (size_t i = 0; i < std::min(why.size(), kMostReasons); ++i) message += "; " + why[i];
  const bool names_some = pattern.provider != "*" || pattern.name != "*";
  if (why.empty() && pattern.kind == ProbeKind::usdt && names_some && !files.files.empty())
    message +=
        "; the pattern usdt:" + files.files.front().object->path() + ":*:* lists what it has";
  return Error{Code::not_found, message, kPatterns};
}

// If a bare name is armed in several files, which may be more than was meant.
void note_files(const Pattern& pattern, Resolution& resolution) {
  std::vector<std::string> paths;
  for (const Resolved& part : resolution.parts)
    if (!part.probes->empty()) add_once(part.object->path(), paths);
  if (paths.size() < 2) return;
  std::string text = pattern.function +
                     " is armed in each file that has it; name one as OBJECT:" + pattern.function +
                     ": ";
  for (const std::string& path : paths) text += (&path == &paths.front() ? "" : ", ") + path;
  resolution.notes.push_back(text);
}

}  // namespace

size_t Resolution::probe_count() const {
  std::set<std::string_view> names;
  for (const Resolved& part : parts)
    for (const Probe& probe : *part.probes) names.insert(probe.name);
  return names.size();
}

size_t Resolution::site_count() const {
  size_t count = 0;
  for (const Resolved& part : parts)
    for (const Probe& probe : *part.probes) count += probe.sites.size();
  return count;
}

void Resolver::begin(std::shared_ptr<Learned> learned) {
  reading_.begin();
  learned_ = std::move(learned);
  objects_.learn_into(learned_ ? &learned_->objects : nullptr);
  resolved_ = 0;
  resolved_any_ = false;
  (void)end_slice();
  begin_count();
}

void Resolver::begin_slice() {
  if (learned_ && learned_->in_slices) slice_end_ns_ = boot_ns() + kSliceNs;
}

bool Resolver::end_slice() {
  slice_end_ns_ = 0;
  return std::exchange(slice_is_over_, false);
}

Status Resolver::check_all_read() const {
  if (slice_is_over_) return Error{Code::busy, "more patterns are to be resolved"};
  if (!reading_.awaited()) return ok();
  return Error{Code::busy, "a file is still being read"};
}

MatchBounds Resolver::bounds_of(const Access& access) const {
  if (access.owner) return {.matches = most_of_user_, .bytes = kMostNameBytes};
  return {.matches = std::max(kMostMatches, most_of_user_), .bytes = 4 * kMostNameBytes};
}

std::shared_ptr<const ProbeMatch> Resolver::known_match(const ObjectPtr& object,
                                                        const Question& question) {
  const auto is_it = [&](const FoundMatch& found) {
    if (found.object != object) return false;
    Question same = question;
    if (!found.match->depends_on_nops) {
      same.costs = found.question.costs;
      same.costs.emulates = question.costs.emulates;
    }
    return found.question == same;
  };
  const auto known = std::find_if(matches_.begin(), matches_.end(), is_it);
  if (known != matches_.end()) {
    matches_.splice(matches_.begin(), matches_, known);
    return known->match;
  }
  if (!learned_) return nullptr;
  const auto learned = std::find_if(learned_->matches.begin(), learned_->matches.end(), is_it);
  return learned == learned_->matches.end() ? nullptr : learned->match;
}

// What the kernel makes of nops is tried only if the answer depends on it, and the file is then searched again.
Result<ProbeMatch> Resolver::ask(const Object& object, Question& question) {
  auto match = object.reader().find(question);
  if (!match || !match->depends_on_nops) return match;
  costs_seen_ = costs_();
  if (question.costs == costs_seen_) return match;
  question.costs = costs_seen_;
  return object.reader().find(question);
}

Result<std::shared_ptr<const ProbeMatch>> Resolver::find(const ObjectPtr& object,
                                                         const Pattern& pattern,
                                                         const Wanted& wanted,
                                                         const MatchBounds& most) {
  Question question = wanted.question(pattern);
  question.costs = costs_seen_;
  question.most = most;
  if (auto known = known_match(object, question)) return known;
  auto match = ask(*object, question);
  if (!match) return match.error();
  auto shared = std::make_shared<const ProbeMatch>(std::move(*match));
  matches_.push_front({object, question, shared});
  if (learned_) learned_->matches.push_back(matches_.front());
  if (matches_.size() > kMostKept) matches_.pop_back();
  return shared;
}

const ResolvedBefore* Resolver::resolved_before(size_t place, const Question& question,
                                                const Target& target, bool awaits) const {
  const auto at = learned_->resolved.find(place);
  if (at == learned_->resolved.end()) return nullptr;
  const ResolvedBefore& before = at->second;
  const bool is_same =
      before.question == question && before.target == target && before.awaits == awaits;
  return is_same ? &before : nullptr;
}

// Each slice resolves at least one pattern that no slice before has resolved.
Result<Resolution> Resolver::resolve(const Pattern& pattern, const Target& target,
                                     const Access& access, const Wanted& wanted) {
  if (slice_is_over_) return check_all_read().error();
  const size_t place = resolved_++;
  const bool in_slices = slice_end_ns_ != 0;
  Question question = wanted.question(pattern);
  if (in_slices) {
    if (const auto* before = resolved_before(place, question, target, wanted.awaits)) {
      count_ = before->count;
      return before->resolution;
    }
    slice_is_over_ = resolved_any_ && boot_ns() >= slice_end_ns_;
    if (slice_is_over_) return check_all_read().error();
    resolved_any_ = true;
  }
  auto resolution = pattern.bare ? resolve_bare(pattern, target, access, wanted)
                                 : resolve_files(pattern, target, access, wanted);
  if (auto read = check_all_read(); !read) return read.error();
  if (in_slices)
    learned_->resolved.insert_or_assign(
        place, ResolvedBefore{std::move(question), target, wanted.awaits, resolution, count_});
  return resolution;
}

// A bare name is of the main executable if that has such a function.
Result<Resolution> Resolver::resolve_bare(const Pattern& pattern, const Target& target,
                                          const Access& access, const Wanted& wanted) {
  const MatchCount before = count_;
  auto in_main = resolve_files(pattern, target, access, {});
  count_ = before;
  const bool is_elsewhere = !in_main && in_main.error().code == Code::not_found && !target.all;
  if (!is_elsewhere) return resolve_files(pattern, target, access, wanted);
  Pattern anywhere = pattern;
  anywhere.object = "*";
  auto found = resolve_files(anywhere, target, access, wanted);
  if (!found && found.error().code == Code::not_found && found.error().field != kPatterns)
    return in_main;
  if (found && !wanted.below) note_files(pattern, *found);
  return found;
}

Result<Resolution> Resolver::resolve_files(const Pattern& pattern, const Target& target,
                                           const Access& access, const Wanted& wanted) {
  auto files = TargetFinder(objects_, pattern, target, access, wanted.awaits).find();
  if (!files) return files.error();
  Resolution resolution{.parts = {},
                        .refused = {},
                        .notes = std::move(files->notes),
                        .awaiting = std::move(files->awaiting)};
  auto& refused = resolution.refused;
  std::vector<std::string> why_none;
  for (TargetFile& file : files->files) {
    const auto match = find(file.object, pattern, wanted, bounds_of(access));
    if (!match) return match.error();
    count_.add(**match);
    if (auto within = count_.check(bounds_of(access)); !within) return within.error();
    for (const std::string& note : (*match)->notes) add_once(note, resolution.notes);
    for (const std::string& import : (*match)->imports) add_once(import, resolution.imports);
    if (!(*match)->why_none.empty())
      add_once(why_none_in(file, (*match)->why_none, files->files.size() > 1), why_none);
    auto checked = check_bytes(file, (*match)->probes);
    const bool all_well = checked && checked->empty();
    if (!all_well && file.one_of_many && file.process && !is_as_seen(*file.object, *file.process))
      continue;
    if (!checked) return checked.error();
    std::shared_ptr<const std::vector<Probe>> probes{*match, &(*match)->probes};
    if (!checked->empty())
      probes = std::make_shared<const std::vector<Probe>>(without(*probes, *checked));
    const bool unmapped = file.process && file.process->ranges.empty();
    std::shared_ptr<const Process> only;
    if (file.process) only = std::make_shared<const Process>(std::move(file.process->process));
    const bool follows = only && !file.one_of_many;
    resolution.parts.push_back({file.object, only, unmapped, follows ? target.follow : Follow::none,
                                file.executable, std::move(probes), file.cgroup});
    refused.insert(refused.end(), (*match)->refused.begin(), (*match)->refused.end());
    std::move(checked->begin(), checked->end(), std::back_inserter(refused));
  }
  const bool any = std::any_of(resolution.parts.begin(), resolution.parts.end(),
                               [](const Resolved& part) { return !part.probes->empty(); });
  const bool can_be_none = (wanted.below && wanted.below->reached) || files->can_come;
  if (!any && refused.empty() && !can_be_none) return nothing_matches(pattern, *files, why_none);
  if (!any && refused.empty() && files->can_come && !files->files.empty())
    resolution.notes.push_back(nothing_matches(pattern, *files, why_none).message);
  return resolution;
}

}  // namespace tracectl
