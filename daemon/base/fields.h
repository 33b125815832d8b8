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
// it is compiled once, and not once for each struct in each source that uses it. There are two: JSON
// (daemon/protocol/codec.h) and a binary one (binary.h). Some kinds of types are for the latter only.
//
// An enumeration that has a codec declares its last enumerator beside it; it has 256 at most:
//
//   constexpr Scope last_of(Scope) { return Scope::global; }
//
// A value is passed as a pointer to void. It points to the C++ type that the Type describes.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
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
  const Type* type_of_member;
  bool has_default;

  const Type& type() const { return *type_of_member; }
};

// The elements of a std::optional (none or one), std::vector, std::array or Named.
struct Elements {
  TypeGetter type;
  size_t (*count)(const void* all);
  const void* (*at)(const void* all, size_t index);
  const std::string& (*name_at)(const void* all, size_t index);  // Named only
  void (*clear)(void* all);
  void* (*add)(void* all, const std::string& name);  // with its default value; `name`: Named only
};

// The entries of a map.
struct Entries {
  using Visit = std::function<void(const void* key, const void* value)>;
  using Fill = std::function<bool(void* key, void* value)>;
  TypeGetter key, value;
  size_t (*count)(const void* all);
  void (*each)(const void* all, const Visit& visit);  // in the order of the keys
  // Adds what `fill` makes of default values, unless it fails or the key is there already.
  bool (*add)(void* all, const Fill& fill);
};

// The object of a std::shared_ptr, which others may share.
struct SharedObject {
  TypeGetter type;
  const void* (*get)(const void* pointer);  // may be null
  std::shared_ptr<void> (*make)();          // with its default value
  void (*set)(void* pointer, const std::shared_ptr<void>& made);
};

// A std::vector<std::byte>.
struct ByteRun {
  std::string_view (*get)(const void* all);
  void (*set)(void* all, std::string_view bytes);
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
  const void* (*default_value)();
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
    message,
    integer,  // of less than 64 bits
    // These have no JSON.
    choice,  // an enumerator
    array,   // a std::array
    map,     // a std::map or std::unordered_map that is not Named
    shared,
    bytes
  };
  // Of integer and choice; `last` is the number of the last enumerator.
  struct Width {
    uint8_t bytes = 0;
    bool is_signed = false;
    uint8_t last = 0;
  };
  Kind kind;
  const Elements* elements = nullptr;          // of optional, list, named, array
  const Alternatives* alternatives = nullptr;  // of variant
  const Message* message = nullptr;            // of message
  Width width = {};
  const Entries* entries = nullptr;  // of map, named
  const SharedObject* shared = nullptr;
  const ByteRun* bytes = nullptr;
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

template <std::integral T>
requires(sizeof(T) < 8) struct Of<T> {
  static constexpr Type kType{.kind = Type::Kind::integer,
                              .width = {.bytes = sizeof(T), .is_signed = std::is_signed_v<T>}};
};
template <class T>
requires std::is_enum_v<T>
struct Of<T> {
  static constexpr Type kType{
      .kind = Type::Kind::choice,
      .width = {.bytes = sizeof(T), .last = static_cast<uint8_t>(last_of(T{}))}};
};
template <> struct Of<std::vector<std::byte>> {
  using All = std::vector<std::byte>;
  static constexpr ByteRun kBytes{
      [](const void* all) {
        const auto& bytes = *static_cast<const All*>(all);
        return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      },
      [](void* all, std::string_view bytes) {
        const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
        static_cast<All*>(all)->assign(first, first + bytes.size());
      }};
  static constexpr Type kType{.kind = Type::Kind::bytes, .bytes = &kBytes};
};

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

template <class T, size_t kCount> struct Of<std::array<T, kCount>> {
  using All = std::array<T, kCount>;
  static constexpr Elements kElements{.type = &type_of<T>,
                                      .count = [](const void*) { return kCount; },
                                      .at = [](const void* all, size_t i) -> const void* {
                                        return &(*static_cast<const All*>(all))[i];
                                      },
                                      .name_at = nullptr,
                                      .clear = nullptr,
                                      .add = nullptr};
  static constexpr Type kType{Type::Kind::array, &kElements};
};

template <class T> struct Of<std::shared_ptr<const T>> {
  using Pointer = std::shared_ptr<const T>;
  static constexpr SharedObject kShared{
      &type_of<T>,
      [](const void* pointer) -> const void* {
        return static_cast<const Pointer*>(pointer)->get();
      },
      []() -> std::shared_ptr<void> { return std::make_shared<T>(); },
      [](void* pointer, const std::shared_ptr<void>& made) {
        *static_cast<Pointer*>(pointer) = std::static_pointer_cast<const T>(made);
      }};
  static constexpr Type kType{.kind = Type::Kind::shared, .shared = &kShared};
};

template <class Map> struct OfMap {
  using Key = typename Map::key_type;
  using Value = typename Map::mapped_type;
  static void each(const void* all, const Entries::Visit& visit) {
    std::vector<const typename Map::value_type*> ordered;
    for (const auto& one : *static_cast<const Map*>(all)) ordered.push_back(&one);
    std::sort(ordered.begin(), ordered.end(),
              [](const auto* a, const auto* b) { return a->first < b->first; });
    for (const auto* one : ordered) visit(&one->first, &one->second);
  }
  static bool add(void* all, const Entries::Fill& fill) {
    Key key{};
    Value value{};
    return fill(&key, &value) &&
           static_cast<Map*>(all)->emplace(std::move(key), std::move(value)).second;
  }
  static constexpr Entries kEntries{
      &type_of<Key>, &type_of<Value>,
      [](const void* all) { return static_cast<const Map*>(all)->size(); }, &each, &add};
  static constexpr Type kType{.kind = Type::Kind::map, .entries = &kEntries};
};
template <class K, class V> struct Of<std::map<K, V>> : OfMap<std::map<K, V>> {};
template <class K, class V, class H>
struct Of<std::unordered_map<K, V, H>> : OfMap<std::unordered_map<K, V, H>> {};

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
  static constexpr Type kType{
      .kind = Type::Kind::named, .elements = &kElements, .entries = &OfMap<All>::kEntries};
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

// The members of a struct, as its list names them.
class FieldList {
 public:
  explicit FieldList(const void* message) : start_(static_cast<const char*>(message)) {}

  template <class V> void operator()(const char* name, const V& member) {
    add(name, &member, type_of<V>(), false);
  }
  template <class V> void optional(const char* name, const V& member) {
    add(name, &member, type_of<V>(), true);
  }
  const std::vector<Field>& all() const { return fields_; }

 private:
  void add(const char* name, const void* member, const Type& type, bool has_default);

  const char* start_;
  std::vector<Field> fields_;
};

// A struct with a list of fields.
template <class T> struct Of {
  static const T& default_value() {
    static const T value{};
    return value;
  }
  static const std::vector<Field>& fields() {
    static const FieldList list = [] {
      FieldList of_default(&default_value());
      T::fields(default_value(), of_default);
      return of_default;
    }();
    return list.all();
  }
  static constexpr Message kMessage{&fields, []() -> const void* { return &default_value(); }};
  static constexpr Type kType{Type::Kind::message, nullptr, nullptr, &kMessage};
};

}  // namespace types

template <class T> const Type& type_of() { return types::Of<T>::kType; }

}  // namespace tracectl
