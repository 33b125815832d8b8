// SPDX-License-Identifier: BSD-2-Clause
//
// Version 2 had the fields of today's lists, nearly all in their order, and coded some of them differently: those
// have functions here. It can be removed with the first version after 3, or as soon as the BPF programs have changed,
// because a state is for a daemon with the same programs.
#include "daemon/saved/version_2.h"

#include <array>
#include <bit>
#include <concepts>
#include <type_traits>

#include "daemon/base/bytes.h"

namespace tracectl {
namespace {

constexpr size_t kMostItemsOfVersion2 = 1 << 24;

class Version2 {
 public:
  explicit Version2(std::string_view bytes) : from_(bytes) {}

  template <class T> bool read_all(T& value) { return read(value) && is_good() && from_.at_end(); }

 private:
  template <class... T> bool read_each(T&... each) { return (read(each) && ...); }
  bool is_good() const { return !from_.failed(); }

  // ---- as in the lists ----

  template <class T> bool read(T& message) requires requires {
    T::fields(message, [](auto, auto&) {});
  }
  {
    bool are_read = true;
    T::fields(message, [&](const char*, auto& member) { are_read = are_read && read(member); });
    return are_read;
  }
  template <class T> bool read(T& number) requires std::unsigned_integral<T> {
    number = from_.small<T>();
    return is_good();
  }
  template <class T> bool read(T& choice) requires std::is_enum_v<T> {
    const auto number = from_.fixed<uint8_t>();
    choice = static_cast<T>(number);
    return is_good() && number <= static_cast<uint8_t>(last_of(T{}));
  }
  template <class T> bool read(std::vector<T>& all) {
    const uint64_t count = from_.varint();
    if (count > kMostItemsOfVersion2) return false;
    for (uint64_t i = 0; i < count; ++i)
      if (!read(all.emplace_back())) return false;
    return is_good();
  }
  template <class Map> bool read(Map& all) requires requires { typename Map::mapped_type; }
  {
    const uint64_t count = from_.varint();
    if (count > kMostItemsOfVersion2) return false;
    for (uint64_t i = 0; i < count; ++i) {
      typename Map::key_type key{};
      typename Map::mapped_type value{};
      if (!read_each(key, value) || !all.emplace(std::move(key), std::move(value)).second)
        return false;
    }
    return is_good();
  }
  template <class T> bool read(std::optional<T>& value) {
    return from_.fixed<uint8_t>() ? read(value.emplace()) : is_good();
  }
  template <class T> bool read(std::shared_ptr<const T>& shared) {
    auto& known = std::get<Known<T>>(known_);
    const uint64_t number = from_.varint();
    if (!is_good() || number > known.size() + 1) return false;
    if (number == 0) return true;
    if (number <= known.size()) return shared = known[number - 1], true;
    auto made = std::make_shared<T>();
    shared = known.emplace_back(made);
    return read(*made);
  }
  bool read(std::string& text) { return text = from_.text(), is_good(); }
  bool read(uint8_t& byte) { return byte = from_.fixed<uint8_t>(), is_good(); }
  bool read(bool& flag) { return flag = from_.varint(), is_good(); }
  bool read(int64_t& number) { return number = unzigzag(from_.varint()), is_good(); }
  bool read(double& number) {
    return number = std::bit_cast<double>(from_.fixed<uint64_t>()), is_good();
  }

  // ---- in its own way ----

  bool read(int32_t& number) {
    const uint64_t coded = from_.varint();
    number = static_cast<int32_t>(coded);
    return is_good() && static_cast<uint64_t>(number) == coded;
  }
  bool read(KeyValue& value) {
    switch (from_.varint()) {
      case 0: return value = std::monostate{}, is_good();
      case 1: return read(value.emplace<int64_t>());
      case 2: return read(value.emplace<uint64_t>());
      case 3: return read(value.emplace<std::string>());
      case 4: return read(value.emplace<StackAddresses>());
      case 5: return value = Stack{}, is_good();  // the past has none
    }
    return false;
  }
  bool read(ObjectState& object) {
    FileIdentity& file = object.identity;
    if (!read_each(object.number, object.facts.has_unwind_table, file.device, file.inode))
      return false;
    file.size = static_cast<off_t>(from_.varint());
    for (timespec* time : {&file.modified, &file.changed}) {
      time->tv_sec = unzigzag(from_.varint());
      time->tv_nsec = static_cast<decltype(time->tv_nsec)>(from_.varint());
    }
    return read_each(object.path, object.facts.build_id);
  }
  bool read(Pattern& pattern) {
    std::string said;
    if (!read_each(pattern.scope, said)) return false;
    auto parsed = parse_pattern(said, pattern.scope);
    if (parsed) pattern = std::move(*parsed);
    return parsed.has_value();
  }
  // An answer of a process that reads files, with its own numbers of shared objects.
  bool read(std::shared_ptr<const std::vector<Probe>>& probes) {
    Version2 answer(from_.text());
    auto all = std::make_shared<std::vector<Probe>>();
    constexpr uint8_t kIsNoError = 1, kNoneRefused = 0;
    if (answer.from_.fixed<uint8_t>() != kIsNoError || !answer.read(*all)) return false;
    if (answer.from_.varint() != kNoneRefused || !answer.is_good() || !answer.from_.at_end())
      return false;
    probes = std::move(all);
    return true;
  }
  bool read(Site& site) {
    uint32_t words = 0;
    if (!read_each(site.offset, site.moved_bytes, site.semaphore, site.cost, words)) return false;
    if (words) site.words_below_caller = words - 1;
    return read_each(site.args, site.returns);
  }
  bool read(Argument& argument) {
    uint8_t flags = 0;
    if (!read_each(argument.place, argument.kind, argument.size_bytes, flags, argument.byte_count,
                   argument.base, argument.index, argument.scale, argument.offset, argument.text,
                   argument.name, argument.declared_type, argument.enumerators))
      return false;
    const std::array all{&argument.is_signed,        &argument.is_float,
                         &argument.high_byte,        &argument.is_string,
                         &argument.is_shown_as_text, &argument.length_behind,
                         &argument.link_relative};
    for (size_t i = 0; i < all.size(); ++i) *all[i] = flags >> i & 1;
    return true;
  }

  template <class T> using Known = std::vector<std::shared_ptr<const T>>;

  ByteReader from_;
  std::tuple<Known<Arguments>, Known<ReturnPlan>, Known<Enumerators>> known_;
};

}  // namespace

bool read_version_2(std::string_view bytes, EngineState& state) {
  return Version2(bytes).read_all(state);
}

}  // namespace tracectl
