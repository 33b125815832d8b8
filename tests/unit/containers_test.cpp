// SPDX-License-Identifier: BSD-2-Clause
//
// Files as the runtimes write them: podman 4.3, docker 20.10, containerd 1.6 and CRI-O 1.24, with the members that matter.
// e2e container_names_test has real containers of podman.
#include "client/target/containers.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tracectl {
namespace {

namespace fs = std::filesystem;

const std::string kFirst(64, 'a'), kSecond(64, 'b');

TEST(Containers, OfStorageHaveTheirNames) {
  const auto all = containers_of_storage(R"([{"id":")" + kFirst +
                                         R"(","names":["web","old"],"image":"i"},{"id":"short"},
                                         {"names":["x"]},7,{"id":")" +
                                         kSecond + R"("}])");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].id, kFirst);
  EXPECT_EQ(all[0].names, (std::vector<std::string>{"web", "old"}));
  EXPECT_EQ(all[1].id, kSecond);
  EXPECT_TRUE(all[1].names.empty());
}

TEST(Containers, OfDockerHaveTheirNameWithoutTheSlash) {
  const auto container =
      container_of_docker(R"({"ID":")" + kFirst + R"(","Name":"/web","State":{"Running":true}})");
  ASSERT_TRUE(container);
  EXPECT_EQ(container->names, std::vector<std::string>{"web"});
}

TEST(Containers, OfKubernetesHaveTheirPod) {
  for (const char* text : {R"({"annotations":{"io.kubernetes.cri.container-name":"app",
            "io.kubernetes.cri.sandbox-name":"web-0","io.kubernetes.cri.sandbox-namespace":"shop"}})",
                           R"({"annotations":{"io.kubernetes.container.name":"app",
            "io.kubernetes.pod.name":"web-0","io.kubernetes.pod.namespace":"shop"}})"}) {
    const auto container = container_of_bundle(kFirst, text);
    ASSERT_TRUE(container) << text;
    EXPECT_EQ(container->pod, "shop/web-0");
    EXPECT_EQ(container->names, std::vector<std::string>{"app"});
  }
}

TEST(Containers, OfWhatIsNoneAreNone) {
  for (const char* text : {"", "{", "[]", "{}", "null", R"({"annotations":[]})",
                           R"({"annotations":{"io.kubernetes.pod.name":5}})", R"({"ID":5})"}) {
    EXPECT_TRUE(containers_of_storage(text).empty()) << text;
    EXPECT_FALSE(container_of_docker(text)) << text;
    EXPECT_FALSE(container_of_bundle(kFirst, text)) << text;
  }
}

class KnownContainers : public testing::Test {
 protected:
  KnownContainers() { fs::create_directories(root_); }
  ~KnownContainers() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  const std::string root_ =
      fs::temp_directory_path() / ("containers_test." + std::to_string(::getpid()));
};

TEST_F(KnownContainers, AreThoseOfEachRuntime) {
  write("/var/lib/containers/storage/vfs-containers/containers.json",
        R"([{"id":")" + kFirst + R"(","names":["of_podman"]}])");
  write("/var/lib/docker/containers/" + kSecond + "/config.v2.json",
        R"({"ID":")" + kSecond + R"(","Name":"/of_docker"})");
  const std::string bundle = R"({"annotations":{"io.kubernetes.cri.container-name":"app",
      "io.kubernetes.cri.sandbox-name":"p","io.kubernetes.cri.sandbox-namespace":"n"}})";
  const std::string third(64, 'c');
  write("/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + third + "/config.json", bundle);
  std::vector<std::string> names;
  for (const Container& one : known_containers(root_))
    names.insert(names.end(), one.names.begin(), one.names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"of_podman", "of_docker", "app"}));
}

TEST_F(KnownContainers, AreNotWaitedForWhereTheirFileIsAPipe) {
  const std::string folder = root_ + "/var/lib/containers/storage/vfs-containers";
  fs::create_directories(folder);
  ASSERT_EQ(::mkfifo((folder + "/containers.json").c_str(), 0600), 0);
  EXPECT_TRUE(known_containers(root_).empty());
}

// kubepods is around all pods.
TEST(PodCgroup, IsTheOneAroundTheContainerOnlyIfItIsOfOnePod) {
  EXPECT_EQ(pod_cgroup_of("/kubepods/besteffort/pod12/" + kFirst), "/kubepods/besteffort/pod12");
  EXPECT_EQ(pod_cgroup_of("/kubepods.slice/kubepods-pod12.slice/crio-" + kFirst + ".scope"),
            "/kubepods.slice/kubepods-pod12.slice");
  for (const char* around : {"/kubepods/", "/kubepods.slice/",
                             "/kubepods.slice/kubepods-burstable.slice/", "/libpod_parent/", "/"})
    EXPECT_EQ(pod_cgroup_of(around + kFirst), around + kFirst);
}

TEST_F(KnownContainers, AreNoneWhereThereIsNoRuntime) {
  EXPECT_TRUE(known_containers(root_).empty());
}

}  // namespace
}  // namespace tracectl
