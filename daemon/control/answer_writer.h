// SPDX-License-Identifier: BSD-2-Clause
//
// A thread of its own writes long answers as text, so that the thread that serves all clients goes on.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// One request's line, and whether it was refused.
struct Reply {
  std::string line;
  bool refused = false;
};

class AnswerWriter {
 public:
  using Write = std::function<Reply()>;

  struct Written {
    uint64_t connection = 0;
    Reply reply;
    Write write;  // returned so that the caller of take() frees what it holds
  };

  static Result<std::unique_ptr<AnswerWriter>> start();
  // Waits for the answer that is being written.
  ~AnswerWriter();
  AnswerWriter(const AnswerWriter&) = delete;
  AnswerWriter& operator=(const AnswerWriter&) = delete;

  // Readable when take() has something.
  int fd() const { return wake_.get(); }
  // Users take turns. `connection`: the caller's number for it.
  void write(uint64_t connection, uid_t user, Write write);
  std::vector<Written> take();

 private:
  struct Job {
    uint64_t connection = 0;
    uid_t user = 0;
    Write write;
  };

  explicit AnswerWriter(Fd wake) : wake_(std::move(wake)) {}
  void run();
  Job next_job();

  Fd wake_;
  std::mutex mutex_;  // of everything below
  std::condition_variable has_work_;
  std::list<Job> jobs_;  // in the order in which they came
  uid_t last_user_ = 0;
  std::vector<Written> done_;
  bool ending_ = false;
  std::thread thread_;  // the last: it uses all of the others
};

}  // namespace tracectl
