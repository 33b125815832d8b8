// SPDX-License-Identifier: BSD-2-Clause
//
// Tools for measuring hits: the sites of the program `hot`, a BPF program that does nothing, and the time of
// a call.
#pragma once

#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/bpf.h>

#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/kernel/uprobe_multi.h"
#include "daemon/object/elf_file.h"
#include "daemon/object/notes.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

namespace tracectl::bench {

// A probe of the target, and the function that passes it once per call.
struct Site {
  const char* probe;
  const char* function;
  const char* name;
  bool fast;
};
inline constexpr Site kEmulated{"normal", "hot_push", "1-byte nop", false};
inline constexpr Site kFast{"fast", "hot_nop5", "5-byte nop", true};

inline uint64_t offset_of(const std::string& path, const Site& site) {
  Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const auto file = on_kernel::must(ElfFile::open(fd.get(), path));
  for (const UsdtSite& one : on_kernel::must(read_usdt_sites(file)))
    if (one.name == site.probe) return one.offset;
  throw std::runtime_error(std::string("no probe ") + site.probe);
}

// The offsets of the first instructions of the functions whose names begin so.
inline std::vector<uint64_t> offsets_of(const std::string& path, const std::string& functions) {
  Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const auto file = on_kernel::must(ElfFile::open(fd.get(), path));
  std::vector<uint64_t> offsets;
  for (const Function& one : file.functions())
    if (one.name.starts_with(functions)) offsets.push_back(one.offset);
  return offsets;
}

// The offset of a function's first instruction.
inline uint64_t offset_of(const std::string& path, const std::string& function) {
  Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const auto file = on_kernel::must(ElfFile::open(fd.get(), path));
  for (const Function& one : file.functions())
    if (one.name == function) return one.offset;
  throw std::runtime_error("no function " + function);
}

inline Fd loaded_uprobe(const char* name, std::span<const bpf_insn> code, unsigned attach_type) {
  LIBBPF_OPTS(bpf_prog_load_opts, options);
  options.expected_attach_type = static_cast<bpf_attach_type>(attach_type);
  Fd program{bpf_prog_load(BPF_PROG_TYPE_KPROBE, name, "GPL", code.data(), code.size(), &options)};
  if (!program) throw std::runtime_error(std::string("the program \"") + name + "\" does not load");
  return program;
}

inline Fd arm_program(const Fd& program, unsigned attach_type, const on_kernel::Program& target,
                      std::span<const uint64_t> offsets) {
  Fd object{::open(target.path().c_str(), O_RDONLY | O_CLOEXEC)};
  auto armed = arm_uprobes({.program_fd = program.get(),
                            .attach_type = attach_type,
                            .object_fd = object.get(),
                            .filter = target.pid(),
                            .offsets = offsets});
  if (armed.empty()) throw std::runtime_error("a program does not arm");
  return std::move(armed.front());
}

// The least that a uprobe can run: `return 0`.
class EmptyProgram {
 public:
  // With kAttachUprobeSession it runs at the entry of a function and at its return.
  explicit EmptyProgram(unsigned attach_type = kAttachUprobeMulti) : attach_type_(attach_type) {
    std::array<bpf_insn, 2> code{};
    code[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
    code[1].code = BPF_JMP | BPF_EXIT;
    program_ = loaded_uprobe("empty", code, attach_type_);
  }

  Fd arm(const on_kernel::Program& target, const Site& site) const {
    return arm(target, offset_of(target.path(), site));
  }
  Fd arm(const on_kernel::Program& target, uint64_t offset) const {
    return arm(target, std::span(&offset, 1));
  }
  Fd arm(const on_kernel::Program& target, std::span<const uint64_t> offsets) const {
    return arm_program(program_, attach_type_, target, offsets);
  }

 private:
  unsigned attach_type_;
  Fd program_;
};

// Nanoseconds per call of the function.
inline double ns_of_a_call(on_kernel::Program& target, const Site& site, uint64_t calls) {
  target.send(std::string(site.function) + " " + std::to_string(calls));
  const auto said = nlohmann::json::parse(target.finish());
  if (said["calls"] != calls) throw std::runtime_error("the program counted other calls");
  return said["ns"].get<double>() / static_cast<double>(calls);
}

}  // namespace tracectl::bench
