// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/linker.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "daemon/base/fd.h"

namespace tracectl {
namespace {

// The address at which the kernel has mapped the file of PT_INTERP (getauxval(3)); 0 if there is
// none.
Result<uint64_t> linker_base(const Process& process) {
  const std::string path = process.proc_path("auxv");
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  std::array<Elf64_auxv_t, 64> entries{};
  const ssize_t bytes = file ? ::read(file.get(), entries.data(), sizeof(entries)) : -1;
  if (bytes < 0) return Error::from_errno("read " + path);
  const size_t count = static_cast<size_t>(bytes) / sizeof(Elf64_auxv_t);
  for (size_t i = 0; i < count; ++i)
    if (entries[i].a_type == AT_BASE) return entries[i].a_un.a_val;
  return uint64_t{0};
}

}  // namespace

// Its code is the first mapping after its base.
Result<std::optional<MappedFile>> dynamic_linker(const Process& process) {
  const auto base = linker_base(process);
  if (!base) return base.error();
  if (*base == 0) return std::optional<MappedFile>();
  auto files = executable_files(process);
  if (!files) return files.error();
  std::optional<MappedFile> linker;
  uint64_t start = UINT64_MAX;
  for (const MappedFile& file : *files)
    for (const ExecutableRange& range : file.ranges)
      if (range.start >= *base && range.start < start) {
        start = range.start;
        linker = file;
      }
  return linker;
}

}  // namespace tracectl
