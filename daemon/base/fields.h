// SPDX-License-Identifier: BSD-2-Clause
//
// Types as data. A struct lists its members once:
//
//   template <class Self, class F> static void fields(Self& s, F&& f) {
//     f("name", s.name);
//     f.optional("count", s.count);  // a reader keeps the default if it is missing
//   }
//
// type_of<T>() makes data of that list: names, offsets and types of members. A codec walks this data, so
// it is compiled once, and not once for each struct in each source that uses it.
//
// A value is passed as a pointer to void. It points to the C++ type that the Type describes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tracectl {

// An object whose member names the sender chooses. The order of members is not kept.
template <class V> using Named = std::map<std::string, V>;

struct Type;
using TypeGetter = const Type& (*)();  // called late: a type may contain itself

struct Field {
  const char* name;
  size_t offset_bytes;
  TypeGetter type;
  bool has_default;
};

// The elements of a std::optional (none or one), std::vector or Named.
struct Elements {
  TypeGetter type;
  size_t (*count)(const void* all);
  const void* (*at)(const void* all, size_t index);
  const std::string& (*name_at)(const void* all, size_t index);  // Named only
  void (*clear)(void* all);
  void* (*add)(void* all, const std::string& name);  // with its default value; `name`: Named only
};

// The alternatives of a std::variant, which are of different kinds.
struct Alternatives {
  std::span<const TypeGetter> types;
  size_t (*index)(const void* held);
  const void* (*get)(const void* held);
  void* (*emplace)(void* held, size_t index);  // with its default value
};

struct Message {
  const std::vector<Field>& (*fields)();
  std::shared_ptr<const void> (*make_default)();
};

struct Type {
  enum class Kind {
    nothing,  // std::monostate
    boolean,
    int64,
    uint64,
    real,
    text,
    optional,
    list,
    named,
    variant,
    message
  };
  Kind kind;
  const Elements* elements = nullptr;          // of optional, list, named
  const Alternatives* alternatives = nullptr;  // of variant
  const Message* message = nullptr;            // of message
};

template <class T> const Type& type_of();

inline bool has_alternative(const Alternatives& alternatives, Type::Kind kind) {
  return std::any_of(alternatives.types.begin(), alternatives.types.end(),
                     [&](TypeGetter type) { return type().kind == kind; });
}

namespace types {

template <class T> struct Of;  // a struct with a list of fields, if nothing below fits better

template <Type::Kind kKind> struct Simple { static constexpr Type kType{kKind}; };
template <> struct Of<std::monostate> : Simple<Type::Kind::nothing> {};
template <> struct Of<bool> : Simple<Type::Kind::boolean> {};
template <> struct Of<int64_t> : Simple<Type::Kind::int64> {};
template <> struct Of<uint64_t> : Simple<Type::Kind::uint64> {};
template <> struct Of<double> : Simple<Type::Kind::real> {};
template <> struct Of<std::string> : Simple<Type::Kind::text> {};

template <class T> struct Of<std::optional<T>> {
  using All = std::optional<T>;
  static constexpr Elements kElements{
      &type_of<T>,
      [](const void* all) -> size_t { return static_cast<const All*>(all)->has_value(); },
      [](const void* all, size_t) -> const void* { return &**static_cast<const All*>(all); },
      nullptr,
      [](void* all) { static_cast<All*>(all)->reset(); },
      [](void* all, const std::string&) -> void* { return &static_cast<All*>(all)->emplace(); }};
  static constexpr Type kType{Type::Kind::optional, &kElements};
};

template <class T> struct Of<std::vector<T>> {
  using All = std::vector<T>;
  static constexpr Elements kElements{
      &type_of<T>,
      [](const void* all) { return static_cast<const All*>(all)->size(); },
      [](const void* all, size_t i) -> const void* { return &(*static_cast<const All*>(all))[i]; },
      nullptr,
      [](void* all) { static_cast<All*>(all)->clear(); },
      [](void* all, const std::string&) -> void* {
        return &static_cast<All*>(all)->emplace_back();
      }};
  static constexpr Type kType{Type::Kind::list, &kElements};
};

template <class T> struct Of<Named<T>> {
  using All = Named<T>;
  static auto at(const void* all, size_t i) {
    return std::next(static_cast<const All*>(all)->begin(), static_cast<ptrdiff_t>(i));
  }
  static constexpr Elements kElements{
      &type_of<T>,
      [](const void* all) { return static_cast<const All*>(all)->size(); },
      [](const void* all, size_t i) -> const void* { return &at(all, i)->second; },
      [](const void* all, size_t i) -> const std::string& { return at(all, i)->first; },
      [](void* all) { static_cast<All*>(all)->clear(); },
      [](void* all, const std::string& name) -> void* { return &(*static_cast<All*>(all))[name]; }};
  static constexpr Type kType{Type::Kind::named, &kElements};
};

template <class... T> struct Of<std::variant<T...>> {
  using Held = std::variant<T...>;
  template <class V> static void* emplace(void* held) {
    return &static_cast<Held*>(held)->template emplace<V>();
  }
  static constexpr TypeGetter kTypes[] = {&type_of<T>...};
  static constexpr Alternatives kAlternatives{
      kTypes, [](const void* held) { return static_cast<const Held*>(held)->index(); },
      [](const void* held) {
        return std::visit([](const auto& value) -> const void* { return &value; },
                          *static_cast<const Held*>(held));
      },
      [](void* held, size_t index) {
        constexpr void* (*kEmplace[])(void*) = {&emplace<T>...};
        return kEmplace[index](held);
      }};
  static constexpr Type kType{Type::Kind::variant, nullptr, &kAlternatives};
};

class FieldList {
 public:
  explicit FieldList(const void* message) : start_(static_cast<const char*>(message)) {}

  template <class V> void operator()(const char* name, const V& member) {
    add(name, &member, &type_of<V>, false);
  }
  template <class V> void optional(const char* name, const V& member) {
    add(name, &member, &type_of<V>, true);
  }
  std::vector<Field> take() { return std::move(fields_); }

 private:
  void add(const char* name, const void* member, TypeGetter type, bool has_default) {
    const auto offset = static_cast<const char*>(member) - start_;
    fields_.push_back({name, static_cast<size_t>(offset), type, has_default});
  }

  const char* start_;
  std::vector<Field> fields_;
};

// A struct with a list of fields.
template <class T> struct Of {
  static const std::vector<Field>& fields() {
    static const std::vector<Field> all = [] {
      const T message{};
      FieldList list(&message);
      T::fields(message, list);
      return list.take();
    }();
    return all;
  }
  static constexpr Message kMessage{
      &fields, []() -> std::shared_ptr<const void> { return std::make_shared<const T>(); }};
  static constexpr Type kType{Type::Kind::message, nullptr, nullptr, &kMessage};
};

}  // namespace types

template <class T> const Type& type_of() { return types::Of<T>::kType; }

}  // namespace tracectl
