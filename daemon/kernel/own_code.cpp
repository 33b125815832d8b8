// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/own_code.h"

#include <fcntl.h>
#include <link.h>

#include <optional>

namespace tracectl {
namespace {

struct Search {
  uintptr_t address;
  std::optional<uint64_t> offset;
};

// dl_iterate_phdr begins with the main executable.
int search_main_executable(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const uintptr_t start = info->dlpi_addr + header.p_vaddr;
    if (header.p_type != PT_LOAD || search->address < start) continue;
    if (search->address - start >= header.p_filesz) continue;
    search->offset = search->address - start + header.p_offset;
  }
  return 1;
}

}  // namespace

Result<OwnCode> own_code(const void* address) {
  Search search{reinterpret_cast<uintptr_t>(address), {}};
  ::dl_iterate_phdr(search_main_executable, &search);
  if (!search.offset) return Error{Code::not_found, "the code is not in the main executable"};
  Fd file{::open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};
  if (!file) return Error::from_errno("open /proc/self/exe");
  return OwnCode{std::move(file), *search.offset};
}

}  // namespace tracectl
