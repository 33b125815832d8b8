// SPDX-License-Identifier: BSD-2-Clause
//
// A path is followed step by step. At each time there is a type, and either a value of it, which the probe's argument
// or result is, or its place in memory: the offsets so far.
#include "daemon/object/field_finder.h"

#include <algorithm>
#include <climits>
#include <set>
#include <string_view>
#include <utility>

#include "daemon/base/nearest.h"
#include "daemon/object/members.h"
#include "daemon/object/named_types.h"
#include "daemon/object/text_class.h"

namespace tracectl {
namespace {

using dwarf::Die;
using PathStep = FieldPath::Step;

constexpr int kMostReferences = 4;
constexpr size_t kMostDimensions = 8;
constexpr size_t kMostNamesShown = 12;
constexpr uint64_t kFarthestField = uint64_t{1} << 40;  // bytes

bool is_struct(const Die& type) {
  const unsigned tag = dwarf::tag_of(type);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool is_reference(const Die& type) {
  const unsigned tag = dwarf::tag_of(type);
  return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool has_tag(const std::optional<Die>& type, unsigned tag) {
  return type && dwarf::tag_of(*type) == tag;
}

std::optional<uint64_t> bytes_of_type(const Die& type) {
  Dwarf_Word size = 0;
  if (::dwarf_aggregate_size(const_cast<Die*>(&type), &size) != 0) return std::nullopt;
  return size;
}

std::optional<uint64_t> product(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// "id, len, uri" or "a, b, c and 30 more"
std::string text_of_names(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kMostNamesShown);
  std::string text;
  for (size_t i = 0; i < shown; ++i) text += (i ? ", " : "") + names[i];
  if (shown < names.size()) text += " and " + std::to_string(names.size() - shown) + " more";
  return text.empty() ? "none" : text;
}

std::string nearest_of(const std::string& name, const std::vector<std::string>& names) {
  return did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end()));
}

// The number of elements in each dimension; 0 if it is not known, as for a flexible member.
std::vector<uint64_t> dimensions_of(const Die& array) {
  std::vector<uint64_t> all;
  dwarf::each_child(array, [&](const Die& range) {
    if (dwarf::tag_of(range) != DW_TAG_subrange_type) return true;
    auto count = dwarf::number(range, DW_AT_count);
    if (!count)
      if (const auto last = dwarf::number(range, DW_AT_upper_bound)) count = *last + 1;
    all.push_back(count && *count <= FieldPath::kMostIndex ? *count : 0);
    return all.size() < kMostDimensions;
  });
  return all;
}

class FieldWalk {
 public:
  FieldWalk(const FieldPath& path, const FieldOwner& owner, TypeReader& types)
      : path_(path), cxx_(owner.cxx), unit_(owner.unit), types_(types), type_(owner.type) {
    field_.path = path.text;
    if (owner.by_address) field_.offsets.push_back(0);
  }

  ReachedField run() {
    if (follow_path()) finish();
    if (!field_.why_not.empty()) field_.type.declared_type = text_of_type(type_);
    return std::move(field_);
  }

  // The paths of the fields of what the path leads to; none if it leads to no struct. Of a text its own, if it is not listed
  // yet.
  std::vector<std::string> paths_below() {
    if (!follow_path()) return {};
    const bool points = is_pointer();
    if (points && !follow_pointer()) return {};
    const auto here = whole();
    if (!here || !is_struct(*here) || field_.offsets.empty()) return {};
    if (is_text_class(*here) && text_of_class(*here).place && (points || has_name())) {
      if (points) return {"*" + path_.text};
      return path_.steps.empty() ? std::vector{path_.text} : std::vector<std::string>{};
    }
    MemberSearch search("", kDeepestField, kMostFieldsSeen);
    search.run(*here);
    std::vector<std::string> paths;
    std::set<std::string_view> seen;  // names of a class hide those of its bases
    for (const std::string& name : search.names())
      if (paths.size() <= kMostListedFields && seen.insert(name).second)
        paths.push_back(path_.text + (points ? "->" : ".") + name);
    return paths;
  }

 private:
  bool follow_path() {
    for (const PathStep& step : path_.steps) {
      here_ = &step;
      if (!follow_references() || !take(step)) return false;
    }
    return follow_references();
  }

  // An argument by its number is what it is, and no text.
  bool has_name() const {
    return !path_.steps.empty() || path_.base == "retval" ||
           path_.base.find('.') != std::string::npos;
  }

  // ---- messages ----

  bool fail(std::string why) {
    field_.why_not = std::move(why);
    if (!here_) return false;
    field_.column = here_->column;
    if (here_->kind == PathStep::Kind::arrow || here_->kind == PathStep::Kind::dot)
      field_.column += here_->kind == PathStep::Kind::arrow ? 2 : 1;
    return false;
  }

  // What the step applies to.
  std::string taken() const {
    if (!here_) return path_.text;
    return path_.text.substr(here_->operand_start, here_->operand_end - here_->operand_start);
  }

  std::string type_text() const {
    const std::string text = text_of_type(type_);
    return pointers_ ? text + " " + std::string(pointers_, '*') : text;
  }

  std::string what() const { return taken() + " is of type " + type_text(); }

  // ---- steps ----

  std::optional<Die> plain() const { return pointers_ ? std::nullopt : stripped(type_); }
  // A struct by its definition, if it is only declared here. What that leads to is of another unit, and counts only if all
  // units agree on it.
  std::optional<Die> whole() {
    const auto here = plain();
    if (!here || !is_struct(*here)) return here;
    if (!is_of_other_unit_ && !dwarf::is_declaration(*here)) return here;
    is_of_other_unit_ = true;
    return types_.definitions().of(*here).type;
  }
  bool is_pointer() const { return pointers_ > 0 || has_tag(plain(), DW_TAG_pointer_type); }

  bool take(const PathStep& step) {
    if (step.kind == PathStep::Kind::index) return take_element(step.index);
    if (step.kind == PathStep::Kind::cast) return cast(step);
    if (step.kind == PathStep::Kind::dot)
      return is_pointer() ? fail(what() + ": write ->" + step.name) : take_member(step.name);
    const auto here = plain();
    if (!is_pointer() && here && is_struct(*here))
      return fail(what() + ", no pointer: write ." + step.name);
    return follow_pointer() && take_member(step.name);
  }

  bool follow_references() {
    for (int i = 0; i < kMostReferences; ++i) {
      const auto here = plain();
      if (!here || !is_reference(*here)) return true;
      type_ = dwarf::type_of(*here);
      field_.offsets.push_back(0);
    }
    return fail("its type has more than " + std::to_string(kMostReferences) +
                " references in a row");
  }

  // The value becomes a pointer to the named type.
  bool cast(const PathStep& step) {
    const Argument declared = types_.read(type_, cxx_).value;
    const bool is_address = is_pointer() || (declared.size_bytes == sizeof(uint64_t) &&
                                             !declared.is_float && bits_.bit_count == 0 &&
                                             plain() && declared.kind != Argument::Kind::aggregate);
    if (!is_address) return fail(what() + ", which is no address");
    if (!unit_) return fail("the unit of this function is not known");
    if (!find_named(step.name)) return false;
    pointers_ = step.index;
    bits_ = {};
    return true;
  }

  bool find_named(const std::string& name) {
    const NamedType named(*unit_, name);
    type_ = named.found();
    if (type_) return true;
    is_of_other_unit_ = true;
    const auto other = types_.definitions().named(named.name(), *unit_);
    type_ = other.type;
    if (type_) return true;
    return fail(named.is_declared() || other.is_there ? name + other.why_not : named.why_not());
  }

  bool follow_pointer() {
    if (pointers_ > 0) {
      --pointers_;
      field_.offsets.push_back(0);
      return true;
    }
    const auto pointer = plain();
    if (!has_tag(pointer, DW_TAG_pointer_type)) return fail(what() + ", no pointer");
    const auto target = dwarf::type_of(*pointer);
    if (!stripped(target)) return fail(what() + ", and nothing says what it points to");
    type_ = target;
    field_.offsets.push_back(0);
    return true;
  }

  bool take_member(const std::string& name) {
    const auto here = plain();
    if (!here || !is_struct(*here) || field_.offsets.empty())
      return fail(what() + ", which has no fields");
    const auto around = whole();
    if (!around) return fail(text_of_type(here) + types_.definitions().of(*here).why_not);
    MemberSearch search(name, kDeepestField, kMostFieldsSeen);
    const auto found = search.run(*around);
    if (!found) return fail(why_no_member(*around, name, search));
    type_ = found->type;
    bits_ = *found;
    return add(found->first_bit / CHAR_BIT);
  }

  static std::string why_no_member(const Die& around, const std::string& name,
                                   const MemberSearch& search) {
    const std::string type = text_of_type(around);
    if (!search.limit().empty())
      return "\"" + name + "\" is not found in " + type + ": " + search.limit();
    std::string why =
        type + " has no field \"" + name + "\": it has " + text_of_names(search.names());
    if (search.has_virtual_base())
      why += ", and those of a virtual base, which have no fixed place";
    return why + nearest_of(name, search.names());
  }

  bool take_element(uint64_t index) {
    if (has_tag(plain(), DW_TAG_array_type)) return take_of_array(index);
    if (!follow_pointer()) return false;
    const auto element = whole();
    return add_elements(index, element ? bytes_of_type(*element) : std::nullopt);
  }

  bool take_of_array(uint64_t index) {
    const Die array = *plain();
    const auto dimensions = dimensions_of(array);
    const auto element = stripped(dwarf::type_of(array));
    const bool is_plain = element && dimension_ < dimensions.size() && !field_.offsets.empty() &&
                          !dwarf::has(array, DW_AT_byte_stride) &&
                          !dwarf::has(array, DW_AT_bit_stride);
    if (!is_plain) return fail(what() + ", an array of a kind that is not understood");
    const uint64_t count = dimensions[dimension_];
    if (count && index >= count)
      return fail(taken() + " has " + std::to_string(count) + " elements: [0] to [" +
                  std::to_string(count - 1) + "]");
    auto size = bytes_of_type(*element);
    for (size_t i = dimension_ + 1; size && i < dimensions.size(); ++i)
      size = dimensions[i] ? product(*size, dimensions[i]) : std::nullopt;
    if (++dimension_ == dimensions.size()) {
      type_ = dwarf::type_of(array);
      dimension_ = 0;
    }
    return add_elements(index, size);
  }

  bool add_elements(uint64_t index, std::optional<uint64_t> size) {
    bits_ = {};
    if (index == 0) return true;
    if (!size || *size > kFarthestField)
      return fail("the size of an element of " + taken() + " is not known");
    const auto bytes = product(index, *size);
    return bytes ? add(*bytes) : fail("this is too far away");
  }

  bool add(uint64_t bytes) {
    if (bytes > kFarthestField || field_.offsets.back() > kFarthestField)
      return fail("this is too far away");
    field_.offsets.back() += bytes;
    return true;
  }

  // ---- the value ----

  bool finish() {
    if (pointers_ > 0) return take_pointer();
    const auto here = plain();
    if (here && is_struct(*here)) return take_struct(*here);
    const Argument declared = types_.read(type_, cxx_).value;
    if (has_tag(here, DW_TAG_array_type)) return take_address(*here);
    if (!here || declared.kind == Argument::Kind::aggregate)
      return fail("this is of type " + text_of_type(type_) + ", which expressions cannot read");
    field_.type = declared;
    return bits_.bit_count == 0 || take_bits();
  }

  bool take_pointer() {
    field_.type.declared_type = type_text();
    const bool is_text = pointers_ == 1 && text_of_type(stripped(type_)) == "char";
    field_.type.kind = is_text ? Argument::Kind::text : Argument::Kind::pointer;
    return true;
  }

  bool take_struct(const Die& here) {
    const bool is_text = is_text_class(here);
    // Its definition can be far away, and an argument without a step is asked for as a text only.
    if (!is_text && path_.steps.empty() && !is_variable(path_)) return fail("this is no text");
    const auto definition = whole();
    if (!is_text) return fail(why_struct(definition.value_or(here)));
    field_.type.kind = Argument::Kind::text;
    if (!definition) return fail(text_of_type(here) + types_.definitions().of(here).why_not);
    TextOfClass text = text_of_class(*definition);
    if (!text.place) return fail(std::move(text.why_not));
    field_.text = text.place;
    field_.is_address = true;
    field_.type.declared_type = text_of_type(type_);
    return true;
  }

  static std::string why_struct(const Die& type) {
    MemberSearch search("", kDeepestField, kMostFieldsSeen);
    search.run(type);
    return "this is a whole " + text_of_type(type) + ": name one of its fields, " +
           text_of_names(search.names());
  }

  bool take_address(const Die& array) {
    const bool is_text = text_of_type(stripped(dwarf::type_of(array))) == "char";
    field_.is_address = true;
    field_.type.kind = is_text ? Argument::Kind::text : Argument::Kind::pointer;
    field_.type.declared_type = text_of_type(type_);
    return true;
  }

  // Reads the least aligned integer that contains the bits: it lies on one page, as the bits do.
  bool take_bits() {
    const uint64_t first = bits_.first_bit, last = first + bits_.bit_count - 1;
    for (uint8_t size = 1; size <= sizeof(uint64_t); size = static_cast<uint8_t>(2 * size)) {
      const uint64_t unit = size * CHAR_BIT;
      if (first / unit != last / unit) continue;
      field_.offsets.back() += first / unit * size - first / CHAR_BIT;
      field_.type.size_bytes = size;
      field_.first_bit = static_cast<uint8_t>(first % unit);
      field_.bit_count = static_cast<uint8_t>(bits_.bit_count);
      return true;
    }
    return fail("the bits of this field lie in two integers of 64 bits");
  }

  const FieldPath& path_;
  const bool cxx_;
  const std::optional<Die>& unit_;
  TypeReader& types_;
  const PathStep* here_ = nullptr;
  // The type so far: `pointers_` pointers to it, which casts have made.
  std::optional<Die> type_;
  uint64_t pointers_ = 0;
  size_t dimension_ = 0;  // of an array: how many have their index
  bool is_of_other_unit_ = false;
  FoundMember bits_;  // the last step, if it was a member
  ReachedField field_;
};

}  // namespace

ReachedField find_field(const FieldPath& path, const FieldOwner& owner, TypeReader& types) {
  return FieldWalk(path, owner, types).run();
}

namespace {

class FieldList {
 public:
  FieldList(const FieldOwner& owner, TypeReader& types) : owner_(owner), types_(types) {}

  void add(const FieldPath& around, uint32_t levels) {
    FieldWalk walk(around, owner_, types_);
    for (const std::string& text : walk.paths_below()) {
      if (fields.size() == kMostListedFields) return leave_out(text);
      const auto path = parse_place(text);
      const size_t steps = path ? path->steps.size() - around.steps.size() : SIZE_MAX;
      if (steps > 1) continue;  // the name of something of the compiler's: _vptr.Base
      fields.push_back(find_field(*path, owner_, types_));
      if (steps == 1 && levels > 1) add(*path, levels - 1);
    }
  }

  ReachedFields fields;

 private:
  void leave_out(const std::string& path) {
    if (std::exchange(is_full_, true)) return;
    fields.push_back(
        {.path = path,
         .why_not = "this and what follows is left out: " + std::to_string(kMostListedFields) +
                    " fields of an argument are listed"});
  }

  const FieldOwner& owner_;
  TypeReader& types_;
  bool is_full_ = false;
};

}  // namespace

ReachedFields list_fields(const std::string& base, uint32_t levels, const FieldOwner& owner,
                          TypeReader& types) {
  FieldList list(owner, types);
  list.add({.text = base, .base = base, .steps = {}}, std::min(levels, kMostFieldLevels));
  return std::move(list.fields);
}

}  // namespace tracectl
