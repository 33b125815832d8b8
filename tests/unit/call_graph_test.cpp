// SPDX-License-Identifier: BSD-2-Clause
#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/object/call_graph.h"
#include "tests/support/elf_builder.h"
#include "tests/support/must.h"
#include "tests/support/output_of.h"
#include "tests/support/program.h"

namespace tracectl {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

ObjectFilePtr open_target(const std::string& name) {
  const std::string path = on_kernel::target_path(name);
  return on_kernel::must(
      ObjectFile::open(Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}.get(), path));
}

uint64_t address_of(const ObjectFile& object, const std::string& function) {
  const auto found = object.elf().symbol_address(function);
  if (!found) throw std::runtime_error(object.path() + " has no " + function);
  return *found;
}

Reach reach(const ObjectFilePtr& object, const std::vector<std::string>& roots) {
  std::vector<uint64_t> addresses;
  for (const std::string& root : roots) addresses.push_back(address_of(*object, root));
  return CallGraph{object}.reach(addresses);
}

// "leaf 1", "by_lea 1 by address". The object that owns the functions must live.
std::vector<std::string> words(const Reach& reach) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& name, const auto& reached) {
    all.push_back(name + " " + std::to_string(reached.distance) +
                  (reached.by_address ? " by address" : ""));
  };
  for (const Reached& reached : reach.functions) add(reached.function->name, reached);
  for (const ReachedImport& reached : reach.imports) add("import " + reached.name, reached);
  return all;
}

std::vector<std::string> reached(const std::string& target, const std::vector<std::string>& roots) {
  const auto object = open_target(target);
  return words(reach(object, roots));
}

// ---- tests/targets/reach.h ----

class CallGraphOf : public testing::TestWithParam<const char*> {};

TEST_P(CallGraphOf, StartHasAllItCallsAndNothingElse) {
  const auto object = open_target(GetParam());
  const Reach found = reach(object, {"start"});
  EXPECT_THAT(words(found),
              UnorderedElementsAre("start 0",                                                  //
                                   "direct 1", "leaf 1", "tail 2",                             //
                                   "exported 1", "exported_address 1 by address",              //
                                   "ping 1", "pong 2",                                         //
                                   "call 1", "by_lea 1 by address",                            //
                                   "rows 1", "row_zero 2 by address", "row_one 2 by address",  //
                                   "devices 1", "use 2",                                       //
                                   "op_open 2 by address", "op_close 2 by address",            //
                                   "hooked 1", "first_hook 2 by address",                      //
                                   "unlikely 1", "complain 2", "only_in_part 2",               //
                                   "chosen_way 1 by address", "long_way 2 by address",         //
                                   "short_way 2 by address",                                   //
                                   "says 1", "import abort 2", "import puts 2",                //
                                   "import rand 1 by address"));
  EXPECT_EQ(found.calls_unknown, 4u);  // call, rows, use, hooked
  EXPECT_TRUE(found.complete);
}

INSTANTIATE_TEST_SUITE_P(Files, CallGraphOf,
                         testing::Values("reach", "reach_fixed", "reach_library", "reach_no_plt"));

TEST(CallGraph, ComesByWhatIsNamedThroughWhatIsNot) {
  const auto object = open_target("reach_stripped");
  const Reach found = reach(object, {"start"});
  // A part without a name adds a call, and tables without names are not separated.
  EXPECT_THAT(words(found),
              UnorderedElementsAre("start 0", "exported 1", "exported_address 1 by address",
                                   StartsWith("row_one "), "import abort 3", "import puts 2",
                                   "import rand 1 by address"));
  EXPECT_EQ(found.calls_unknown, 4u);
}

// The same code, marked as loadable anywhere: there a number is not an address.
TEST(CallGraph, OfAFileLoadedAnywhereTakesNoNumberForAnAddress) {
  std::ifstream in{on_kernel::target_path("reach_fixed"), std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  ASSERT_GT(bytes.size(), sizeof(Elf64_Ehdr));
  bytes[offsetof(Elf64_Ehdr, e_type)] = ET_DYN;
  const auto object =
      on_kernel::must(ObjectFile::open(on_file::as_file(bytes).get(), "/nonexistent/reach_fixed"));
  const Reach found = reach(object, {"start"});
  EXPECT_THAT(words(found), Contains("direct 1"));
  EXPECT_THAT(words(found), Not(Contains("by_lea 1 by address")));
  EXPECT_THAT(words(found), Not(Contains("first_hook 2 by address")));
}

TEST(CallGraph, BeginsAtTheNearestRoot) {
  EXPECT_THAT(reached("reach", {"alone"}), ElementsAre("alone 0", "leaf 1"));
  EXPECT_THAT(reached("reach", {"ping"}), UnorderedElementsAre("ping 0", "pong 1"));
  EXPECT_THAT(reached("reach", {"ping", "pong", "alone"}),
              UnorderedElementsAre("ping 0", "pong 0", "alone 0", "leaf 1"));
  EXPECT_THAT(reached("reach", {"row_one"}), ElementsAre("row_one 0"));
}

TEST(CallGraph, OfNowhereIsEmpty) {
  CallGraph graph{open_target("reach")};
  EXPECT_THAT(words(graph.reach({})), IsEmpty());
  const uint64_t nowhere[] = {0, 0x7fffffffffff, UINT64_MAX};
  EXPECT_THAT(words(graph.reach(nowhere)), IsEmpty());
}

TEST(CallGraph, APlaceWithinAFunctionStandsForIt) {
  const auto object = open_target("reach");
  const uint64_t part[] = {address_of(*object, "unlikely.cold") + 1};
  EXPECT_THAT(words(CallGraph{object}.reach(part)), Contains("unlikely 0"));
}

TEST(CallGraph, AnswersTheSameWhenAskedAgain) {
  const auto object = open_target("reach");
  CallGraph graph{object};
  const uint64_t alone[] = {address_of(*object, "alone")};
  const uint64_t start[] = {address_of(*object, "start")};
  const auto first = words(graph.reach(start));
  EXPECT_THAT(words(graph.reach(alone)), ElementsAre("alone 0", "leaf 1"));
  EXPECT_EQ(words(graph.reach(start)), first);
}

TEST(CallGraph, IsSortedByDistance) {
  const auto object = open_target("reach");
  const Reach found = reach(object, {"start"});
  EXPECT_TRUE(std::ranges::is_sorted(found.functions, {}, &Reached::distance));
  EXPECT_TRUE(std::ranges::is_sorted(found.imports, {}, &ReachedImport::name));
}

// ---- tests/targets/reach_virtual.cpp ----

TEST(CallGraph, AClassThatIsMadeHasItsVirtualFunctionsReached) {
  const auto object = open_target("reach_virtual");
  const Reach found = reach(object, {"starts"});
  const auto names = words(found);
  for (const char* expected :
       {"starts 0", "makes_square 1", "measures 1", "catches 1", "_ZNK6Square4areaEv 2 by address",
        "_ZN6SquareD0Ev 2 by address", "throws 2", "lands 2", "import __cxa_throw 3"})
    EXPECT_THAT(names, Contains(expected));
  for (const std::string& name : names) EXPECT_EQ(name.find("ircle"), std::string::npos) << name;
  EXPECT_EQ(found.calls_unknown, 1u);  // measures
}

// ---- whole programs, by objdump ----

// Finds the function of an address by the symbols; each is known by its start.
class Owners {
 public:
  explicit Owners(const ObjectFile& object) {
    std::map<std::string, uint64_t> starts;
    for (const Function& function : object.elf().functions())
      starts.emplace(function.name, function.address);
    for (const Function& function : object.elf().functions()) {
      const auto whole = starts.find(function.name.substr(0, function.name.find(".cold")));
      const uint64_t start = whole == starts.end() ? function.address : whole->second;
      const uint64_t end = function.address + std::max<uint64_t>(function.size, 1);
      ranges_.emplace(function.address, Range{end, start});
      if (function.size != 0) with_size_.insert(start);
    }
  }

  std::optional<uint64_t> of(uint64_t address) const {
    const auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin() || std::prev(after)->second.end <= address) return std::nullopt;
    return std::prev(after)->second.start;
  }

  const std::set<uint64_t>& with_size() const { return with_size_; }

 private:
  struct Range {
    uint64_t end, start;
  };
  std::map<uint64_t, Range> ranges_;
  std::set<uint64_t> with_size_;
};

using Edges = std::map<uint64_t, std::set<uint64_t>>;

// "  401020:\tcall   401136 <leaf>", "  401030:\tbnd jmp 401136 <leaf+0x10>".
void add_edge(const std::string& line, const Owners& owners, Edges& edges) {
  const size_t tab = line.find('\t'), name = line.find(" <");
  if (tab == std::string::npos || name == std::string::npos) return;
  const std::string text = line.substr(tab + 1, name - tab - 1);
  const bool leads_on = text.find("call") != std::string::npos || text[0] == 'j' ||
                        text.find(" jmp") != std::string::npos;
  if (!leads_on || text.find_first_of("*#") != std::string::npos) return;
  const auto from = owners.of(std::strtoull(line.c_str(), nullptr, 16));
  const auto to = owners.of(std::strtoull(text.c_str() + text.rfind(' '), nullptr, 16));
  if (from && to) edges[*from].insert(*to);
}

Edges edges_by_objdump(const std::string& path, const Owners& owners) {
  std::istringstream listing{output_of({"objdump", "-d", "-w", "--no-show-raw-insn", path})};
  Edges edges;
  for (std::string line; std::getline(listing, line);) add_edge(line, owners, edges);
  return edges;
}

std::set<uint64_t> closure(const Edges& edges, uint64_t root) {
  std::set<uint64_t> reached{root};
  std::vector<uint64_t> open{root};
  while (!open.empty()) {
    const auto at = edges.find(open.back());
    open.pop_back();
    if (at == edges.end()) continue;
    for (const uint64_t to : at->second)
      if (reached.insert(to).second) open.push_back(to);
  }
  return reached;
}

std::set<uint64_t> by_calls(CallGraph& graph, uint64_t root) {
  std::set<uint64_t> starts;
  for (const Reached& reached : graph.reach({&root, 1}).functions)
    if (!reached.by_address) starts.insert(reached.function->address);
  return starts;
}

class CallGraphOfProgram : public testing::TestWithParam<const char*> {};

TEST_P(CallGraphOfProgram, HasTheDirectCallsThatObjdumpShows) {
  const auto object = open_target(GetParam());
  const Owners owners{*object};
  const Edges edges = edges_by_objdump(object->path(), owners);
  EXPECT_FALSE(edges.empty());
  CallGraph graph{object};
  for (const uint64_t root : owners.with_size())
    EXPECT_EQ(by_calls(graph, root), closure(edges, root)) << std::hex << root;
}

INSTANTIATE_TEST_SUITE_P(Files, CallGraphOfProgram,
                         testing::Values("cold_parts", "demo_worker", "erlang_vm", "throws",
                                         "reach_fixed"));

}  // namespace
}  // namespace tracectl
