// SPDX-License-Identifier: BSD-2-Clause
#include "client/output/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "client/output/output_place.h"

namespace tracectl {
namespace {

constexpr size_t kMostUnwrittenBytes = 256 << 10;

}  // namespace

Result<OutputFile> OutputFile::open(const std::string& path) {
  if (path == "-") return as_it_is(path, Fd{::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)});
  const auto place = OutputPlace::find(path);
  if (!place) return place.error();
  if (!place->is_there() && place->path() != path)
    return Error::from_errno("open what the link " + path + " points to", ENOENT);
  if (place->is_special()) return as_it_is(path, place->open(O_WRONLY));
  return make(place->path());
}

Result<OutputFile> OutputFile::as_it_is(const std::string& path, Fd file) {
  if (!file) return Error::from_errno("open " + path);
  return OutputFile(path, "", std::move(file));
}

Result<OutputFile> OutputFile::make(const std::string& path) {
  // In the same directory, because only there the rename is atomic. A file without a name leaves nothing
  // behind if this process is killed, but not all file systems support that.
  std::string part = path + ".part-" + std::to_string(::getpid());
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Fd file{::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666)};
  const bool is_nameless = static_cast<bool>(file);
  if (!file) file = Fd{::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  if (!file) return Error::from_errno("make " + path);
  OutputFile opened(path, std::move(part), std::move(file));
  opened.is_nameless_ = is_nameless;
  return opened;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      part_(std::exchange(other.part_, {})),
      file_(std::move(other.file_)),
      held_(std::move(other.held_)),
      bytes_(other.bytes_),
      is_nameless_(other.is_nameless_),
      status_(std::move(other.status_)) {}

OutputFile::~OutputFile() {
  if (!part_.empty() && !is_nameless_) ::unlink(part_.c_str());
}

const Status& OutputFile::write(std::string_view bytes) {
  held_ += bytes;
  bytes_ += bytes.size();
  if (held_.size() >= kMostUnwrittenBytes) flush();
  return status_;
}

const Status& OutputFile::flush() {
  std::string_view left = held_;
  while (status_ && !left.empty()) {
    const ssize_t count = ::write(file_.get(), left.data(), left.size());
    if (count > 0)
      left.remove_prefix(static_cast<size_t>(count));
    else if (count == 0 || errno != EINTR)
      status_ = Error::from_errno("write " + path_);
  }
  held_.clear();
  return status_;
}

Status OutputFile::commit() {
  if (!flush() || part_.empty()) return status_;
  if (is_nameless_) {
    const std::string ours = "/proc/self/fd/" + std::to_string(file_.get());
    if (::linkat(AT_FDCWD, ours.c_str(), AT_FDCWD, part_.c_str(), AT_SYMLINK_FOLLOW) != 0)
      return Error::from_errno("make " + path_);
    is_nameless_ = false;
  }
  if (::rename(part_.c_str(), path_.c_str()) != 0) return Error::from_errno("make " + path_);
  part_.clear();
  return ok();
}

}  // namespace tracectl
