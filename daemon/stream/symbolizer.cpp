// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/symbolizer.h"

#include <poll.h>

#include <algorithm>
#include <set>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/object/file_identity.h"
#include "daemon/process/credentials.h"

namespace tracectl {
namespace {

// At most this part of the time is spent on reading maps again: code that is generated at run time
// is in no file, however often it is searched for.
constexpr uint64_t kLookShare = 20;

// To read rows waits for their files, and holds up all other work. So it waits for at most
// kMostWaitedNs in each kOfTimeNs.
constexpr uint64_t kMillisecondNs = 1'000'000;
constexpr int kLookAgainMs = 10;
constexpr uint64_t kMostWaitedNs = 500 * kMillisecondNs, kOfTimeNs = 5'000 * kMillisecondNs;

// Files that only root can write are not hostile, but can be large.
constexpr uint64_t kPatienceWithRootNs = 5'000 * kMillisecondNs;

bool is_of_root(const ProcessImage& image) {
  return std::all_of(image.files().begin(), image.files().end(), [](const LoadedFile& loaded) {
    return tracectl::is_of_root(loaded.file->status);
  });
}

bool is_copy(const RawStack& raw) { return raw.addresses.empty(); }

uint64_t innermost_of(const RawStack& raw) {
  return is_copy(raw) ? raw.registers.back() : raw.addresses.front();
}

const std::vector<uint64_t>& addresses_of(const StackOrder& order) {
  return order.unwound ? order.unwound->addresses : order.raw->addresses;
}

CodeAddress code_at(const StackOrder& order, size_t index) {
  return {addresses_of(order)[index], index > 0 || order.raw->begins_with_caller};
}

// The distance to the value of the stack pointer in the frame's caller. Tables that lead down the
// stack are wrong.
std::optional<uint64_t> size_of_frame(const std::vector<uint64_t>& stack_pointers, size_t index) {
  if (index + 1 >= stack_pointers.size()) return std::nullopt;
  const uint64_t own = stack_pointers[index], of_caller = stack_pointers[index + 1];
  if (!own || of_caller < own) return std::nullopt;
  return of_caller - own;
}

Frame unknown_frame(uint64_t address) {
  Frame frame;
  frame.address = address;
  return frame;
}

// The frame's place, without names from the file.
Frame without_names(const Frame& frame) {
  Frame bare;
  bare.address = frame.address;
  bare.module = frame.module;
  bare.offset = frame.offset;
  return bare;
}

bool may_be_named(const StackOrder& order, const ProcessImage& image, const CodeAddress& code) {
  const uint64_t within = code.is_where_returns ? code.address - 1 : code.address;
  return !order.owner || image.may_be_read_by(*order.owner, within);
}

// The known frames, and addresses for the others.
Stack named_stack(const StackOrder& order, const ProcessImage& image,
                  const std::map<CodeAddress, Frames>& known) {
  Stack stack{.by = order.unwound ? StackBy::unwind_tables : StackBy::frame_pointers,
              .end = order.unwound ? order.unwound->end : order.raw->end,
              .frames = {}};
  std::vector<uint64_t> stack_pointers;
  if (order.unwound) stack_pointers = order.unwound->stack_pointers;
  for (size_t i = 0; i < addresses_of(order).size(); ++i) {
    const CodeAddress code = code_at(order, i);
    const auto frames = known.find(code);
    if (frames == known.end() || frames->second.empty())
      stack.frames.push_back(unknown_frame(code.address));
    else if (!may_be_named(order, image, code))
      stack.frames.push_back(without_names(frames->second.back()));
    else
      stack.frames.insert(stack.frames.end(), frames->second.begin(), frames->second.end());
    stack.frames.back().size_bytes = size_of_frame(stack_pointers, i);
  }
  return stack;
}

// A copy that was not unwound has only one address.
Stack bare_stack(const StackOrder& order, StackEnd end_of_copy) {
  if (order.unwound || !is_copy(*order.raw)) return named_stack(order, {}, {});
  return {.by = StackBy::unwind_tables,
          .end = end_of_copy,
          .frames = {unknown_frame(innermost_of(*order.raw))}};
}

void make_bare(StackOrder& order, StackEnd end_of_copy) {
  order.stack = std::make_shared<const Stack>(bare_stack(order, end_of_copy));
}

// Or to code that the process may have replaced at run time.
bool leads_to_unknown(const ProcessImage& image, const Stack& stack) {
  const bool has_made_more = image.has_made_more();
  return std::any_of(stack.frames.begin(), stack.frames.end(), [&](const Frame& frame) {
    if (has_made_more && image.is_made_code(frame.address)) return true;
    return frame.module.empty() && !image.path_at(frame.address);
  });
}

size_t bytes_of(const Frames& frames) {
  constexpr size_t kOfEntry = 64;
  size_t bytes = kOfEntry;
  for (const Frame& frame : frames)
    bytes += sizeof(frame) + frame.module.size() + frame.build_id.size() + frame.function.size() +
             frame.file.size();
  return bytes;
}

}  // namespace

// ---- mappings of processes ----

void Symbolizer::remember(const Process& process) {
  const std::lock_guard lock(mutex_);
  if (process.birth() == std::exchange(last_remembered_, process.birth())) return;
  if (const auto image = process.image()) look_at({process.pid(), *image});
}

void Symbolizer::record(const Process& process) {
  const std::lock_guard lock(mutex_);
  const auto is_same = [&](const auto& one) { return one->process.birth() == process.birth(); };
  if (std::ranges::any_of(starting_, is_same)) return;
  auto own = Process::open(process.pid());
  if (!own || own->birth() != process.birth()) return;
  auto record = MappingRecord::begin(*own);
  if (!record) return;
  starting_.push_front(
      std::unique_ptr<Starting>(new Starting{std::move(*own), std::move(*record)}));
  if (starting_.size() > kMostStarting) starting_.pop_back();
}

// Empty if the process no longer executes that program, and nothing was recorded.
ProcessImage Symbolizer::image_of(const Executed& program) {
  ProcessImage seen;
  if (const auto process = Process::open(program.pid))
    // A process that is about to end has no mappings, and its files cannot be opened any more.
    if (auto image = ProcessImage::of(*process, program.image, files_); image) {
      seen = std::move(*image);
      if (!seen.is_empty() && process->image() == program.image) return seen;
    }
  for (const auto& one : starting_) {
    if (one->process.pid() != program.pid) continue;
    if (const auto mapped = one->record.files())
      return ProcessImage::of_ended(*mapped, one->paths, one->accesses, files_);
  }
  return seen;
}

// Returns the former state, or null, if the process no longer executes that program.
Symbolizer::Known* Symbolizer::look_at(const Executed& program) {
  const auto known = programs_.find(program);
  const auto kept = [&] { return known == programs_.end() ? nullptr : &known->second; };
  const uint64_t began_ns = boot_ns();
  ProcessImage image = image_of(program);
  if (image.is_empty()) return kept();
  Known& now = programs_[program];
  if (image.files() != now.image.files()) {
    now = Known{};
    now.reader = reading_->open(image.files());
    now.image = std::move(image);
    if (const auto process = Process::open(program.pid))
      if (const auto runs_as = credentials_of(*process)) now.user = runs_as->uids[0];
    make_room(program);
  }
  now.looked_at_ns = boot_ns();
  now.look_cost_ns = now.looked_at_ns - began_ns;
  now.used = ++uses_;
  return &now;
}

bool Symbolizer::may_look_again(const Known& known) const {
  return boot_ns() - known.looked_at_ns > kLookShare * (known.look_cost_ns + known.read_cost_ns);
}

// Reads the process's mappings first if they are not known, or if the hit's code is not in them:
// then it has loaded more.
Symbolizer::Known* Symbolizer::find(StackOrder& order) {
  const auto known = programs_.find(program_of(order));
  const bool is_known = known != programs_.end();
  if (is_known && (order.was_looked_for || known->second.image.path_at(innermost_of(*order.raw))))
    return &known->second;
  order.was_looked_for = true;
  return look_at(program_of(order));
}

void Symbolizer::make_room(const Executed& wanted) {
  while (programs_.size() > bounds_.programs || files_.count() > bounds_.open_files)
    if (!forget_one(wanted)) return;
}

// Each file counts once for each program, and each program counts as one more.
std::map<uid_t, size_t> Symbolizer::files_by_user() const {
  std::map<uid_t, size_t> files;
  for (const auto& [program, known] : programs_)
    files[known.user] += 1 + known.image.files().size();
  return files;
}

// Drops the least recently used program of the user whose programs have the most files, so that a
// user with many programs takes no room from others. False if only `wanted` is left.
bool Symbolizer::forget_one(const Executed& wanted) {
  const auto files = files_by_user();
  const auto loses_before = [&](const auto& a, const auto& b) {
    const size_t of_a = files.at(a.second.user), of_b = files.at(b.second.user);
    return of_a != of_b ? of_a > of_b : a.second.used < b.second.used;
  };
  auto first = programs_.end();
  for (auto at = programs_.begin(); at != programs_.end(); ++at)
    if (at->first != wanted && (first == programs_.end() || loses_before(*at, *first))) first = at;
  if (first == programs_.end()) return false;
  programs_.erase(first);
  return true;
}

// ---- questions and answers ----

void Symbolizer::go_on(const StackOrders& orders) {
  const std::lock_guard lock(mutex_);
  while (round(orders)) {}
}

// Returns whether there is more to be done at once.
bool Symbolizer::round(const StackOrders& orders) {
  std::set<Executed> programs;
  for (const auto& order : orders)
    if (!order->stack) programs.insert(program_of(*order));
  const auto of_each = [&](const auto& act) {
    bool any = false;
    for (const Executed& program : programs)
      if (const auto known = programs_.find(program); known != programs_.end())
        any |= act(known->second);
    return any;
  };
  bool any = of_each([&](Known& known) { return take_answer(known); });
  for (const auto& order : orders)
    if (!order->stack) make(order);
  any |= of_each([&](Known& known) { return ask(known); });
  return any;
}

bool Symbolizer::take_answer(Known& known) {
  known.wanted.clear();
  known.to_unwind.clear();
  if (!known.asked) return false;
  auto answer = known.reader->take();
  if (!answer) return false;
  const Asked asked = *std::exchange(known.asked, std::nullopt);
  known.is_slow = false;
  if (known.frames.empty() && known.image.makes_code())
    known.read_cost_ns = boot_ns() - known.looked_at_ns;
  known.has_failed = !*answer;
  if (known.has_failed) return true;
  if (auto* unwound = std::get_if<std::vector<Unwound>>(&**answer)) {
    for (size_t i = 0; i < asked.orders.size(); ++i)
      asked.orders[i]->unwound = std::move((*unwound)[i]);
  } else {
    keep(known, std::get<std::vector<CodeAddress>>(asked.question),
         std::move(std::get<std::vector<Frames>>(**answer)));
  }
  return true;
}

// Ignores frames at addresses where the process has no file.
void Symbolizer::keep(Known& known, const std::vector<CodeAddress>& asked,
                      std::vector<Frames> answer) {
  if (kept_bytes_ > kMostKeptBytes) forget_frames();
  for (size_t i = 0; i < asked.size(); ++i) {
    const auto [address, is_where_returns] = asked[i];
    const std::string* path = known.image.path_at(is_where_returns ? address - 1 : address);
    Frames& frames = known.frames[asked[i]];
    if (path) frames = std::move(answer[i]);
    for (Frame& frame : frames) frame.module = *path;
    kept_bytes_ += bytes_of(frames);
  }
}

// kept_bytes_ may include frames of dropped programs: it is an upper bound.
void Symbolizer::forget_frames() {
  for (auto& [program, known] : programs_) known.frames.clear();
  kept_bytes_ = 0;
}

bool Symbolizer::ask(Known& known) {
  if (known.asked || (known.wanted.empty() && known.to_unwind.empty())) return false;
  Asked asked;
  if (!known.wanted.empty()) {
    std::sort(known.wanted.begin(), known.wanted.end());
    known.wanted.erase(std::unique(known.wanted.begin(), known.wanted.end()), known.wanted.end());
    known.wanted.resize(std::min(known.wanted.size(), kMostAddressesAsked));
    asked.question = known.wanted;
  } else {
    Copies copies;
    size_t bytes = 0;
    for (const auto& order : known.to_unwind) {
      bytes += order->raw->bytes.size();
      if (!copies.empty() && (bytes > kMostCopiedBytesAsked || copies.size() == kMostCopiesAsked))
        break;
      copies.push_back(order->raw);
      asked.orders.push_back(order);
    }
    asked.question = std::move(copies);
  }
  if (auto begun = known.reader->ask(asked.question); !begun) {
    if (begun.error().code == Code::busy) return false;
    return !std::exchange(known.has_failed, true);
  }
  known.asked = std::move(asked);
  return true;
}

// ---- stacks ----

// Notes what is not known yet for it; returns whether there is any.
bool Symbolizer::wants(Known& known, const std::shared_ptr<StackOrder>& order) {
  if (is_copy(*order->raw) && !order->unwound) {
    known.to_unwind.push_back(order);
    return true;
  }
  const size_t wanted_before = known.wanted.size();
  for (size_t i = 0; i < addresses_of(*order).size(); ++i)
    if (const CodeAddress code = code_at(*order, i); !known.frames.contains(code))
      known.wanted.push_back(code);
  return known.wanted.size() > wanted_before;
}

void Symbolizer::make(const std::shared_ptr<StackOrder>& order) {
  Known* known = find(*order);
  if (!known) return make_bare(*order, StackEnd::unknown_process);
  known->used = ++uses_;
  if (wants(*known, order)) {
    if (known->has_failed || known->is_slow) make_bare(*order, StackEnd::no_table);
    return;
  }
  Stack stack = named_stack(*order, known->image, known->frames);
  if (!order->was_looked_for && leads_to_unknown(known->image, stack) && may_look_again(*known)) {
    order->was_looked_for = true;
    const auto files_before = known->image.files();
    known = look_at(program_of(*order));
    if (known && known->image.files() != files_before) {
      order->unwound.reset();
      return make(order);
    }
  }
  order->stack = std::make_shared<const Stack>(std::move(stack));
}

void Symbolizer::give_up(const StackOrders& orders) { leave(orders, true); }

void Symbolizer::leave(const StackOrders& orders, bool are_slow) {
  const std::lock_guard lock(mutex_);
  for (const auto& order : orders) {
    if (order->stack) continue;
    const auto known = programs_.find(program_of(*order));
    if (known != programs_.end()) {
      if (is_of_root(known->second.image) && boot_ns() - order->since_ns < kPatienceWithRootNs)
        continue;
      known->second.is_slow |= are_slow;
    }
    make_bare(*order, StackEnd::no_table);
  }
}

// ---- rows ----

std::shared_ptr<StackOrder> Symbolizer::order_of(const StackAddresses& stack) {
  if (stack.addresses.empty()) return nullptr;
  auto raw = std::make_shared<RawStack>();
  raw->image = stack.image;
  raw->end = stack.end;
  raw->addresses = stack.addresses;
  raw->begins_with_caller = stack.begins_with_caller;
  return std::make_shared<StackOrder>(StackOrder{stack.pid, std::move(raw), boot_ns()});
}

std::vector<Stack> Symbolizer::stacks_of(std::span<const StackAddresses> stacks,
                                         const std::optional<Owner>& owner) {
  StackOrders orders;
  for (const StackAddresses& stack : stacks)
    if (auto order = order_of(stack)) orders.push_back(std::move(order));
  for (const auto& order : orders) order->owner = owner;
  const auto is_unmade = [](const auto& order) { return !order->stack; };
  go_on(orders);
  const uint64_t until_ns = boot_ns() + patience_ns();
  while (std::any_of(orders.begin(), orders.end(), is_unmade)) {
    const uint64_t now_ns = boot_ns();
    if (now_ns >= until_ns) leave(orders, false);
    pollfd answered{.fd = fd(), .events = POLLIN, .revents = 0};
    (void)::poll(&answered, 1, kLookAgainMs);
    if (now_ns < until_ns) waited_ns_ += boot_ns() - now_ns;
    go_on(orders);
  }
  std::vector<Stack> made;
  auto order = orders.begin();
  for (const StackAddresses& stack : stacks)
    made.push_back(stack.addresses.empty() ? Stack{.end = stack.end, .frames = {}}
                                           : *(*order++)->stack);
  return made;
}

// The rest of the time for which rows may wait.
uint64_t Symbolizer::patience_ns() {
  const uint64_t now_ns = boot_ns();
  if (now_ns - begun_ns_ >= kOfTimeNs) {
    begun_ns_ = now_ns;
    waited_ns_ = 0;
  }
  return kMostWaitedNs - std::min(kMostWaitedNs, waited_ns_);
}

void Symbolizer::rest() {
  const std::lock_guard lock(mutex_);
  reading_->rest();
  programs_.clear();
  starting_.clear();
  kept_bytes_ = 0;
  last_remembered_ = 0;
}

}  // namespace tracectl
