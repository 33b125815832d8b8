// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/object.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace tracectl {

Result<std::shared_ptr<Object>> Object::with_reader(Reading& reading, Fd fd,
                                                    const std::string& path) {
  auto identity = FileIdentity::of(fd.get());
  if (!identity) return identity.error().in(path);
  Fd to_read{::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)};
  if (!to_read) return Error::from_errno("duplicate the descriptor of " + path);
  auto reader = reading.open(std::move(to_read), path);
  if (!reader) return reader.error();
  std::shared_ptr<Object> object{new Object()};
  object->path_ = path;
  object->fd_ = std::move(fd);
  object->identity_ = *identity;
  object->reader_ = std::move(*reader);
  return object;
}

Result<ObjectPtr> Object::open(Reading& reading, Fd fd, const std::string& path) {
  auto object = with_reader(reading, std::move(fd), path);
  if (!object) return object.error();
  auto facts = (*object)->reader_->facts();
  if (!facts) return facts.error();
  (*object)->facts_ = std::move(*facts);
  return ObjectPtr{std::move(*object)};
}

Result<ObjectPtr> Object::known(Reading& reading, Fd fd, const std::string& path,
                                const FileFacts& facts, const FileIdentity& identity) {
  auto object = with_reader(reading, std::move(fd), path);
  if (!object) return object.error();
  (*object)->facts_ = facts;
  (*object)->identity_ = identity;
  return ObjectPtr{std::move(*object)};
}

std::vector<uint8_t> Object::read_at_most(uint64_t offset, size_t size) const {
  std::vector<uint8_t> bytes(size);
  const ssize_t count = ::pread(fd(), bytes.data(), size, static_cast<off_t>(offset));
  bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return bytes;
}

ObjectPtr Objects::known(const FileIdentity& identity, const std::string& path) {
  const auto is_it = [&](const ObjectPtr& object) {
    return object->path() == path && object->identity() == identity;
  };
  const auto kept = std::find_if(recent_.begin(), recent_.end(), is_it);
  if (kept != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, kept);
    return recent_.front();
  }
  if (!learned_) return nullptr;
  const auto learned = std::find_if(learned_->begin(), learned_->end(), is_it);
  return learned == learned_->end() ? nullptr : *learned;
}

Result<ObjectPtr> Objects::open(Fd fd, const std::string& path) {
  auto identity = FileIdentity::of(fd.get());
  if (!identity) return identity.error().in(path);
  if (auto object = known(*identity, path)) return object;
  auto object = Object::open(reading_, std::move(fd), path);
  if (!object) return object.error();
  recent_.push_front(*object);
  if (learned_) learned_->push_back(*object);
  if (recent_.size() > kMostKept) recent_.pop_back();
  return *object;
}

}  // namespace tracectl
