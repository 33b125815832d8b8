// SPDX-License-Identifier: BSD-2-Clause
//
// Makes C++ allocations of a thread fail in programs that include this.
#pragma once

namespace tracectl::on_kernel {

// While this exists, only this many allocations of its thread succeed.
class MemoryLimit {
 public:
  explicit MemoryLimit(long allocations);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
};

// While this exists, the allocations of all other threads fail.
class MemoryOfOneThread {
 public:
  MemoryOfOneThread();
  ~MemoryOfOneThread();
  MemoryOfOneThread(const MemoryOfOneThread&) = delete;
  MemoryOfOneThread& operator=(const MemoryOfOneThread&) = delete;
};

}  // namespace tracectl::on_kernel
