// SPDX-License-Identifier: BSD-2-Clause
//
// The units of the program declared. Each defines what the others only declare.
#pragma once

#define KEPT __attribute__((noipa, used))

struct conn;
struct different;
struct nowhere;
struct shared;
namespace net {
class Socket;
inline namespace v2 {
struct Options;
}
}  // namespace net
namespace other {
struct Socket;
}
struct Holder {
  struct Hidden;
  Hidden* hidden;
  conn* all;
};
