// SPDX-License-Identifier: BSD-2-Clause
//
// Paths of the runtimes and systemd: docker, podman, containerd and CRI-O with either driver, LXC,
// systemd-nspawn.
#include "daemon/process/cgroups.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/process/unit_plan.h"

namespace tracectl {
namespace {

const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kShort = "0123456789ab";

TEST(UnitOf, IsTheLastServiceOrScope) {
  EXPECT_EQ(unit_of("/system.slice/ssh.service"), "ssh.service");
  EXPECT_EQ(unit_of("/user.slice/user-1000.slice/user@1000.service/app.slice/a.service"),
            "a.service");
  EXPECT_EQ(unit_of("/user.slice/user-1000.slice/session-2.scope"), "session-2.scope");
  EXPECT_EQ(unit_of("/system.slice/x.service/payload/inner"), "x.service");
  EXPECT_EQ(unit_of("/system.slice/_cgroup.x.service"), "cgroup.x.service");
  EXPECT_EQ(unit_of("/system.slice/dev-disk\\x2dby.service"), "dev-disk\\x2dby.service");
}

TEST(UnitOf, WithoutOneIsThePath) {
  EXPECT_EQ(unit_of("/user.slice"), "/user.slice");
  EXPECT_EQ(unit_of("/"), "/");
  EXPECT_EQ(unit_of(""), "");
}

TEST(CgroupOfSlice, IsBelowThoseThatItsNameBeginsWith) {
  EXPECT_EQ(cgroup_of_slice("system.slice"), "/system.slice");
  EXPECT_EQ(cgroup_of_slice("a-b-c.slice"), "/a.slice/a-b.slice/a-b-c.slice");
  EXPECT_EQ(cgroup_of_slice("system-x\\x2dy.slice"), "/system.slice/system-x\\x2dy.slice");
  EXPECT_EQ(cgroup_of_slice("-.slice"), "");
  EXPECT_EQ(cgroup_of_slice(""), "");
}

TEST(ContainerOf, IsTheIdAsTheRuntimeListsIt) {
  for (const std::string& path : std::vector<std::string>{
           "/system.slice/docker-" + kId + ".scope",
           "/docker/" + kId,
           "/machine.slice/libpod-" + kId + ".scope/container",
           "/libpod_parent/libpod-" + kId,
           "/kubepods.slice/kubepods-burstable.slice/kubepods-pod1.slice/cri-containerd-" + kId +
               ".scope",
           "/kubepods.slice/crio-" + kId + ".scope",
           "/kubepods/burstable/pod1234-5678/" + kId,
       })
    EXPECT_EQ(container_of(path), kShort) << path;
}

TEST(ContainerOf, IsTheNameWhereThereIsOne) {
  EXPECT_EQ(container_of("/lxc.payload.web/system.slice/nginx.service"), "web");
  EXPECT_EQ(container_of("/machine.slice/machine-my\\x2dtree.scope/payload"), "my-tree");
  EXPECT_EQ(container_of("/machine.slice/systemd-nspawn@tree.service/payload"), "tree");
}

TEST(ContainerOf, WithoutOneIsThePath) {
  EXPECT_EQ(container_of("/system.slice/docker.service"), "/system.slice/docker.service");
  EXPECT_EQ(container_of("/system.slice/docker-abc.scope"), "/system.slice/docker-abc.scope");
  EXPECT_EQ(container_of("/x/" + kId.substr(1)), "/x/" + kId.substr(1));
}

TEST(Cgroup2Mount, IsFoundBesideVersion1) {
  const char* const hybrid =
      "30 23 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n"
      "31 30 0:27 / /sys/fs/cgroup/systemd rw shared:9 - cgroup cgroup rw,name=systemd\n"
      "32 30 0:28 / /sys/fs/cgroup/unified rw,relatime shared:10 - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(cgroup2_mount(hybrid), "/sys/fs/cgroup/unified");
  EXPECT_EQ(cgroup2_mount("29 23 0:26 / /sys/fs/cg\\040roup rw - cgroup2 cgroup2 rw\n"),
            "/sys/fs/cg roup");
}

TEST(Cgroup2Mount, InACgroupNamespaceIsTheNearestToTheRoot) {
  const char* const own = "40 30 0:28 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
  const char* const host = "41 30 0:28 /../.. /host/cgroup ro - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(cgroup2_mount(host), "/host/cgroup");
  EXPECT_EQ(cgroup2_mount(std::string(own) + host), "/host/cgroup");
  EXPECT_EQ(cgroup2_mount(std::string(host) + own), "/host/cgroup");
  const char* const sibling = "42 30 0:28 /../other /mnt ro - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(cgroup2_mount(sibling), std::nullopt);
}

TEST(Cgroup2Mount, IsNoneOfAPartOrWhereThereIsNone) {
  EXPECT_EQ(cgroup2_mount("29 23 0:26 /part /mnt rw - cgroup2 cgroup2 rw\n"), std::nullopt);
  EXPECT_EQ(cgroup2_mount("31 30 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"),
            std::nullopt);
  EXPECT_EQ(cgroup2_mount(""), std::nullopt);
  EXPECT_EQ(cgroup2_mount("- cgroup2\n-\n - - - - -"), std::nullopt);
}

}  // namespace
}  // namespace tracectl
