// SPDX-License-Identifier: BSD-2-Clause
//
// Finds the files that a target and a pattern's OBJECT name, and the filters to arm them with.
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

// A target process, held so that another process with its number is not taken for it.
struct TargetProcess {
  Process process;
  std::vector<ExecutableRange> ranges;  // where its code is mapped; empty: not yet, or no longer
};

// A file to search for probes, and the processes to arm them for.
struct TargetFile {
  ObjectPtr object;
  std::optional<TargetProcess> process;   // armed in this process only
  std::optional<std::string> executable;  // armed for every process that runs this file
  std::vector<TargetProcess> others;      // those that map it now, if it is armed for more than one
  bool one_of_many = false;               // the process was not chosen by its number
  std::optional<std::string> cgroup = {};  // armed for every process that runs this file in it
};

struct TargetFiles {
  std::vector<TargetFile> files;
  std::vector<std::string> notes;  // for the user, about what is not covered
  bool can_come = false;  // files that fit can be executed or mapped later, and are armed then
  // Processes that may map further files that fit.
  std::vector<std::shared_ptr<const Process>> awaiting = {};
};

// Notes which processes the target's numbers mean now; fails if one does not exist. If they were noted
// before, those that have ended since are passed over, and it fails if all have ended.
Status note_processes(Target& target);
// Notes the cgroups of the target's units; with `also_planned` it asks systemd for those that units will
// have once they are started. Fails if a unit has none.
Status note_units(Target& target, bool also_planned);
// All cgroups that the target follows. Its units must have been noted.
std::vector<std::string> followed_cgroups(const Target& target);
// Whether it is the cgroup of a container that was chosen by its name and may have been removed since.
bool may_be_gone(const Target& target, const std::string& cgroup);
// Passes over the noted processes that have ended, from now on, if at least one is left. Returns whether
// it has passed over any.
bool pass_over_ended(Target& target);

class TargetFinder {
 public:
  // All are borrowed.
  // `awaits`: files that processes map later are looked for then, if `access` awaits libraries.
  TargetFinder(Objects& objects, const Pattern& pattern, const Target& target, const Access& access,
               bool awaits)
      : objects_(objects), pattern_(pattern), target_(target), access_(access), awaits_(awaits) {}

  // Fails if nothing fits OBJECT, and says what was looked at. Also fails if a file fits and is not an ELF
  // file; but if OBJECT is `*`, all that is mapped, such a file is left out, with a note. Fails with
  // Code::denied if it needs what `access` does not allow. Call it once.
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
  bool is_same_file_found(const std::string& cgroup, const Object& object) const;
  bool add_followed(const std::string& cgroup);
  Status add_in_cgroup(const Process& process, const std::string& cgroup);
  Status add_executable_of(const Process& process, const MappedFile& file,
                           const std::string& cgroup);
  Status add_by_path();
  std::vector<TargetProcess> processes_with(const Object& object) const;
  Status may_read(const Process& process, const MappedFile& file) const;
  Status may_arm_for_all(const Object& object) const;
  Result<ObjectPtr> open_path(const std::string& path);
  // Whose rights decide where links lead; null: those of this process.
  const Owner* user() const { return access_.owner ? &*access_.owner : nullptr; }

  Objects& objects_;
  const Pattern& pattern_;
  const Target& target_;
  const Access& access_;
  bool awaits_;
  TargetFiles found_;
  std::vector<std::string> seen_;  // names of what the processes of the cgroup map
};

}  // namespace tracectl
