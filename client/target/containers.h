// SPDX-License-Identifier: BSD-2-Clause
//
// Names of containers, from the files in which podman, docker, containerd and CRI-O keep them. Who may not read these can
// still choose containers by their ids.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/process/cgroup_tree.h"

namespace tracectl {

struct Container {
  std::string id;                       // 64 hexadecimal digits
  std::vector<std::string> names = {};  // of podman and docker; in a pod that within the pod
  std::string pod = {};                 // NAMESPACE/NAME, or empty
};

// The file's text may be anything. Entries without an id are left out.
// containers.json of containers/storage, which podman uses: [{"id": ..., "names": [...]}].
std::vector<Container> containers_of_storage(std::string_view json);
// containers/ID/config.v2.json of docker: {"ID": ..., "Name": "/web"}.
std::optional<Container> container_of_docker(std::string_view json);
// config.json of a bundle of the Open Container Initiative, as containerd and CRI-O make it for the container with this
// id: the annotations of Kubernetes.
std::optional<Container> container_of_bundle(std::string id, std::string_view json);

// All that this user may read of. `root`: the directory below which the files are looked for, instead of /.
std::vector<Container> known_containers(const std::string& root = "");

// The cgroup of the container with this name, or with the only id that begins so. Fails with Code::not_found if there is
// none that runs, and with Code::invalid if there are several.
Result<std::string> cgroup_of_container(const CgroupTree& tree, const std::vector<Container>& known,
                                        const std::string& name);
// The cgroups of those of these containers and pods that run.
std::set<std::string> cgroups_of_running(const std::vector<std::string>& containers,
                                         const std::vector<std::string>& pods);

// The cgroup of a container's pod, by that of the container: the one around it, if that is a pod's
// (kubepods-besteffort-podUID.slice, or podUID with the runtimes' own driver), else the container's own.
std::string pod_cgroup_of(const std::string& path);

// The cgroups of a pod of Kubernetes: the one that it has for all of its containers, or else one for each of them that
// runs. `pod`: NAMESPACE/NAME. Fails as above.
Result<std::vector<std::string>> cgroups_of_pod(const CgroupTree& tree,
                                                const std::vector<Container>& known,
                                                const std::string& pod);

}  // namespace tracectl
