// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/x86_64/flipped_word.h"

#include <sys/mman.h>

#include <utility>

#include "daemon/kernel/trial_code.h"

namespace tracectl {
namespace {

constexpr size_t kPageBytes = 4096;

}  // namespace

std::optional<FlippedWord> FlippedWord::make() {
  void* page =
      ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return std::nullopt;
  set_trial_word(page);
  return FlippedWord{page};
}

FlippedWord::FlippedWord(FlippedWord&& other) noexcept
    : page_(std::exchange(other.page_, nullptr)) {}

FlippedWord::~FlippedWord() {
  if (!page_) return;
  set_trial_word(nullptr);
  ::munmap(page_, kPageBytes);
}

// As often as it can, and both values for equal times.
void FlippedWord::flip(const std::atomic<bool>& is_over) const {
  auto* word = static_cast<volatile uint64_t*>(page_);
  for (uint64_t value = 0; !is_over.load(std::memory_order_relaxed); value = ~value) *word = value;
}

}  // namespace tracectl
