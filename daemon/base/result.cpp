// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/result.h"

#include <system_error>

namespace tracectl {
namespace {

Code code_of_errno(int err) {
  switch (err) {
    case EPERM:
    case EACCES: return Code::denied;
    case ENOENT:
    case ESRCH: return Code::not_found;
    case EBUSY: return Code::busy;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ENOSPC:
    case E2BIG: return Code::exhausted;
    default: return Code::kernel;
  }
}

}  // namespace

Error Error::from_errno(const std::string& what, int err) {
  return Error{code_of_errno(err), what + ": " + std::system_category().message(err)};
}

Error Error::in(const std::string& context) const {
  Error outer = *this;
  outer.message = context + ": " + message;
  return outer;
}

}  // namespace tracectl
