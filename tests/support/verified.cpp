// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/verified.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "bpf/abi.h"
#include "bpf/tracer.skel.h"
#include "daemon/kernel/uprobe_multi.h"

namespace tracectl {
namespace {

constexpr int kStatistics =
    4;  // log level of the verifier: include/linux/bpf_verifier.h, BPF_LOG_STATS
constexpr size_t kLogBytes = 1 << 20;
constexpr size_t kLastWords = 500;

struct Destroy {
  void operator()(tracer* skeleton) const { tracer::destroy(skeleton); }
};
using Skeleton = std::unique_ptr<tracer, Destroy>;

Skeleton open() {
  Skeleton skeleton{tracer::open(nullptr)};
  if (!skeleton) throw std::runtime_error("the BPF programs cannot be opened");
  return skeleton;
}

bool is_at_uprobe(const bpf_program* program) {
  return std::string_view(bpf_program__section_name(program)).find("uprobe") !=
         std::string_view::npos;
}

void set_attach_type(bpf_program* program) {
  const bool is_session = std::string_view(bpf_program__name(program)) == "on_call_and_return";
  bpf_program__set_expected_attach_type(
      program,
      static_cast<bpf_attach_type>(is_session ? kAttachUprobeSession : kAttachUprobeMulti));
}

// The number in "processed N insns (limit 1000000) ...". Newer kernels print before it, in other words, a number for
// each function that the verifier checks by itself.
uint64_t instructions_of(const std::string& log) {
  const size_t end = log.find(" insns (limit");
  if (end == std::string::npos)
    throw std::runtime_error("the verifier tells no instructions: " + log);
  return std::strtoull(log.c_str() + log.rfind(' ', end - 1) + 1, nullptr, 10);
}

// arch/x86/net/bpf_jit_comp.c, emit_priv_frame_ptr(): `add %gs:this_cpu_off, %r9`.
bool has_frames_of_cpu(int program_fd) {
  const std::string_view own_frame = "\x65\x4c\x03\x0c\x25";
  bpf_prog_info info{};
  uint32_t size = sizeof(info);
  if (bpf_obj_get_info_by_fd(program_fd, &info, &size) != 0)
    throw std::runtime_error("no program info");
  std::string code(info.jited_prog_len, '\0');
  info = {};
  info.jited_prog_len = static_cast<uint32_t>(code.size());
  info.jited_prog_insns = reinterpret_cast<uint64_t>(code.data());
  if (bpf_obj_get_info_by_fd(program_fd, &info, &size) != 0 || code.empty() ||
      info.jited_prog_insns == 0)
    throw std::runtime_error("the kernel does not show what it has made of a program");
  return code.find(own_frame) != std::string::npos;
}

Verified verify(const std::string& name) {
  const Skeleton skeleton = open();
  std::string log(kLogBytes, '\0');
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton->obj) {
    bpf_program__set_autoload(program, bpf_program__name(program) == name);
    if (is_at_uprobe(program)) set_attach_type(program);
  }
  program = bpf_object__find_program_by_name(skeleton->obj, name.c_str());
  bpf_program__set_log_buf(program, log.data(), log.size());
  bpf_program__set_log_level(program, kStatistics);
  const bool is_loaded = bpf_object__load(skeleton->obj) == 0;
  log.resize(log.find('\0'));
  Verified verified;
  verified.program = name;
  verified.is_at_uprobe = is_at_uprobe(program);
  verified.instructions = instructions_of(log);
  if (is_loaded)
    verified.has_frames_of_cpu = has_frames_of_cpu(bpf_program__fd(program));
  else
    verified.refused = log.substr(log.size() - std::min(log.size(), kLastWords));
  return verified;
}

}  // namespace

std::vector<Verified> verify_programs() {
  const Skeleton skeleton = open();
  std::vector<Verified> all;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton->obj)
      all.push_back(verify(bpf_program__name(program)));
  return all;
}

}  // namespace tracectl
