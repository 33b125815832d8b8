// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/answer_writer.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace tracectl {

Result<std::unique_ptr<AnswerWriter>> AnswerWriter::start() try {
  Fd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!wake) return Error::from_errno("eventfd");
  std::unique_ptr<AnswerWriter> writer{new AnswerWriter(std::move(wake))};
  writer->thread_ = std::thread([raw = writer.get()] { raw->run(); });
  return writer;
} catch (const std::system_error& error) {
  return Error{Code::exhausted, std::string("start a thread: ") + error.what()};
}

AnswerWriter::~AnswerWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  has_work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void AnswerWriter::write(uint64_t connection, uid_t user, Write write) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({connection, user, std::move(write)});
  }
  has_work_.notify_one();
}

std::vector<AnswerWriter::Written> AnswerWriter::take() {
  uint64_t count = 0;
  (void)!::read(fd(), &count, sizeof(count));
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

// The first job of another user than the last job's, or the first of all if there is none.
AnswerWriter::Job AnswerWriter::next_job() {
  const auto other = std::find_if(jobs_.begin(), jobs_.end(),
                                  [&](const Job& job) { return job.user != last_user_; });
  const auto at = other == jobs_.end() ? jobs_.begin() : other;
  Job job = std::move(*at);
  jobs_.erase(at);
  last_user_ = job.user;
  return job;
}

void AnswerWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    has_work_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
    if (ending_) return;
    Job job = next_job();
    lock.unlock();
    Written written{job.connection, job.write(), std::move(job.write)};
    lock.lock();
    done_.push_back(std::move(written));
    const uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof(one));
  }
}

}  // namespace tracectl
