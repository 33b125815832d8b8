// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/memory_store.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {

// Engines one after another, with a store that outlives them.
class RestartTest : public KernelTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "arming probes needs root";
    open();
  }

  void open() {
    engine =
        must(Engine::start(must(Kernel::open({.emulates = emulates, .store = &store})),
                           {.ring_bytes = ring_bytes, .awaits_libraries = true}, nullptr, &store));
  }
  void save(const std::string& session) {
    must(engine->create_session(session, std::nullopt, std::nullopt, true));
  }
  void close() {
    for (const auto& [name, session] : engine->sessions())
      if (session.saved) saved_.push_back({name, session.settings, std::nullopt, std::nullopt});
    engine.reset();
  }
  static Target running(const std::string& path) {
    Target target;
    target.executables = {path};
    return target;
  }
  // Runs it before a restart, while there is no daemon, and afterwards.
  template <class Run> void run_three_times(Run run) {
    run();
    close();
    run();
    go_on();
    run();
  }
  // With all saved sessions.
  void go_on() {
    open();
    take_up();
  }
  // With an engine that is already open.
  void take_up() {
    for (const auto& answer : engine->restore(std::exchange(saved_, {}))) must(answer);
  }
  void restart() {
    close();
    go_on();
  }

  MemoryStore store;
  // Of engines opened from now on.
  size_t ring_bytes = 16 << 20;
  bool emulates = false;

 private:
  std::vector<Returning> saved_;
};

}  // namespace tracectl::on_kernel
