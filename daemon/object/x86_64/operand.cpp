// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/operand.h"

#include <array>
#include <charconv>

namespace tracectl {
namespace {

struct RegisterName {
  std::string_view name;
  Register reg;
  uint8_t size_bytes;
  bool high_byte = false;
};

// All names of all general registers of x86-64 (Intel SDM volume 1, 3.4.1).
constexpr std::array kRegisterNames{
    RegisterName{"rax", Register::rax, 8},      RegisterName{"eax", Register::rax, 4},
    RegisterName{"ax", Register::rax, 2},       RegisterName{"al", Register::rax, 1},
    RegisterName{"ah", Register::rax, 1, true}, RegisterName{"rcx", Register::rcx, 8},
    RegisterName{"ecx", Register::rcx, 4},      RegisterName{"cx", Register::rcx, 2},
    RegisterName{"cl", Register::rcx, 1},       RegisterName{"ch", Register::rcx, 1, true},
    RegisterName{"rdx", Register::rdx, 8},      RegisterName{"edx", Register::rdx, 4},
    RegisterName{"dx", Register::rdx, 2},       RegisterName{"dl", Register::rdx, 1},
    RegisterName{"dh", Register::rdx, 1, true}, RegisterName{"rbx", Register::rbx, 8},
    RegisterName{"ebx", Register::rbx, 4},      RegisterName{"bx", Register::rbx, 2},
    RegisterName{"bl", Register::rbx, 1},       RegisterName{"bh", Register::rbx, 1, true},
    RegisterName{"rsp", Register::rsp, 8},      RegisterName{"esp", Register::rsp, 4},
    RegisterName{"sp", Register::rsp, 2},       RegisterName{"spl", Register::rsp, 1},
    RegisterName{"rbp", Register::rbp, 8},      RegisterName{"ebp", Register::rbp, 4},
    RegisterName{"bp", Register::rbp, 2},       RegisterName{"bpl", Register::rbp, 1},
    RegisterName{"rsi", Register::rsi, 8},      RegisterName{"esi", Register::rsi, 4},
    RegisterName{"si", Register::rsi, 2},       RegisterName{"sil", Register::rsi, 1},
    RegisterName{"rdi", Register::rdi, 8},      RegisterName{"edi", Register::rdi, 4},
    RegisterName{"di", Register::rdi, 2},       RegisterName{"dil", Register::rdi, 1},
};

// r8 to r15 with the suffixes b, w, d.
std::optional<RegisterName> numbered_register(std::string_view name) {
  if (name.size() < 2 || name[0] != 'r') return std::nullopt;
  unsigned number = 0;
  const auto [end, err] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (err != std::errc{} || number < 8 || number > 15) return std::nullopt;
  const std::string_view suffix{end, static_cast<size_t>(name.data() + name.size() - end)};
  const uint8_t size = suffix.empty()  ? 8
                       : suffix == "d" ? 4
                       : suffix == "w" ? 2
                       : suffix == "b" ? 1
                                       : 0;
  if (size == 0) return std::nullopt;
  return RegisterName{name, static_cast<Register>(number), size};
}

std::optional<RegisterName> find_register(std::string_view name) {
  for (const RegisterName& entry : kRegisterNames)
    if (entry.name == name) return entry;
  if (name == "rip") return RegisterName{name, Register::rip, 8};
  return numbered_register(name);
}

class OperandReader {
 public:
  OperandReader(OperandText& text, bool has_size, const SymbolLookup& symbol, Argument& argument)
      : text_(text), has_size_(has_size), symbol_(symbol), argument_(argument) {}

  bool read() {
    if (text_.skip('$')) return read_constant();
    if (text_.peek() == '%') return read_register();
    return read_memory();
  }

 private:
  std::optional<RegisterName> reg() {
    if (!text_.skip('%')) return std::nullopt;
    return find_register(text_.word());
  }

  bool read_constant() {
    const auto value = text_.number();
    if (!value) return false;
    argument_.place = Argument::Place::constant;
    argument_.offset = *value;
    return true;
  }

  bool read_register() {
    const auto known = reg();
    if (!known) return false;
    argument_.place = Argument::Place::in_register;
    argument_.base = known->reg;
    argument_.high_byte = known->high_byte;
    if (!has_size_) argument_.size_bytes = known->size_bytes;
    return true;
  }

  // DISPLACEMENT(BASE,INDEX,SCALE), each part optional; the displacement is a sum of numbers and
  // at most one symbol.
  bool read_memory() {
    if (text_.at_end()) return false;
    argument_.place = Argument::Place::memory;
    std::string_view symbol;
    if (!read_displacement(symbol)) return false;
    if (text_.skip('(') && !read_inside()) return false;
    return symbol.empty() ? argument_.base != Register::rip : resolve(symbol);
  }

  bool read_displacement(std::string_view& symbol) {
    while (!text_.at_end() && text_.peek() != '(') {
      if (const auto number = text_.number()) {
        argument_.offset = static_cast<int64_t>(static_cast<uint64_t>(argument_.offset) +
                                                static_cast<uint64_t>(*number));
        continue;
      }
      text_.skip('+');
      const std::string_view word = text_.word();
      if (word.empty() || !symbol.empty()) return false;
      symbol = word;
    }
    return true;
  }

  bool read_inside() {
    if (text_.peek() == '%') {
      const auto base = reg();
      if (!base) return false;
      argument_.base = base->reg;
    }
    if (text_.skip(',')) {
      const auto index = reg();
      if (!index || index->reg == Register::rip) return false;
      argument_.index = index->reg;
      if (text_.skip(',') && !read_scale()) return false;
    }
    return text_.skip(')');
  }

  bool read_scale() {
    const auto scale = text_.number();
    if (!scale || (*scale != 1 && *scale != 2 && *scale != 4 && *scale != 8)) return false;
    argument_.scale = static_cast<uint8_t>(*scale);
    return true;
  }

  // Replaces a symbol by its address, relative to the instruction pointer or not.
  bool resolve(std::string_view symbol) {
    const auto address = symbol_(symbol);
    if (!address) return false;
    if (argument_.base == Register::rip) argument_.base = Register::none;
    argument_.link_relative = true;
    argument_.offset = static_cast<int64_t>(static_cast<uint64_t>(argument_.offset) + *address);
    return true;
  }

  OperandText& text_;
  const bool has_size_;
  const SymbolLookup& symbol_;
  Argument& argument_;
};

}  // namespace

bool read_operand(OperandText& text, bool has_size, const SymbolLookup& symbol,
                  Argument& argument) {
  return OperandReader(text, has_size, symbol, argument).read();
}

}  // namespace tracectl
