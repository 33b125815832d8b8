// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <bpf/libbpf.h>

namespace tracectl {

// Silences libbpf while it exists: the kernel's report on a refused program is long, and the program is optional.
class Quiet {
 public:
  explicit Quiet(bool is_quiet = true) : is_quiet_(is_quiet) {
    if (is_quiet_) before_ = libbpf_set_print(nullptr);
  }
  ~Quiet() {
    if (is_quiet_) libbpf_set_print(before_);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  bool is_quiet_;
  libbpf_print_fn_t before_ = nullptr;
};

}  // namespace tracectl
