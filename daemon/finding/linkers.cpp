// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/linkers.h"

#include <string>
#include <utility>
#include <vector>

#include "daemon/process/linker.h"

namespace tracectl {
namespace {

// At these places libraries have been mapped and none of their constructors has run: glibc's USDT notes
// ("Internal Probes" in its manual), for a program's start and for later loading; or, without them, the
// function at which debuggers break, which is called before and after mapping.
constexpr const char* kNotes[] = {"init_complete", "map_complete"};
constexpr const char* kForDebuggers = "_dl_debug_state";

Target only(const Process& process) {
  Target target;
  target.pids = {process.pid()};
  target.births = {process.birth()};
  return target;
}

std::vector<Pattern> places_in(const std::string& path) {
  std::vector<Pattern> patterns;
  for (const char* note : kNotes) {
    Pattern& pattern = patterns.emplace_back();
    pattern.kind = ProbeKind::usdt;
    pattern.object = path;
    pattern.provider = "rtld";
    pattern.name = note;
  }
  Pattern& function = patterns.emplace_back();
  function.kind = ProbeKind::function;
  function.object = path;
  function.function = kForDebuggers;
  return patterns;
}

struct Places {
  ObjectPtr file;
  std::vector<uint64_t> offsets;
};

// Finds all notes; only if there is none, the function for debuggers.
Result<Places> find_places(const Process& process, const MappedFile& file, Resolver& resolver,
                           const Access& access) {
  Places places;
  for (const Pattern& pattern : places_in(file.path)) {
    if (pattern.kind == ProbeKind::function && !places.offsets.empty()) break;
    const auto found = resolver.resolve(pattern, only(process), access);
    if (auto read = resolver.check_all_read(); !read) return read.error();
    if (!found) continue;
    for (const Resolved& part : found->parts)
      for (const Probe& probe : *part.probes)
        for (const Site& site : probe.sites) {
          places.file = part.object;
          places.offsets.push_back(site.offset);
        }
  }
  if (!places.offsets.empty()) return places;
  return Error{Code::not_found, file.path + " has no place for debuggers", "target"};
}

}  // namespace

Linker::~Linker() {
  links_.clear();
  notices_.linkers()[number_] = {};
  numbers_.give_back(number_);
}

Status Linker::arm(const Object& file, std::span<const uint64_t> offsets) {
  notices_.linkers()[number_] = {.pid = static_cast<uint32_t>(process_->pid()), .listens = 1};
  auto links = notices_.arm_linker(file.fd(), offsets, process_->pid(), number_);
  if (!links) return links.error();
  links_ = std::move(*links);
  return process_->still_there();  // its PID could have been reused before it was armed
}

void Linker::listen() const {
  __atomic_store_n(&notices_.linkers()[number_].listens, 1u, __ATOMIC_SEQ_CST);
}

Result<LinkerPtr> Linkers::arm(const std::shared_ptr<const Process>& process, Resolver& resolver,
                               const Access& access) {
  const auto file = dynamic_linker(*process);
  if (!file) return file.error();
  if (!*file) return Error{Code::not_found, "its program has no dynamic linker", "target"};
  const Key key{process->pid(), process->birth(), (*file)->device, (*file)->inode};
  std::erase_if(armed_, [](const auto& one) { return one.second.expired(); });
  if (const auto known = armed_.find(key); known != armed_.end()) return known->second.lock();
  const auto places = find_places(*process, **file, resolver, access);
  if (!places) return places.error();
  const auto number = numbers_.take();
  if (!number)
    return Error{Code::exhausted,
                 "more than " + std::to_string(int{TC_MAX_LINKERS}) + " dynamic linkers are armed"};
  const auto linker = std::make_shared<Linker>(notices_, numbers_, *number, process);
  if (auto armed = linker->arm(*places->file, places->offsets); !armed) return armed.error();
  armed_[key] = linker;
  return LinkerPtr(linker);
}

}  // namespace tracectl
