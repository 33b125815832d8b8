// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/breakpoints.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/kernel/trial.h"
#include "daemon/kernel/uprobe_multi.h"

namespace tracectl {
namespace {

constexpr size_t kReach = size_t{2} << 30;  // of a call, forwards and backwards
constexpr size_t kNopBytes = 5;
constexpr uint8_t kReturn = 0xc3;
constexpr uint8_t kBreakpoint = 0xcc;

// A private mapping of part of a file, each of some 5-byte nops in it followed by a return, with no
// free page within reach.
class Ground {
 public:
  // None and errno if there is no room, or the file ends behind a nop.
  static std::optional<Ground> lay(int object_fd, std::span<const uint64_t> offsets) {
    const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const auto [first, last] = std::minmax_element(offsets.begin(), offsets.end());
    const uint64_t start = *first / page * page;
    const uint64_t end = *last + kNopBytes + 1;
    struct stat file {};
    if (::fstat(object_fd, &file) != 0) return std::nullopt;
    errno = EINVAL;
    if (end > static_cast<uint64_t>(file.st_size)) return std::nullopt;
    const size_t size = (end - start + page - 1) / page * page;
    auto space = Mapping::map(-1, 0, 2 * (kReach + page) + size, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (!space) return std::nullopt;
    uint8_t* code = static_cast<uint8_t*>(space->data()) + kReach + page;
    Ground ground(std::move(*space), code, start);
    if (!ground.map(object_fd, size, offsets)) return std::nullopt;
    return ground;
  }

  // Hits the probe there; whether it is a breakpoint still.
  bool hit(uint64_t offset) const {
    uint8_t* site = code_ + (offset - start_);
    reinterpret_cast<void (*)()>(site)();
    return *const_cast<volatile uint8_t*>(site) == kBreakpoint;
  }

  Mapping take() && { return std::move(space_); }

 private:
  Ground(Mapping space, uint8_t* code, uint64_t start)
      : space_(std::move(space)), code_(code), start_(start) {}

  bool map(int object_fd, size_t size, std::span<const uint64_t> offsets) {
    if (::mmap(code_, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, object_fd,
               static_cast<off_t>(start_)) == MAP_FAILED)
      return false;
    for (const uint64_t offset : offsets) code_[offset - start_ + kNopBytes] = kReturn;
    return ::mprotect(code_, size, PROT_READ | PROT_EXEC) == 0;
  }

  Mapping space_;
  uint8_t* code_;
  uint64_t start_;  // its offset in the file
};

}  // namespace

std::optional<KeptBreakpoints> KeptBreakpoints::make(int program_fd, int object_fd,
                                                     std::span<const uint64_t> offsets,
                                                     std::span<const uint64_t> semaphores) {
  auto ground = Ground::lay(object_fd, offsets);
  if (!ground) return std::nullopt;
  // Without cookies: no slot is meant, so the program leaves at once.
  Fd link = link_uprobe_multi({.program_fd = program_fd,
                               .object_fd = object_fd,
                               .filter = ::getpid(),
                               .offsets = offsets,
                               .semaphores = semaphores});
  if (!link) return std::nullopt;
  const bool kept = std::all_of(offsets.begin(), offsets.end(),
                                [&](uint64_t offset) { return ground->hit(offset); });
  errno = EOPNOTSUPP;
  if (!kept) return std::nullopt;
  return KeptBreakpoints{std::move(*ground).take(), std::move(link)};
}

bool nop5_call_survives_fork() {
  auto child = TrialChild::start();
  auto program = CountingProgram::load(kAttachUprobeMulti);
  if (!child || !program) return false;
  const Fd link = program->arm(TrialFunction::nop5, child->pid());
  if (!link || !child->call(TrialFunction::nop5, 2)) return false;
  const auto forked = child->call_in_fork(TrialFunction::nop5);
  return forked && forked->wrong == 0;
}

}  // namespace tracectl
