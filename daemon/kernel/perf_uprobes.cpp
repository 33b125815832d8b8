// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/perf_uprobes.h"

#include <bpf/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tracectl {
namespace {

constexpr unsigned kSemaphoreShift = 32;  // .../uprobe/format/ref_ctr_offset: config:32-63

// The type of the kernel's uprobe events; 0 if it has none.
uint32_t type_of_uprobe_events() {
  static const uint32_t type = [] {
    uint32_t read = 0;
    std::ifstream("/sys/bus/event_source/devices/uprobe/type") >> read;
    return read;
  }();
  return type;
}

// Returns no descriptor and sets errno if the kernel refuses.
Fd open_event(const UprobeMulti& request, const std::string& path, size_t i) {
  perf_event_attr attr{};
  attr.type = type_of_uprobe_events();
  attr.size = sizeof(attr);
  attr.config1 = reinterpret_cast<uintptr_t>(path.c_str());
  attr.config2 = request.offsets[i];
  if (!request.semaphores.empty()) attr.config = request.semaphores[i] << kSemaphoreShift;
  if (attr.type == 0) {
    errno = EOPNOTSUPP;
    return Fd{};
  }
  // For all processes an event must name a CPU. The program runs on every CPU nevertheless.
  const pid_t pid = request.filter != 0 ? request.filter : -1;
  const int cpu = request.filter != 0 ? -1 : 0;
  return Fd{
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC))};
}

// The link keeps the event.
Fd link_to_event(const UprobeMulti& request, const Fd& event, size_t i) {
  LIBBPF_OPTS(bpf_link_create_opts, options);
  if (!request.cookies.empty()) options.perf_event.bpf_cookie = request.cookies[i];
  return Fd{bpf_link_create(request.program_fd, event.get(), BPF_PERF_EVENT, &options)};
}

}  // namespace

Status can_open(size_t descriptors) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return Error::from_errno("getrlimit");
  std::error_code failed;
  const std::filesystem::directory_iterator open("/proc/self/fd", failed);
  if (failed) return Error{Code::kernel, "read /proc/self/fd: " + failed.message()};
  const auto in_use = static_cast<size_t>(std::distance(begin(open), end(open)));
  if (in_use + descriptors <= limit.rlim_cur) return ok();
  return Error{Code::exhausted,
               "this kernel takes a descriptor for each of " + std::to_string(descriptors) +
                   " probes, and " + std::to_string(in_use) + " of " +
                   std::to_string(limit.rlim_cur) +
                   " are in use: name fewer probes, or raise LimitNOFILE= of tracectld.service"};
}

std::vector<Fd> arm_by_perf_events(const UprobeMulti& request) {
  const std::string path = "/proc/self/fd/" + std::to_string(request.object_fd);
  std::vector<Fd> armed;
  for (size_t i = 0; i < request.offsets.size(); ++i) {
    const Fd event = open_event(request, path, i);
    if (!event) break;
    Fd link = link_to_event(request, event, i);
    if (!link || ::ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0) != 0) break;
    armed.push_back(std::move(link));
  }
  return armed;
}

}  // namespace tracectl
