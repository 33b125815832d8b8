// SPDX-License-Identifier: BSD-2-Clause
//
// Types that the user gives for the arguments of USDT probes, as a provider file declares them: the notes of most
// programs have sizes only.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tracectl {

struct ArgumentType {
  std::string type;  // in C
  std::string name;

  bool operator==(const ArgumentType&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("type", s.type);
    f("name", s.name);
  }
};

struct ProbeTypes {
  std::string provider;
  std::string name;  // as in the note: query__start
  std::vector<ArgumentType> arguments;

  bool operator==(const ProbeTypes&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("provider", s.provider);
    f("name", s.name);
    f("arguments", s.arguments);
  }
};

// Shared by the settings of a request. Null: none.
class GivenTypes {
 public:
  static constexpr size_t kMost = 2048;  // probes

  GivenTypes() = default;
  explicit GivenTypes(std::vector<ProbeTypes> types)
      : types_(types.empty() ? nullptr
                             : std::make_shared<const std::vector<ProbeTypes>>(std::move(types))) {}

  bool empty() const { return !types_; }
  const std::vector<ProbeTypes>& all() const { return *types_; }  // unless empty
  bool operator==(const GivenTypes& other) const {
    return types_ == other.types_ || (types_ && other.types_ && *types_ == *other.types_);
  }

 private:
  std::shared_ptr<const std::vector<ProbeTypes>> types_;
};

}  // namespace tracectl
