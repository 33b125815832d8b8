// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/none_fits.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "daemon/base/nearest.h"
#include "daemon/object/demangle.h"
#include "daemon/object/elf_image.h"
#include "daemon/object/inlined_copies.h"
#include "daemon/object/pattern_names.h"
#include "daemon/object/probes.h"

namespace tracectl {
namespace {

constexpr size_t kMostNear = 3;
constexpr size_t kMostSymbolsSeen = 1'000'000;

// A glob as a name that somebody may have mistyped.
std::string without_stars(std::string text) {
  std::erase(text, '*');
  return text;
}

// `"a", "b" or "c"`
std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += std::string(i == 0                 ? ""
                        : i + 1 < names.size() ? ", "
                                               : " or ") +
            '"' + std::string(names[i]) + '"';
  return text;
}

std::string near_text(const std::string& wrong, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto nearest = nearest_names(wrong, views, kMostNear);
  return nearest.empty() ? "" : "did you mean " + listed(nearest) + "?";
}

// "f(int) const" as "f"
std::string without_parameters(const std::string& name) { return name.substr(0, name.find('(')); }

std::string last_name(const std::string& name) {
  const size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

class Functions {
 public:
  Functions(const ObjectFile& object, const Pattern& pattern)
      : object_(object), pattern_(pattern), all_(object.elf().functions()) {}

  std::string why_none() const {
    if (auto text = usdt(); !text.empty()) return text;
    if (all_.empty() && object_.elf().indirect_functions().empty())
      return "the file has no symbols of functions: install its debug symbols";
    for (const auto why : {&Functions::not_exported, &Functions::part, &Functions::import,
                           &Functions::plain_name, &Functions::parameters, &Functions::inlined})
      if (auto text = (this->*why)(); !text.empty()) return text;
    return near();
  }

 private:
  bool fits(const std::string& name) const { return names_function(pattern_, name); }

  const Function* first(const std::function<bool(const Function&)>& is_it) const {
    const auto found = std::ranges::find_if(all_, is_it);
    return found == all_.end() ? nullptr : &*found;
  }

  std::string not_exported() const {
    if (pattern_.scope != Scope::global) return {};
    const auto* found = first([&](const Function& one) { return fits(one.name); });
    return found ? found->name + " fits and is not exported: leave --global away" : "";
  }

  std::string part() const {
    const auto* found = first([&](const Function& one) {
      return one.name.find(".cold") != std::string::npos && fits(one.name);
    });
    return found ? found->name +
                       " fits and is a part of a function, which is jumped to: only its full name "
                       "traces it"
                 : "";
  }

  std::string import() const {
    const auto image = object_.elf().open_again();
    if (!image) return {};
    std::string found;
    image->each_symbol(SHT_DYNSYM, kMostSymbolsSeen, [&](const char* name, const GElf_Sym& symbol) {
      if (found.empty() && symbol.st_shndx == SHN_UNDEF &&
          GELF_ST_TYPE(symbol.st_info) == STT_FUNC && fits(name))
        found = name;
    });
    return found.empty() ? ""
                         : "the file calls " + found +
                               " of another file: name that as OBJECT, or any by "
                               "uprobe:*:" +
                               found;
  }

  // What it would fit as the name of a function of C++ or Rust.
  std::string plain_name() const {
    if (wants_demangled(pattern_)) return {};
    for (const Function& one : all_) {
      const auto name = demangle_name(one.name);
      if (name && glob_match(pattern_.function, last_name(*name)))
        return "the file has " + demangle(one.name).value_or(*name) +
               ": name it so, or by *::" + last_name(*name);
    }
    return {};
  }

  std::string parameters() const {
    if (pattern_.function.find('(') == std::string::npos) return {};
    const std::string function = without_parameters(pattern_.function);
    for (const Function& one : all_) {
      const auto name = demangle_name(one.name);
      if (name && glob_match(function, *name))
        return "the file has " + demangle(one.name).value_or(*name) + ": leave the parameters away";
    }
    return {};
  }

  std::string inlined() const {
    if (names_copies(pattern_)) return {};
    const auto found = find_inlined(object_.elf(), pattern_);
    if (!found || found->copies.empty()) return {};
    const size_t count = found->copies.size();
    return "it was inlined into other functions, at " + std::to_string(count) +
           (count == 1 ? " place" : " places") + ": --inlined traces it there";
  }

  std::string usdt() const {
    const auto& sites = object_.usdt_sites();
    if (!sites) return {};
    const auto found = std::ranges::find_if(
        *sites, [&](const UsdtSite& site) { return site.name == pattern_.function; });
    if (found == sites->end()) return {};
    const std::string path = object_.path();
    return "it has a USDT probe of that name: usdt:" + path.substr(path.rfind('/') + 1) + ":" +
           found->provider + ":" + found->name;
  }

  std::string near() const {
    std::vector<std::string> names;
    for (const auto* all : {&all_, &object_.elf().indirect_functions()})
      for (const Function& one : *all) {
        names.push_back(wants_demangled(pattern_) ? demangle_name(one.name).value_or(one.name)
                                                  : one.name);
      }
    return near_text(without_stars(without_parameters(pattern_.function)), names);
  }

  const ObjectFile& object_;
  const Pattern& pattern_;
  const std::vector<Function>& all_;
};

std::string why_no_usdt(const ObjectFile& object, const Pattern& pattern) {
  const auto& sites = object.usdt_sites();
  if (!sites) return {};
  if (sites->empty())
    return "it has no USDT probes; its functions: tracectl list 'uprobe:" + object.path() + ":*'";
  std::vector<std::string> names;
  for (const UsdtSite& site : *sites) names.push_back(site.provider + ":" + site.name);
  return near_text(without_stars(pattern.provider) + ":" + without_stars(pattern.name), names);
}

}  // namespace

std::string why_none_fits(const ObjectFile& object, const Pattern& pattern) {
  return pattern.kind == ProbeKind::usdt ? why_no_usdt(object, pattern)
                                         : Functions(object, pattern).why_none();
}

}  // namespace tracectl
