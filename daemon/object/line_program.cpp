// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/line_program.h"

#include <dwarf.h>

#include <filesystem>

#include "daemon/base/bytes.h"

namespace tracectl {
namespace {

constexpr size_t kMostFormats = 16;          // kinds of facts about a directory or a file
constexpr size_t kMostPathBytes = 32 << 20;  // of the directories and files of a table

// ---- numbers of DWARF: longer ones than 64 bits lose their high bits ----

uint64_t unsigned_number(ByteReader& from) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = from.fixed<uint8_t>();
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
}

int64_t signed_number(ByteReader& from) {
  uint64_t value = 0;
  for (unsigned shift = 0;;) {
    const auto byte = from.fixed<uint8_t>();
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    shift += 7;
    if (byte & 0x80) continue;
    if (shift < 64 && (byte & 0x40)) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }
}

uint64_t number_of_size(ByteReader& from, size_t size) {
  switch (size) {
    case 1: return from.fixed<uint8_t>();
    case 2: return from.fixed<uint16_t>();
    case 4: return from.fixed<uint32_t>();
    case 8: return from.fixed<uint64_t>();
    default: from.take(size); return 0;
  }
}

std::string_view text_at(std::string_view section, uint64_t offset) {
  if (offset >= section.size()) return {};
  const std::string_view rest = section.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

// Without its end, a 0.
std::string_view take_text(ByteReader& from) {
  ByteReader look = from;
  const std::string_view rest = look.rest();
  const size_t size = rest.find('\0');
  if (size == rest.npos) {
    from.take(rest.size() + 1);  // fails
    return {};
  }
  from.take(size + 1);
  return rest.substr(0, size);
}

// ---- paths ----

std::string joined(std::string_view directory, std::string_view name) {
  if (directory.empty() || name.starts_with('/')) return std::string{name};
  return std::string{directory} + "/" + std::string{name};
}

bool is_normal(std::string_view path) {
  return !path.starts_with("./") && path.find("//") == path.npos && path.find("/.") == path.npos;
}

// Printable, because it is shown on terminals.
std::string plain_path(std::string path) {
  if (!is_normal(path)) path = std::filesystem::path(std::move(path)).lexically_normal().string();
  for (char& c : path)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return path;
}

}  // namespace

// ---- the header ----

class LineHeader {
 public:
  LineHeader(const LineSections& sections, std::string_view directory)
      : sections_(sections), directory_(directory) {}

  std::optional<LineTable> read(uint64_t offset) {
    if (offset >= sections_.lines.size()) return std::nullopt;
    ByteReader section(sections_.lines.substr(offset));
    uint64_t size = section.fixed<uint32_t>();
    if (size == UINT32_MAX) {
      offset_size_ = 8;
      size = section.fixed<uint64_t>();
    }
    ByteReader unit(section.take(size));
    version_ = unit.fixed<uint16_t>();
    if (section.failed() || version_ < 2 || version_ > 5) return std::nullopt;
    if (version_ == 5) {
      const auto address_size = unit.fixed<uint8_t>();
      const auto selector_size = unit.fixed<uint8_t>();
      if (address_size != sizeof(uint64_t) || selector_size != 0) return std::nullopt;
    }
    ByteReader header(unit.take(number_of_size(unit, offset_size_)));
    if (unit.failed() || !read_machine(header) || !read_files(header)) return std::nullopt;
    table_.program_ = unit.rest();
    return std::move(table_);
  }

 private:
  bool read_machine(ByteReader& header) {
    table_.shortest_instruction_ = header.fixed<uint8_t>();
    const uint8_t operations = version_ >= 4 ? header.fixed<uint8_t>() : uint8_t{1};
    table_.statement_by_default_ = header.fixed<uint8_t>() != 0;
    table_.line_base_ = static_cast<int8_t>(header.fixed<uint8_t>());
    table_.line_range_ = header.fixed<uint8_t>();
    const auto first_special = header.fixed<uint8_t>();
    // Only machines that begin several operations with one instruction have more.
    if (operations != 1 || table_.line_range_ == 0 || first_special == 0) return false;
    table_.operand_counts_ = header.take(first_special - 1u);
    return !header.failed();
  }

  bool read_files(ByteReader& header) {
    return version_ < 5 ? read_old_files(header) : read_new_files(header);
  }

  // Directory 0 is the unit's, and files are counted from 1.
  bool read_old_files(ByteReader& header) {
    directories_.emplace_back(directory_);
    for (auto name = take_text(header); !name.empty(); name = take_text(header))
      if (!add_directory(name)) return false;
    table_.files_.emplace_back();
    for (auto name = take_text(header); !name.empty(); name = take_text(header)) {
      const uint64_t directory = unsigned_number(header);
      unsigned_number(header);  // time
      unsigned_number(header);  // size
      if (!add_file(name, directory)) return false;
    }
    return !header.failed();
  }

  struct Format {
    uint64_t content = 0, form = 0;
  };
  struct Entry {
    std::string_view name;
    uint64_t directory = 0;
  };

  bool read_new_files(ByteReader& header) {
    const auto of_directories = read_formats(header);
    if (!of_directories) return false;
    const uint64_t directory_count = unsigned_number(header);
    for (uint64_t i = 0; i < directory_count && !header.failed(); ++i)
      if (!add_directory(read_entry(header, *of_directories).name)) return false;
    const auto of_files = read_formats(header);
    if (!of_files) return false;
    const uint64_t file_count = unsigned_number(header);
    for (uint64_t i = 0; i < file_count && !header.failed(); ++i) {
      const Entry entry = read_entry(header, *of_files);
      if (!add_file(entry.name, entry.directory)) return false;
    }
    return !header.failed();
  }

  std::optional<std::vector<Format>> read_formats(ByteReader& header) const {
    std::vector<Format> formats(header.fixed<uint8_t>());
    if (formats.size() > kMostFormats) return std::nullopt;
    for (Format& format : formats) format = {unsigned_number(header), unsigned_number(header)};
    return formats;
  }

  Entry read_entry(ByteReader& header, const std::vector<Format>& formats) const {
    Entry entry;
    for (const Format& format : formats) {
      if (format.content == DW_LNCT_path)
        entry.name = read_name(header, format.form);
      else if (format.content == DW_LNCT_directory_index)
        entry.directory = read_number(header, format.form);
      else
        skip(header, format.form);
    }
    return entry;
  }

  std::string_view read_name(ByteReader& header, uint64_t form) const {
    switch (form) {
      case DW_FORM_string: return take_text(header);
      case DW_FORM_line_strp:
        return text_at(sections_.line_strings, number_of_size(header, offset_size_));
      case DW_FORM_strp: return text_at(sections_.strings, number_of_size(header, offset_size_));
      default: skip(header, form); return {};
    }
  }

  uint64_t read_number(ByteReader& header, uint64_t form) const {
    switch (form) {
      case DW_FORM_udata: return unsigned_number(header);
      case DW_FORM_data1: return header.fixed<uint8_t>();
      case DW_FORM_data2: return header.fixed<uint16_t>();
      case DW_FORM_data4: return header.fixed<uint32_t>();
      case DW_FORM_data8: return header.fixed<uint64_t>();
      default: skip(header, form); return UINT64_MAX;
    }
  }

  // Reading fails after a form whose size is not known.
  void skip(ByteReader& header, uint64_t form) const {
    switch (form) {
      case DW_FORM_string: take_text(header); return;
      case DW_FORM_line_strp:
      case DW_FORM_strp:
      case DW_FORM_strp_sup:
      case DW_FORM_sec_offset: header.take(offset_size_); return;
      case DW_FORM_udata:
      case DW_FORM_strx: unsigned_number(header); return;
      case DW_FORM_data1:
      case DW_FORM_strx1:
      case DW_FORM_flag: header.take(1); return;
      case DW_FORM_data2:
      case DW_FORM_strx2: header.take(2); return;
      case DW_FORM_strx3: header.take(3); return;
      case DW_FORM_data4:
      case DW_FORM_strx4: header.take(4); return;
      case DW_FORM_data8: header.take(8); return;
      case DW_FORM_data16: header.take(16); return;
      case DW_FORM_block: header.take(unsigned_number(header)); return;
      case DW_FORM_block1: header.take(header.fixed<uint8_t>()); return;
      case DW_FORM_block2: header.take(header.fixed<uint16_t>()); return;
      case DW_FORM_block4: header.take(header.fixed<uint32_t>()); return;
      default: header.take(UINT64_MAX);
    }
  }

  bool add_directory(std::string_view name) {
    directories_.push_back(path_of(directory_, name));
    return is_within_bounds(directories_);
  }

  bool add_file(std::string_view name, uint64_t directory) {
    const bool is_known = !name.empty() && directory < directories_.size();
    table_.files_.push_back(is_known ? plain_path(path_of(directories_[directory], name)) : "");
    return is_within_bounds(table_.files_);
  }

  // Paths that are too long are not known.
  static std::string path_of(std::string_view directory, std::string_view name) {
    if (directory.size() + name.size() >= LineTable::kLongestPath) return {};
    return joined(directory, name);
  }

  bool is_within_bounds(const std::vector<std::string>& paths) {
    bytes_ += paths.back().size();
    return paths.size() <= LineTable::kMostFiles && bytes_ <= kMostPathBytes;
  }

  const LineSections& sections_;
  std::string_view directory_;
  uint16_t version_ = 0;
  size_t offset_size_ = 4;
  std::vector<std::string> directories_;
  size_t bytes_ = 0;  // of paths
  LineTable table_;
};

std::optional<LineTable> LineTable::read(const LineSections& sections, uint64_t offset,
                                         std::string_view directory) {
  return LineHeader(sections, directory.size() < kLongestPath ? directory : "").read(offset);
}

// ---- the program ----

namespace {

// Values beyond those that a compiler makes are of no line.
uint32_t small_or_none(uint64_t number) {
  return number <= INT32_MAX ? static_cast<uint32_t>(number) : 0;
}

// The registers of the machine.
struct LineRegisters {
  uint64_t address = 0, file = 1, line = 1, column = 0;
  bool is_statement = false;

  LineRow row(bool ends_sequence) const {
    return {address, file, small_or_none(line), small_or_none(column), is_statement, ends_sequence};
  }
};

}  // namespace

class LineMachine {
 public:
  LineMachine(const LineTable& table, const LineTable::OnRow& on_row)
      : table_(table),
        on_row_(on_row),
        program_(table.program_),
        start_{.is_statement = table.statement_by_default_},
        now_(start_),
        first_special_(static_cast<uint8_t>(table.operand_counts_.size() + 1)) {}

  // Returns false if the program is damaged.
  bool run() {
    while (!program_.at_end() && !is_enough_) {
      const auto opcode = program_.fixed<uint8_t>();
      if (opcode >= first_special_)
        special(opcode);
      else if (opcode == 0)
        extended(ByteReader(program_.take(unsigned_number(program_))));
      else
        standard(opcode);
      if (program_.failed()) return false;
    }
    return true;
  }

 private:
  void emit(bool ends_sequence = false) { is_enough_ = !on_row_(now_.row(ends_sequence)); }
  void advance(uint64_t instructions) {
    now_.address += instructions * table_.shortest_instruction_;
  }
  unsigned adjusted(uint8_t opcode) const { return static_cast<unsigned>(opcode - first_special_); }

  void special(uint8_t opcode) {
    const unsigned both = adjusted(opcode);
    advance(both / table_.line_range_);
    now_.line +=
        static_cast<uint64_t>(int64_t{table_.line_base_} + int64_t{both % table_.line_range_});
    emit();
  }

  void extended(ByteReader operation) {
    const auto opcode = operation.fixed<uint8_t>();
    if (opcode == DW_LNE_set_address) now_.address = operation.fixed<uint64_t>();
    if (opcode != DW_LNE_end_sequence) return;
    emit(true);
    now_ = start_;
  }

  void standard(uint8_t opcode) {
    switch (opcode) {
      case DW_LNS_copy: return emit();
      case DW_LNS_advance_pc: return advance(unsigned_number(program_));
      case DW_LNS_advance_line: now_.line += static_cast<uint64_t>(signed_number(program_)); return;
      case DW_LNS_set_file: now_.file = unsigned_number(program_); return;
      case DW_LNS_set_column: now_.column = unsigned_number(program_); return;
      case DW_LNS_negate_stmt: now_.is_statement = !now_.is_statement; return;
      case DW_LNS_const_add_pc: return advance(adjusted(UINT8_MAX) / table_.line_range_);
      case DW_LNS_fixed_advance_pc: now_.address += program_.fixed<uint16_t>(); return;
      default: skip_operands(static_cast<uint8_t>(table_.operand_counts_[opcode - 1u]));
    }
  }

  void skip_operands(uint8_t count) {
    for (; count > 0; --count) unsigned_number(program_);
  }

  const LineTable& table_;
  const LineTable::OnRow& on_row_;
  ByteReader program_;
  const LineRegisters start_;
  LineRegisters now_;
  const uint8_t first_special_;
  bool is_enough_ = false;
};

bool LineTable::each_row(const OnRow& on_row) const { return LineMachine(*this, on_row).run(); }

}  // namespace tracectl
