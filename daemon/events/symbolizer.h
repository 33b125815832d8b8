// SPDX-License-Identifier: BSD-2-Clause
//
// Makes stacks of what hits have brought. What a process maps is looked at while it lives, and kept
// when it has ended: when it is armed, with its first stack, and again when a stack leads to where
// nothing was known. A process that executes another program has that program's stacks named by it, and
// those from before by what was kept; where nothing was, they stay addresses.
//
// What a file says is told only to who could open it: others are told its name, as the process's maps have it,
// and where in it. The answers are kept for all, and this is asked of each stack.
//
// What the files say is asked of who reads them (daemon/reading/stack_reader.h), which can take its time,
// and can fail: then stacks stay addresses, too. The answers are kept, as stacks are much alike.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/events/process_image.h"
#include "daemon/model/owner.h"
#include "daemon/model/stack.h"
#include "daemon/process/process.h"
#include "daemon/reading/stack_reader.h"

namespace tracectl {

// A stack that is to be made. Its owner reads `stack`; all else is the symbolizer's.
struct StackOrder {
  pid_t pid = 0;
  std::shared_ptr<const RawStack> raw;
  uint64_t since_ns = 0;
  std::optional<Owner> owner = {};          // for whom; none: for one who may trace every process
  std::shared_ptr<const Stack> stack = {};  // once it is made

  std::optional<Unwound> unwound = {};  // of a copy
  bool was_looked_for = false;          // what its process maps was looked at again
};
using StackOrders = std::vector<std::shared_ptr<StackOrder>>;

// Every member may be called from any thread.
class Symbolizer {
 public:
  // Of all programs together. Beyond these a program is forgotten; its further stacks stay addresses where its
  // process has ended.
  struct Bounds {
    size_t programs, open_files;
  };
  explicit Symbolizer(std::unique_ptr<StackReading> reading,
                      const Bounds& bounds = {.programs = 1024, .open_files = 4096})
      : reading_(std::move(reading)), bounds_(bounds) {}

  // What the process maps now. Does it once for many calls in a row with the same process.
  void remember(const Process& process);

  // Null for one without addresses.
  static std::shared_ptr<StackOrder> order_of(const StackAddresses& stack);
  // Goes on with those that are not made yet, and waits for nobody.
  void go_on(const StackOrders& orders);
  // Leaves addresses where answers are still awaited; and so of all stacks of these programs until an
  // answer has come, as they have been waited for long enough.
  void give_up(const StackOrders& orders);
  // Of rows. Waits a while for answers. For one thread at a time.
  std::vector<Stack> stacks_of(std::span<const StackAddresses> stacks,
                               const std::optional<Owner>& owner);

  // Nobody wants a stack any more: forgets all programs, and closes their files.
  void rest();
  // Readable when go_on() may get further; -1: it always gets to the end.
  int fd() const { return reading_->fd(); }

 private:
  static constexpr size_t kMostKeptBytes = 64 << 20;  // of frames, of all programs

  // A program that a process executes, or did.
  struct Executed {
    pid_t pid = 0;
    uint64_t image = 0;  // Process::image()
    auto operator<=>(const Executed&) const = default;
  };

  struct Asked {
    StackQuestion question;
    StackOrders orders;  // of whom the copies are
  };

  struct Known {
    ProcessImage image;
    uid_t user =
        static_cast<uid_t>(-1);  // as whom the process runs; -1: it has ended before this was read
    std::unique_ptr<StackReader> reader;
    std::map<CodeAddress, Frames> frames;  // those that have been answered
    std::optional<Asked> asked;
    std::vector<CodeAddress> wanted;  // by orders; and those whose copies are to be unwound:
    StackOrders to_unwind;
    bool has_failed = false;    // to answer, just now
    bool is_slow = false;       // nobody waits for its next answer
    uint64_t looked_at_ns = 0;  // when that was done
    uint64_t look_cost_ns = 0;  // how long it took
    uint64_t used = 0;          // greater: later
  };

  static Executed program_of(const StackOrder& order) { return {order.pid, order.raw->image}; }
  Known* look_at(const Executed& program);
  bool may_look_again(const Known& known) const;
  Known* find(StackOrder& order);
  void make_room(const Executed& wanted);
  std::map<uid_t, size_t> files_by_user() const;
  bool forget_one(const Executed& wanted);

  bool round(const StackOrders& orders);
  bool take_answer(Known& known);
  void keep(Known& known, const std::vector<CodeAddress>& asked, std::vector<Frames> answer);
  bool ask(Known& known);
  void make(const std::shared_ptr<StackOrder>& order);
  bool wants(Known& known, const std::shared_ptr<StackOrder>& order);
  void forget_frames();
  void leave(const StackOrders& orders, bool are_slow);
  uint64_t patience_ns();

  std::mutex mutex_;
  std::unique_ptr<StackReading> reading_;  // outlives its readers
  Bounds bounds_;
  MappedFiles files_;
  std::map<Executed, Known> programs_;
  uint64_t last_remembered_ = 0;  // Process::birth()
  uint64_t uses_ = 0;
  size_t kept_bytes_ = 0;
  uint64_t begun_ns_ = 0;  // the time of which this much has been waited for rows:
  uint64_t waited_ns_ = 0;
};

}  // namespace tracectl
