// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/indirect_jump.h"

#include <algorithm>
#include <utility>

#include "daemon/object/aarch64/decoder.h"
#include "daemon/object/aarch64/encoding.h"
#include "daemon/object/code/sorted.h"

// All indirect jumps of this machine go through a register. As on x86-64, the source of the address tells a switch (or
// computed goto) from a call through a pointer in tail position.
//
//   switch: the table has distances of 1, 2 or 4 bytes, from a place in the code or from itself
//       ldrb w0, [x0, w1, uxtw];  adr x1, place;  add x0, x1, w0, sxtb #2;  br x0    (gcc)
//       ldrh w11, [x9, x8, lsl #1];  adr x10, place;  add x10, x10, x11, lsl #2;  br x10    (clang)
//       ldrsw x10, [x9, x8, lsl #2];  add x9, x9, x10;  br x9    (clang)
//     No compiler generates such a table of functions. (The distances in clang's relative vtables are loaded without an
//     index.) Distances of 1 and 2 bytes lead to some instruction even behind the table's end, so its length is taken
//     from the comparison before it:
//       cmp w1, #last;  b.hi default
//   computed goto: the table has addresses
//       ldr x0, [x20, x0, lsl #3];  br x0
//     An array of pointers to functions looks the same: the first entry decides.
//   anything loaded without a scaled index, or passed as an argument: a pointer, if the stack is as at the function's
//     entry.
namespace tracectl {
namespace {

constexpr int kMostStepsBack = 64;
constexpr int kMostStepsToBound = 32;
constexpr int kMostRegisters = 16;  // for one jump; in a loop, moves can form a cycle
constexpr size_t kMostEntries = 1024;

constexpr Encoding kAddShifted{0xffe00000, 0x8b000000};   // add xD, xN, xM, lsl #number
constexpr Encoding kAddExtended{0xffe00000, 0x8b200000};  // add xD, xN, wM, sxtb #number
constexpr Encoding kLoadAcquire{0xfffffc00, 0xc8dffc00};  // ldar
constexpr Encoding kLoadOrdered{0xfffffc00, 0xf8bfc000};  // ldapr

constexpr uint8_t kHigher = 8;
constexpr uint8_t kLowerOrSame = 9;

// A load of a general register of 64 bits.
bool is_pointer_load(uint32_t word, uint8_t into) {
  if (is(word, kVector)) return false;
  const bool is_named = first_register(word) == into;
  if (is(word, kLoadPair))
    return bits(word, 30, 2) == 2 && bits(word, 22, 1) == 1 &&
           (is_named || pair_register(word) == into);
  if (is(word, kLoadAcquire) || is(word, kLoadOrdered)) return is_named;
  const bool is_single =
      is(word, kLoadUnsigned) || is(word, kLoadSigned) || is(word, kLoadByRegister);
  return is_single && is_named && bits(word, 30, 2) == 3 && bits(word, 22, 2) == 1;
}

uint64_t extended(uint64_t value, unsigned bit_count, bool is_signed) {
  const unsigned unused = 64 - bit_count;
  const uint64_t high = value << unused;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(high) >> unused) : high >> unused;
}

// How the number in a table becomes a distance.
struct Entry {
  unsigned bytes;
  bool is_signed;
  unsigned option;  // of the addition: Arm ARM, DecodeRegExtend
  unsigned shift;

  uint64_t distance(uint64_t number) const {
    const uint64_t loaded = extended(number, 8 * bytes, is_signed);
    return extended(loaded, 8u << (option & 3), (option & 4) != 0) << shift;
  }
};

// Of a table's load, and of the addition of what it loaded.
Entry entry_of(uint32_t load, uint32_t sum) {
  constexpr unsigned kAll64 = 3;
  const bool is_extended = is(sum, kAddExtended);
  return {.bytes = 1u << bits(load, 30, 2),
          .is_signed = bits(load, 23, 1) != 0,
          .option = is_extended ? bits(sum, 13, 3) : kAll64,
          .shift = is_extended ? bits(sum, 10, 3) : bits(sum, 10, 6)};
}

// Of distances: ldrb, ldrh, ldrsw, and the like.
bool reads_distances(uint32_t word) {
  const bool is_load = is(word, kLoadByRegister) && !is(word, kVector) && bits(word, 22, 2) != 0;
  return is_load && bits(word, 30, 2) != 3 && (bits(word, 30, 2) == 0 || is_index_scaled(word));
}

class Origin {
 public:
  Origin(const Listing& listing, const ReadFile& read) : listing_(listing), read_(read) {}

  IndirectJump of_jump(size_t index) { return of_register(base_register(word_of(index)), index); }

 private:
  uint32_t word_of(size_t index) const { return *instruction_in(listing_[index].bytes); }

  // The source of a register's value before the step.
  IndirectJump of_register(uint8_t number, size_t index) {
    if (number == kStackNumber || ++registers_followed_ > kMostRegisters) return {};
    const auto write = last_write(number, index);
    if (!write) return {may_be_of_table() ? Leads::unknown : Leads::outside};
    if (listing_[*write].flow == Flow::call) return {number == 0 ? Leads::outside : Leads::unknown};
    const uint32_t word = word_of(*write);
    if (is(word, kMoveRegister)) return of_register(index_register(word), *write);
    if (is(word, kAddShifted) || is(word, kAddExtended)) return of_sum(*write);
    if (!is_pointer_load(word, number)) return {};
    const bool is_indexed = is(word, kLoadByRegister) && is_index_scaled(word);
    return is_indexed ? of_address_table(*write) : IndirectJump{Leads::outside};
  }

  IndirectJump of_sum(size_t sum) {
    const uint32_t word = word_of(sum);
    const uint8_t base = base_register(word);
    const uint8_t added = index_register(word);
    if (const auto load = load_of_distance(added, sum))
      return of_distance_table(*load, base, sum, entry_of(word_of(*load), word));
    if (!is(word, kAddShifted) || bits(word, 10, 6) != 0) return {};
    if (const auto load = load_of_distance(base, sum))
      return of_distance_table(*load, added, sum, entry_of(word_of(*load), word));
    return {};
  }

  // The register's last write is not searched for across a join of paths. But a function that reads
  // no table does not jump by one.
  bool may_be_of_table() const { return !is_argument_ && listing_.loads_by_index(); }

  std::optional<size_t> load_of_distance(uint8_t number, size_t index) {
    const auto write = last_write(number, index);
    return write && reads_distances(word_of(*write)) ? write : std::nullopt;
  }

  IndirectJump of_distance_table(size_t load, uint8_t base, size_t sum, const Entry& entry) {
    IndirectJump jump{Leads::inside};
    const auto table = address_in(base_register(word_of(load)), load);
    const auto place = address_in(base, sum);
    if (!table || !place || !read_) return jump;
    const auto step_of = [&](uint64_t number) {
      return listing_.at(*place + entry.distance(number));
    };
    if (!is_first_a_step(*table, entry.bytes, step_of)) return {};
    if (const auto count = count_of_entries(load, entry.bytes))
      jump.targets = entries(*table, entry.bytes, *count, step_of);
    return jump;
  }

  IndirectJump of_address_table(size_t load) {
    const auto table = address_in(base_register(word_of(load)), load);
    if (!table) return {};
    const auto step_of = [&](uint64_t address) { return listing_.at(address); };
    const size_t count = count_of_entries(load, sizeof(uint64_t)).value_or(kMostEntries);
    if (auto targets = entries(*table, sizeof(uint64_t), count, step_of); !targets.empty())
      return {Leads::inside, std::move(targets)};
    const auto first = numbers(*table, sizeof(uint64_t), 1);
    const bool is_elsewhere = !first.empty() && first[0] != 0 && !listing_.contains(first[0]);
    return {is_elsewhere ? Leads::outside : Leads::unknown};
  }

  // The constant address in a register: of adr, or of adrp and add.
  std::optional<uint64_t> address_in(uint8_t number, size_t index) {
    const auto write = last_write(number, index);
    if (!write) return std::nullopt;
    const uint32_t word = word_of(*write);
    if (const auto formed = relative_address(word, listing_[*write].address)) return formed;
    if (!is(word, kAddNumber) || ++registers_followed_ > kMostRegisters) return std::nullopt;
    const auto base = address_in(base_register(word), *write);
    return base ? std::optional{*base + static_cast<uint64_t>(number_added(word))} : std::nullopt;
  }

  std::optional<size_t> last_write(uint8_t number, size_t index) {
    is_argument_ = false;
    for (int back = 0; back < kMostStepsBack; ++back) {
      is_argument_ = index == 0 && listing_[0].jumps_here == 0;
      const auto earlier = listing_.only_before(index);
      if (!earlier) return std::nullopt;
      index = *earlier;
      const bool is_lost = listing_[index].flow == Flow::call && !survives_calls(number);
      if (is_lost || may_write(word_of(index), number)) return index;
    }
    return std::nullopt;
  }

  // From the comparison of the index with the last one. Longer entries end by themselves: what is behind the table
  // hardly leads to an instruction of the function.
  std::optional<size_t> count_of_entries(size_t load, unsigned bytes_of_each) const {
    if (const auto last = last_index(load)) return *last + 1;
    return bytes_of_each >= 4 ? std::optional{kMostEntries} : std::nullopt;
  }

  std::optional<size_t> last_index(size_t index) const {
    bool is_bounded = false;
    for (int back = 0; back < kMostStepsToBound; ++back) {
      const auto earlier = listing_.only_before(index);
      if (!earlier) return std::nullopt;
      is_bounded |= is_bound(*earlier, index);
      index = *earlier;
      if (is_bounded && is(word_of(index), kCompareNumber)) return bits(word_of(index), 10, 12);
    }
    return std::nullopt;
  }

  // b.hi past the switch, or b.ls to it.
  bool is_bound(size_t branch, size_t next) const {
    const CodeStep& step = listing_[branch];
    if (step.flow != Flow::conditional) return false;
    const bool is_taken = step.target == listing_[next].address;
    return condition_of(step) == (is_taken ? kLowerOrSame : kHigher);
  }

  // Up to `most` numbers of `size` bytes, as far as the file goes.
  std::vector<uint64_t> numbers(uint64_t address, unsigned size, size_t most) const {
    std::vector<uint8_t> bytes(most * size);
    const size_t got = read_ ? std::min(read_(address, bytes), bytes.size()) : 0;
    std::vector<uint64_t> numbers;
    for (size_t at = 0; at + size <= got; at += size) {
      uint64_t number = 0;
      for (unsigned i = 0; i < size; ++i) number |= uint64_t{bytes[at + i]} << 8 * i;
      numbers.push_back(number);
    }
    return numbers;
  }

  template <class StepOf>
  bool is_first_a_step(uint64_t table, unsigned size, const StepOf& step_of) const {
    const auto first = numbers(table, size, 1);
    return !first.empty() && step_of(first[0]);
  }

  // The steps to which the table leads, to the first entry that leads to none.
  template <class StepOf>
  std::vector<size_t> entries(uint64_t table, unsigned size, size_t count,
                              const StepOf& step_of) const {
    std::vector<size_t> steps;
    for (const uint64_t number : numbers(table, size, std::min(count, kMostEntries))) {
      const auto step = step_of(number);
      if (!step) break;
      steps.push_back(*step);
    }
    sort_once(steps);
    return steps;
  }

  const Listing& listing_;
  const ReadFile& read_;
  int registers_followed_ = 0;
  bool is_argument_ = false;  // the last search reached the entry
};

}  // namespace

IndirectJump indirect_jump(const Listing& listing, size_t step, const ReadFile& read) {
  return Origin{listing, read}.of_jump(step);
}

}  // namespace tracectl
