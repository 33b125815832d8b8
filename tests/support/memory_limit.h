// SPDX-License-Identifier: BSD-2-Clause
//
// For a program that includes this the C++ allocations of a thread can be made to fail.
#pragma once

namespace tracectl::on_kernel {

// While it lives this many allocations of its thread succeed, and none after them.
class MemoryLimit {
 public:
  explicit MemoryLimit(long allocations);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
};

// While it lives no allocation of any other thread than its own succeeds.
class MemoryOfOneThread {
 public:
  MemoryOfOneThread();
  ~MemoryOfOneThread();
  MemoryOfOneThread(const MemoryOfOneThread&) = delete;
  MemoryOfOneThread& operator=(const MemoryOfOneThread&) = delete;
};

}  // namespace tracectl::on_kernel
