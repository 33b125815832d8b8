// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/proofs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "bpf/abi.h"
#include "bpf/tracer.skel.h"
#include "daemon/base/fd.h"
#include "daemon/kernel/loading.h"
#include "daemon/kernel/programs.h"
#include "daemon/kernel/set_bits.h"
#include "daemon/kernel/tables.h"

namespace tracectl {
namespace {

struct LinkDeleter {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};

void take_from(tc_proofs& proofs, uint32_t session) {
  proofs.words[session / 64] &= ~(uint64_t{1} << (session % 64));
}

// Runs the program for each descriptor of this process, and reads what it writes.
Result<std::vector<tc_memory>> read_all(int link) {
  const Fd iterator{bpf_iter_create(link)};
  if (!iterator) return Error::from_errno("look at descriptors");
  std::vector<tc_memory> seen;
  std::array<tc_memory, TC_MAX_PROOFS> some;
  for (;;) {
    const ssize_t bytes = ::read(iterator.get(), some.data(), sizeof(some));
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (bytes < 0) return Error::from_errno("look at descriptors");
    if (bytes == 0) return seen;
    seen.insert(
        seen.end(), some.begin(),
        some.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(bytes) / sizeof(some[0])));
  }
}

}  // namespace

struct ProcessProofs::Looking {
  Skeleton skeleton;
  std::unique_ptr<bpf_link, LinkDeleter> link;
};

ProcessProofs::ProcessProofs(tracer& skeleton, std::span<tc_session> sessions)
    : skeleton_(skeleton), sessions_(sessions) {}
ProcessProofs::~ProcessProofs() = default;

Result<ProcessProofs::Looking*> ProcessProofs::looking() {
  if (looking_) return looking_.get();
  auto fresh = std::make_unique<Looking>();
  fresh->skeleton.reset(tracer::open(nullptr));
  if (!fresh->skeleton) return Error::from_errno("open the BPF programs");
  bpf_program* const program = fresh->skeleton->progs.see_memory;
  if (auto loaded = load_alone(*fresh->skeleton, {program}, skeleton_); !loaded)
    return loaded.error().in("the program that looks at proofs");
  bpf_iter_link_info info{};
  info.task.pid = static_cast<__u32>(::getpid());
  LIBBPF_OPTS(bpf_iter_attach_opts, options);
  options.link_info = &info;
  options.link_info_len = sizeof(info);
  fresh->link.reset(bpf_program__attach_iter(program, &options));
  if (!fresh->link) return Error::from_errno("attach the program that looks at proofs");
  looking_ = std::move(fresh);
  return looking_.get();
}

Result<std::vector<ProvenMemory>> ProcessProofs::prove(std::span<const int> descriptors,
                                                       std::optional<uint32_t> session) {
  if (descriptors.empty()) return std::vector<ProvenMemory>{};
  if (descriptors.size() > TC_MAX_PROOFS)
    return Error{Code::invalid, "more than " + std::to_string(TC_MAX_PROOFS) + " proofs at a time"};
  auto with = looking();
  if (!with) return with.error();
  auto& shared = *skeleton_.bss;
  for (size_t i = 0; i < descriptors.size(); ++i)
    shared.asked_memories[i] = static_cast<uint32_t>(descriptors[i]);
  shared.asking_session = session.value_or(TC_MAX_SESSIONS);
  __atomic_store_n(&shared.asked_memories_count, static_cast<uint32_t>(descriptors.size()),
                   __ATOMIC_SEQ_CST);
  auto seen = read_all(bpf_link__fd((*with)->link.get()));
  __atomic_store_n(&shared.asked_memories_count, 0u, __ATOMIC_SEQ_CST);
  if (!seen) return seen.error();
  std::vector<ProvenMemory> proven;
  for (const tc_memory& memory : *seen)
    proven.push_back({static_cast<int>(memory.fd), static_cast<pid_t>(memory.pid)});
  if (skeleton_.rodata->in_own_pid_namespace) {
    if (initial_pids_.size() > TC_MAX_PROCESSES) initial_pids_.clear();
    for (const tc_memory& memory : *seen)
      initial_pids_[static_cast<pid_t>(memory.pid)] = memory.initial_pid;
  }
  return proven;
}

std::optional<uint32_t> ProcessProofs::in_initial_namespace(pid_t pid) const {
  if (!skeleton_.rodata->in_own_pid_namespace) return static_cast<uint32_t>(pid);
  const auto known = initial_pids_.find(pid);
  return known == initial_pids_.end() ? std::nullopt : std::optional(known->second);
}

bool ProcessProofs::has_proof(pid_t pid, uint32_t session) const {
  const auto key = in_initial_namespace(pid);
  tc_member member{};
  return key && bpf_map_lookup_elem(bpf_map__fd(skeleton_.maps.members), &*key, &member) == 0 &&
         member.proven.words[session / 64] >> (session % 64) & 1;
}

void ProcessProofs::forget(uint32_t session) {
  const int members = bpf_map__fd(skeleton_.maps.members);
  for (const uint32_t pid : tables::keys_of<uint32_t>(members)) {
    tc_member member{};
    if (bpf_map_lookup_elem(members, &pid, &member) != 0) continue;
    take_from(member.proven, session);
    sets::put_back_member(members, pid, member);
  }
}

ProcessProofs::Unproven ProcessProofs::unproven(uint32_t session) const {
  const tc_session& of = sessions_[session];
  return {__atomic_load_n(&of.unproven_processes, __ATOMIC_RELAXED),
          __atomic_load_n(&of.unproven_hits, __ATOMIC_RELAXED)};
}

void ProcessProofs::listen_for_unproven(uint32_t session) {
  tc_session& of = sessions_[session];
  __atomic_store_n(&of.unproven_seen, __atomic_load_n(&of.unproven_reported, __ATOMIC_RELAXED),
                   __ATOMIC_RELAXED);
}

}  // namespace tracectl
