// SPDX-License-Identifier: BSD-2-Clause
//
// For kernel-tests only, linked with --wrap=bpf_object__open_skeleton: loads the programs in the object file
// that TRACECTL_TEST_BPF names, instead of the built-in ones (tests/mutate).
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
