// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/resolver.h"

#include <algorithm>
#include <set>

#include "daemon/code/instruction.h"
#include "daemon/process/memory.h"

namespace tracectl {
namespace {

constexpr uint8_t kBreakpoint = 0xCC;
constexpr uint8_t kCall = 0xE8;  // what the kernel makes of a probed 5-byte nop
constexpr size_t kCompared = 5;  // bytes; longer than any breakpoint the kernel writes

// The file's bytes are what was decoded; a process that runs other bytes must not be armed.
// Where a probe sits already, ours or another tracer's, only its own bytes may differ.
bool same_code(const std::vector<uint8_t>& file, const std::vector<uint8_t>& memory) {
  if (file == memory) return true;
  if (memory.size() != file.size() || memory.empty()) return false;
  if (memory[0] == kCall && is_nop5(file)) return true;
  return memory[0] == kBreakpoint && std::equal(file.begin() + 1, file.end(), memory.begin() + 1);
}

std::optional<uint64_t> address_of(const std::vector<ExecutableRange>& ranges, uint64_t offset) {
  for (const ExecutableRange& range : ranges)
    if (offset >= range.file_offset && offset - range.file_offset < range.end - range.start)
      return range.start + (offset - range.file_offset);
  return std::nullopt;
}

// Of each site the file's bytes, read for all that lie close together at once. The file can end
// behind the last instruction.
class FileCode {
 public:
  explicit FileCode(const ElfFile& elf) : elf_(elf) {}

  std::vector<uint8_t> at(uint64_t offset) {
    const bool held = offset >= start_ && offset - start_ + kCompared <= bytes_.size();
    if (!held && !move_to(offset)) return {};
    const auto first = bytes_.begin() + static_cast<ptrdiff_t>(offset - start_);
    const auto left = static_cast<size_t>(bytes_.end() - first);
    return {first, first + static_cast<ptrdiff_t>(std::min(left, kCompared))};
  }

 private:
  static constexpr size_t kReadAtOnce = 4096;

  bool move_to(uint64_t offset) {
    auto bytes = elf_.read_at_most(offset, kReadAtOnce);
    start_ = offset;
    bytes_ = bytes ? std::move(*bytes) : std::vector<uint8_t>{};
    return !bytes_.empty();
  }

  const ElfFile& elf_;
  uint64_t start_ = 0;
  std::vector<uint8_t> bytes_;
};

// Takes the sites whose bytes in the process are not the file's out of the probes.
class ByteCheck {
 public:
  ByteCheck(const Object& object, const TargetProcess& target, ProbeMatch& match)
      : file_(object.elf()), target_(target), match_(match) {}

  Status run() {
    plan_all();
    auto memory = read_memory(target_.process, ranges_);
    if (!memory) return memory.error();
    for (size_t i = 0; i < planned_.size(); ++i) compare(planned_[i], (*memory)[i]);
    remove_refused();
    return ok();
  }

 private:
  struct Planned {
    const std::string* probe;
    uint64_t offset;
    std::vector<uint8_t> code;  // in the file
  };

  // In the order of the file, so that neighbours are read together.
  void plan_all() {
    std::vector<std::pair<uint64_t, const std::string*>> sites;
    for (const Probe& probe : match_.probes)
      for (const Site& site : probe.sites) sites.emplace_back(site.offset, &probe.name);
    std::sort(sites.begin(), sites.end());
    for (const auto& [offset, probe] : sites) plan(*probe, offset);
  }

  void plan(const std::string& probe, uint64_t offset) {
    const auto address = address_of(target_.ranges, offset);
    if (!address)
      return refuse(probe, offset, "this part of the file is not mapped in the process");
    planned_.push_back({&probe, offset, file_.at(offset)});
    ranges_.push_back({*address, planned_.back().code.size()});
  }

  void compare(const Planned& planned, const Result<std::vector<uint8_t>>& memory) {
    if (!memory) return refuse(*planned.probe, planned.offset, memory.error().message);
    if (planned.code.empty() || !same_code(planned.code, *memory))
      refuse(*planned.probe, planned.offset,
             "the process runs other code here than the file has: it was changed on disk or in "
             "memory after the process started; restart it");
  }

  void refuse(const std::string& probe, uint64_t offset, std::string reason) {
    match_.refused.push_back({probe, offset, target_.process.pid(), std::move(reason)});
    refused_.insert(offset);
  }

  void remove_refused() {
    if (refused_.empty()) return;
    for (Probe& probe : match_.probes)
      std::erase_if(probe.sites, [&](const Site& s) { return refused_.contains(s.offset); });
    std::erase_if(match_.probes, [](const Probe& probe) { return probe.sites.empty(); });
  }

  FileCode file_;
  const TargetProcess& target_;
  ProbeMatch& match_;
  std::vector<Planned> planned_;
  std::vector<MemoryRange> ranges_;
  std::set<uint64_t> refused_;
};

// In every process that is going to run into the probes. One that has not executed its program
// has nothing to compare yet, and one of many that ends meanwhile needs nothing.
Status check_bytes(const TargetFile& file, ProbeMatch& match) {
  if (file.process && !file.process->ranges.empty())
    if (auto checked = ByteCheck(*file.object, *file.process, match).run(); !checked)
      return checked;
  for (const TargetProcess& other : file.others) {
    const auto checked = ByteCheck(*file.object, other, match).run();
    if (!checked && other.process.still_there()) return checked;
  }
  return ok();
}

Error nothing_matches(const Pattern& pattern, const TargetFiles& files) {
  std::string where;
  for (const TargetFile& file : files.files)
    if (where.find(file.object->path()) == std::string::npos)
      where += (where.empty() ? "" : ", ") + file.object->path();
  const char* what = pattern.kind == ProbeKind::usdt ? "USDT probe" : "function";
  std::string message =
      std::string("no ") + what + " matches " + to_string(pattern) + " in " + where;
  if (pattern.kind == ProbeKind::function)
    message += "; if the file is stripped, its debug symbols may name it";
  return Error{Code::not_found, message, "patterns"};
}

}  // namespace

size_t Resolution::probe_count() const {
  std::set<std::string_view> names;
  for (const Resolved& part : parts)
    for (const Probe& probe : part.probes) names.insert(probe.name);
  return names.size();
}

size_t Resolution::site_count() const {
  size_t count = 0;
  for (const Resolved& part : parts)
    for (const Probe& probe : part.probes) count += probe.sites.size();
  return count;
}

Result<Resolution> Resolver::resolve(const Pattern& pattern, const Target& target) {
  auto files = targets_.find(pattern, target);
  if (!files) return files.error();
  Resolution resolution{.parts = {}, .refused = {}, .notes = std::move(files->notes)};
  for (TargetFile& file : files->files) {
    auto match = find_probes(*file.object, pattern);
    if (!match) return match.error();
    const auto checked = check_bytes(file, *match);
    const bool gone = file.one_of_many && !file.process->process.still_there();
    if (gone) continue;
    if (!checked) return checked.error();
    const bool unmapped = file.process && file.process->ranges.empty();
    std::shared_ptr<const Process> only;
    if (file.process) only = std::make_shared<const Process>(std::move(file.process->process));
    resolution.parts.push_back(
        {file.object, only, unmapped, file.executable, std::move(match->probes)});
    std::move(match->refused.begin(), match->refused.end(), std::back_inserter(resolution.refused));
  }
  const bool any = std::any_of(resolution.parts.begin(), resolution.parts.end(),
                               [](const Resolved& part) { return !part.probes.empty(); });
  if (!any && resolution.refused.empty()) return nothing_matches(pattern, *files);
  return resolution;
}

}  // namespace tracectl
