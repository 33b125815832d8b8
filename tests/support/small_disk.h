// SPDX-License-Identifier: BSD-2-Clause
//
// A file system of a few KiB that is mounted nowhere, for tests of full disks. Needs root.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "daemon/base/fd.h"

namespace tracectl {

class SmallDisk {
 public:
  explicit SmallDisk(size_t bytes) {
    const Fd context{::fsopen("tmpfs", FSOPEN_CLOEXEC)};
    const std::string size = std::to_string(bytes);
    EXPECT_EQ(::fsconfig(context.get(), FSCONFIG_SET_STRING, "size", size.c_str(), 0), 0)
        << std::strerror(errno);
    EXPECT_EQ(::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0), 0);
    root_ = Fd{::fsmount(context.get(), FSMOUNT_CLOEXEC, 0)};
    EXPECT_TRUE(root_) << std::strerror(errno);
  }

  Fd new_file(const char* name = "file") const {
    return Fd{::openat(root_.get(), name, O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  }

 private:
  Fd root_;
};

}  // namespace tracectl
