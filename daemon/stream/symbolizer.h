// SPDX-License-Identifier: BSD-2-Clause
//
// Resolves the stacks of hits. The mappings of a process are read while it lives, and kept after
// its end: when it is armed, with its first stack, and again if a stack leads to an unknown place.
// If a process executes another program, its stacks are resolved by that program's mappings, and
// earlier ones by those that were kept; without these they stay addresses.
//
// The contents of a file are shown only to users who could open it. Others see its name, as in the
// process's maps, and the offset in it. Answers are kept for all users, and this is checked for
// each stack.
//
// Files are read by StackReading (daemon/object/stack_reader.h), which can take time, and can
// fail: then stacks stay addresses, too. Answers are kept, because many stacks are alike.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/model/owner.h"
#include "daemon/model/stack.h"
#include "daemon/object/stack_reader.h"
#include "daemon/process/mapping_record.h"
#include "daemon/process/path_lookup.h"
#include "daemon/process/process.h"
#include "daemon/stream/process_image.h"

namespace tracectl {

// A stack that is to be resolved. Its owner reads `stack`; the other members are the symbolizer's.
struct StackOrder {
  pid_t pid = 0;
  std::shared_ptr<const RawStack> raw;
  uint64_t since_ns = 0;
  std::optional<Owner> owner = {};          // of the session; none: may trace every process
  std::shared_ptr<const Stack> stack = {};  // set when it is done

  std::optional<Unwound> unwound = {};  // for a copy
  bool was_looked_for = false;          // its process's mappings were read again for it
};
using StackOrders = std::vector<std::shared_ptr<StackOrder>>;

// All members may be called by any thread.
class Symbolizer {
 public:
  // The limits of all programs together. Beyond these a program is dropped: its further stacks stay
  // addresses if its process has ended.
  struct Bounds {
    size_t programs, open_files;
  };
  explicit Symbolizer(std::unique_ptr<StackReading> reading,
                      const Bounds& bounds = {.programs = 1024, .open_files = 4096})
      : reading_(std::move(reading)), bounds_(bounds) {}

  // Reads the process's current mappings; once for several calls in a row with the same process.
  void remember(const Process& process);
  // Has the mappings recorded that a process makes after its next execve, so that they are known if it
  // ends soon. Without the record they are known only if they are read in time.
  void record(const Process& process);

  // Null if it has no addresses.
  static std::shared_ptr<StackOrder> order_of(const StackAddresses& stack);
  // Continues with those that are not done yet, without waiting.
  void go_on(const StackOrders& orders);
  // Leaves addresses where answers are missing, also in all later stacks of these programs until an
  // answer comes, because they were waited for long enough.
  void give_up(const StackOrders& orders);
  // Resolves the stacks of rows. Waits a while for answers. Used by one thread at a time.
  std::vector<Stack> stacks_of(std::span<const StackAddresses> stacks,
                               const std::optional<Owner>& owner);

  // No stack is wanted any more: drops all programs, and closes their files.
  void rest();
  // Readable when go_on() may do more; -1: it always does everything.
  int fd() const { return reading_->fd(); }

 private:
  static constexpr size_t kMostKeptBytes = 64 << 20;  // of frames, of all programs

  // A program that a process executes, or has executed.
  struct Executed {
    pid_t pid = 0;
    uint64_t image = 0;  // Process::image()
    auto operator<=>(const Executed&) const = default;
  };

  // A process that had not begun its program yet.
  struct Starting {
    Process process;
    MappingRecord record;
    FileAccesses accesses{process};
    PathLookup paths{process, nullptr};
  };
  static constexpr size_t kMostStarting = 16;

  struct Asked {
    StackQuestion question;
    StackOrders orders;  // the orders of the copies
  };

  struct Known {
    ProcessImage image;
    uid_t user = static_cast<uid_t>(-1);  // of the process; -1: it ended before this was read
    std::unique_ptr<StackReader> reader;
    std::map<CodeAddress, Frames> frames;  // with answers
    std::optional<Asked> asked;
    std::vector<CodeAddress> wanted;  // by orders, as are the copies to unwind:
    StackOrders to_unwind;
    bool has_failed = false;    // to answer the last question
    bool is_slow = false;       // its next answer is not waited for
    uint64_t looked_at_ns = 0;  // when its mappings were read
    uint64_t look_cost_ns = 0;  // how long it took
    uint64_t read_cost_ns = 0;  // until the first answer came after that, if the program makes code
    uint64_t used = 0;          // higher for later uses
  };

  static Executed program_of(const StackOrder& order) { return {order.pid, order.raw->image}; }
  Known* look_at(const Executed& program);
  ProcessImage image_of(const Executed& program);
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
  std::list<std::unique_ptr<Starting>> starting_;  // the last first
  uint64_t last_remembered_ = 0;                   // Process::birth()
  uint64_t uses_ = 0;
  size_t kept_bytes_ = 0;
  uint64_t begun_ns_ = 0;  // start of the time in which rows have waited for:
  uint64_t waited_ns_ = 0;
};

}  // namespace tracectl
