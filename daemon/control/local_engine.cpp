// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/local_engine.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/kernel/kernel.h"

namespace tracectl {
namespace {

constexpr size_t kMostItems = 1 << 20;  // that wait to be taken, of each session

}  // namespace

Result<std::unique_ptr<LocalEngine>> LocalEngine::start(const Options& options) {
  spdlog::set_default_logger(spdlog::stderr_logger_st("tracectl"));
  spdlog::set_pattern("%l: %v");
  spdlog::set_level(options.verbose ? spdlog::level::info : spdlog::level::err);
  auto kernel = Kernel::open({.fast_nops = options.fast_nops, .for_one_command = true});
  if (!kernel) return kernel.error();
  auto engine = Engine::start(std::move(*kernel), EngineOptions{.for_one_command = true});
  if (!engine) return engine.error();
  Fd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!wake) return Error::from_errno("eventfd");
  return std::unique_ptr<LocalEngine>{new LocalEngine(std::move(*engine), std::move(wake))};
}

LocalEngine::LocalEngine(std::unique_ptr<Engine> engine, Fd wake)
    : wake_(std::move(wake)), engine_(std::move(engine)), commands_(*engine_, counts_) {
  peer_.uid = ::geteuid();
  peer_.pid = ::getpid();
  peer_.make_sink =
      [fd = wake_.get()](const protocol::SessionSubscribe&) -> Result<std::shared_ptr<EventSink>> {
    return std::shared_ptr<EventSink>{std::make_shared<ItemQueue>(kMostItems, [fd] {
      const uint64_t one = 1;
      (void)!::write(fd, &one, sizeof(one));
    })};
  };
}

LocalEngine::~LocalEngine() { commands_.leave(peer_); }

std::vector<StreamItem> LocalEngine::take_items() {
  uint64_t count = 0;
  (void)!::read(wake_.get(), &count, sizeof(count));
  std::vector<StreamItem> all;
  for (const auto& [session, sink] : peer_.subscriptions) {
    auto items = static_cast<ItemQueue&>(*sink).drain();
    std::move(items.begin(), items.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace tracectl
