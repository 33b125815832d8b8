// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/asker.h"

#include <unistd.h>

#include <cstdint>

namespace tracectl::ui {

Asker::Asker(const CommonOptions& common, const TracingOptions& options, Backend& backend,
             NamedDebugFiles debug_files, Fd readable)
    : readable_(std::move(readable)),
      tracing_(common, options, backend, std::move(debug_files),
               [this](Answer answer) { say(std::move(answer)); }),
      thread_([this] { run(); }) {}

Asker::~Asker() { end(); }

Tracing& Asker::end() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wanted_.notify_one();
  if (thread_.joinable()) thread_.join();
  return tracing_;
}

void Asker::ask(Request request) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
  }
  wanted_.notify_one();
}

std::vector<Answer> Asker::take_answers() {
  uint64_t count;
  (void)!::read(readable_.get(), &count, sizeof(count));
  const std::lock_guard lock(mutex_);
  return std::move(answers_);
}

void Asker::say(Answer answer) {
  {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
  }
  const uint64_t one = 1;
  (void)!::write(readable_.get(), &one, sizeof(one));
}

void Asker::run() {
  using Clock = std::chrono::steady_clock;
  for (auto look_at = Clock::now(); !is_over_;) {
    if (const auto request = next()) tracing_.handle(*request);
    if (is_over_ || Clock::now() < look_at) continue;
    look_at = Clock::now() + std::chrono::milliseconds(Tracing::kLookEveryMs);
    tracing_.look();
  }
}

// None: nothing is wanted for so long that it is time to look.
std::optional<Request> Asker::next() {
  std::unique_lock lock(mutex_);
  wanted_.wait_for(lock, std::chrono::milliseconds(Tracing::kLookEveryMs),
                   [&] { return is_over_ || !requests_.empty(); });
  if (is_over_ || requests_.empty()) return std::nullopt;
  Request request = std::move(requests_.front());
  requests_.pop_front();
  return request;
}

}  // namespace tracectl::ui
