// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/arm.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "bpf/abi.h"
#include "daemon/base/mapping.h"
#include "daemon/kernel/uprobe_multi.h"

namespace tracectl {
namespace {

// How many refused sites are searched for by halving: each costs about 2 log2(n) more calls.
constexpr size_t kMostRefusals = 64;

std::string cause(int err) {
  if (err == kNotSupported) return "the kernel refuses to probe this instruction";
  if (err == EOPNOTSUPP)
    return "the kernel would turn this 5-byte nop into a call, of which a forked child dies";
  if (err == ENOEXEC)
    return "a child of the daemon crashed or hung in its 5-byte nops: the file has changed since "
           "it "
           "was read; try again when it no longer changes";
  // Our requests are well formed, so this is the kernel's only reason, also if we want no semaphore and the
  // other tracer does.
  if (err == EINVAL)
    return "another tracer holds this probe with another semaphore, or the file is not as it was";
  return Error::from_errno("", err).message.substr(2);
}

// Some sites, in the form that the kernel takes.
struct Sites {
  std::vector<uint64_t> offsets, semaphores, cookies;

  void add(const ArmedSite& site, uint32_t incarnation) {
    offsets.push_back(site.offset);
    semaphores.push_back(site.semaphore);
    cookies.push_back(uint64_t{incarnation} << 32 | site.slot);
  }
  void add_exits(const ArmedSite& site, uint32_t incarnation) {
    for (const ExitSite& exit : site.exits) {
      offsets.push_back(exit.offset);
      semaphores.push_back(0);
      cookies.push_back(uint64_t{incarnation} << 32 | cookie_part(exit) << TC_COOKIE_EXIT_SHIFT |
                        site.slot);
    }
  }
  static uint64_t cookie_part(const ExitSite& exit) {
    uint64_t part = exit.has_result ? TC_EXIT_HAS_RETVAL : 0;
    if (exit.condition)
      part |= TC_EXIT_CONDITIONAL | uint64_t{*exit.condition} << TC_EXIT_CONDITION_SHIFT;
    return part | uint64_t{exit.jump_bytes} << TC_EXIT_LENGTH_SHIFT;
  }
  std::span<const uint64_t> semaphores_or_none() const {
    const bool any =
        std::any_of(semaphores.begin(), semaphores.end(), [](uint64_t s) { return s != 0; });
    return any ? std::span<const uint64_t>(semaphores) : std::span<const uint64_t>();
  }
};

// The subset of a request's sites.
class Batch {
 public:
  Batch(LongWork& closing, const ArmRequest& request, std::span<const size_t> chosen,
        const IgnoreHits& ignore)
      : closing_(closing), request_(request), ignore_(ignore) {
    for (const size_t i : chosen) {
      const ArmedSite& site = request.sites[i];
      sites_.add(site, request.incarnation);
      if (site.nop5 && ignore) nops_.add(site, request.incarnation);
      exits_.add_exits(site, request.incarnation);
    }
  }

  // The link that keeps breakpoints is closed after this one: to remove a probe the kernel walks every
  // process that maps the file, and waits for those that hit other probes.
  std::optional<Link> link(const Programs::OfWay& programs) const {
    std::vector<Fd> beside;
    if (!nops_.offsets.empty()) {
      Fd keeping = keep_breakpoints(programs.keeping, request_.object_fd, nops_.offsets,
                                    nops_.semaphores_or_none(), ignore_);
      if (!keeping) return std::nullopt;
      beside.push_back(std::move(keeping));
    }
    // Armed before the site itself: where a function's first instruction is an exit, the link that was
    // made last runs first.
    if (!exits_.offsets.empty()) {
      Fd exits = link_placed(programs.at_exit, kAttachUprobeMulti, exits_);
      if (!exits) return std::nullopt;
      beside.push_back(std::move(exits));
    }
    Fd link = link_placed(programs.at_site, programs.attach_type, sites_);
    if (!link) return std::nullopt;
    return Link{closing_, std::move(link), request_.incarnation, std::move(beside)};
  }

 private:
  // While no process of the target maps the file, the kernel accepts an instruction that it cannot
  // probe later, and does not say so. With the code mapped in this process it must probe it now, or
  // refuse. A filter that excludes us needs a link of our own for that.
  Fd link_placed(int program_fd, unsigned attach_type, const Sites& sites) const {
    const auto link_for = [&](pid_t filter) {
      return link_uprobe_multi({.program_fd = program_fd,
                                .attach_type = attach_type,
                                .object_fd = request_.object_fd,
                                .filter = filter,
                                .offsets = sites.offsets,
                                .semaphores = sites.semaphores_or_none(),
                                .cookies = sites.cookies});
    };
    if (request_.filter != 0 && !request_.unmapped) return link_for(request_.filter);
    const auto mapped = map_ourselves(sites);
    if (request_.filter != 0 && !link_for(::getpid())) return Fd{};
    return link_for(request_.filter);
  }

  std::optional<Mapping> map_ourselves(const Sites& sites) const {
    const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const auto [first, last] = std::minmax_element(sites.offsets.begin(), sites.offsets.end());
    const uint64_t start = *first / page * page;
    auto mapping = Mapping::map(request_.object_fd, start, *last - start + 1, PROT_READ | PROT_EXEC,
                                MAP_PRIVATE);
    if (!mapping) return std::nullopt;
    return std::move(*mapping);
  }

  LongWork& closing_;
  const ArmRequest& request_;
  const IgnoreHits& ignore_;
  Sites sites_;
  Sites nops_;   // those of them that are 5-byte nops and must not become calls
  Sites exits_;  // of their functions
};

// Errors of single sites are worth a search. Errors of the whole machine are not, nor those of a file that is
// being changed.
bool may_be_one_sites(int err) {
  return err == kNotSupported || err == EOPNOTSUPP || err == EINVAL || err == EIO;
}

// Halves the sites until each that fails is alone. Each trial link is closed at once; its hits end at the
// gate, because nothing has been switched on.
class RefusalSearch {
 public:
  RefusalSearch(LongWork& closing, const Programs::OfWay& programs, const ArmRequest& request,
                const IgnoreHits& ignore)
      : closing_(closing), programs_(programs), request_(request), ignore_(ignore) {}

  std::vector<ArmFailure::Site> run(std::span<const size_t> sites) {
    search(sites);
    return std::move(found_);
  }

 private:
  void search(std::span<const size_t> sites) {
    std::vector<std::span<const size_t>> open{sites};
    while (!open.empty() && found_.size() < kMostRefusals) {
      const auto part = open.back();
      open.pop_back();
      if (Batch(closing_, request_, part, ignore_).link(programs_)) continue;
      if (!may_be_one_sites(errno)) return;
      if (part.size() == 1) {
        found_.push_back({part[0], cause(errno)});
        continue;
      }
      open.push_back(part.subspan(part.size() / 2));
      open.push_back(part.first(part.size() / 2));
    }
  }

  LongWork& closing_;
  const Programs::OfWay& programs_;
  const ArmRequest& request_;
  const IgnoreHits& ignore_;
  std::vector<ArmFailure::Site> found_;
};

}  // namespace

std::variant<Link, ArmFailure> arm_sites(LongWork& closing, const Programs::OfWay& programs,
                                         const ArmRequest& request, const IgnoreHits& ignore) {
  std::vector<size_t> all(request.sites.size());
  std::iota(all.begin(), all.end(), size_t{0});
  auto link = Batch(closing, request, all, ignore).link(programs);
  const int err = errno;
  if (link) return std::move(*link);

  ArmFailure failure;
  if (may_be_one_sites(err))
    failure.refused_sites = RefusalSearch(closing, programs, request, ignore).run(all);
  const bool unsupported = err == kNotSupported || err == EOPNOTSUPP;
  failure.error = Error{unsupported ? Code::unsupported : Error::from_errno("", err).code,
                        "cannot arm " + std::to_string(request.sites.size()) + " sites in " +
                            request.object_path + ": " + cause(err)};
  return failure;
}

}  // namespace tracectl
