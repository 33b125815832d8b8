// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/session_rows.h"

#include <algorithm>

namespace tracectl {

SessionRows::SessionRows(const Shared& shared, ProcessProofs& proofs)
    : shared_(shared), rooms_(shared.rooms), proofs_(proofs) {
  for (const tc_session& session : shared_.sessions)
    last_marks_ = std::max(last_marks_, session.marks);
}

void SessionRows::begin(uint32_t session, const std::optional<Owner>& owner, uint32_t account) {
  tc_session begun{};
  begun.account = account;
  if (owner) proofs_.forget(session);
  if (owner)
    begun.owner = {.capabilities = owner->capabilities,
                   .uid = owner->uid,
                   .gid = owner->gid,
                   .user_namespace = owner->user_namespace,
                   .pad = 0};
  shared_.sessions[session] = begun;
}

void SessionRows::begin_account(uint32_t account, uint64_t events_per_second) {
  rooms_.end_account(account);
  tc_account begun{};
  begun.events_per_second = events_per_second;
  shared_.accounts[account] = begun;
}

void SessionRows::begin_marks(uint32_t session) {
  __atomic_store_n(&shared_.sessions[session].marks, ++last_marks_, __ATOMIC_RELEASE);
}

uint64_t SessionRows::marks_lost(uint32_t session) const {
  return __atomic_load_n(&shared_.sessions[session].marks_lost, __ATOMIC_RELAXED);
}

void SessionRows::write_tag(uint32_t session, uint32_t number, const std::string& tag) {
  tc_tag& to = shared_.tags[size_t{session} * TC_MAX_TAGS + number];
  to = tc_tag{};
  tag.copy(to.bytes, TC_TAG_LEN - 1);
}

void SessionRows::show_own_tags(uint32_t session) {
  __atomic_store_n(&shared_.sessions[session].has_own_tags, 1u, __ATOMIC_RELEASE);
}

void SessionRows::set_gate(uint32_t session, bool open) {
  __atomic_store_n(&shared_.sessions[session].is_open, open ? 1u : 0u, __ATOMIC_SEQ_CST);
}

bool SessionRows::gate_is_open(uint32_t session) const {
  return __atomic_load_n(&shared_.sessions[session].is_open, __ATOMIC_SEQ_CST) != 0;
}

}  // namespace tracectl
