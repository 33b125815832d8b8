// SPDX-License-Identifier: BSD-2-Clause
//
// From a target and a pattern's OBJECT to files and the filters they are to be armed with.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/finding/given_files.h"
#include "daemon/finding/object.h"
#include "daemon/model/pattern.h"
#include "daemon/model/target.h"
#include "daemon/process/maps.h"
#include "daemon/process/process.h"

namespace tracectl {

// One process that is a target, held so that its number cannot come to mean another.
struct TargetProcess {
  Process process;
  std::vector<ExecutableRange> ranges;  // where the file's code is mapped; empty: not started yet
};

// A file in which to look for probes, and for whom.
struct TargetFile {
  ObjectPtr object;
  std::optional<TargetProcess> process;    // armed in this process only
  std::optional<std::string> executable;   // armed for every process that runs this file
  std::vector<TargetProcess> others;       // that map it now, where it is armed for more than one
  bool one_of_many = false;                // the process was not asked for by its number
  std::optional<std::string> cgroup = {};  // armed for every process that runs this file in it
};

struct TargetFiles {
  std::vector<TargetFile> files;
  std::vector<std::string> notes;  // what the user should know of what is not covered
  bool can_come = false;  // files that fit can be executed or mapped later, and are armed then
  // That may map further ones that fit.
  std::vector<std::shared_ptr<const Process>> awaiting = {};
};

// Notes which processes the target's numbers mean now; fails where there is none. Where it was noted before, those
// that have ended since are passed over, and it fails where that is all of them.
Status note_processes(Target& target);
// Notes which cgroups the target's units are, and with `also_planned` will be once they are started, for
// which systemd is asked; fails where there is none.
Status note_units(Target& target, bool also_planned);
// All that the target follows; what its units are has been noted.
std::vector<std::string> followed_cgroups(const Target& target);
// Of processes that were noted: those that have ended are passed over from now on, if one is left. Whether
// there was any.
bool pass_over_ended(Target& target);

class TargetFinder {
 public:
  // All are borrowed.
  // `awaits`: what processes map later is looked for then, where the access has it so.
  TargetFinder(Objects& objects, const Pattern& pattern, const Target& target, const Access& access,
               bool awaits)
      : objects_(objects), pattern_(pattern), target_(target), access_(access), awaits_(awaits) {}

  // Fails where nothing fits OBJECT, and says what was looked at. A file that fits and is not an
  // ELF file fails the whole; of all that is mapped, `*`, it is left out, with a note. Fails with
  // Code::denied where it takes what the access does not allow. To be called once.
  Result<TargetFiles> find();

 private:
  Status add_process(pid_t pid);
  Result<std::vector<MappedFile>> files_of(const Process& process) const;
  Status add_mapped(const Process& process);
  Status add_file(const Process& process, const MappedFile& file);
  Status await_libraries(const Process& process, const std::vector<MappedFile>& chosen);
  Status add_former_libraries(const Process& process, const std::vector<MappedFile>& chosen);
  Status add_starting(const Process& process);
  bool is_found(const Process& process, ino_t inode) const;
  bool awaits_start_of(const Process& process) const;
  Status add_mapped_since(const Process& process);
  Status add_executable(const std::string& path);
  Result<size_t> add_running(const Object& executable);
  void add_former(const Object& now, const std::optional<std::string>& executable);
  Status add_cgroups();
  Status add_cgroup(const std::string& path, const std::vector<std::string>* planned);
  void add_planned(const std::string& cgroup, const std::vector<std::string>& programs);
  bool is_found(const std::string& cgroup, uint64_t inode, const std::string& path) const;
  bool add_followed(const std::string& cgroup);
  Status add_in_cgroup(const Process& process, const std::string& cgroup);
  Status add_executable_of(const Process& process, const MappedFile& file,
                           const std::string& cgroup);
  Status add_by_path();
  std::vector<TargetProcess> processes_with(const Object& object) const;
  Status may_read(const Process& process, const MappedFile& file) const;
  Status may_arm_for_all(const Object& object) const;
  Result<ObjectPtr> open_path(const std::string& path);

  Objects& objects_;
  const Pattern& pattern_;
  const Target& target_;
  const Access& access_;
  bool awaits_;
  TargetFiles found_;
};

}  // namespace tracectl
