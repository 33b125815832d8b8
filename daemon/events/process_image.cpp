// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/events/process_image.h"

#include <sys/stat.h>

#include <algorithm>

namespace tracectl {

namespace {

Status still_executes(const Process& process, uint64_t program) {
  if (process.image() == program) return ok();
  return Error{Code::not_found,
               "process " + std::to_string(process.pid()) + " executes another program now"};
}

// Up to where the stack pointer is in the frame's caller. Tables that lead down the stack are wrong.
std::optional<uint64_t> size_of_frame(const std::vector<uint64_t>& stack_pointers, size_t index) {
  if (index + 1 >= stack_pointers.size()) return std::nullopt;
  const uint64_t own = stack_pointers[index], of_caller = stack_pointers[index + 1];
  if (!own || of_caller < own) return std::nullopt;
  return of_caller - own;
}

// Of that program only: asked before and behind, as it can execute another in between.
Result<std::vector<MappedFile>> files_of(const Process& process, uint64_t program) {
  if (auto executes = still_executes(process, program); !executes) return executes.error();
  auto mapped = executable_files(process);
  if (auto executes = still_executes(process, program); !executes) return executes.error();
  return mapped;
}

}  // namespace

std::shared_ptr<ObjectSymbols> SymbolFiles::open(int fd, const std::string& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return nullptr;
  const Known::Identity identity{status.st_dev, status.st_ino, status.st_size,
                                 status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
  const auto kept = std::find_if(recent_.begin(), recent_.end(), [&](const Known& known) {
    return known.identity == identity && known.path == path;
  });
  if (kept != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, kept);
    return recent_.front().symbols;
  }
  auto symbols = ObjectSymbols::open(fd, path, debug_root_);
  if (!symbols) return nullptr;
  recent_.push_front({identity, path, *symbols});
  if (recent_.size() > kMostKept) recent_.pop_back();
  return *symbols;
}

Result<ProcessImage> ProcessImage::of(const Process& process, uint64_t program,
                                      SymbolFiles& files) {
  auto mapped = files_of(process, program);
  if (!mapped) return mapped.error();
  ProcessImage image;
  for (std::span<const MappedFile> rest = *mapped; !rest.empty();) {
    const size_t some = std::min(rest.size(), kMostOpenAtOnce);
    image.add(process, rest.first(some), files);
    rest = rest.subspan(some);
  }
  std::sort(image.mapped_.begin(), image.mapped_.end(),
            [](const Mapped& a, const Mapped& b) { return a.start < b.start; });
  return image;
}

// All are opened before any is read, which takes far longer: a process that ends takes the way to its
// files along.
void ProcessImage::add(const Process& process, std::span<const MappedFile> mapped,
                       SymbolFiles& files) {
  std::vector<Result<Fd>> fds;
  for (const MappedFile& file : mapped) fds.push_back(open_mapped(process, file));
  for (size_t i = 0; i < fds.size(); ++i) {
    if (!fds[i]) continue;
    if (const auto symbols = files.open(fds[i]->get(), mapped[i].path)) add(mapped[i], symbols);
  }
}

// A file can be loaded twice, at two places.
void ProcessImage::add(const MappedFile& file, const std::shared_ptr<ObjectSymbols>& symbols) {
  std::vector<uint64_t> biases;
  for (const ExecutableRange& range : file.ranges) {
    const auto address = symbols->elf().address_of(range.file_offset);
    if (!address) continue;
    const uint64_t bias = range.start - *address;
    mapped_.push_back({range.start, range.end, bias, symbols});
    if (std::find(biases.begin(), biases.end(), bias) != biases.end()) continue;
    biases.push_back(bias);
    loaded_.push_back({symbols->image(), bias});
  }
}

const ProcessImage::Mapped* ProcessImage::find(uint64_t address) const {
  auto after = std::upper_bound(mapped_.begin(), mapped_.end(), address,
                                [](uint64_t a, const Mapped& m) { return a < m.start; });
  if (after == mapped_.begin()) return nullptr;
  const Mapped& mapped = *std::prev(after);
  return address < mapped.end ? &mapped : nullptr;
}

Stack ProcessImage::stack_of(const RawStack& raw) {
  Stack stack{.by = StackBy::frame_pointers, .end = raw.end, .frames = {}};
  std::vector<uint64_t> addresses = raw.addresses, stack_pointers;
  if (addresses.empty()) {
    if (!unwinder_) unwinder_.emplace(loaded_);
    auto found = unwinder_->unwind(raw, raw.most_frames);
    stack.by = StackBy::unwind_tables;
    stack.end = found.end;
    addresses = std::move(found.addresses);
    stack_pointers = std::move(found.stack_pointers);
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    append(addresses[i], i == 0 && !raw.begins_with_caller, stack.frames);
    stack.frames.back().size_bytes = size_of_frame(stack_pointers, i);
  }
  return stack;
}

void ProcessImage::append(uint64_t address, bool is_first, std::vector<Frame>& frames) const {
  // A call at the very end of a mapping returns behind it.
  const Mapped* mapped = find(is_first ? address : address - 1);
  if (!mapped) {
    Frame& unknown = frames.emplace_back();
    unknown.address = address;
    return;
  }
  using Of = ObjectSymbols::Of;
  const auto of = is_first ? Of::instruction : Of::return_address;
  for (const Frame& known : mapped->symbols->frames_at(address - mapped->bias, of))
    frames.emplace_back(known).address = address;
}

}  // namespace tracectl
