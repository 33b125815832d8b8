// SPDX-License-Identifier: BSD-2-Clause
//
// Input: an ELF file, which is asked everything that the engine asks.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "daemon/base/fd.h"
#include "daemon/object/elf_file.h"
#include "daemon/object/notes.h"
#include "daemon/object/pointers.h"

using namespace tracectl;

namespace {

void must(bool promise) {
  if (!promise) std::abort();
}

Fd file_of(const uint8_t* data, size_t size) {
  Fd fd{::memfd_create("fuzz", MFD_CLOEXEC)};
  must(fd && ::write(fd.get(), data, size) == static_cast<ssize_t>(size));
  return fd;
}

void check_function(const ElfFile& file, const Function& function, size_t file_size) {
  must(!function.name.empty());
  must(function.offset < file_size && function.size <= file_size - function.offset);
  must(file.offset_of(function.address) == function.offset);
  if (const auto found = file.function_at(function.address))
    must(function.address - found->address < found->size);
}

void check_data(const ElfFile& file) {
  for (const AddressRange& variable : file.variables())
    must(variable.size > 0 && file.offset_of(variable.address));
  const auto pointers = read_pointers(file);
  for (size_t i = 1; i < pointers.size(); ++i) must(pointers[i - 1].place < pointers[i].place);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Fd fd = file_of(data, size);
  // Debug files are searched in a nonexistent directory.
  const auto file = ElfFile::open(fd.get(), "/nonexistent/file", "/nonexistent");
  if (!file) return 0;
  for (const Function& function : file->functions()) check_function(*file, function, size);
  check_data(*file);
  (void)file->interpreter();
  (void)file->symbol_address("main");
  file->each_definition([](const ElfFile::Definition& one) {
    must(!one.name.empty() && one.name.size() < kLongestSymbol);
  });
  if (const auto bytes = file->read_at_most(0, size)) must(bytes->size() <= size);
  const auto sites = read_usdt_sites(*file);
  if (!sites) return 0;
  for (const UsdtSite& site : *sites) {
    must(site.offset < size);
    must(!site.semaphore || *site.semaphore < size);
  }
  return 0;
}
