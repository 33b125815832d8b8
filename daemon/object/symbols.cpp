// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "daemon/base/nearest.h"
#include "daemon/object/copied_data.h"
#include "daemon/object/demangle.h"

namespace tracectl {
namespace {

// What all tables together say about the symbol of one name at one address.
struct Known {
  unsigned char type = STT_NOTYPE;
  bool may_be_copied = false;
  bool is_number = false;
};
using Places = std::map<uint64_t, Known>;

bool is_data_or_code(unsigned char type) {
  return type == STT_OBJECT || type == STT_FUNC || type == STT_NOTYPE || type == STT_TLS ||
         type == STT_GNU_IFUNC;
}

// shop::sell<int>(int) has `sell`; of names that end otherwise, as operators do, nothing.
std::string_view last_identifier(std::string_view name) {
  name = name.substr(0, name.find_first_of("(<["));
  const size_t end =
      name.find_last_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return end == name.npos ? name : name.substr(end + 1);
}

class SymbolSearch {
 public:
  SymbolSearch(const ElfFile& file, const std::vector<std::string>& names) : file_(file) {
    for (const std::string& name : names) found_[name];
    const bool is_library = !file.is_program();
    file.each_definition([&](const ElfFile::Definition& one) { take(one, is_library); });
  }

  // Or why it is not known.
  Result<uint64_t> address_of(const std::string& name) const {
    const Places& all = found_.at(name);
    const std::string quoted = file_.path() + ": \"" + name + "\"";
    if (all.empty()) return Error{Code::not_found, quoted + " is no symbol of it" + near(name)};
    if (all.size() > 1)
      return Error{Code::invalid, quoted + " is the name of " + std::to_string(all.size()) +
                                      " symbols, at different addresses"};
    const auto& [address, known] = *all.begin();
    if (const char* why = why_unknown(known)) return Error{Code::unsupported, quoted + " " + why};
    return address;
  }

 private:
  static const char* why_unknown(const Known& symbol) {
    if (symbol.is_number) return "is a number, not an address";
    if (symbol.type == STT_TLS) return "is thread-local: it has another address in each thread";
    if (symbol.type == STT_GNU_IFUNC) return "is chosen when the file is loaded";
    if (symbol.may_be_copied)
      return "is a variable that the library exports: the program may have a copy of it, which "
             "both use then";
    return nullptr;
  }

  // Symbols that are written alike, for a message.
  std::string near(const std::string& name) const {
    constexpr size_t kLongest = 64;
    std::vector<std::string> alike;
    if (name.size() > kLongest) return "";
    file_.each_definition([&](const ElfFile::Definition& one) {
      if (is_data_or_code(one.type) && !nearest_names(name, {&one.name, 1}, 1).empty())
        alike.emplace_back(one.name);
    });
    const std::vector<std::string_view> names(alike.begin(), alike.end());
    return did_you_mean(name, names);
  }

  void take(const ElfFile::Definition& one, bool is_library) {
    if (!is_data_or_code(one.type)) return;
    const Known known{one.type, may_be_copied(one, is_library), one.absolute};
    for (auto& [name, places] : found_)
      if (is_named(one.name, name)) add(known, places[one.address]);
  }

  static void add(const Known& more, Known& to) {
    to.type = std::max(to.type, more.type);
    to.may_be_copied |= more.may_be_copied;
    to.is_number |= more.is_number;
  }

  // Demangling takes long, so few symbols are demangled.
  static bool is_named(std::string_view symbol, const std::string& name) {
    if (symbol == name) return true;
    const bool is_mangled = symbol.starts_with("_Z") || symbol.starts_with("_R");
    if (!is_mangled || symbol.find(last_identifier(name)) == symbol.npos) return false;
    const std::string mangled(symbol);
    return demangle(mangled) == name || demangle_name(mangled) == name;
  }

  const ElfFile& file_;
  std::map<std::string, Places> found_;  // by name
};

using Addresses = std::vector<std::pair<std::string, uint64_t>>;

Result<Addresses> addresses_of(const ElfFile& file, const std::vector<std::string>& names) {
  if (names.size() > kMostOperands)
    return Error{Code::invalid, "at most " + std::to_string(kMostOperands) +
                                    " symbols can be used, not " + std::to_string(names.size())};
  const SymbolSearch search(file, names);
  Addresses addresses;
  for (const std::string& name : names) {
    const auto address = search.address_of(name);
    if (!address) return address.error();
    addresses.emplace_back(name, *address);
  }
  return addresses;
}

// `site`: its address, to which the symbols are relative if the file can be loaded anywhere, or else null. `variables`:
// the places of the site's, which come last, or null.
std::shared_ptr<const Arguments> symbols_at(const uint64_t* site, const Addresses& addresses,
                                            const Arguments* variables) {
  Arguments symbols;
  for (const auto& [name, address] : addresses) {
    Argument symbol{.place = Argument::Place::symbol, .kind = Argument::Kind::pointer};
    if (site) symbol.base = kInstructionPointer;
    symbol.offset = static_cast<int64_t>(address - (site ? *site : 0));
    symbol.name = name;
    symbols.push_back(std::move(symbol));
  }
  if (variables) symbols.insert(symbols.end(), variables->begin(), variables->end());
  return std::make_shared<const Arguments>(std::move(symbols));
}

size_t sites_of(const ProbeMatch& match) {
  size_t sites = 0;
  for (const Probe& probe : match.probes) sites += probe.sites.size();
  return sites;
}

void refuse_those_without_room(size_t symbols, ProbeMatch& match) {
  for (Probe& probe : match.probes)
    std::erase_if(probe.sites, [&](const Site& site) {
      const size_t variables = site.symbols ? site.symbols->size() : 0;
      if (site.args->size() + variables + symbols <= kMostOperands) return false;
      match.refused.push_back({probe.name, site.offset, std::nullopt,
                               "it has " + std::to_string(site.args->size() + variables) +
                                   " arguments, and with symbols " + std::to_string(kMostOperands) +
                                   " values can be used"});
      return true;
    });
  std::erase_if(match.probes, [](const Probe& probe) { return probe.sites.empty(); });
}

}  // namespace

void add_symbols(const ElfFile& file, const Pattern& pattern, const std::vector<std::string>& names,
                 ProbeMatch& match) {
  if (names.empty() || match.probes.empty()) return;
  const auto refuse_all = [&](const std::string& reason) {
    Pattern of_file = pattern;
    of_file.bare = false;
    of_file.object = file.path();
    match.probes.clear();
    match.refused.push_back({to_string(of_file), std::nullopt, std::nullopt, reason});
  };
  const auto addresses = addresses_of(file, names);
  if (!addresses) return refuse_all(addresses.error().message);
  refuse_those_without_room(names.size(), match);
  if (!file.is_fixed() && sites_of(match) > kMostSitesWithSymbols)
    return refuse_all("expressions with uaddr are for " + std::to_string(kMostSitesWithSymbols) +
                      " sites of a file, and " + std::to_string(sites_of(match)) + " match");
  const auto of_all = file.is_fixed() ? symbols_at(nullptr, *addresses, nullptr) : nullptr;
  for (Probe& probe : match.probes)
    for (Site& site : probe.sites) {
      const bool is_shared = of_all && !site.symbols;
      const uint64_t address = file.address_of(site.offset).value();
      site.symbols = is_shared
                         ? of_all
                         : symbols_at(of_all ? nullptr : &address, *addresses, site.symbols.get());
    }
}

}  // namespace tracectl
