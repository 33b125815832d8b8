// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "daemon/sessions/engine.h"
#include "tests/support/collector.h"
#include "tests/support/must.h"

namespace tracectl::on_kernel {

// Stops the reader of events at the session's first event, until let_go(). Events of hits in that time are
// read later; the engine must not be called meanwhile.
class HeldReader {
 public:
  HeldReader(Engine& engine, const std::string& session) : holder_(std::make_shared<Holder>()) {
    must(engine.streams().subscribe(session, holder_));
  }
  ~HeldReader() { let_go(); }
  HeldReader(const HeldReader&) = delete;
  HeldReader& operator=(const HeldReader&) = delete;

  void wait_until_held() const { holder_->holds.wait(false); }
  void let_go() {
    holder_->is_over = true;
    holder_->is_over.notify_all();
  }
  std::vector<Event> events() const { return events_of(*holder_); }

 private:
  struct Holder : Collector {
    void take(std::span<const StreamItem> items) override {
      Collector::take(items);
      holds = true;
      holds.notify_all();
      is_over.wait(false);
    }
    std::atomic<bool> holds{false}, is_over{false};
  };

  std::shared_ptr<Holder> holder_;
};

}  // namespace tracectl::on_kernel
