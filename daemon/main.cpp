// SPDX-License-Identifier: BSD-2-Clause
//
// tracectld: options, construction, wiring, READY. No logic.
#include <signal.h>

#include <CLI/CLI.hpp>

#include "daemon/base/event_loop.h"
#include "daemon/base/service.h"
#include "daemon/base/service_store.h"
#include "daemon/control/configuration.h"
#include "daemon/control/dump_folder.h"
#include "daemon/control/listener.h"
#include "daemon/control/log.h"
#include "daemon/control/own_capabilities.h"
#include "daemon/control/server.h"
#include "daemon/kernel/kernel.h"
#include "daemon/sandbox/confined_reading.h"
#include "daemon/sandbox/forbidden_calls.h"
#include "daemon/sandbox/reading_main.h"
#include "daemon/sessions/engine.h"

namespace {

using namespace tracectl;

constexpr int kUsage = 2;  // as in tracectl(1)

struct Paths {
  std::string socket = "/run/tracectl/tracectl.sock";
  std::string sessions = "/etc/tracectl/sessions.d";
};

void block_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGUSR2);
  ::sigaddset(&signals, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

EngineOptions engine_options(const Configuration& configuration) {
  return {.ring_bytes = configuration.ring_bytes,
          .linger_ns = static_cast<uint64_t>(configuration.linger_s * 1e9),
          .memory_bytes = configuration.memory_bytes,
          .quota = configuration.quota,
          .awaits_libraries = true};
}

// If systemd has made the socket, it still belongs to systemd.
Result<Listener> open_listener(const std::string& path) {
  auto passed = socket_of_service();
  if (!passed) return passed.error();
  return *passed ? Listener::on(std::move(**passed)) : Listener::open(path);
}

void reload(const ConfigurationSource& source, LiveConfiguration& live) {
  notify_service_reloading();
  notify_service_ready(live.take(source.read()));
}

Status serve(const Paths& paths, const ConfigurationSource& source,
             const Configuration& configuration) {
  std::optional<QueuedLog> queued;  // ends last, because it may wait for the reader of the log
  if (auto able = take_capabilities(); !able) return able;
  if (auto forbidden = forbid_calls(); !forbidden) return forbidden;
  // The socket comes first: if another daemon runs, nothing is loaded into the kernel.
  auto listener = open_listener(paths.socket);
  if (!listener) return listener.error();
  auto store = open_service_store();
  if (!store) return store.error();
  auto kernel = Kernel::open({.fast_nops = configuration.fast_nops,
                              .emulates = configuration.emulate,
                              .store = store->get()});
  if (!kernel) return kernel.error();
  if (const auto& emulates = (*kernel)->emulation(); !emulates)
    log_warning("nothing is emulated: {}", emulates.error().message);
  auto reading =
      ConfinedReading::start({}, [](const std::string& what) { log_warning("{}", what); });
  if (!reading) return reading.error();
  auto engine = Engine::start(std::move(*kernel), engine_options(configuration),
                              std::move(*reading), store->get());
  if (!engine) return engine.error();
  auto loop = EventLoop::open();
  if (!loop) return loop.error();
  if (auto waiting = loop->end_on_signals(); !waiting) return waiting;
  if (auto fed = loop->feed_watchdog(); !fed) return fed;
  DumpFolder dumps{configuration.dumps};
  auto server = Server::start(*loop, listener->fd(), **engine, dumps, store->get());
  if (!server) return server.error();
  auto dumping =
      loop->on_signal(SIGUSR2, [&] { (*server)->dump_recorders("the daemon got SIGUSR2"); });
  if (!dumping) return dumping.error();
  LiveConfiguration live{configuration, dumps};
  auto reloading = loop->on_signal(SIGHUP, [&] { reload(source, live); });
  if (!reloading) return reloading.error();
  (*server)->begin_saved(paths.sessions);
  if (*store) {
    (*store)->forget_untaken();
    (*store)->wait_until_forgotten();
  }
  log_info("listening on {}", listener->path());
  queued.emplace();
  notify_service_ready("listening on " + listener->path());
  auto ended = loop->run();
  notify_service_stopping();
  (*engine)->streams().end();
  (*server)->send_rest();
  return ended;
}

void add_options(CLI::App& app, Paths& paths, ConfigurationSource& source) {
  auto& asked = source.command_line;
  const Configuration defaults;
  app.add_option("--socket", paths.socket, "Unix socket to listen on, where systemd passes none")
      ->envname("TRACECTL_SOCKET")
      ->capture_default_str();
  app.add_option("--sessions", paths.sessions, "directory of sessions that begin with the daemon")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--config",
         [&source](const std::string& path) {
           source.path = path;
           source.must_exist = true;
         },
         "file of the configuration; what is given here goes before what it says")
      ->default_str(source.path);
  app.add_option("--dumps", asked.dumps,
                 "directory to which flight recorders are dumped by triggers, crashes and SIGUSR2")
      ->default_str(defaults.dumps);
  app.add_option("--ring-bytes", asked.ring_bytes,
                 "size of the ring of each CPU and session; a power of two")
      ->default_str(std::to_string(defaults.ring_bytes));
  app.add_option("--linger", asked.linger,
                 "seconds for which an unused site stays armed, switched off, so that it can be "
                 "switched on quickly; not if it has a semaphore")
      ->default_str("0");
  app.add_flag_callback(
      "--fast-nops", [&asked] { asked.fast_nops = true; },
      "turn probes on 5-byte nops into calls, at half the cost of a hit; on Linux 6.18 to 7.1, "
      "children forked by a traced program crash");
  app.add_flag_callback(
      "--emulate", [&asked] { asked.emulate = true; },
      "carry out in a BPF program what the kernel would single-step, where the kernel lets "
      "programs "
      "write registers");
  app.add_flag_callback(
      "-v,--verbose", [&asked] { asked.verbose = true; }, "log more");
}

}  // namespace

int main(int argc, char** argv) {
  if (is_reading_process({argv, static_cast<size_t>(argc)})) return serve_reading();
  Paths paths;
  ConfigurationSource source;
  bool only_check = false;
  CLI::App app{"tracectld - attaches probes to running programs for tracectl"};
  app.set_version_flag("--version", TRACECTL_VERSION);
  add_options(app, paths, source);
  app.add_flag("--check-config", only_check, "read the configuration, tell what is wrong, and end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }

  open_log();
  const auto configuration = source.read();
  if (!configuration) {
    log_last(configuration.error().message);
    return kUsage;
  }
  if (only_check) return 0;
  set_log_verbose(configuration->verbose);
  block_signals();
  const auto served = serve(paths, source, *configuration);
  if (served) return 0;
  log_last(served.error().message);
  return 1;
}
