// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/indirect_calls.h"

#include <utility>

#include "daemon/object/aarch64/addresses.h"
#include "daemon/object/aarch64/decoder.h"
#include "daemon/object/aarch64/encoding.h"

namespace tracectl {
namespace {

Register register_numbered(uint8_t number) { return static_cast<Register>(number); }

Argument in_register(uint8_t number) {
  return Argument{.place = Argument::Place::in_register,
                  .kind = Argument::Kind::pointer,
                  .base = register_numbered(number)};
}

// Not with pointer authentication: the register has a signed pointer, which is no address.
bool is_indirect_call(uint32_t word) { return is(word, kBlr); }

class Search {
 public:
  Search(const FunctionCode& function, const ReadFile& read)
      : function_(function), read_(read), listing_(Listing::of(function)) {}

  std::vector<IndirectCall> run() {
    if (!listing_) return {};
    search(function_.body);
    for (const CodeRange& other : function_.others) search(other);
    return std::move(found_);
  }

 private:
  void search(const CodeRange& range) {
    for (size_t position = 0; position < range.bytes.size(); position += kInstructionBytes) {
      const auto word = instruction_in(range.bytes.subspan(position));
      const uint64_t address = range.address + position;
      registers_.arrive(address);
      if (!word) continue;
      if (is_indirect_call(*word) || (is(*word, kBr) && jump_leads_out(*listing_, address, read_)))
        add(*word, address);
      registers_.pass(*word, address);
    }
  }

  void add(uint32_t word, uint64_t address) {
    const uint8_t target = base_register(word);
    if (target != kStackNumber)
      found_.push_back({address, in_register(target), registers_.slot_of(target)});
  }

  const FunctionCode& function_;
  const ReadFile& read_;
  Result<Listing> listing_;
  Addresses registers_;
  std::vector<IndirectCall> found_;
};

}  // namespace

std::vector<IndirectCall> indirect_calls(const FunctionCode& function, const ReadFile& read) {
  return Search{function, read}.run();
}

}  // namespace tracectl
