// SPDX-License-Identifier: BSD-2-Clause
//
// The least effort that brings events of all CPUs to user space: a BPF program that writes a small record
// into the ring of its CPU, and libbpf's own reader, which looks at each and keeps none.
#pragma once

#include <asm/ptrace.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tests/bench/site.h"

namespace tracectl::bench {

struct BareRecord {
  uint64_t ts_ns, pid_tid, args[3], spare[2];
};

// Appends instructions (Documentation/bpf/standardization/instruction-set.rst).
class Assembly {
 public:
  static constexpr uint8_t kStack = BPF_REG_10;

  void copy(uint8_t to, uint8_t from) { put(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0); }
  void set(uint8_t to, int value) { put(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value); }
  void add(uint8_t to, int value) { put(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, value); }
  void load(uint8_t to, uint8_t from, size_t at) {
    put(BPF_LDX | BPF_MEM | BPF_DW, to, from, at, 0);
  }
  void store(uint8_t to, size_t at, uint8_t from) {
    put(BPF_STX | BPF_MEM | BPF_DW, to, from, at, 0);
  }
  void store_on_stack(int at, uint8_t from) {
    put(BPF_STX | BPF_MEM | BPF_W, kStack, from, static_cast<size_t>(at), 0);
  }
  void map(uint8_t to, int fd) {
    put(BPF_LD | BPF_IMM | BPF_DW, to, BPF_PSEUDO_MAP_FD, 0, fd);
    put(0, 0, 0, 0, 0);
  }
  void call(bpf_func_id helper) { put(BPF_JMP | BPF_CALL, 0, 0, 0, static_cast<int>(helper)); }
  void leave_unless(uint8_t value) {
    put(BPF_JMP | BPF_JNE | BPF_K, value, 0, 2, 0);
    leave();
  }
  void leave() {
    set(BPF_REG_0, 0);
    put(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
  }
  const std::vector<bpf_insn>& code() const { return code_; }

 private:
  void put(int opcode, uint8_t to, uint8_t from, size_t offset, int value) {
    bpf_insn one{};
    one.code = static_cast<uint8_t>(opcode);
    one.dst_reg = to & 0xf;
    one.src_reg = from & 0xf;
    one.off = static_cast<int16_t>(offset);
    one.imm = value;
    code_.push_back(one);
  }

  std::vector<bpf_insn> code_;
};

class BareRings {
 public:
  explicit BareRings(size_t ring_bytes) {
    const int cpus = libbpf_num_possible_cpus();
    for (int cpu = 0; cpu < cpus; ++cpu)
      rings_.push_back(made(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "bare", 0, 0,
                                           static_cast<uint32_t>(ring_bytes), nullptr)));
    LIBBPF_OPTS(bpf_map_create_opts, options);
    options.inner_map_fd = static_cast<uint32_t>(rings_.front().get());
    by_cpu_ = made(bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "bare_by_cpu", 4, 4,
                                  static_cast<uint32_t>(cpus), &options));
    for (int cpu = 0; cpu < cpus; ++cpu) {
      const int ring = rings_[static_cast<size_t>(cpu)].get();
      if (bpf_map_update_elem(by_cpu_.get(), &cpu, &ring, 0) != 0)
        throw std::runtime_error("a ring has no place");
    }
    load();
  }

  Fd arm(const on_kernel::Program& target, const Site& site) const {
    const uint64_t offset = offset_of(target.path(), site);
    return arm_program(program_, kAttachUprobeMulti, target, std::span(&offset, 1));
  }

  // Reads all rings, on a thread, during its lifetime.
  class Reading {
   public:
    explicit Reading(const BareRings& from) {
      for (const Fd& ring : from.rings_) add(ring.get());
      thread_ = std::thread([this] { run(); });
    }
    ~Reading() {
      if (thread_.joinable()) end();
    }

    // Returns the number of records.
    uint64_t end() {
      is_over_ = true;
      thread_.join();
      if (events_ && !sum_) throw std::runtime_error("the records are empty");
      return events_;
    }

   private:
    void add(int ring) {
      if (!reader_)
        reader_.reset(ring_buffer__new(ring, &Reading::take, this, nullptr));
      else if (ring_buffer__add(reader_.get(), ring, &Reading::take, this) != 0)
        throw std::runtime_error("a ring cannot be read");
      if (!reader_) throw std::runtime_error("a ring cannot be read");
    }
    static int take(void* self, void* data, size_t) {
      auto& reading = *static_cast<Reading*>(self);
      const auto& record = *static_cast<const BareRecord*>(data);
      reading.sum_ += record.ts_ns + record.args[0];
      ++reading.events_;
      return 0;
    }
    // As often as the engine's reader.
    void run() {
      for (bool last = false; !last; ::usleep(1000)) {
        last = is_over_;
        ring_buffer__consume(reader_.get());
      }
    }

    struct Free {
      void operator()(ring_buffer* reader) const { ring_buffer__free(reader); }
    };
    std::unique_ptr<ring_buffer, Free> reader_;
    std::atomic<bool> is_over_ = false;
    uint64_t events_ = 0;
    uint64_t sum_ = 0;
    std::thread thread_;
  };

 private:
  static Fd made(int fd) {
    if (fd < 0) throw std::runtime_error("a ring cannot be made");
    return Fd{fd};
  }

  void load() {
    constexpr uint8_t kContext = BPF_REG_6, kRecord = BPF_REG_7;
    constexpr int kCpu = -4;
    Assembly to;
    to.copy(kContext, BPF_REG_1);
    to.call(BPF_FUNC_get_smp_processor_id);
    to.store_on_stack(kCpu, BPF_REG_0);
    to.map(BPF_REG_1, by_cpu_.get());
    to.copy(BPF_REG_2, Assembly::kStack);
    to.add(BPF_REG_2, kCpu);
    to.call(BPF_FUNC_map_lookup_elem);
    to.leave_unless(BPF_REG_0);
    to.copy(BPF_REG_1, BPF_REG_0);
    to.set(BPF_REG_2, sizeof(BareRecord));
    to.set(BPF_REG_3, 0);
    to.call(BPF_FUNC_ringbuf_reserve);
    to.leave_unless(BPF_REG_0);
    to.copy(kRecord, BPF_REG_0);
    to.call(BPF_FUNC_ktime_get_boot_ns);
    to.store(kRecord, offsetof(BareRecord, ts_ns), BPF_REG_0);
    to.call(BPF_FUNC_get_current_pid_tgid);
    to.store(kRecord, offsetof(BareRecord, pid_tid), BPF_REG_0);
    size_t at = offsetof(BareRecord, args);
    for (const size_t argument :
         {offsetof(pt_regs, rdi), offsetof(pt_regs, rsi), offsetof(pt_regs, rdx)}) {
      to.load(BPF_REG_1, kContext, argument);
      to.store(kRecord, std::exchange(at, at + 8), BPF_REG_1);
    }
    to.set(BPF_REG_1, 0);
    for (; at < sizeof(BareRecord); at += 8) to.store(kRecord, at, BPF_REG_1);
    to.copy(BPF_REG_1, kRecord);
    to.set(BPF_REG_2, BPF_RB_NO_WAKEUP);
    to.call(BPF_FUNC_ringbuf_submit);
    to.leave();
    program_ = loaded_uprobe("bare", to.code(), kAttachUprobeMulti);
  }

  std::vector<Fd> rings_;
  Fd by_cpu_, program_;
};

}  // namespace tracectl::bench
