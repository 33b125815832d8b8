// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/rings.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace tracectl {

Result<SessionRings> Rings::open(uint32_t session, size_t size_bytes) {
  SessionRings rings{.by_cpu = {}, .size_bytes = size_bytes};
  std::vector<uint32_t> indices;
  std::vector<int> fds;
  for (unsigned cpu = 0; cpu < cpu_count_; ++cpu) {
    Fd ring{bpf_map_create(BPF_MAP_TYPE_RINGBUF, "tracectl_ring", 0, 0,
                           static_cast<uint32_t>(size_bytes), nullptr)};
    if (!ring) return Error::from_errno("make a ring of " + std::to_string(size_bytes) + " bytes");
    shared_.losses[index_of(session, cpu)] = tc_ring_loss{};
    indices.push_back(index_of(session, cpu));
    fds.push_back(ring.get());
    rings.by_cpu.push_back(std::move(ring));
  }
  // One batch, because the kernel waits for a grace period in each call that changes a map of maps.
  uint32_t count = cpu_count_;
  const int err = bpf_map_update_batch(map_, indices.data(), fds.data(), &count, nullptr);
  if (err != 0) {
    close(session);
    return Error::from_errno("hand the rings to the programs", -err);
  }
  return rings;
}

void Rings::close(uint32_t session) {
  for (unsigned cpu = 0; cpu < cpu_count_; ++cpu) {
    const uint32_t index = index_of(session, cpu);
    bpf_map_delete_elem(map_, &index);
  }
}

uint64_t Rings::dropped(uint32_t session, unsigned cpu) const {
  return __atomic_load_n(&shared_.losses[index_of(session, cpu)].dropped, __ATOMIC_ACQUIRE);
}

void Rings::note_seen(uint32_t session, unsigned cpu, const Seen& seen) {
  tc_ring_loss& loss = shared_.losses[index_of(session, cpu)];
  __atomic_store_n(&loss.reported, seen.dropped, __ATOMIC_RELAXED);
  __atomic_store_n(&loss.seen_ns, seen.until_ns, __ATOMIC_RELAXED);
}

Rings::Seen Rings::seen(uint32_t session, unsigned cpu) const {
  const tc_ring_loss& loss = shared_.losses[index_of(session, cpu)];
  return {loss.reported, loss.seen_ns};
}

void Rings::note_unreported(uint32_t session, uint64_t events) {
  __atomic_store_n(&shared_.losses[index_of(session, 0)].unreported, events, __ATOMIC_RELAXED);
}

uint64_t Rings::unreported(uint32_t session) const {
  return shared_.losses[index_of(session, 0)].unreported;
}

void Rings::set_reader_sleeps(bool sleeps) {
  __atomic_store_n(&shared_.reader_sleeps, sleeps ? 1u : 0u, __ATOMIC_SEQ_CST);
}

// A tag is written before any record has its number. A program that overwrites it changes the number first.
std::optional<std::string> Rings::own_tag(uint32_t number) const {
  const tc_own_tag& tag = shared_.own_tags[number % TC_OWN_TAGS];
  char text[TC_OWN_TAG_LEN];
  std::copy(std::begin(tag.text), std::end(tag.text), text);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (__atomic_load_n(&tag.number, __ATOMIC_RELAXED) != number) return std::nullopt;
  return std::string(text, ::strnlen(text, sizeof(text)));
}

}  // namespace tracectl
