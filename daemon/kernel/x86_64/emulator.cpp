// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/emulator.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "bpf/emulator.skel.h"
#include "daemon/base/mapping.h"
#include "daemon/kernel/emulated_places.h"
#include "daemon/kernel/own_code.h"
#include "daemon/kernel/quiet.h"
#include "daemon/kernel/trial.h"
#include "daemon/kernel/uprobe_multi.h"
#include "daemon/kernel/x86_64/flipped_word.h"

namespace tracectl {
namespace {

constexpr size_t kMostCodeBytes = 15;  // of an instruction
constexpr uint64_t kInPage = 0xfff;    // of an address
constexpr uint64_t kTrialCalls = 1000;
constexpr uint64_t kLoads = 4000;  // in a round
constexpr int kRounds = 25;
constexpr uint64_t kTornByBytes = 25;  // are often

struct Destroy {
  void operator()(emulator* skeleton) const { emulator::destroy(skeleton); }
};

using Skeleton = std::unique_ptr<emulator, Destroy>;

Result<Skeleton> load_emulator() {
  if (!has_uprobe_multi())
    return Error{Code::unsupported, "this kernel has no uprobe_multi link (Linux 6.6)"};
  if (!load_returning_program(0))
    return Error{Code::unsupported, "this kernel lets no program write a thread's registers"};
  const Quiet quiet;
  Skeleton skeleton{emulator::open(nullptr)};
  if (!skeleton) return Error::from_errno("open the emulator's program");
  for (bpf_program* one : {skeleton->progs.on_emulated, skeleton->progs.on_trial}) {
    bpf_program__set_autoload(one, true);
    bpf_program__set_expected_attach_type(one, static_cast<bpf_attach_type>(kAttachUprobeMulti));
  }
  if (const int err = emulator::load(skeleton.get()); err != 0)
    return Error::from_errno("load the emulator's program", -err);
  return skeleton;
}

// The places of some links. They are given up when those are closed.
class TakenPlaces {
 public:
  explicit TakenPlaces(std::shared_ptr<EmulatedPlaces> of) : all_(std::move(of)) {}
  ~TakenPlaces() {
    for (const auto& [place, held] : taken_) all_->remove(place, held);
  }
  TakenPlaces(const TakenPlaces&) = delete;
  TakenPlaces& operator=(const TakenPlaces&) = delete;

  // Its number in the table; none if the kernel steps there.
  std::optional<uint32_t> add(const EmulatedPlace& place,
                              const std::optional<tc_instruction>& instruction) {
    taken_.emplace_back(place, all_->add(place, instruction));
    return taken_.back().second.number;
  }

 private:
  std::shared_ptr<EmulatedPlaces> all_;
  std::vector<std::pair<EmulatedPlace, EmulatedPlaces::Held>> taken_;
};

struct ArmedPlaces {
  explicit ArmedPlaces(std::shared_ptr<EmulatedPlaces> of) : places(std::move(of)) {}

  TakenPlaces places;
  std::vector<Fd> links;  // are closed before the places are given up
};

std::optional<ino_t> number_of_file(int object_fd) {
  struct stat file {};
  if (::fstat(object_fd, &file) != 0) return std::nullopt;
  return file.st_ino;
}

// The table, mapped.
struct SharedTable {
  Mapping memory;
  EmulatedPlaces places;

  SharedTable(Mapping mapped, std::span<tc_instruction> table)
      : memory(std::move(mapped)), places(table) {}
  static Result<std::shared_ptr<EmulatedPlaces>> map(int table_fd) {
    constexpr size_t kBytes = TC_MAX_EMULATED * sizeof(tc_instruction);
    auto memory = Mapping::map(table_fd, 0, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED);
    if (!memory) return memory.error();
    const std::span all{static_cast<tc_instruction*>(memory->data()), size_t{TC_MAX_EMULATED}};
    const auto shared = std::make_shared<SharedTable>(std::move(*memory), all);
    return std::shared_ptr<EmulatedPlaces>{shared, &shared->places};
  }
};

std::optional<tc_instruction> read_instruction(int object_fd, const Emulator::Place& place,
                                               Emulates emulates) {
  if (!place.is_emulated) return std::nullopt;
  std::array<uint8_t, kMostCodeBytes> code{};
  const ssize_t size =
      ::pread(object_fd, code.data(), code.size(), static_cast<off_t>(place.offset));
  if (size <= 0) return std::nullopt;
  auto form =
      emulated_form(std::span{code}.first(static_cast<size_t>(size)), place.standing, emulates);
  if (form) form->page_offset = place.offset & kInPage;
  return form;
}

// Arms the program that counts hits which find the thread where the breakpoint is.
std::vector<Fd> arm_order_trial(const emulator& skeleton, const OwnCode& site, pid_t pid) {
  const std::array offsets{site.offset};
  return arm_uprobes({.program_fd = bpf_program__fd(skeleton.progs.on_trial),
                      .object_fd = site.file.get(),
                      .filter = pid,
                      .offsets = offsets});
}

// Programs that are armed later must run earlier, and nothing may be stepped.
Status try_in_child(Emulator& emulated, const emulator& skeleton) {
  auto child = TrialChild::start();
  if (!child) return child.error();
  const TrialCode code = code_of(TrialFunction::emulated);
  const auto site = own_code(code.site), exit = own_code(code.exit);
  if (!site || !exit) return Error{Code::unsupported, "the function for the trial is not found"};
  const std::array places{Emulator::Place{site->offset, Standing::within},
                          Emulator::Place{exit->offset, Standing::at_exit}};
  const auto armed = emulated.arm(site->file.get(), child->pid(), places);
  if (!armed) return Error::from_errno("arm the emulator in a child");
  const auto order = arm_order_trial(skeleton, *site, child->pid());
  if (order.empty()) return Error::from_errno("arm a program in a child");
  const auto outcome = child->call(TrialFunction::emulated, kTrialCalls);
  if (!outcome || outcome->wrong != 0)
    return Error{Code::unsupported, "a child in which it was tried crashed or computed nonsense"};
  if (has_page_for_steps(child->pid()))
    return Error{Code::unsupported,
                 "this kernel steps instructions that a program has carried out"};
  if (skeleton.bss->seen_at_site != kTrialCalls)
    return Error{Code::unsupported, "on this kernel programs that are armed later run later"};
  return ok();
}

// Whether no load of 8, 4 or 2 bytes ever returned parts of two values while this process wrote both in turn. That says
// something once loads by single bytes, made beside it, often did.
bool reads_whole_words(Emulator& emulated) {
  const auto flipped = FlippedWord::make();
  auto child = TrialChild::start();
  if (!flipped || !child) return false;
  std::vector<Emulator::Place> places;
  Fd file;
  for (const void* load : trial_loads()) {
    auto own = own_code(load);
    if (!own) return false;
    places.push_back({own->offset, Standing::within});
    file = std::move(own->file);
  }
  const auto armed = emulated.arm(file.get(), child->pid(), places);
  if (!armed) return false;
  return flipped->during([&] {
    uint64_t torn_by_bytes = 0;
    for (int round = 0; round < kRounds; ++round) {
      const auto outcome = child->call(TrialFunction::loads, kLoads);
      if (!outcome || torn_loads(outcome->wrong) > 0 || has_page_for_steps(child->pid()))
        return false;
      torn_by_bytes += torn_byte_loads(outcome->wrong);
      if (torn_by_bytes >= kTornByBytes) return true;
    }
    return false;
  });
}

}  // namespace

Emulator::Emulator(Fd program, std::shared_ptr<EmulatedPlaces> places)
    : program_(std::move(program)), places_(std::move(places)) {}
Emulator::~Emulator() = default;

Result<std::unique_ptr<Emulator>> Emulator::open() {
  auto skeleton = load_emulator();
  if (!skeleton) return skeleton.error();
  Fd program{::dup(bpf_program__fd((*skeleton)->progs.on_emulated))};
  if (!program) return Error::from_errno("keep the emulator's program");
  auto table = SharedTable::map(bpf_map__fd((*skeleton)->maps.places));
  if (!table) return table.error();
  std::unique_ptr<Emulator> opened{new Emulator(std::move(program), std::move(*table))};
  if (auto tried = try_in_child(*opened, **skeleton); !tried) return tried.error();
  if (!reads_whole_words(*opened)) opened->emulates_ = Emulates::all_but_loads;
  return opened;
}

Emulator::Armed Emulator::arm(int object_fd, pid_t filter, std::span<const Place> places) {
  const auto file = number_of_file(object_fd);
  if (!file) return nullptr;
  auto armed = std::make_shared<ArmedPlaces>(places_);
  std::vector<uint64_t> offsets, cookies;
  for (const Place& place : places) {
    const auto instruction = read_instruction(object_fd, place, emulates_);
    const auto number = armed->places.add({*file, place.offset, filter}, instruction);
    if (!number) continue;
    offsets.push_back(place.offset);
    cookies.push_back(*number);
  }
  if (offsets.empty()) return armed;
  armed->links = arm_uprobes({.program_fd = program_.get(),
                              .object_fd = object_fd,
                              .filter = filter,
                              .offsets = offsets,
                              .cookies = cookies});
  return armed->links.empty() ? nullptr : std::move(armed);
}

std::shared_ptr<const void> Emulator::leave_to_kernel(int object_fd) {
  const auto file = number_of_file(object_fd);
  if (!file) return nullptr;
  places_->leave_to_kernel(*file);
  return {places_.get(),
          [places = places_, file = *file](const void*) { places->give_back(file); }};
}

}  // namespace tracectl
