// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/local_engine.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/base/fd.h"
#include "daemon/control/commands.h"
#include "daemon/control/log.h"
#include "daemon/control/own_capabilities.h"
#include "daemon/kernel/kernel.h"
#include "daemon/sessions/engine.h"
#include "daemon/stream/item_queue.h"

namespace tracectl {
namespace {

using namespace protocol;

constexpr size_t kMostItems = 1 << 20;  // that wait to be taken, of each session

using DirectHandler = void (*)(Commands&, const void* request, Peer&, void* reply);

template <class Request>
void handle_as(Commands& commands, const void* request, Peer& peer, void* reply) {
  *static_cast<Result<typename Request::Reply>*>(reply) =
      commands.handle(*static_cast<const Request*>(request), peer);
}

template <class... Requests> DirectHandler handler_of(size_t method, RequestList<Requests...>) {
  static constexpr DirectHandler kAll[] = {&handle_as<Requests>...};
  return kAll[method];
}

Result<std::deque<Fd>> copies_of(std::span<const int> descriptors) {
  std::deque<Fd> copies;
  for (const int descriptor : descriptors) {
    Fd copy{::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)};
    if (!copy) return Error::from_errno("keep the file");
    copies.push_back(std::move(copy));
  }
  return copies;
}

}  // namespace

struct LocalEngine::Running {
  Running(std::unique_ptr<Engine> begun, Fd woken)
      : wake(std::move(woken)), engine(std::move(begun)), commands(*engine, counts) {
    peer.uid = ::geteuid();
    peer.pid = ::getpid();
    peer.make_sink = [fd =
                          wake.get()](const SessionSubscribe&) -> Result<std::shared_ptr<HitSink>> {
      return std::shared_ptr<HitSink>{std::make_shared<ItemQueue>(kMostItems, [fd] {
        const uint64_t one = 1;
        (void)!::write(fd, &one, sizeof(one));
      })};
    };
  }
  ~Running() { commands.sessions().leave(peer); }

  Fd wake;
  ServerCounts counts;
  std::unique_ptr<Engine> engine;
  Commands commands;
  Peer peer;
  Arrived arrived;  // taken last
};

Result<std::unique_ptr<LocalEngine>> LocalEngine::start(const Options& options) {
  if (auto may = check_capabilities_of_command(); !may) return may.error();
  open_command_log(options.verbose);
  auto kernel = Kernel::open(
      {.fast_nops = options.fast_nops, .emulates = options.emulate, .for_one_command = true});
  if (!kernel) return kernel.error();
  if (const auto& emulates = (*kernel)->emulation(); !emulates)
    return emulates.error().in("--emulate");
  auto engine = Engine::start(std::move(*kernel), EngineOptions{.for_one_command = true});
  if (!engine) return engine.error();
  Fd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!wake) return Error::from_errno("eventfd");
  return std::unique_ptr<LocalEngine>{
      new LocalEngine(std::make_unique<Running>(std::move(*engine), std::move(wake)))};
}

LocalEngine::LocalEngine(std::unique_ptr<Running> running) : running_(std::move(running)) {}

LocalEngine::~LocalEngine() = default;

Status LocalEngine::handle(size_t method, const void* request, std::span<const int> descriptors,
                           void* reply) {
  auto copies = copies_of(descriptors);
  if (!copies) return copies.error();
  running_->peer.descriptors = std::move(*copies);
  handler_of(method, AllRequests{})(running_->commands, request, running_->peer, reply);
  running_->peer.descriptors.clear();
  return ok();
}

int LocalEngine::events_fd() const { return running_->wake.get(); }

void LocalEngine::take_arrived(const std::function<void(const Arrived&)>& use) {
  uint64_t count = 0;
  (void)!::read(events_fd(), &count, sizeof(count));
  for (const auto& [session, sink] : running_->peer.subscriptions) {
    static_cast<ItemQueue&>(*sink).drain(running_->arrived);
    use(running_->arrived);
  }
}

}  // namespace tracectl
