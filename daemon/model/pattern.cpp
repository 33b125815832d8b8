// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/pattern.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

namespace tracectl {
namespace {

constexpr size_t kMaxBytes = 4096;
constexpr size_t kMaxShownBytes = 40;

// A piece of the pattern's text with its column.
struct Part {
  std::string_view text;
  size_t column = 0;
};

// The pattern being parsed: cuts parts off, and makes errors with a spot.
class Source {
 public:
  explicit Source(std::string_view text) : text_(text), rest_{text, 0} {}

  // The text up to the next ':', which is skipped; none if there is no ':'.
  std::optional<Part> part() {
    size_t colon = rest_.text.find(':');
    if (colon == rest_.text.npos) return std::nullopt;
    Part part{rest_.text.substr(0, colon), rest_.column};
    rest_ = {rest_.text.substr(colon + 1), rest_.column + colon + 1};
    return part;
  }
  // Like part(), but also takes the kernel's name for a file in memory, "/memfd:NAME".
  std::optional<Part> object() {
    const size_t start = rest_.column;
    auto object = part();
    if (!object || object->text != "/memfd") return object;
    object = part();
    if (!object) return std::nullopt;
    return Part{text_.substr(start, object->column + object->text.size() - start), start};
  }
  Part rest() const { return rest_; }

  Error error(size_t column, std::string message) const {
    return {Code::invalid, std::move(message), {}, Spot{std::string{text_}, column}};
  }
  Error error_at_end(std::string message) const { return error(text_.size(), std::move(message)); }

 private:
  std::string_view text_;
  Part rest_;
};

std::string shown(std::string_view text) {
  if (text.size() <= kMaxShownBytes) return std::string{text};
  return std::string{text.substr(0, kMaxShownBytes)} + "...";
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

Status check_characters(const Source& source, std::string_view text) {
  // The error has no spot, because the text is too long to show a caret.
  if (text.size() > kMaxBytes) {
    return Error{Code::invalid,
                 "a pattern may have " + std::to_string(kMaxBytes) + " bytes at most"};
  }
  auto bad = std::find_if(text.begin(), text.end(), is_control);
  if (bad == text.end()) return ok();
  return source.error(static_cast<size_t>(bad - text.begin()),
                      "a pattern may not hold control characters");
}

// operator[], operator new[] and operator delete[] of C++.
bool is_of_operator(std::string_view glob, size_t open) {
  const std::string_view before = glob.substr(0, open);
  return glob.substr(open).starts_with("[]") &&
         (before.ends_with("operator") || before.ends_with("operator new") ||
          before.ends_with("operator delete"));
}

// The column of a `[` that no `]` closes.
std::optional<size_t> unclosed_bracket(std::string_view glob) {
  for (size_t open = glob.find('['); open != glob.npos;) {
    if (is_of_operator(glob, open)) {
      open = glob.find('[', open + 1);
      continue;
    }
    size_t first = open + 1;
    if (first < glob.size() && (glob[first] == '!' || glob[first] == '^')) first++;
    // A `]` that comes first is a member of the set.
    size_t close = first < glob.size() ? glob.find(']', first + 1) : glob.npos;
    if (close == glob.npos) return open;
    open = glob.find('[', close);
  }
  return std::nullopt;
}

Status check_glob(const Source& source, Part part, const char* what) {
  if (part.text.empty()) return source.error(part.column, std::string{"the "} + what + " is empty");
  if (auto open = unclosed_bracket(part.text)) {
    return source.error(part.column + *open, "no ] closes this [; write [[] for a bracket itself");
  }
  return ok();
}

Status check_object(const Source& source, Part object) {
  if (object.text.empty()) return ok();
  if (!object.text.starts_with('/') && object.text.find('/') != object.text.npos) {
    return source.error(object.column, "\"" + shown(object.text) +
                                           "\" depends on a working directory: give an absolute "
                                           "path or a file name");
  }
  if (object.text.ends_with('/')) {
    return source.error(object.column + object.text.size() - 1,
                        "an object is a file, not a directory");
  }
  // A path is taken literally, a file name is a glob.
  return object.text.starts_with('/') ? ok() : check_glob(source, object, "object");
}

bool is_digits(std::string_view text, bool hex) {
  std::string_view digits = hex ? "0123456789abcdefABCDEF" : "0123456789";
  return !text.empty() && text.find_first_not_of(digits) == text.npos;
}

struct OffsetText {
  size_t plus = 0;  // index of the '+' in the function's text
  std::string_view digits;
  int base = 10;
};

// Only a trailing +digits is an offset, so that operator+ and operator++ stay names.
std::optional<OffsetText> find_offset(std::string_view function) {
  size_t plus = function.rfind('+');
  if (plus == function.npos) return std::nullopt;
  std::string_view digits = function.substr(plus + 1);
  bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  if (!is_digits(digits, hex)) return std::nullopt;
  return OffsetText{plus, digits, hex ? 16 : 10};
}

Status take_offset(const Source& source, Part& function, uint64_t& offset) {
  auto found = find_offset(function.text);
  if (!found) return ok();
  const char* end = found->digits.data() + found->digits.size();
  if (std::from_chars(found->digits.data(), end, offset, found->base).ec != std::errc{}) {
    return source.error(function.column + found->plus + 1, "the offset does not fit into 64 bits");
  }
  function.text = function.text.substr(0, found->plus);
  return ok();
}

// Where a number stands for a function: what was meant.
Error number_as_function(const Source& source, size_t column, const Pattern& pattern) {
  const std::string& number = pattern.function;
  if (pattern.bare) return source.error(column, "a process is chosen by -p " + number);
  const bool is_source = pattern.object.find('.') != pattern.object.npos;
  const std::string file = is_source ? pattern.object : "FILE";
  return source.error(
      column, "a function has a name; a line is written " + shown("@" + file + ":" + number));
}

// ---- inlined functions ----

constexpr std::string_view kIn = " in ";  // no name of a function has it

bool names_copy(std::string_view function) { return function.find(kIn) != function.npos; }

// FUNCTION in HOST.
Status take_copy(const Source& source, Part copy, Pattern& pattern) {
  const size_t at = copy.text.find(kIn);
  const Part function{copy.text.substr(0, at), copy.column};
  const Part host{copy.text.substr(at + kIn.size()), copy.column + at + kIn.size()};
  if (const auto offset = find_offset(host.text))
    return source.error(host.column + offset->plus,
                        "a copy of an inlined function has no offset: leave it away");
  if (Status status = check_glob(source, function, "function"); !status) return status;
  if (Status status = check_glob(source, host, "function after \" in \""); !status) return status;
  pattern.kind = ProbeKind::inlined;
  pattern.function = function.text;
  pattern.host = host.text;
  return ok();
}

Result<Pattern> take_function(const Source& source, Part function, Pattern pattern) {
  if (names_copy(function.text)) {
    if (Status status = take_copy(source, function, pattern); !status) return status.error();
    return pattern;
  }
  if (Status status = take_offset(source, function, pattern.offset); !status) return status.error();
  if (Status status = check_glob(source, function, "function"); !status) return status.error();
  pattern.function = function.text;
  return pattern;
}

// ---- lines ----

// What ends the pattern of a line: `:*`, `:LINE` or `:LINE:COLUMN`.
struct LineText {
  Part line, column;
};

Part part_of(std::string_view text, size_t begin, size_t end, size_t column) {
  return {text.substr(begin, end - begin), column + begin};
}

std::optional<LineText> find_line(Part rest) {
  const std::string_view text = rest.text;
  const size_t last = text.rfind(':');
  if (last == text.npos || last == 0) return std::nullopt;
  const Part end = part_of(text, last + 1, text.size(), rest.column);
  if (end.text == "*") return LineText{end, {}};
  if (!is_digits(end.text, false)) return std::nullopt;
  const size_t before = text.rfind(':', last - 1);
  const size_t begin = before == text.npos ? last : before + 1;
  const Part line = part_of(text, begin, last, rest.column);
  if (is_digits(line.text, false)) return LineText{line, end};
  return LineText{end, {}};
}

// Paths may have an @ themselves, of objects and of files: an @ before an absolute FILE is the one, or else the last. None
// follows a slash.
size_t find_at_sign(std::string_view head) {
  const size_t colon = head.rfind(':');
  const size_t begin = colon == head.npos ? 0 : colon + 1;
  const auto begins_file = [&](size_t at) { return at == 0 || head[at - 1] != '/'; };
  const size_t absolute = head.find("@/", begin);
  if (absolute != head.npos && begins_file(absolute)) return absolute;
  for (size_t at = head.rfind('@'); at != head.npos && at >= begin; at = head.rfind('@', at - 1)) {
    if (begins_file(at)) return at;
    if (at == 0) break;
  }
  return head.npos;
}

bool is_of_language(std::string_view name) {
  constexpr std::string_view kEndings[] = {".c",   ".cc",  ".cpp", ".cxx", ".C",  ".h", ".hh",
                                           ".hpp", ".hxx", ".inc", ".rs",  ".go", ".d", ".S",
                                           ".s",   ".y",   ".l",   ".zig", ".pyx"};
  return std::ranges::any_of(kEndings,
                             [name](std::string_view ending) { return name.ends_with(ending); });
}

// Whether `:*` after it asks for lines of FILE. Else it asks for functions, of an object whose path has an @, as
// /opt/python@3.11/bin/python3.11.
bool is_of_sources(std::string_view object, std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  const bool is_one_path = object.starts_with('/') && !file.starts_with('/') && name != file;
  if (is_one_path) return is_of_language(name);
  if (is_glob(file)) return true;
  return name.find('.') != name.npos && !name.ends_with(".so") && name.find(".so.") == name.npos;
}

// A pattern of a line, cut where its parts meet.
struct LineParts {
  Part place;  // OBJECT or OBJECT:FUNCTION
  Part file;
  LineText line;
};

std::optional<LineParts> find_line_parts(Part rest) {
  const auto line = find_line(rest);
  if (!line) return std::nullopt;
  const size_t size = line->line.column - rest.column - 1;
  const std::string_view head = rest.text.substr(0, size);
  const size_t at = find_at_sign(head);
  if (at == head.npos) return std::nullopt;
  const Part file = part_of(head, at + 1, size, rest.column);
  if (line->line.text == "*" && !is_of_sources(head.substr(0, at), file.text)) return std::nullopt;
  return LineParts{{head.substr(0, at), rest.column}, file, *line};
}

Status take_number(const Source& source, Part part, const char* what, uint32_t& number) {
  constexpr uint32_t kMost = INT32_MAX;
  const char* end = part.text.data() + part.text.size();
  const auto parsed = std::from_chars(part.text.data(), end, number);
  if (parsed.ec == std::errc{} && number != 0 && number <= kMost) return ok();
  return source.error(part.column,
                      std::string{what} + " are numbers from 1 to " + std::to_string(kMost));
}

// OBJECT, OBJECT:FUNCTION, or FUNCTION in HOST with or without OBJECT.
Status take_place(const Source& source, Part place, Pattern& pattern) {
  Source parts{place.text};
  Part object = place;
  std::optional<Part> function;
  const auto before = parts.object();
  pattern.bare = names_copy(place.text) && (!before || parts.rest().text.starts_with(':'));
  if (pattern.bare) return take_copy(source, place, pattern);
  if (before) {
    object.text = before->text;
    function = Part{parts.rest().text, place.column + parts.rest().column};
  }
  if (Status status = check_object(source, object); !status) return status;
  pattern.object = object.text;
  if (function && names_copy(function->text)) return take_copy(source, *function, pattern);
  if (function)
    if (Status status = check_glob(source, *function, "function"); !status) return status;
  if (function) pattern.function = function->text;
  return ok();
}

Result<Pattern> take_line(const Source& source, const LineParts& parts, Pattern pattern) {
  pattern.kind = ProbeKind::line;
  if (Status status = take_place(source, parts.place, pattern); !status) return status.error();
  if (Status status = check_glob(source, parts.file, "file"); !status) return status.error();
  pattern.file = parts.file.text;
  const auto& [line, column] = parts.line;
  if (line.text == "*") return pattern;
  if (Status status = take_number(source, line, "lines", pattern.line); !status)
    return status.error();
  if (column.text.empty()) return pattern;
  if (Status status = take_number(source, column, "columns", pattern.column); !status)
    return status.error();
  return pattern;
}

// From the @ on.
std::string text_of_place(const Pattern& pattern) {
  std::string text = "@" + pattern.file + ":" + (pattern.line ? std::to_string(pattern.line) : "*");
  if (pattern.column) text += ":" + std::to_string(pattern.column);
  return text;
}

std::string text_of_line(const Pattern& pattern) {
  const std::string function = pattern.function.empty() ? "" : ":" + pattern.function;
  return "uprobe:" + pattern.object + function + text_of_place(pattern);
}

std::string text_of_copy(const Pattern& pattern) {
  const std::string object = pattern.bare ? "" : "uprobe:" + pattern.object + ":";
  const std::string call = pattern.file.empty() ? "" : text_of_place(pattern);
  return object + pattern.function + std::string(kIn) + pattern.host + call;
}

// ---- kinds ----

bool is_of_returns(std::string_view kind) { return kind == "uretprobe" || kind == "ur"; }

// FILE:LINE+0, as of a function whose name is a number: its name would be that of a line. `column`: of the function.
Result<Pattern> unless_named_as_line(const Source& source, size_t column,
                                     Result<Pattern> function) {
  if (!function || function->kind != ProbeKind::function) return function;
  const std::string object = function->bare ? "" : function->object + ":";
  const std::string name = object + function->function;
  if (!find_line_parts(Part{name, 0})) {
    if (is_number(function->function)) return number_as_function(source, column, *function);
    return function;
  }
  return source.error(0, "a line has no offset: leave what follows its + away");
}

Result<Pattern> parse_function(Source& source, std::string_view kind, Pattern pattern) {
  if (is_of_returns(kind) && names_copy(source.rest().text))
    return source.error(0, "an inlined function has no return: uprobe: traces where it begins");
  if (const auto line = find_line_parts(source.rest())) {
    if (is_of_returns(kind))
      return source.error(0, "a line has no return: uprobe:OBJECT@FILE:LINE traces it");
    return take_line(source, *line, std::move(pattern));
  }
  auto object = source.object();
  if (!object) return source.error_at_end("a function is missing: uprobe:OBJECT:FUNCTION[+OFFSET]");
  if (Status status = check_object(source, *object); !status) return status.error();
  pattern.object = object->text;
  const Part function = source.rest();
  return unless_named_as_line(source, function.column,
                              take_function(source, function, std::move(pattern)));
}

Result<Pattern> parse_usdt(Source& source, Pattern pattern) {
  auto object = source.object();
  auto provider = object ? source.part() : std::nullopt;
  if (!provider) {
    return source.error_at_end(std::string{object ? "a name" : "a provider and a name"} +
                               (object ? " is" : " are") + " missing: usdt:OBJECT:PROVIDER:NAME");
  }
  Part name = source.rest();
  if (Status status = check_object(source, *object); !status) return status.error();
  if (Status status = check_glob(source, *provider, "provider"); !status) return status.error();
  if (Status status = check_glob(source, name, "name"); !status) return status.error();
  if (size_t colon = name.text.find(':'); colon != name.text.npos) {
    return source.error(name.column + colon, "one part too many: usdt:OBJECT:PROVIDER:NAME");
  }
  pattern.object = object->text;
  pattern.provider = provider->text;
  pattern.name = name.text;
  return pattern;
}

template <size_t N>
bool is_any_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_of_functions(std::string_view kind) {
  return is_any_of(kind, std::to_array<std::string_view>({"uprobe", "u", "uretprobe", "ur"}));
}

bool is_of_usdt(std::string_view kind) {
  return is_any_of(kind, std::to_array<std::string_view>({"usdt", "U"}));
}

// Of other tools, which trace the kernel and the machine.
bool is_of_others(std::string_view kind) {
  return is_any_of(
      kind, std::to_array<std::string_view>({"kprobe", "kretprobe", "fentry", "fexit", "kfunc",
                                             "kretfunc", "tracepoint", "rawtracepoint", "syscall",
                                             "syscalls", "sched", "profile", "interval", "software",
                                             "hardware", "watchpoint", "iter"}));
}

Error unknown_kind(const Source& source, std::string_view text, std::string_view kind) {
  if (is_of_others(kind))
    return source.error(0, "tracectl traces user programs; for the kernel there are bpftrace -e '" +
                               shown(text) + " { ... }', perf and trace-cmd");
  if (const std::string_view rest = text.substr(kind.size() + 1);
      is_number(rest.substr(0, rest.find(':'))))
    return source.error(0, "a line is written @FILE:LINE or @FILE:LINE:COLUMN");
  return source.error(0, "unknown kind of probe \"" + shown(kind) +
                             "\": uprobe (u) traces functions, uretprobe (ur) their returns "
                             "too, usdt (U) USDT probes");
}

// What follows OBJECT: in OBJECT:FUNCTION, or FUNCTION alone with its namespaces.
bool has_single_colon(std::string_view text) {
  for (size_t at = text.find(':'); at != text.npos; at = text.find(':', at + 2))
    if (!text.substr(at).starts_with("::")) return true;
  return false;
}

// OBJECT@FILE:LINE, OBJECT:FUNCTION or FUNCTION.
Result<Pattern> parse_short(Source& source, std::string_view text, Pattern pattern) {
  Source whole{text};
  if (const auto line = find_line_parts(whole.rest());
      line && !is_of_others(text.substr(0, text.find(':'))))
    return take_line(whole, *line, std::move(pattern));
  const auto object = source.object();
  const std::string_view function = source.rest().text;
  pattern.bare = !object || function.starts_with(':');
  if (pattern.bare)
    return unless_named_as_line(whole, 0, take_function(whole, Part{text, 0}, std::move(pattern)));
  if (is_of_others(object->text) || has_single_colon(function))
    return unknown_kind(whole, text, object->text);
  if (Status status = check_object(whole, *object); !status) return status.error();
  pattern.object = object->text;
  const Part named = source.rest();
  return unless_named_as_line(whole, named.column, take_function(whole, named, std::move(pattern)));
}

// `operator new`, `operator==`; not `operators`.
bool is_operator(std::string_view name) {
  constexpr std::string_view kWord = "operator";
  if (!name.starts_with(kWord) || name.size() == kWord.size()) return false;
  const auto next = static_cast<unsigned char>(name[kWord.size()]);
  return !std::isalnum(next) && next != '_' && next != '*';
}

}  // namespace

Result<Pattern> parse_pattern(std::string_view text, Scope scope) {
  Source source{text};
  if (Status status = check_characters(source, text); !status) return status.error();
  Pattern pattern;
  pattern.scope = scope;
  const auto kind = source.part();
  if (kind && is_of_functions(kind->text))
    return parse_function(source, kind->text, std::move(pattern));
  if (!kind || !is_of_usdt(kind->text)) {
    Source again{text};
    return parse_short(again, text, std::move(pattern));
  }
  pattern.kind = ProbeKind::usdt;
  return parse_usdt(source, std::move(pattern));
}

std::string to_string(const Pattern& pattern) {
  if (pattern.kind == ProbeKind::line) return text_of_line(pattern);
  if (pattern.kind == ProbeKind::inlined) return text_of_copy(pattern);
  if (pattern.kind == ProbeKind::usdt) {
    return "usdt:" + pattern.object + ":" + pattern.provider + ":" + pattern.name;
  }
  std::string text = pattern.bare ? "" : "uprobe:" + pattern.object + ":";
  text += pattern.function;
  // A name that itself ends like an offset (f+1) needs an offset after it to be parsed again.
  bool ambiguous = find_offset(pattern.function).has_value();
  if (pattern.offset || ambiguous) text += "+" + std::to_string(pattern.offset);
  return text;
}

bool names_file_name(std::string_view object, std::string_view file_name) {
  if (glob_match(object, file_name)) return true;
  if (is_glob(object) || !file_name.starts_with(object)) return false;
  const std::string_view version = file_name.substr(object.size());
  return version.starts_with(".so") || (object.ends_with(".so") && version.starts_with('.'));
}

bool names_source(std::string_view file, std::string_view path) {
  if (file.starts_with("./")) file.remove_prefix(2);
  if (file == path || (path.ends_with(file) && path[path.size() - file.size() - 1] == '/'))
    return !file.empty();
  if (!is_glob(file)) return false;
  if (file.starts_with('/')) return glob_match(file, path);
  return glob_match(file, path) || glob_match("*/" + std::string(file), path);
}

std::optional<uint64_t> address_in(const Pattern& pattern) {
  const std::string_view text = pattern.function;
  if (pattern.kind != ProbeKind::function || !text.starts_with("0x")) return std::nullopt;
  uint64_t address = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + 2, end, address, 16);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return address + pattern.offset;
}

bool wants_demangled(const Pattern& pattern) {
  if (pattern.kind == ProbeKind::usdt) return false;
  const std::string_view name = pattern.function;
  return name.find("::") != name.npos || name.find_first_of("(< ") != name.npos ||
         is_operator(name);
}

}  // namespace tracectl
