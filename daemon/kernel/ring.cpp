// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/ring.h"

#include <bpf/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tracectl {

Result<size_t> Ring::size_of(int fd) {
  bpf_map_info info{};
  uint32_t info_bytes = sizeof(info);
  if (bpf_obj_get_info_by_fd(fd, &info, &info_bytes) != 0)
    return Error::from_errno("ask for the size of a ring");
  return size_t{info.max_entries};
}

Result<Ring> Ring::open(int fd, size_t size_bytes) {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  auto consumer = Mapping::map(fd, 0, page, PROT_READ | PROT_WRITE, MAP_SHARED);
  if (!consumer) return consumer.error();
  auto producer = Mapping::map(fd, page, page + 2 * size_bytes, PROT_READ, MAP_SHARED);
  if (!producer) return producer.error();
  return Ring{std::move(*consumer), std::move(*producer), size_bytes, page};
}

}  // namespace tracectl
