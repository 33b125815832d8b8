// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/streams.h"

#include <utility>

namespace tracectl {

Status Streams::subscribe(const std::string& name, Subscriber subscriber) {
  auto session = sessions_.find(name);
  if (!session) return session.error();
  if (auto rings = open(**session); !rings) return rings;
  reader_.subscribe((*session)->id, std::move(subscriber));
  return ok();
}

void Streams::unsubscribe(const std::string& name, const EventSink* sink) {
  if (auto session = sessions_.find(name)) reader_.unsubscribe((*session)->id, sink);
}

Result<uint64_t> Streams::flush(const std::string& name) {
  auto session = sessions_.find(name);
  if (!session) return session.error();
  return reader_.flush((*session)->id);
}

Result<uint64_t> Streams::ask_flush(const std::string& name) {
  auto session = sessions_.find(name);
  if (!session) return session.error();
  return reader_.ask_flush((*session)->id);
}

Result<bool> Streams::is_flushed(const std::string& name, uint64_t asked_ns) const {
  const auto session = std::as_const(sessions_).find(name);
  if (!session) return true;
  return reader_.is_flushed((*session)->id, asked_ns);
}

void Streams::note_unsent(const std::string& name, uint64_t events) {
  const auto session = sessions_.find(name);
  if (!session || !(*session)->has_rings || !(*session)->saved) return;
  rings_.note_unreported((*session)->id, rings_.unreported((*session)->id) + events);
}

size_t Streams::rings_open() const {
  size_t sessions = 0;
  for (const auto& [name, session] : sessions_) sessions += session.has_rings;
  return sessions * cpu_count_;
}

Status Streams::open(Session& session) {
  if (session.has_rings) return ok();
  if (auto within = quotas_.check_rings(session); !within) return within;
  auto rings = rings_.open(session.id, ring_bytes_);
  if (!rings) return rings.error();
  auto done = saving_.save_rings(session, rings->by_cpu);
  if (done) done = reader_.open(session.id, std::move(*rings), session.access.owner);
  if (done)
    opened(session);
  else
    rings_.close(session.id);
  return done;
}

void Streams::close(Session& session) {
  if (!session.has_rings) return;
  leave(session);
  rings_.close(session.id);
  saving_.forget_rings(session);
}

Status Streams::restore(Session& session, SessionRings rings) {
  if (auto going = reader_.restore(session.id, std::move(rings), session.access.owner); !going)
    return going;
  opened(session);
  return ok();
}

void Streams::leave(Session& session) {
  if (std::exchange(session.has_rings, false)) reader_.close(session.id);
}

// Tags from before are known to the reader from its first record on.
void Streams::opened(Session& session) {
  session.has_rings = true;
  for (uint32_t i = 0; i < session.tags.size(); ++i)
    reader_.add_tag(session.id, i + 1, session.tags[i]);
}

}  // namespace tracectl
