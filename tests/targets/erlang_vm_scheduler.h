// SPDX-License-Identifier: BSD-2-Clause
//
// Schedulers are threads that take runnables from one queue. A scheduler that finds the queue empty is
// inactive until something comes. Its probes are passed while the queue is locked, so that their number of
// active schedulers is right.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "erlang_vm_ledger.h"

// A process or a port.
class Runnable {
 public:
  virtual ~Runnable() = default;
  // Runs until it waits, ends, or has used its share; in the last case it puts itself into the queue again.
  virtual void run() = 0;
};

class RunQueue {
 public:
  void push(std::shared_ptr<Runnable> task) {
    const std::lock_guard guard(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }

  // No more runnables will come.
  void stop() {
    const std::lock_guard guard(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

  // Runs what is in the queue, until stop().
  void serve(Name scheduler) {
    std::unique_lock lock(mutex_);
    Moment active_at = become_active(scheduler, {});
    while (true) {
      if (tasks_.empty()) {
        const Moment inactive_at = become_inactive(scheduler, active_at);
        changed_.wait(lock, [&] { return stopped_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        active_at = become_active(scheduler, inactive_at);
      }
      const std::shared_ptr<Runnable> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task->run();
      lock.lock();
    }
  }

 private:
  Moment become_active(Name scheduler, Moment inactive_at) {
    ++active_;
    return PASS_NUMBER(SCHEDULER_ACTIVE, scheduler, active_).since(inactive_at);
  }

  Moment become_inactive(Name scheduler, Moment active_at) {
    --active_;
    return PASS_NUMBER(SCHEDULER_INACTIVE, scheduler, active_).since(active_at);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Runnable>> tasks_;
  int active_ = 0;
  bool stopped_ = false;
};

inline void run_schedulers(RunQueue& queue, uint64_t count) {
  std::vector<std::thread> threads;
  for (uint64_t number = 1; number <= count; ++number)
    threads.emplace_back([&queue, number] { queue.serve(number_name(number)); });
  for (std::thread& thread : threads) thread.join();
}
