// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/protocol/messages.h"

namespace tracectl {

// Shows the values of the key `container`, which are beginnings of ids, as the containers' names, as far as this user may
// read these: "web", or in a pod "shop/web-0/nginx".
void name_containers(protocol::ReadReply& reply);

}  // namespace tracectl
