// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/service.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cstdlib>

#include "daemon/base/clock.h"

namespace tracectl {

Result<std::optional<Fd>> socket_of_service() {
  const int count = sd_listen_fds(1);
  if (count < 0) return Error::from_errno("take what systemd passes", -count);
  std::optional<Fd> socket;
  for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + count; ++fd) {
    Fd passed{fd};
    if (sd_is_socket_unix(fd, SOCK_STREAM, 1, nullptr, 0) <= 0)
      return Error{Code::invalid,
                   "systemd passes something that is no listening Unix stream socket; look for "
                   "Sockets= and ListenStream= in the units of tracectld"};
    if (socket)
      return Error{Code::invalid, "systemd passes more than one socket; tracectld listens on one"};
    // systemd gives it as its unit has it; we wait in a loop, never in accept().
    if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return Error::from_errno("set O_NONBLOCK");
    socket = std::move(passed);
  }
  return socket;
}

bool logs_to_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat is {};
  if (!stream || ::fstat(STDERR_FILENO, &is) != 0) return false;
  return stream == std::to_string(is.st_dev) + ":" + std::to_string(is.st_ino);
}

void tell_service_ready(const std::string& status) {
  ::sd_notify(0, ("READY=1\nSTATUS=" + status).c_str());
}

void tell_service_reloading() {
  const uint64_t now_us = clock_ns(CLOCK_MONOTONIC) / 1000;
  ::sd_notify(0, ("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now_us)).c_str());
}

void tell_service_stopping() { ::sd_notify(0, "STOPPING=1"); }

}  // namespace tracectl
