// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/long_work.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <new>
#include <system_error>
#include <thread>

namespace tracectl {
namespace {

// Returns no thread if none can be made, or if there is no memory for one.
template <class Body> std::thread start_thread(Body body) try {
  return std::thread(body);
} catch (const std::system_error&) {
  return {};
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace

void LongWork::run(const std::function<void()>& work) {
  if (!meanwhile_ || runs_) return work();
  const Fd done{::eventfd(0, EFD_CLOEXEC)};
  if (!done) return work();
  std::exception_ptr thrown;
  runs_ = true;
  std::thread thread = start_thread([&] {
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    const uint64_t one = 1;
    (void)!::write(done.get(), &one, sizeof(one));
  });
  if (!thread.joinable()) {
    runs_ = false;
    return work();
  }
  call_meanwhile(done.get());
  thread.join();
  runs_ = false;
  if (thrown) std::rethrow_exception(thrown);
}

// If memory is short, it just waits for the end.
void LongWork::call_meanwhile(int done_fd) try {
  meanwhile_(done_fd);
} catch (const std::bad_alloc&) {}

}  // namespace tracectl
