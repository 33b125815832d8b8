// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/mapping_record.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace tracectl {
namespace {

constexpr size_t kRingPages = 16;  // a power of 2; about 400 mappings

// As perf_event_open(2) has it, up to the name.
struct MapRecord {
  perf_event_header header;
  uint32_t pid, tid;
  uint64_t address, length, file_offset;
  uint32_t major, minor;
  uint64_t inode, inode_generation;
  uint32_t protection, flags;
};

// A later mapping takes the place of earlier ones.
void remove_overlapping(std::vector<MappedFile>& files, const ExecutableRange& with) {
  for (MappedFile& file : files)
    std::erase_if(file.ranges, [&](const ExecutableRange& range) {
      return range.start < with.end && with.start < range.end;
    });
}

void add_mapping(std::vector<MappedFile>& files, const MapRecord& record, std::string path) {
  const ExecutableRange range{record.address, record.address + record.length, record.file_offset};
  remove_overlapping(files, range);
  if (!path.starts_with('/')) return;
  const dev_t device = makedev(record.major, record.minor);
  auto file = std::ranges::find_if(files, [&](const MappedFile& one) {
    return one.inode == record.inode && one.device == device && one.path == path;
  });
  if (file == files.end())
    file = files.insert(files.end(), {std::move(path), device, record.inode, false, {}});
  file->ranges.push_back(range);
}

template <class T> std::optional<T> read_as(std::span<const std::byte> record) {
  T read;
  if (record.size() < sizeof(read)) return std::nullopt;
  std::memcpy(&read, record.data(), sizeof(read));
  return read;
}

std::string name_in(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  return {text, ::strnlen(text, bytes.size())};
}

}  // namespace

std::optional<std::vector<MappedFile>> parse_mapping_records(std::span<const std::byte> records) {
  std::vector<MappedFile> files;
  bool has_executed = false;
  while (!records.empty()) {
    const auto header = read_as<perf_event_header>(records);
    if (!header || header->size < sizeof(*header) || header->size > records.size())
      return std::nullopt;
    const auto record = records.first(header->size);
    records = records.subspan(header->size);
    if (header->type == PERF_RECORD_LOST) return std::nullopt;
    if (header->type == PERF_RECORD_COMM && (header->misc & PERF_RECORD_MISC_COMM_EXEC))
      if (std::exchange(has_executed, true)) return std::nullopt;
    const auto map = read_as<MapRecord>(record);
    if (header->type == PERF_RECORD_MMAP2 && map && has_executed)
      add_mapping(files, *map, name_in(record.subspan(sizeof(*map))));
  }
  std::erase_if(files, [](const MappedFile& file) { return file.ranges.empty(); });
  if (!has_executed) return std::nullopt;
  return files;
}

Result<MappingRecord> MappingRecord::begin(const Process& process) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.size = sizeof(attr);
  attr.mmap = attr.mmap2 = 1;
  attr.comm = attr.comm_exec = 1;
  attr.exclude_kernel = 1;
  Fd event{static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, process.pid(), -1, -1, PERF_FLAG_FD_CLOEXEC))};
  if (!event) return Error::from_errno("perf_event_open");
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  // Writable: then the kernel keeps what is not read yet, and says so if there is no room.
  auto ring =
      Mapping::map(event.get(), 0, (1 + kRingPages) * page, PROT_READ | PROT_WRITE, MAP_SHARED);
  if (!ring) return ring.error();
  // The process may have ended, and another may have its number.
  if (auto there = process.still_there(); !there) return there.error();
  return MappingRecord(std::move(event), std::move(*ring));
}

// Nothing is consumed, so the ring has everything from its beginning on.
std::optional<std::vector<MappedFile>> MappingRecord::files() const {
  const auto* page = static_cast<const perf_event_mmap_page*>(ring_.data());
  const uint64_t written = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  const auto records = ring_.bytes().subspan(page->data_offset);
  return parse_mapping_records(records.first(std::min<uint64_t>(written, records.size())));
}

}  // namespace tracectl
