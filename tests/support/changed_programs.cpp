// SPDX-License-Identifier: BSD-2-Clause
//
// Of kernel-tests only, which is linked with --wrap=bpf_object__open_skeleton: TRACECTL_TEST_BPF names
// an object file whose programs are loaded in place of those that are built in (tests/mutate).
#include <bpf/libbpf.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

extern "C" {

int __real_bpf_object__open_skeleton(bpf_object_skeleton* skeleton,
                                     const bpf_object_open_opts* options);

int __wrap_bpf_object__open_skeleton(bpf_object_skeleton* skeleton,
                                     const bpf_object_open_opts* options) {
  const char* path = std::getenv("TRACECTL_TEST_BPF");
  if (!path) return __real_bpf_object__open_skeleton(skeleton, options);
  static const std::string changed = [path] {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  skeleton->data = const_cast<char*>(changed.data());
  skeleton->data_sz = changed.size();
  return __real_bpf_object__open_skeleton(skeleton, options);
}
}
