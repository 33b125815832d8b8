// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/memory_limit.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

constexpr long kUnlimited = -1;
thread_local long allocations_left = kUnlimited;
std::atomic<bool> is_for_one_thread = false;
thread_local bool is_that_thread = false;

bool denied() {
  if (is_for_one_thread && !is_that_thread) return true;
  if (allocations_left == kUnlimited) return false;
  if (allocations_left == 0) return true;
  --allocations_left;
  return false;
}

}  // namespace

// The other forms call these.
void* operator new(std::size_t size) {
  void* memory = denied() ? nullptr : std::malloc(size ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tracectl::on_kernel {

MemoryLimit::MemoryLimit(long allocations) { allocations_left = allocations; }
MemoryLimit::~MemoryLimit() { allocations_left = kUnlimited; }

MemoryOfOneThread::MemoryOfOneThread() { is_for_one_thread = is_that_thread = true; }
MemoryOfOneThread::~MemoryOfOneThread() { is_for_one_thread = is_that_thread = false; }

}  // namespace tracectl::on_kernel
