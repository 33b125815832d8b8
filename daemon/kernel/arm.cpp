// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/arm.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
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
           "it was read; try again when it no longer changes";
  if (err == kCannotConfine)
    return "here a probe on a 5-byte nop stays a breakpoint only if a child of the daemon hits it "
           "first, and the child "
           "could not filter its system calls (seccomp), as it must before it runs code of the "
           "file";
  // Our requests are well formed, so this is the kernel's only reason, also if we want no semaphore and the
  // other tracer does.
  if (err == EINVAL)
    return "another tracer holds this probe with another semaphore, or the file is not as it was";
  return Error::from_errno("", err).message.substr(2);
}

// Some sites, in the form that the kernel takes.
struct Sites {
  std::vector<uint64_t> offsets, semaphores, cookies;
  std::vector<size_t> in_request;  // the index of the site that each belongs to

  void add(const ArmedSite& site, size_t index, uint32_t incarnation) {
    in_request.push_back(index);
    offsets.push_back(site.offset);
    semaphores.push_back(site.semaphore);
    cookies.push_back(uint64_t{incarnation} << TC_COOKIE_LINK_SHIFT | site.slot);
  }
  void add_exits(const ArmedSite& site, size_t index, uint32_t incarnation) {
    for (const ExitSite& exit : site.exits) {
      in_request.push_back(index);
      offsets.push_back(exit.offset);
      semaphores.push_back(0);
      cookies.push_back(uint64_t{incarnation} << TC_COOKIE_LINK_SHIFT |
                        cookie_part(exit) << TC_COOKIE_EXIT_SHIFT | site.slot);
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

// What sites are armed with.
struct Tools {
  LongWork& closing;
  const Programs::OfWay& programs;
  const IgnoreHits& ignore;
  Emulator* emulator;
};

// The subset of a request's sites.
class Batch {
 public:
  Batch(const Tools& tools, const ArmRequest& request, std::span<const size_t> chosen)
      : tools_(tools), request_(request) {
    for (const size_t i : chosen) {
      const ArmedSite& site = request.sites[i];
      sites_.add(site, i, request.incarnation);
      if (site.nop5 && tools.ignore) nops_.add(site, i, request.incarnation);
      exits_.add_exits(site, i, request.incarnation);
      if (tools.emulator) add_emulated(site);
    }
  }

  // The link that keeps breakpoints is closed after this one: to remove a probe the kernel walks every
  // process that maps the file, and waits for those that hit other probes.
  // If it fails, errno says why, and `refused` gets the site of the request that could not be armed, where the kernel
  // arms one after another.
  std::optional<Link> link(std::optional<size_t>& refused) const {
    Emulator::Armed emulated;
    std::vector<Fd> beside;
    const auto keep = [&beside](std::vector<Fd> armed) {
      std::move(armed.begin(), armed.end(), std::back_inserter(beside));
    };
    // The link that was made first runs last: after all programs that want to see the registers as they were.
    if (!emulated_.empty()) {
      emulated = tools_.emulator->arm(request_.object_fd, request_.filter, emulated_);
      if (!emulated) return std::nullopt;
    }
    if (!nops_.offsets.empty()) {
      auto keeping = keep_breakpoints(tools_.programs.keeping, request_.object_fd, nops_.offsets,
                                      nops_.semaphores_or_none(), tools_.ignore);
      if (keeping.empty()) return std::nullopt;
      keep(std::move(keeping));
    }
    // Before the site itself, for functions whose first instruction is an exit.
    if (!exits_.offsets.empty()) {
      auto exits = arm_placed(tools_.programs.at_exit, attach_type_at_uprobes(), exits_, refused);
      if (exits.empty()) return std::nullopt;
      keep(std::move(exits));
    }
    auto sites = arm_placed(tools_.programs.at_site, tools_.programs.attach_type, sites_, refused);
    if (sites.empty()) return std::nullopt;
    Fd first = std::move(sites.front());
    sites.erase(sites.begin());
    keep(std::move(sites));
    return Link{tools_.closing, std::move(first), request_.incarnation, std::move(beside),
                std::move(emulated)};
  }

 private:
  void add_emulated(const ArmedSite& site) {
    // The kernel wants the same semaphore of all links at a site. The emulator's has none.
    add_emulated(site.offset, Standing::within, site.semaphore ? CostClass::slow : site.cost);
    for (const ExitSite& exit : site.exits) add_emulated(exit.offset, Standing::at_exit, exit.cost);
  }
  void add_emulated(uint64_t offset, Standing standing, CostClass cost) {
    if (cost >= CostClass::emulated)
      emulated_.push_back({offset, standing, cost == CostClass::emulated});
  }

  // While no process of the target maps the file, the kernel accepts an instruction that it cannot
  // probe later, and does not say so. With the code mapped in this process it must probe it now, or
  // refuse. A filter that excludes us needs a link of our own for that.
  std::vector<Fd> arm_placed(int program_fd, unsigned attach_type, const Sites& sites,
                             std::optional<size_t>& refused) const {
    const auto arm_for = [&](pid_t filter) {
      size_t stopped_at = sites.offsets.size();
      auto armed = arm_uprobes({.program_fd = program_fd,
                                .attach_type = attach_type,
                                .object_fd = request_.object_fd,
                                .filter = filter,
                                .offsets = sites.offsets,
                                .semaphores = sites.semaphores_or_none(),
                                .cookies = sites.cookies},
                               &stopped_at);
      if (stopped_at < sites.offsets.size()) refused = sites.in_request[stopped_at];
      return armed;
    };
    if (request_.filter != 0 && !request_.unmapped) return arm_for(request_.filter);
    const auto mapped = map_ourselves(sites);
    if (request_.filter != 0 && arm_for(::getpid()).empty()) return {};
    return arm_for(request_.filter);
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

  const Tools& tools_;
  const ArmRequest& request_;
  std::vector<Emulator::Place> emulated_;
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
  RefusalSearch(const Tools& tools, const ArmRequest& request) : tools_(tools), request_(request) {}

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
      std::optional<size_t> refused;
      if (Batch(tools_, request_, part).link(refused)) continue;
      if (!may_be_one_sites(errno)) return;
      if (part.size() == 1) {
        found_.push_back({part[0], cause(errno)});
        continue;
      }
      open.push_back(part.subspan(part.size() / 2));
      open.push_back(part.first(part.size() / 2));
    }
  }

  const Tools& tools_;
  const ArmRequest& request_;
  std::vector<ArmFailure::Site> found_;
};

}  // namespace

std::variant<Link, ArmFailure> arm_sites(LongWork& closing, const Programs::OfWay& programs,
                                         const ArmRequest& request, const IgnoreHits& ignore,
                                         Emulator* emulator) {
  const Tools tools{closing, programs, ignore, emulator};
  std::vector<size_t> all(request.sites.size());
  std::iota(all.begin(), all.end(), size_t{0});
  std::optional<size_t> refused;
  auto link = Batch(tools, request, all).link(refused);
  const int err = errno;
  if (link) return std::move(*link);

  ArmFailure failure;
  if (refused && may_be_one_sites(err))
    failure.refused_sites.push_back({*refused, cause(err)});
  else if (may_be_one_sites(err))
    failure.refused_sites = RefusalSearch(tools, request).run(all);
  const bool unsupported = err == kNotSupported || err == EOPNOTSUPP || err == kCannotConfine;
  failure.error = Error{unsupported ? Code::unsupported : Error::from_errno("", err).code,
                        "cannot arm " + std::to_string(request.sites.size()) + " sites in " +
                            request.object_path + ": " + cause(err)};
  return failure;
}

}  // namespace tracectl
