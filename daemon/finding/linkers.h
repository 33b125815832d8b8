// SPDX-License-Identifier: BSD-2-Clause
//
// Arms the dynamic linkers of processes at the places where they inform debuggers of new mappings, so
// that libraries which a process loads later are looked for at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "daemon/base/fd.h"
#include "daemon/base/id_pool.h"
#include "daemon/base/result.h"
#include "daemon/finding/resolver.h"
#include "daemon/kernel/notices.h"
#include "daemon/process/process.h"

namespace tracectl {

// The dynamic linker of one process, armed in that process only, for the lifetime of this object. Shared
// by the sessions that wait for libraries of the process.
class Linker {
 public:
  // `numbers` and `notices` are borrowed.
  Linker(Notices& notices, IdPool& numbers, uint32_t number, std::shared_ptr<const Process> process)
      : notices_(notices), numbers_(numbers), number_(number), process_(std::move(process)) {}
  ~Linker();
  Linker(const Linker&) = delete;
  Linker& operator=(const Linker&) = delete;

  Status arm(const Object& file, std::span<const uint64_t> offsets);
  // Its next hit is reported.
  void listen() const;
  const Process& process() const { return *process_; }

 private:
  Notices& notices_;
  IdPool& numbers_;
  uint32_t number_;
  std::shared_ptr<const Process> process_;
  std::vector<Fd> links_;
};

using LinkerPtr = std::shared_ptr<const Linker>;

class Linkers {
 public:
  explicit Linkers(Notices& notices) : notices_(notices) {}

  // Returns the armed linker; the next hit of a new one is reported. Fails with Code::not_found if the
  // process has no dynamic linker, or one without a place for debuggers; and with Code::busy while the
  // linker's file is still being read.
  Result<LinkerPtr> arm(const std::shared_ptr<const Process>& process, Resolver& resolver,
                        const Access& access);

 private:
  using Key = std::tuple<pid_t, uint64_t, dev_t, ino_t>;  // of the process, and of the file

  Notices& notices_;
  IdPool numbers_{0, TC_MAX_LINKERS};
  std::map<Key, std::weak_ptr<const Linker>> armed_;
};

}  // namespace tracectl
