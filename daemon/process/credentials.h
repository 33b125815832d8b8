// SPDX-License-Identifier: BSD-2-Clause
//
// The credentials of a process, and whether a user could ptrace(2) it. Reading them takes no
// rights, except for the process's user namespace (CAP_SYS_PTRACE).
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
  bool dumpable = false;  // as PR_SET_DUMPABLE in prctl(2)
};

// Parses ids and capabilities from the text of /proc/PID/status. None if the text is not in the
// kernel's format.
std::optional<Credentials> parse_status(std::string_view text);

Result<Credentials> credentials_of(const Process& process);

// Whether real, effective and saved ids are all these.
bool runs_as(const Credentials& process, uid_t uid, gid_t gid);

// Whether the user could not ptrace the process now. The programs in the kernel check it again at
// each hit (bpf/access.bpf.h).
bool is_hidden_from(const Owner& user, const Credentials& process);

// Fails with Code::denied if the user could not ptrace the process. The message does not say why,
// because the mount option hidepid= of /proc hides the credentials of others from users (proc(5)).
Status may_trace(const Owner& user, const Process& process);

}  // namespace tracectl
