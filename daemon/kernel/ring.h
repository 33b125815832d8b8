// SPDX-License-Identifier: BSD-2-Clause
//
// Reads one BPF ring buffer. The layout is the kernel's (Documentation/bpf/ringbuf.rst,
// kernel/bpf/ringbuf.c): a page with the consumer's position, a page with the producer's, then
// the data, mapped twice in a row so that a record never wraps. Each record has a header of 8
// bytes whose length word carries a busy and a discard bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "daemon/base/mapping.h"

namespace tracectl {

class Ring {
 public:
  // The size of the data of a BPF map, which is its max_entries.
  static Result<size_t> size_of(int fd);
  // `fd` is borrowed for the call; `size_bytes` comes from size_of().
  static Result<Ring> open(int fd, size_t size_bytes);

  enum class End {
    drained,  // everything that was reserved when the drain began has been read
    busy,     // the next record is still being written
    broken,   // a header that no kernel writes: the rest is not read
    stopped,  // `each` asked for it, or `most` records were read
  };

  // Hands every finished record to `each(std::span<const std::byte>)`, oldest first, and frees
  // its room. The span is valid during the call only.
  template <class Each> End drain(Each&& each) { return drain(SIZE_MAX, std::forward<Each>(each)); }
  // Reads at most `most` records.
  template <class Each> End drain(size_t most, Each&& each);
  // Reads until `each` refuses a record by returning false; that record stays.
  template <class Each> End drain_while(Each&& each);
  bool is_half_full() const {
    return __atomic_load_n(producer_position(), __ATOMIC_ACQUIRE) - *consumer_position() >=
           size_ / 2;
  }
  // Reads the same records and leaves them in the ring. `each` returns whether to go on.
  template <class Each> End look(Each&& each) const;

 private:
  static constexpr uint32_t kBusy = 1u << 31;     // BPF_RINGBUF_BUSY_BIT
  static constexpr uint32_t kDiscard = 1u << 30;  // BPF_RINGBUF_DISCARD_BIT
  static constexpr size_t kHeader = 8;            // BPF_RINGBUF_HDR_SZ
  static constexpr size_t kCacheLine = 64;

  Ring(Mapping consumer, Mapping producer, size_t size, size_t page)
      : consumer_(std::move(consumer)), producer_(std::move(producer)), size_(size), page_(page) {}

  uint64_t* consumer_position() const { return static_cast<uint64_t*>(consumer_.data()); }
  const uint64_t* producer_position() const { return static_cast<uint64_t*>(producer_.data()); }
  const std::byte* data_at(uint64_t position) const {
    return static_cast<std::byte*>(producer_.data()) + page_ + (position & (size_ - 1));
  }

  // Records are in another CPU's cache, and each says where the next one begins: without reading ahead the reader
  // would wait for each of them.
  static constexpr size_t kAhead = 4096;
  static void fetch(const std::byte* small_record) {
    __builtin_prefetch(small_record);
    __builtin_prefetch(small_record + kCacheLine);
  }

  // A header's length word. A program on another CPU that is writing the record needs some 100 ns for it; this is waited
  // for, because nothing after the record can be read before. Not for a program that was preempted.
  static uint32_t settled_word(const uint32_t* at) {
    constexpr int kLooks = 256;
    uint32_t word = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    for (int i = 0; i < kLooks && (word & kBusy); ++i) word = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    return word;
  }

  template <class Each> End walk(uint64_t& position, Each&& each) const;

  Mapping consumer_, producer_;
  size_t size_, page_;
};

template <class Each> Ring::End Ring::drain(size_t most, Each&& each) {
  return drain_while([&](std::span<const std::byte> record) {
    if (most == 0) return false;
    --most;
    each(record);
    return true;
  });
}

template <class Each> Ring::End Ring::drain_while(Each&& each) {
  uint64_t position = *consumer_position();
  const End end = walk(position, std::forward<Each>(each));
  __atomic_store_n(consumer_position(), position, __ATOMIC_RELEASE);
  return end;
}

template <class Each> Ring::End Ring::look(Each&& each) const {
  uint64_t position = *consumer_position();
  return walk(position, std::forward<Each>(each));
}

// Reads from `position`, and leaves it after the last record for which `each` returned to go on.
template <class Each> Ring::End Ring::walk(uint64_t& position, Each&& each) const {
  const uint64_t end = __atomic_load_n(producer_position(), __ATOMIC_ACQUIRE);
  while (position < end) {
    const std::byte* header = data_at(position);
    if (end - position > kAhead) fetch(header + kAhead);
    const uint32_t word = settled_word(reinterpret_cast<const uint32_t*>(header));
    if (word & kBusy) return End::busy;
    const size_t length = word & ~(kBusy | kDiscard);
    if (length > size_ || length + kHeader > end - position) return End::broken;
    if (!(word & kDiscard) && !each(std::span<const std::byte>(header + kHeader, length)))
      return End::stopped;
    position += (length + kHeader + 7) / 8 * 8;
  }
  return End::drained;
}

}  // namespace tracectl
