// SPDX-License-Identifier: BSD-2-Clause
//
// libdwfl does the work. It gets the files that were opened for reading symbols, so it opens none
// itself: neither by a name in one of them, nor from a server.
#include "daemon/object/unwinder.h"

#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "daemon/object/code/machine.h"

namespace tracectl {
namespace {

constexpr uint64_t kPage = 4096;
constexpr pid_t kThread = 1;  // the thread for libdwfl; any number
constexpr uint64_t kLargestStack = uint64_t{1} << 32;

struct AddressRange {
  uint64_t start = 0, end = 0;
};

// The range of the file in its own address space; none if it loads nothing, or too much.
std::optional<AddressRange> extent_of(const ElfImage& image) {
  size_t count = 0;
  if (elf_getphdrnum(image.elf(), &count) != 0) return std::nullopt;
  std::optional<AddressRange> all;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (!gelf_getphdr(image.elf(), static_cast<int>(i), &header)) return std::nullopt;
    if (header.p_type != PT_LOAD) continue;
    const uint64_t end = header.p_vaddr + header.p_memsz;
    if (end < header.p_vaddr || end > UINT64_MAX - kPage) return std::nullopt;
    if (!all) all = AddressRange{header.p_vaddr / kPage * kPage, end};
    all->end = std::max(all->end, end);
  }
  if (all) all->end = (all->end + kPage - 1) / kPage * kPage;
  return all;
}

// The stack that is being unwound, for libdwfl's callbacks.
struct Walk {
  const RawStack* stack = nullptr;
  unsigned most = 0;
  Unwinder::Found found;
  std::optional<StackEnd> missed;  // why a lookup for the next frame failed

  bool read(uint64_t address, Dwarf_Word& value) {
    const auto& bytes = stack->bytes;
    const uint64_t at = address - stack->start;
    if (at < bytes.size() && bytes.size() - at >= sizeof(value)) {
      std::memcpy(&value, bytes.data() + at, sizeof(value));
      value = without_signature(value, stack->image);
      return true;
    }
    missed = at < kLargestStack ? StackEnd::end_of_copy : StackEnd::unreadable;
    return false;
  }
};

int find_elf(Dwfl_Module*, void** userdata, const char*, Dwarf_Addr, char**, Elf** elf) {
  *elf = elf_begin(-1, ELF_C_READ, static_cast<Elf*>(*userdata));
  return -1;
}

int find_no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                       GElf_Word, char**) {
  return -1;
}

constexpr Dwfl_Callbacks kFiles{.find_elf = find_elf,
                                .find_debuginfo = find_no_debug_file,
                                .section_address = nullptr,
                                .debuginfo_path = nullptr};

pid_t next_thread(Dwfl*, void* walk, void** thread) {
  if (*thread) return 0;
  *thread = walk;
  return kThread;
}

bool get_thread(Dwfl*, pid_t, void* walk, void** thread) {
  *thread = walk;
  return true;
}

bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* value, void* walk) {
  return static_cast<Walk*>(walk)->read(address, *value);
}

bool set_registers(Dwfl_Thread* thread, void* walk) {
  const RawStack& stack = *static_cast<Walk*>(walk)->stack;
  std::array<Dwarf_Word, kRegisters> values{};
  for (size_t i = 0; i < values.size(); ++i)
    values[dwarf_number_of(static_cast<Register>(i))] =
        without_signature(stack.registers[i], stack.image);
  dwfl_thread_state_register_pc(thread, stack.value_of(kInstructionPointer));
  return dwfl_thread_state_registers(thread, 0, values.size(), values.data());
}

constexpr Dwfl_Thread_Callbacks kThreads{.next_thread = next_thread,
                                         .get_thread = get_thread,
                                         .memory_read = read_memory,
                                         .set_initial_registers = set_registers,
                                         .detach = nullptr,
                                         .thread_detach = nullptr};

int take_frame(Dwfl_Frame* frame, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  Dwarf_Addr address = 0;
  if (!dwfl_frame_pc(frame, &address, nullptr)) return DWARF_CB_ABORT;
  if (walk.found.addresses.size() == walk.most) {
    walk.missed = StackEnd::limit;
    return DWARF_CB_ABORT;
  }
  walk.found.addresses.push_back(address);
  Dwarf_Word stack_pointer = 0;
  if (dwfl_frame_reg(frame, dwarf_number_of(kStackPointer), &stack_pointer) != 0) stack_pointer = 0;
  walk.found.stack_pointers.push_back(stack_pointer);
  walk.missed.reset();
  return DWARF_CB_OK;
}

}  // namespace

struct Unwinder::Impl {
  struct End {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };

  std::vector<LoadedImage> loaded;  // outlives dwfl
  std::unique_ptr<Dwfl, End> dwfl;
  Walk walk;
  bool attached = false;

  void report(size_t index) {
    const auto extent = extent_of(*loaded[index].image);
    if (!extent) return;
    const uint64_t bias = loaded[index].bias;
    Dwfl_Module* module = dwfl_report_module(dwfl.get(), std::to_string(index).c_str(),
                                             extent->start + bias, extent->end + bias);
    void** userdata = nullptr;
    if (module)
      dwfl_module_info(module, &userdata, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    if (userdata) *userdata = loaded[index].image->elf();
  }

  void open() {
    dwfl.reset(dwfl_begin(&kFiles));
    if (!dwfl || loaded.empty()) return;
    dwfl_report_begin(dwfl.get());
    for (size_t i = 0; i < loaded.size(); ++i) report(i);
    if (dwfl_report_end(dwfl.get(), nullptr, nullptr) != 0) return;
    attached = dwfl_attach_state(dwfl.get(), loaded[0].image->elf(), kThread, &kThreads, &walk);
  }
};

Unwinder::Unwinder(std::vector<LoadedImage> loaded) : impl_(std::make_unique<Impl>()) {
  impl_->loaded = std::move(loaded);
  impl_->open();
}
Unwinder::Unwinder(Unwinder&&) noexcept = default;
Unwinder& Unwinder::operator=(Unwinder&&) noexcept = default;
Unwinder::~Unwinder() = default;

Unwinder::Found Unwinder::unwind(const RawStack& copied, unsigned most) {
  Walk& walk = impl_->walk;
  walk = Walk{.stack = &copied, .most = most, .found = {}, .missed = {}};
  int ended = -1;
  if (impl_->attached) ended = dwfl_getthread_frames(impl_->dwfl.get(), kThread, take_frame, &walk);
  if (walk.found.addresses.empty()) {
    walk.found.addresses.push_back(copied.value_of(kInstructionPointer));
    walk.found.stack_pointers.push_back(copied.value_of(kStackPointer));
  }
  // To libdwfl a return address that cannot be read is none, which would look like the outermost
  // frame.
  if (ended != 0 || walk.missed) walk.found.end = walk.missed.value_or(StackEnd::no_table);
  return std::move(walk.found);
}

}  // namespace tracectl
