// SPDX-License-Identifier: BSD-2-Clause
//
// As whom a process runs, and whether a user could ptrace(2) it. Reading a process takes no rights but
// for its user namespace (CAP_SYS_PTRACE).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/model/owner.h"
#include "daemon/process/process.h"

namespace tracectl {

struct Credentials {
  std::array<uid_t, 3> uids{};  // real, effective, saved
  std::array<gid_t, 3> gids{};
  uint64_t capabilities = 0;  // permitted
  uint32_t user_namespace = 0;
  bool dumpable = false;  // to its user, as PR_SET_DUMPABLE in prctl(2) has it
};

// Of the text of /proc/PID/status its ids and capabilities. None where it is not as the kernel writes it.
std::optional<Credentials> parse_status(std::string_view text);

Result<Credentials> credentials_of(const Process& process);

// With these as real, effective and saved ids.
bool runs_as(const Credentials& process, uid_t uid, gid_t gid);

// Whether the user could not. At this moment: the programs in the kernel ask again at each hit
// (bpf/access.bpf.h).
bool is_hidden_from(const Owner& user, const Credentials& process);

// Fails with Code::denied where the user could not ptrace the process. Not why: as whom others run is what
// the mount option hidepid= of /proc keeps from users (proc(5)).
Status may_trace(const Owner& user, const Process& process);

}  // namespace tracectl
