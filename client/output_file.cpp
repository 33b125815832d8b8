// SPDX-License-Identifier: BSD-2-Clause
#include "client/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace tracectl {
namespace {

constexpr size_t kMostUnwrittenBytes = 256 << 10;

// What has no name, as /dev/stdout may, cannot get another file's place.
bool is_there_and_special(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && (!S_ISREG(about.st_mode) || about.st_nlink == 0);
}

bool is_link(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 && S_ISLNK(about.st_mode);
}

// The kernel is asked, as it refuses links that a stranger has put where everybody may.
Result<std::string> behind_links(const std::string& path) {
  if (!is_link(path)) return path;
  const Fd found{::open(path.c_str(), O_PATH | O_CLOEXEC)};
  if (!found) return Error::from_errno("open what the link " + path + " points to");
  std::error_code error;
  const auto place =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(found.get()), error);
  if (error) return Error::from_errno("find what the link " + path + " points to", error.value());
  return place.string();
}

}  // namespace

Result<OutputFile> OutputFile::open(const std::string& path) {
  if (path == "-" || is_there_and_special(path)) {
    Fd file{path == "-" ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                        : ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY)};
    if (!file) return Error::from_errno("open " + path);
    return OutputFile(path, "", std::move(file));
  }
  auto place = behind_links(path);
  if (!place) return place.error();
  return make(*place);
}

Result<OutputFile> OutputFile::make(const std::string& path) {
  // In the same directory: only there it can be given its name in one step. If we are killed before,
  // nothing is left of a file that has no name; not all file systems have such.
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
