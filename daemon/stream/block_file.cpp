// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/block_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>
#include <tuple>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/recording/compression.h"

namespace tracectl {

using namespace recording;

namespace {

FileHeader new_header() {
  FileHeader header;
  header.has_end_block = true;
  if (::getrandom(&header.id, sizeof(header.id), 0) != sizeof(header.id)) header.id = boot_ns();
  header.wall_minus_boot_ns =
      static_cast<int64_t>(clock_ns(CLOCK_REALTIME)) - static_cast<int64_t>(boot_ns());
  return header;
}

Error unfit(const char* why) {
  return {Code::invalid, std::string("the file to record to ") + why};
}

}  // namespace

Status check_writable(int file) {
  struct stat about {};
  const int flags = ::fcntl(file, F_GETFL);
  if (flags < 0 || ::fstat(file, &about) != 0) return Error::from_errno("look at the file");
  if (!S_ISREG(about.st_mode))
    return unfit("is no regular file: what is written is completed later");
  if ((flags & O_ACCMODE) == O_RDONLY) return unfit("is not open for writing");
  if (flags & O_APPEND) return unfit("is open with O_APPEND: what is written is completed later");
  return ok();
}

Status BlockFile::empty() {
  if (::ftruncate(file_.get(), 0) != 0) return Error::from_errno("empty the file");
  end_ = end_bytes_ = 0;
  return ok();
}

Status BlockFile::begin() {
  if (auto emptied = empty(); !emptied) return emptied;
  if (auto reserved = reserve(kFileHeaderBytes); !reserved) return reserved;
  const FileHeader header = new_header();
  id_ = header.id;
  if (auto put = write_at(0, encode(header)); !put) return put;
  end_ = kFileHeaderBytes;
  return ok();
}

Status BlockFile::append(Block block) {
  if (compression_ == Compression::zstd) {
    if (std::string smaller = compressed(block.records); !smaller.empty()) {
      block.header.plain_bytes = static_cast<uint32_t>(block.records.size());
      block.header.compression = Compression::zstd;
      block.records = std::move(smaller);
    }
  }
  if (auto reserved = reserve(kBlockHeaderBytes + block.records.size()); !reserved) return reserved;
  return put(std::move(block), end_);
}

Status BlockFile::finish() {
  if (auto ended = put_end({}, {.has_all_losses = true}); !ended) return ended;
  return ::fdatasync(file_.get()) == 0 ? ok() : Status(Error::from_errno("write the file"));
}

void BlockFile::end_early(const Lost& lost, const Ending& ending) {
  if (!file_ || !is_begun()) return;
  try {
    if (put_end(lost, ending)) return;
  } catch (const std::bad_alloc&) {
    // Without memory no end is written, and readers report that it is unknown.
  }
  // At least removes an incomplete block.
  end_bytes_ = 0;
  std::ignore = ::ftruncate(file_.get(), static_cast<off_t>(end_));
}

Status BlockFile::put_end(std::optional<Lost> lost, const Ending& ending) {
  uint64_t at = end_;
  const uint64_t end = end_ + kEndBytes;
  if (lost && lost->count)
    if (auto put_lost = put(block_of_loss(*lost), at); !put_lost) return put_lost;
  if (auto put_last = put(block_of_end(ending, end - at), at); !put_last) return put_last;
  end_bytes_ = kEndBytes;
  // Removes the rest of an incomplete block, and reserved space.
  if (::ftruncate(file_.get(), static_cast<off_t>(end)) != 0)
    return Error::from_errno("end the file");
  return ok();
}

// Writes the records first, then the header that counts them, so that a crash leaves no header
// without its records.
Status BlockFile::put(Block block, uint64_t& at) {
  block.header.file_id = id_;
  block.header.stored_bytes = static_cast<uint32_t>(block.records.size());
  if (block.header.compression == Compression::none)
    block.header.plain_bytes = block.header.stored_bytes;
  block.header.checksum = checksum_of(block.records);
  if (auto put = write_at(at + kBlockHeaderBytes, block.records); !put) return put;
  if (auto put = write_at(at, encode(block.header)); !put) return put;
  at += kBlockHeaderBytes + block.records.size();
  return ok();
}

Status BlockFile::reserve(size_t bytes) {
  if (!can_reserve_) return ok();
  while (::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(end_),
                     static_cast<off_t>(bytes + kEndBytes)) != 0) {
    if (errno == EINTR) continue;
    if (errno == ENOSPC || errno == EDQUOT) return Error::from_errno("write the file");
    can_reserve_ = false;  // the file system does not support it
    break;
  }
  return ok();
}

Status BlockFile::write_at(uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Error::from_errno("write the file", count < 0 ? errno : ENOSPC);
    offset += static_cast<uint64_t>(count);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return ok();
}

}  // namespace tracectl
