// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

struct btf;

namespace tracectl {

// What the running kernel is built of, from its own BTF: for properties that cannot be tried. A backport brings
// its types along, so this is right where a release number is not.
class KernelTypes {
 public:
  // Reads /sys/kernel/btf/vmlinux, which takes some milliseconds.
  KernelTypes();

  bool are_known() const { return types_ != nullptr; }
  // All are false if the types are not known.
  bool has_variable(const char* name) const;
  bool has_function(const char* name) const;
  bool has_member(const char* structure, const char* member) const;

 private:
  int id_of(const char* name, unsigned kind) const;  // not positive if it has none

  std::shared_ptr<btf> types_;
};

}  // namespace tracectl
