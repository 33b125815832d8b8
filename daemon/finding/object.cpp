// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/object.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace tracectl {

Result<std::shared_ptr<Object>> Object::with_reader(Reading& reading, Fd fd,
                                                    const std::string& path,
                                                    std::optional<NamedDebugFile> named) {
  auto identity = FileIdentity::of(fd.get());
  if (!identity) return identity.error().in(path);
  Fd to_read{::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)};
  if (!to_read) return Error::from_errno("duplicate the descriptor of " + path);
  std::optional<FileIdentity> debug_identity;
  if (named) {
    auto its = FileIdentity::of(named->fd.get());
    if (!its) return its.error().in(named->path);
    debug_identity = *its;
  }
  auto reader = reading.open(std::move(to_read), path, std::move(named));
  if (!reader) return reader.error();
  std::shared_ptr<Object> object{new Object()};
  object->path_ = path;
  object->fd_ = std::move(fd);
  object->identity_ = *identity;
  object->debug_identity_ = debug_identity;
  object->reader_ = std::move(*reader);
  return object;
}

Result<ObjectPtr> Object::open(Reading& reading, Fd fd, const std::string& path) {
  auto object = with_reader(reading, std::move(fd), path, std::nullopt);
  if (!object) return object.error();
  auto facts = (*object)->reader_->facts();
  if (!facts) return facts.error();
  (*object)->facts_ = std::move(*facts);
  return ObjectPtr{std::move(*object)};
}

Result<ObjectPtr> Object::known(Reading& reading, Fd fd, const std::string& path,
                                const FileFacts& facts, const FileIdentity& identity) {
  auto object = with_reader(reading, std::move(fd), path, std::nullopt);
  if (!object) return object.error();
  (*object)->facts_ = facts;
  (*object)->identity_ = identity;
  return ObjectPtr{std::move(*object)};
}

Result<ObjectPtr> Object::with_debug_file(Reading& reading, NamedDebugFile named) const {
  Fd copy{::fcntl(fd(), F_DUPFD_CLOEXEC, 0)};
  if (!copy) return Error::from_errno("duplicate the descriptor of " + path_);
  auto object = with_reader(reading, std::move(copy), path_, std::move(named));
  if (!object) return object.error();
  (*object)->facts_ = facts_;
  (*object)->identity_ = identity_;
  return ObjectPtr{std::move(*object)};
}

std::vector<uint8_t> Object::read_at_most(uint64_t offset, size_t size) const {
  std::vector<uint8_t> bytes(size);
  const ssize_t count = ::pread(fd(), bytes.data(), size, static_cast<off_t>(offset));
  bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return bytes;
}

ObjectPtr Objects::known(const FileIdentity& identity, const std::string& path,
                         const std::optional<FileIdentity>& debug_identity) {
  const auto is_it = [&](const ObjectPtr& object) {
    return object->path() == path && object->identity() == identity &&
           object->debug_identity() == debug_identity;
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
  if (auto object = known(*identity, path, std::nullopt)) return object;
  auto object = Object::open(reading_, std::move(fd), path);
  if (!object) return object.error();
  keep(*object);
  return *object;
}

Result<ObjectPtr> Objects::with_debug_file(const Object& object, NamedDebugFile named) {
  auto identity = FileIdentity::of(named.fd.get());
  if (!identity) return identity.error().in(named.path);
  if (auto known = this->known(object.identity(), object.path(), *identity)) return known;
  auto read = object.with_debug_file(reading_, std::move(named));
  if (!read) return read.error();
  keep(*read);
  return *read;
}

void Objects::keep(const ObjectPtr& object) {
  recent_.push_front(object);
  if (learned_) learned_->push_back(object);
  if (recent_.size() > kMostKept) recent_.pop_back();
}

}  // namespace tracectl
