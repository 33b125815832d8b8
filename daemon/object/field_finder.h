// SPDX-License-Identifier: BSD-2-Clause
//
// The fields of arguments and results that expressions name by paths (model/field_path.h), from debug information:
// where they lie, and their types.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "daemon/model/argument.h"
#include "daemon/model/field_path.h"
#include "daemon/object/die.h"
#include "daemon/object/parameter_type.h"

namespace tracectl {

// The type of an argument or a result, as declared.
struct FieldOwner {
  std::optional<dwarf::Die> type;
  bool by_address = false;              // the value is the address of an object of that type
  bool cxx = false;                     // the rules of C++ apply
  std::optional<dwarf::Die> unit = {};  // of the function: its types are those that casts name
};

// The fields of structs are looked for at most so many members deep, in unnamed members and base classes.
inline constexpr int kDeepestField = 16;
inline constexpr size_t kMostFieldsSeen = 10'000;  // for one step of a path

// The field at the end of the path; its `why_not` says why there is none.
ReachedField find_field(const FieldPath& path, const FieldOwner& owner, TypeReader& types);

// All fields of what `base` leads to, an argument by its text: `arg.request`. Of those beyond kMostListedFields, and of
// what is not understood, the last one says why.
ReachedFields list_fields(const std::string& base, uint32_t levels, const FieldOwner& owner,
                          TypeReader& types);

// What is asked for, in one file. The same paths from the same type are followed once.
class AskedFields {
 public:
  AskedFields() = default;
  // Ignores what is no path.
  explicit AskedFields(const FieldsAsked& asked);

  // Null if none of them is asked for.
  std::shared_ptr<const ReachedFields> of_argument(size_t index, const std::string& name,
                                                   const FieldOwner& owner, TypeReader& types);
  std::shared_ptr<const ReachedFields> of_result(const FieldOwner& owner, TypeReader& types);
  // Of an argument that is passed by value: where a text of its type has its parts, if that is asked for.
  std::optional<TextPlace> of_text_by_value(const std::string& name,
                                            const std::optional<dwarf::Die>& type) const;
  bool lists_all() const { return levels_ > 0; }

 private:
  // By the entries of the type and the unit, by_address, cxx, and the places of the paths in paths_.
  using Question = std::tuple<const void*, const void*, bool, bool, std::vector<size_t>>;

  template <class IsBase>
  std::shared_ptr<const ReachedFields> of(IsBase is_base, const FieldOwner& owner,
                                          TypeReader& types);
  std::shared_ptr<const ReachedFields> find(const std::vector<size_t>& asked,
                                            const FieldOwner& owner, TypeReader& types) const;
  std::shared_ptr<const ReachedFields> listed(const std::string& base, const FieldOwner& owner,
                                              TypeReader& types);

  std::vector<FieldPath> paths_;
  uint32_t levels_ = 0;
  std::map<Question, std::shared_ptr<const ReachedFields>> known_;
  std::map<std::tuple<const void*, bool, bool, std::string>, std::shared_ptr<const ReachedFields>>
      listed_;  // by the same, and the text of the argument
};

}  // namespace tracectl
