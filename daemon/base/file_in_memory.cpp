// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/file_in_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tracectl {

Result<Fd> file_in_memory(const char* name, std::string_view bytes, const char* action) {
  Fd file{::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!file) return Error::from_errno("memfd_create");
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count <= 0) return Error::from_errno(action);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (::fcntl(file.get(), F_ADD_SEALS, seals) != 0) return Error::from_errno("seal a memfd");
  return file;
}

}  // namespace tracectl
