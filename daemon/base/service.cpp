// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/service.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "daemon/base/clock.h"
#include "daemon/base/service_store.h"

namespace tracectl {

namespace {

// The descriptors that systemd passes and has not kept for the service. The caller owns them.
Result<std::vector<int>> passed_to_service() {
  char** listed = nullptr;
  const int count = ::sd_listen_fds_with_names(0, &listed);
  if (count < 0) return Error::from_errno("take what systemd passes", -count);
  std::vector<int> passed;
  for (int i = 0; i < count; ++i) {
    if (!StoredName::read(listed[i])) passed.push_back(SD_LISTEN_FDS_START + i);
    std::free(listed[i]);
  }
  std::free(listed);
  return passed;
}

}  // namespace

Result<std::optional<Fd>> socket_of_service() {
  const auto all = passed_to_service();
  if (!all) return all.error();
  std::optional<Fd> socket;
  for (const int fd : *all) {
    Fd passed{fd};
    if (sd_is_socket_unix(fd, SOCK_STREAM, 1, nullptr, 0) <= 0)
      return Error{Code::invalid,
                   "systemd passes something that is no listening Unix stream socket; look for "
                   "Sockets= and ListenStream= in the units of tracectld"};
    if (socket)
      return Error{Code::invalid, "systemd passes more than one socket; tracectld listens on one"};
    // Its flags are those of its unit; we wait in a loop, never in accept().
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

void notify_service_ready(const std::string& status) {
  ::sd_notify(0, ("READY=1\nSTATUS=" + status).c_str());
}

void notify_service_reloading() {
  const uint64_t now_us = clock_ns(CLOCK_MONOTONIC) / 1000;
  ::sd_notify(0, ("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now_us)).c_str());
}

void notify_service_stopping() { ::sd_notify(0, "STOPPING=1"); }

}  // namespace tracectl
