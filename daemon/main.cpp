// SPDX-License-Identifier: BSD-2-Clause
//
// tracectld: options, construction, wiring, READY. No logic.
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>

#include <CLI/CLI.hpp>

#include "daemon/base/event_loop.h"
#include "daemon/control/dump_folder.h"
#include "daemon/control/listener.h"
#include "daemon/control/server.h"
#include "daemon/kernel/bpf_kernel.h"
#include "daemon/trace/engine.h"

namespace {

using namespace tracectl;

constexpr int kUsage = 2;  // as tracectl(1) has it

struct Options {
  std::string socket = "/run/tracectl/tracectl.sock";
  std::string dumps = "/var/lib/tracectl/dumps";
  size_t ring_bytes = EngineOptions{}.ring_bytes;
  double linger_s = 0;
  bool fast_nops = false;
  bool verbose = false;
};

void block_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGUSR2);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

EngineOptions engine_options(const Options& options) {
  return {.ring_bytes = options.ring_bytes,
          .linger_ns = static_cast<uint64_t>(options.linger_s * 1e9)};
}

Status serve(const Options& options) {
  // First the socket: where another daemon runs nothing is loaded into the kernel.
  auto listener = Listener::open(options.socket);
  if (!listener) return listener.error();
  auto kernel = open_kernel({.fast_nops = options.fast_nops});
  if (!kernel) return kernel.error();
  auto engine = Engine::start(std::move(*kernel), engine_options(options));
  if (!engine) return engine.error();
  auto loop = EventLoop::open();
  if (!loop) return loop.error();
  if (auto waiting = loop->end_on_signals(); !waiting) return waiting;
  if (auto fed = loop->feed_watchdog(); !fed) return fed;
  auto server = Server::start(*loop, listener->fd(), **engine, DumpFolder{options.dumps});
  if (!server) return server.error();
  auto dumping =
      loop->on_signal(SIGUSR2, [&] { (*server)->dump_recorders("the daemon got SIGUSR2"); });
  if (!dumping) return dumping.error();
  spdlog::info("listening on {}", options.socket);
  ::sd_notify(0, "READY=1");
  auto ended = loop->run();
  ::sd_notify(0, "STOPPING=1");
  return ended;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"tracectld - attaches probes to running programs for tracectl"};
  app.set_version_flag("--version", TRACECTL_VERSION);
  app.add_option("--socket", options.socket, "Unix socket to listen on")
      ->envname("TRACECTL_SOCKET")
      ->capture_default_str();
  app.add_option("--dumps", options.dumps,
                 "directory to which flight recorders are dumped by triggers, crashes and SIGUSR2")
      ->capture_default_str();
  app.add_option("--ring-bytes", options.ring_bytes,
                 "size of the ring of each CPU and session; a power of two")
      ->capture_default_str()
      ->check([](const std::string& text) {
        const size_t size = std::strtoull(text.c_str(), nullptr, 10);
        const bool good = size >= 4096 && size <= (size_t{1} << 30) && (size & (size - 1)) == 0;
        return good ? "" : "a power of two from 4096 to 1073741824 is wanted";
      });
  app.add_option("--linger", options.linger_s,
                 "seconds for which a site that nobody wants any more stays armed, switched off, "
                 "so that switching it on again is quick; not if it has a semaphore")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0));
  app.add_flag("--fast-nops", options.fast_nops,
               "let probes on 5-byte nops become calls, which halves the cost of a hit, though on "
               "this kernel a child dies of them that a traced program forks");
  app.add_flag("-v,--verbose", options.verbose, "log more");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }

  spdlog::set_default_logger(spdlog::stderr_logger_st("tracectld"));
  spdlog::set_pattern("%l: %v");
  if (options.verbose) spdlog::set_level(spdlog::level::debug);
  block_signals();
  const auto served = serve(options);
  if (served) return 0;
  spdlog::error("{}", served.error().message);
  return 1;
}
