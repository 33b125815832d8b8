// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "client/ui/tracing.h"
#include "daemon/base/fd.h"

namespace tracectl::ui {

// Carries out requests in a thread of its own, one after another, so that keys never wait for the engine.
class Asker {
 public:
  // `readable`: an eventfd.
  Asker(const CommonOptions& common, const TracingOptions& options, Backend& backend,
        NamedDebugFiles debug_files, Fd readable);
  // Ends after the request that is being carried out.
  ~Asker();
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  void ask(Request request);
  // Readable when there are answers.
  int fd() const { return readable_.get(); }
  std::vector<Answer> take_answers();
  // Waits for the thread. Then the session is the caller's to end.
  Tracing& end();

 private:
  void run();
  std::optional<Request> next();
  void say(Answer answer);

  Fd readable_;
  Tracing tracing_;
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::deque<Request> requests_;
  std::vector<Answer> answers_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

}  // namespace tracectl::ui
