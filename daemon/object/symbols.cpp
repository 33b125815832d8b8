// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "daemon/base/nearest.h"
#include "daemon/object/arg_spec.h"
#include "daemon/object/demangle.h"

namespace tracectl {
namespace {

// What all tables together say about the symbol of one name at one address.
struct Known {
  unsigned char type = STT_NOTYPE;
  bool may_be_copied = false;
};

bool is_data_or_code(unsigned char type) {
  return type == STT_OBJECT || type == STT_FUNC || type == STT_NOTYPE || type == STT_TLS ||
         type == STT_GNU_IFUNC;
}

// A program can be linked so that it has a copy of a library's variable, which the library then uses, too
// (R_X86_64_COPY, R_AARCH64_COPY).
bool may_be_copied(const ElfFile::Definition& one, bool is_library) {
  return is_library && one.exported && one.type == STT_OBJECT && one.visibility == STV_DEFAULT;
}

class SymbolSearch {
 public:
  SymbolSearch(const ElfFile& file, const std::vector<std::string>& names) {
    for (const std::string& name : names) found_[name];
    const bool is_library = !file.is_fixed() && !file.interpreter();
    file.each_definition([&](const ElfFile::Definition& one) { take(one, is_library); });
  }

  // Or why it is not known.
  Result<uint64_t> address_of(const std::string& name) const {
    const auto& all = found_.at(name);
    if (all.empty()) return no_symbol(name);
    if (all.size() > 1)
      return Error{Code::invalid, "it has " + std::to_string(all.size()) + " symbols \"" + name +
                                      "\", at different addresses"};
    const auto& [address, known] = *all.begin();
    if (const char* why = why_unknown(known))
      return Error{Code::unsupported, "\"" + name + "\" " + why};
    return address;
  }

 private:
  static const char* why_unknown(const Known& symbol) {
    if (symbol.type == STT_TLS) return "is thread-local: it has another address in each thread";
    if (symbol.type == STT_GNU_IFUNC) return "is chosen when the file is loaded";
    if (symbol.may_be_copied)
      return "is a variable that the library exports: the program may have a copy of it, which "
             "both use then";
    return nullptr;
  }

  Error no_symbol(const std::string& name) const {
    const std::vector<std::string_view> near(near_.begin(), near_.end());
    return {Code::not_found, "it has no symbol \"" + name + "\"" + did_you_mean(name, near)};
  }

  void take(const ElfFile::Definition& one, bool is_library) {
    const Known known{one.type, may_be_copied(one, is_library)};
    if (!is_data_or_code(known.type)) return;
    const std::string name(one.name);
    add(name, one.address, known);
    if (const auto readable = demangle(name)) add(*readable, one.address, known);
    if (const auto readable = demangle_name(name)) add(*readable, one.address, known);
  }

  void add(const std::string& name, uint64_t address, const Known& known) {
    const auto wanted = found_.find(name);
    if (wanted == found_.end()) return keep_if_near(name);
    Known& all = wanted->second[address];
    all.type = std::max(all.type, known.type);
    all.may_be_copied |= known.may_be_copied;
  }

  void keep_if_near(const std::string& name) {
    for (const auto& [wanted, places] : found_)
      if (const std::string_view one = name; !nearest_names(wanted, {&one, 1}, 1).empty())
        near_.push_back(name);
  }

  std::map<std::string, std::map<uint64_t, Known>> found_;  // by name, by address
  std::vector<std::string> near_;                           // similar names
};

Argument address_relative_to(uint64_t site, const std::string& name, uint64_t address) {
  Argument symbol{.place = Argument::Place::symbol, .kind = Argument::Kind::pointer};
  symbol.base = kInstructionPointer;
  symbol.offset = static_cast<int64_t>(address - site);
  symbol.name = name;
  return symbol;
}

// The sites' symbols, once the addresses are known.
class Giver {
 public:
  Giver(const ElfFile& file, std::vector<std::pair<std::string, uint64_t>> addresses)
      : file_(file), addresses_(std::move(addresses)) {}

  // Or why it gets none.
  Status give(Site& site) const {
    const auto at = file_.address_of(site.offset);
    if (!at) return Error{Code::invalid, "the site has no address in the file"};
    if (site.args->size() + addresses_.size() > kMostArguments)
      return Error{Code::unsupported, "it has " + std::to_string(site.args->size()) +
                                          " arguments, and with symbols " +
                                          std::to_string(kMostArguments) + " values can be used"};
    Arguments symbols;
    for (const auto& [name, address] : addresses_)
      symbols.push_back(address_relative_to(*at, name, address));
    site.symbols = std::make_shared<const Arguments>(std::move(symbols));
    return ok();
  }

 private:
  const ElfFile& file_;
  std::vector<std::pair<std::string, uint64_t>> addresses_;
};

// Moves the sites for which `give` fails to those that are refused.
template <class Give> void give_each(ProbeMatch& match, Give give) {
  for (Probe& probe : match.probes)
    std::erase_if(probe.sites, [&](Site& site) {
      const Status given = give(site);
      if (!given)
        match.refused.push_back({probe.name, site.offset, std::nullopt, given.error().message});
      return !given;
    });
  std::erase_if(match.probes, [](const Probe& probe) { return probe.sites.empty(); });
}

}  // namespace

void add_symbols(const ElfFile& file, const std::vector<std::string>& names, ProbeMatch& match) {
  if (names.empty() || match.probes.empty()) return;
  const SymbolSearch search(file, names);
  std::vector<std::pair<std::string, uint64_t>> addresses;
  for (const std::string& name : names) {
    const auto address = search.address_of(name);
    if (!address)
      return give_each(match, [&](const Site&) -> Status {
        return Error{address.error().code, file.path() + ": " + address.error().message};
      });
    addresses.emplace_back(name, *address);
  }
  const Giver giver(file, std::move(addresses));
  give_each(match, [&](Site& site) { return giver.give(site); });
}

}  // namespace tracectl
