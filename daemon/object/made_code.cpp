// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/made_code.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>

namespace tracectl {
namespace {

constexpr size_t kChunk = 64 << 10;

// The number between two parts of a file's name.
bool is_numbered(std::string_view path, std::string_view before, std::string_view after) {
  path.remove_prefix(path.rfind('/') + 1);
  if (!path.starts_with(before) || !path.ends_with(after)) return false;
  if (path.size() <= before.size() + after.size()) return false;
  const auto number = path.substr(before.size(), path.size() - before.size() - after.size());
  return number.find_first_not_of("0123456789") == number.npos;
}

// ---- perf maps ----

// Takes a hexadecimal number and the space after it.
bool take_hex(std::string_view& line, uint64_t& number) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, 16);
  if (error != std::errc{}) return false;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  if (!line.starts_with(' ')) return false;
  line.remove_prefix(1);
  return true;
}

// Names end at the line's end. Control characters in them would reach a terminal.
std::string printable(std::string_view name) {
  std::string shown(name.substr(0, kMostMadeName));
  std::replace_if(
      shown.begin(), shown.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }, '?');
  return shown;
}

// ---- jitdump files ----

constexpr uint32_t kJitdumpMagic = 0x4A695444;  // in the byte order of the machine that wrote it
constexpr size_t kMostRecords = 4 << 20;

enum RecordKind : uint32_t { kCodeLoad = 0, kCodeMove = 1 };

struct JitdumpHeader {
  uint32_t magic, version, size, machine, unused, pid;
  uint64_t timestamp, flags;
};
struct RecordHead {
  uint32_t kind, size;
  uint64_t timestamp;
};
struct LoadRecord {
  uint32_t pid, tid;
  uint64_t address_in_file, address, size, index;  // followed by a name that ends with 0
};
struct MoveRecord {
  uint32_t pid, tid;
  uint64_t address_in_file, from, to, size, index;
};

template <class Part> bool read_part(std::string_view bytes, size_t offset, Part& part) {
  if (bytes.size() < offset + sizeof(part)) return false;
  std::memcpy(&part, bytes.data() + offset, sizeof(part));
  return true;
}

std::string read_file(int fd, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  size_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::pread(fd, bytes.data() + filled, std::min(size - filled, kChunk),
                                static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace

bool is_perf_map(std::string_view path) { return is_numbered(path, "perf-", ".map"); }
bool is_jitdump(std::string_view path) { return is_numbered(path, "jit-", ".dump"); }

MadeCode MadeCode::of_perf_map(std::string_view text) {
  MadeCode made;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == text.npos) break;  // it is still being written
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    uint64_t start = 0, size = 0;
    if (take_hex(line, start) && take_hex(line, size)) made.add(start, size, line);
  }
  return made;
}

MadeCode MadeCode::of_jitdump(const ReadAt& read_at) {
  MadeCode made;
  JitdumpHeader header;
  if (!read_part(read_at(0, sizeof(header)), 0, header) || header.magic != kJitdumpMagic)
    return made;
  uint64_t offset = header.size;
  for (size_t records = 0; records < kMostRecords; ++records) {
    const std::string bytes =
        read_at(offset, sizeof(RecordHead) + sizeof(LoadRecord) + kMostMadeName);
    RecordHead head;
    if (!read_part(bytes, 0, head) || head.size < sizeof(head)) break;
    const auto body = std::string_view(bytes).substr(0, head.size);
    LoadRecord load;
    MoveRecord move;
    if (head.kind == kCodeLoad && read_part(body, sizeof(head), load)) {
      const auto name = body.substr(sizeof(head) + sizeof(load));
      made.add(load.address, load.size, name.substr(0, name.find('\0')));
    } else if (head.kind == kCodeMove && read_part(body, sizeof(head), move)) {
      made.move(move.from, move.to, move.size);
    }
    offset += head.size;
  }
  return made;
}

Result<std::shared_ptr<const MadeCode>> MadeCode::open(int fd, const std::string& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return Error::from_errno("look at " + path);
  if (is_jitdump(path))
    return std::make_shared<const MadeCode>(
        of_jitdump([fd](uint64_t offset, size_t size) { return read_file(fd, offset, size); }));
  if (!is_perf_map(path)) return Error{Code::invalid, path + " names no code made at run time"};
  const auto size = static_cast<uint64_t>(std::max<off_t>(status.st_size, 0));
  const uint64_t from = size - std::min<uint64_t>(size, kMostMadeBytes);
  std::string text = read_file(fd, from, static_cast<size_t>(size - from));
  if (from > 0) text.erase(0, text.find('\n') + 1);  // a part of a line
  return std::make_shared<const MadeCode>(of_perf_map(text));
}

void MadeCode::forget_within(uint64_t start, uint64_t end) {
  auto at = functions_.lower_bound(start);
  if (at != functions_.begin() && std::prev(at)->second.end > start) --at;
  while (at != functions_.end() && at->first < end) at = functions_.erase(at);
}

void MadeCode::add(uint64_t start, uint64_t size, std::string_view name) {
  if (size == 0 || start > UINT64_MAX - size || name.empty()) return;
  forget_within(start, start + size);
  if (functions_.size() >= kMostMadeFunctions) functions_.erase(functions_.begin());
  functions_.insert_or_assign(start, Function{start, start + size, printable(name)});
}

void MadeCode::move(uint64_t from, uint64_t to, uint64_t size) {
  const auto moved = functions_.find(from);
  if (moved == functions_.end()) return;
  const std::string name = moved->second.name;
  functions_.erase(moved);
  add(to, size, name);
}

const MadeCode::Function* MadeCode::at(uint64_t address) const {
  const auto after = functions_.upper_bound(address);
  if (after == functions_.begin()) return nullptr;
  const Function& function = std::prev(after)->second;
  return address < function.end ? &function : nullptr;
}

}  // namespace tracectl
