// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/frame_table.h"

#include <cstdlib>
#include <utility>

namespace tracectl {
namespace {

constexpr size_t kMostFrameOperations = 64;

std::optional<FrameTable::Row> row_in(Dwarf_CFI* table, uint64_t address) {
  Dwarf_Frame* found = nullptr;
  if (!table || ::dwarf_cfi_addrframe(table, address, &found) != 0) return std::nullopt;
  const std::unique_ptr<Dwarf_Frame, decltype(&std::free)> frame(found, &std::free);
  FrameTable::Row row;
  bool is_of_signal = false;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (::dwarf_frame_info(frame.get(), &row.first_address, &row.end, &is_of_signal) < 0 ||
      is_of_signal || ::dwarf_frame_cfa(frame.get(), &ops, &count) != 0)
    return std::nullopt;
  const bool is_here = address >= row.first_address && address < row.end;
  if (!is_here || !ops || count == 0 || count > kMostFrameOperations) return std::nullopt;
  row.place.assign(ops, ops + count);
  return row;
}

}  // namespace

FrameTable::FrameTable(ElfImage program, const dwarf::Die& debug)
    : program_(std::make_unique<ElfImage>(std::move(program))),
      of_program_(::dwarf_getcfi_elf(program_->elf())) {
  if (Dwarf* const info = ::dwarf_cu_getdwarf(debug.cu)) of_debug_ = ::dwarf_getcfi(info);
}

std::optional<FrameTable::Row> FrameTable::row_at(uint64_t address) const {
  if (auto row = row_in(of_program_.get(), address)) return row;
  return row_in(of_debug_, address);
}

}  // namespace tracectl
