// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/kernel_types.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

namespace tracectl::on_kernel {
namespace {

// The names of the running kernel's own functions and variables.
std::set<std::string> symbols() {
  std::set<std::string> names;
  std::ifstream file("/proc/kallsyms");
  std::string address, kind, name, rest;
  while (file >> address >> kind >> name && std::getline(file, rest))
    if (rest.empty()) names.insert(name);
  return names;
}

TEST(KernelTypes, AreThoseOfTheRunningKernel) {
  const KernelTypes types;
  ASSERT_TRUE(types.are_known());
  EXPECT_TRUE(types.has_function("bpf_task_storage_get"));
  EXPECT_TRUE(types.has_member("task_struct", "comm"));
  EXPECT_FALSE(types.has_member("task_struct", "no_such_member"));
  EXPECT_FALSE(types.has_member("no_such_structure", "comm"));
  EXPECT_FALSE(types.has_function("no_such_function"));
  EXPECT_FALSE(types.has_variable("bpf_task_storage_get"));
}

// One change of the kernel made the removal of probes wait for all hits, by a function of its own, and gave the
// consumers of a uprobe the member by which that is found.
TEST(KernelTypes, TellWhetherTheRemovalOfProbesWaits) {
  EXPECT_EQ(KernelTypes().has_member("uprobe_consumer", "cons_node"),
            symbols().contains("uprobe_unregister_sync"));
}

}  // namespace
}  // namespace tracectl::on_kernel
