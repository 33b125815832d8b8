// SPDX-License-Identifier: BSD-2-Clause
//
// Input: an ELF file, which is asked what each of its functions reaches; and the same bytes as code, with its
// calls.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/object/call_graph.h"
#include "daemon/object/code/indirect_calls.h"

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

void check(const Reach& reach) {
  unsigned distance = 0;
  for (const Reached& reached : reach.functions) {
    must(reached.function && reached.distance >= distance);
    must(reached.distance > 0 || !reached.by_address);
    distance = reached.distance;
  }
  for (const ReachedImport& import : reach.imports) must(!import.name.empty());
}

void check_indirect_calls(std::span<const uint8_t> code) {
  constexpr uint64_t kAddress = 0x1000;
  const auto nothing = [](uint64_t, std::span<uint8_t>) { return size_t{0}; };
  for (const IndirectCall& call :
       indirect_calls({.body = {kAddress, code}, .extent = Extent::unknown}, nothing)) {
    must(call.address - kAddress < code.size());
    must(call.callee.place == Argument::Place::in_register || call.callee.scale <= 8);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check_indirect_calls({data, size});
  const auto object = ObjectFile::open(file_of(data, size).get(), "/nonexistent/file");
  if (!object) return 0;
  std::vector<uint64_t> roots;
  for (const Function& function : (*object)->elf().functions()) roots.push_back(function.address);
  CallGraph graph{*object};
  const Reach all = graph.reach(roots);
  check(all);
  if (roots.empty()) return 0;
  const Reach of_one = graph.reach({roots.data(), 1});
  check(of_one);
  must(of_one.functions.size() <= all.functions.size());
  return 0;
}
