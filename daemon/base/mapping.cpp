// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/mapping.h"

#include <sys/mman.h>

namespace tracectl {

Mapping::~Mapping() {
  if (data_) ::munmap(data_, size_);
}

Result<Mapping> Mapping::map(int fd, uint64_t offset, size_t size_bytes, int protection,
                             int flags) {
  void* data = ::mmap(nullptr, size_bytes, protection, flags, fd, static_cast<off_t>(offset));
  if (data == MAP_FAILED) return Error::from_errno("map " + std::to_string(size_bytes) + " bytes");
  Mapping mapping{data, size_bytes};
  if ((flags & MAP_SHARED) && ::madvise(data, size_bytes, MADV_DONTFORK) != 0)
    return Error::from_errno("keep shared memory from children");
  return mapping;
}

}  // namespace tracectl
