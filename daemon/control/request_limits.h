// SPDX-License-Identifier: BSD-2-Clause
//
// What bounds a request, whatever it is about.
#pragma once

#include <cstddef>

#include "daemon/base/result.h"
#include "daemon/control/peer.h"
#include "daemon/model/quota.h"

namespace tracectl {

// Resident memory of this process, 0 if it cannot be read.
size_t resident_bytes();
// To be called before a request that may need more memory, for a peer who may not trace every process. `most`: the
// bytes that the daemon may have.
Status check_memory(const Peer& peer, size_t most);
// The answer to a request that std::bad_alloc ended. What it had allocated has been freed.
Error out_of_memory();

// The number of patterns is limited because each is searched for in every file of every process of the target.
Status check_patterns(size_t patterns, const Peer& peer, const Quota& quota);
// For requests whose patterns are resolved: their matches are held until they are answered.
Status may_match(size_t patterns, const Peer& peer, const Quota& quota);

}  // namespace tracectl
