// SPDX-License-Identifier: BSD-2-Clause
#include "client/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace tracectl {
namespace {

bool is_no_file(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode);
}

// mkostemp makes files that only their owner reads.
int allow_as_usual(int fd) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return ::fchmod(fd, 0666 & ~mask);
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& path) {
  if (is_no_file(path))
    return Error{Code::invalid, "cannot write " + path + ": what is there is no regular file"};
  std::string name = path + ".XXXXXX";
  Fd file{::mkostemp(name.data(), O_CLOEXEC)};
  if (!file) return Error::from_errno("create a file beside " + path);
  NewFile created{std::move(file), path, name};
  if (allow_as_usual(created.file_.get()) != 0) return Error::from_errno("set the mode of " + name);
  return created;
}

NewFile::~NewFile() {
  if (file_) ::unlink(name_.c_str());
}

void NewFile::write(std::string_view bytes) {
  held_ += bytes;
  if (held_.size() >= kHeldBytes) flush();
}

void NewFile::flush() {
  std::string_view rest = held_;
  while (!rest.empty() && !error_) {
    const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) error_ = errno;
    if (written > 0) rest.remove_prefix(static_cast<size_t>(written));
  }
  bytes_ += held_.size();
  held_.clear();
}

Status NewFile::commit() {
  flush();
  if (error_) return Error::from_errno("write " + path_, error_);
  if (::rename(name_.c_str(), path_.c_str()) != 0) return Error::from_errno("write " + path_);
  file_.reset();
  return ok();
}

}  // namespace tracectl
