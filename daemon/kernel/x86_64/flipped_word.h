// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

namespace tracectl {

// The word that TrialFunction::loads reads, in memory that children share. Is made before the child is started; one at a
// time.
class FlippedWord {
 public:
  static std::optional<FlippedWord> make();
  FlippedWord(FlippedWord&& other) noexcept;
  FlippedWord& operator=(FlippedWord&&) = delete;
  ~FlippedWord();

  // While it runs, a thread writes zeros and ones to the word in turn.
  template <class Work> auto during(Work work) const {
    std::atomic<bool> is_over = false;
    std::thread writer([&] { flip(is_over); });
    auto result = work();
    is_over = true;
    writer.join();
    return result;
  }

 private:
  explicit FlippedWord(void* page) : page_(page) {}
  void flip(const std::atomic<bool>& is_over) const;

  void* page_;
};

}  // namespace tracectl
