// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sinks/block_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/recording/compression.h"

namespace tracectl {

using namespace recording;

namespace {

FileHeader new_header() {
  FileHeader header;
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
  end_ = 0;
  return ok();
}

Status BlockFile::begin() {
  if (auto emptied = empty(); !emptied) return emptied;
  const FileHeader header = new_header();
  id_ = header.id;
  if (auto put = write_at(0, encode(header)); !put) return put;
  end_ = kFileHeaderBytes;
  return ok();
}

// The records first, then the header that counts them: what a crash leaves has no header.
Status BlockFile::append(Block block) {
  block.header.file_id = id_;
  block.header.plain_bytes = static_cast<uint32_t>(block.records.size());
  std::string stored = std::move(block.records);
  if (compression_ == Compression::zstd) {
    if (std::string smaller = compressed(stored); !smaller.empty()) {
      stored = std::move(smaller);
      block.header.compression = Compression::zstd;
    }
  }
  block.header.stored_bytes = static_cast<uint32_t>(stored.size());
  block.header.checksum = checksum_of(stored);
  if (auto put = write_at(end_ + kBlockHeaderBytes, stored); !put) return put;
  if (auto put = write_at(end_, encode(block.header)); !put) return put;
  end_ += kBlockHeaderBytes + stored.size();
  return ok();
}

Status BlockFile::finish() {
  return ::fdatasync(file_.get()) == 0 ? ok() : Status(Error::from_errno("write the file"));
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
