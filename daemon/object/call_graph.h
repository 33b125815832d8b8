// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/object/code_map.h"
#include "daemon/object/data_map.h"
#include "daemon/object/object_file.h"

namespace tracectl {

struct Reached {
  const Function* function = nullptr;  // of the object; see CodeMap if several share the address
  unsigned distance = 0;               // the smallest number of calls from a root, on any path
  bool by_address = false;             // no chain of only direct calls leads here
};

// A function of another file.
struct ReachedImport {
  std::string name;  // as in the symbol table, without version
  unsigned distance = 0;
  bool by_address = false;
};

struct Reach {
  std::vector<Reached> functions;      // including the roots; by distance, then address
  std::vector<ReachedImport> imports;  // by name
  size_t calls_unknown = 0;  // reached routines with calls whose targets the file does not show
  bool complete = true;      // false: the limits of reading were reached
};

// The functions that can be called from functions of one file, as far as the file shows: the
// targets of their calls and jumps, and the functions whose addresses are in them or in data they
// use.
//
// It overestimates: a function whose address is taken need not be called, nor from there. It omits
// functions that are called by addresses that are computed or come from elsewhere (dlsym), or not
// by instructions at all: constructors, signal handlers that another file sets. In a stripped file
// it also omits functions in tables with gaps and, if the file runs at the address it is linked
// for, functions in tables that are not exported.
//
// Each routine is decoded once, however often the graph is used. Used by one thread.
class CallGraph {
 public:
  explicit CallGraph(ObjectFilePtr object);

  // Starts from the routines around these addresses; an address without a routine reaches nothing.
  // The object owns the functions.
  Reach reach(std::span<const uint64_t> roots);

 private:
  using NodeId = uint32_t;

  enum class Kind : uint8_t { routine, data, import };

  struct Node {
    Kind kind;
    Routine routine = {};
    AddressRange data = {};
    std::string import = {};
    bool explored = false;
    bool calls_unknown = false;
    std::vector<NodeId> calls = {};     // routines and imports
    std::vector<NodeId> mentions = {};  // nodes whose address it has, or a pointer that it uses
  };

  enum class Follow { calls, everything };
  using Distances = std::vector<unsigned>;  // by node; kFar: not reached

  Distances distances_from(std::span<const uint64_t> roots, Follow follow);
  Reach result(const Distances& distances, const Distances& by_calls) const;

  const Node& explored(NodeId id);
  bool may_read(uint64_t size);
  void explore_routine(Node& node);
  void explore_data(Node& node);

  void add_call(Node& from, uint64_t target);
  void add_slot(Node& from, uint64_t slot);
  void add_call_by(Node& from, const Pointer& pointer);
  void add_word(Node& from, uint64_t place);
  void add_mention(Node& from, uint64_t address);
  void add_mention_by(Node& from, const Pointer& pointer);

  NodeId node_of(const Routine& routine);
  NodeId node_of(const AddressRange& data);
  NodeId node_of(const std::string& import);

  ObjectFilePtr object_;
  CodeMap code_;
  DataMap data_;
  bool is_fixed_;
  uint64_t bytes_left_;
  bool complete_ = true;
  std::deque<Node> nodes_;
  std::unordered_map<uint64_t, NodeId> routines_, variables_;  // by address
  std::unordered_map<std::string, NodeId> imports_;
};

}  // namespace tracectl
