// SPDX-License-Identifier: BSD-2-Clause
//
// The engine on the real kernel, for tests: failures of calls that must succeed fail the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/kernel/kernel.h"
#include "daemon/model/pattern.h"
#include "daemon/sessions/engine.h"
#include "daemon/spec/parse.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

namespace tracectl::on_kernel {

inline nlohmann::json parsed(const std::string& text) { return nlohmann::json::parse(text); }

// The part of a canonical name after the object.
inline std::string function_of(const std::string& probe) {
  return probe.substr(probe.rfind(':') + 1);
}

inline std::vector<std::string> functions(const Stack& stack) {
  std::vector<std::string> names;
  for (const Frame& frame : stack.frames) names.push_back(frame.function);
  return names;
}

inline bool names(const std::string& text, const std::string& wanted) {
  return text.find(wanted) != std::string::npos;
}

// The value of the key of that name; 0 if the row has none.
inline pid_t id_of(const RowKey& key, const std::string& name) {
  for (const KeyPart& part : key.by)
    if (part.name == name) return static_cast<pid_t>(std::get<int64_t>(part.value));
  return 0;
}
inline pid_t pid_of(const RowKey& key) { return id_of(key, "pid"); }
inline pid_t tid_of(const RowKey& key) { return id_of(key, "tid"); }

inline uint64_t sum(const Results& results) {
  uint64_t total = 0;
  for (const auto& [key, row] : results.rows) total += row.count;
  return total;
}

// Waits for a condition; fails the test after a minute.
template <class Condition> void until(Condition condition) {
  const auto last = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition())
    if (std::chrono::steady_clock::now() > last)
      throw std::runtime_error("waited in vain for a condition");
}

class KernelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "arming probes needs root";
    start(EngineOptions{});
  }

  void start(const EngineOptions& options) {
    engine.reset();
    engine = must(Engine::start(must(Kernel::open()), options));
  }

  Setting setting(const std::string& pattern, const Target& target, const std::string& action) {
    return {must(parse_pattern(pattern)), target, must(parse_spec(action))};
  }
  Result<StageSummary> stage(const std::string& session, const std::string& pattern,
                             const Target& target, const std::string& action) {
    return engine->drafts().set(session, {setting(pattern, target, action)});
  }
  CommitSummary set(const std::string& session, const std::string& pattern, const Target& target,
                    const std::string& action) {
    must(stage(session, pattern, target, action));
    return must(engine->commits().commit(session, {}));
  }
  void create(const std::string& session) { must(engine->create_session(session)); }
  Results read(const std::string& session, bool clear = false) {
    return must(engine->counting().read(session, clear)).results;
  }

  std::unique_ptr<Engine> engine;
};

}  // namespace tracectl::on_kernel
