// SPDX-License-Identifier: BSD-2-Clause
//
// Functions whose implementations are chosen when the file is loaded (STT_GNU_IFUNC), as strlen of glibc is by the
// machine's features. The symbol's code is a resolver: the dynamic linker calls it once, and it returns the address of
// an implementation.
#pragma once

#include <optional>
#include <vector>

#include "daemon/object/code_map.h"
#include "daemon/object/data_map.h"
#include "daemon/object/object_file.h"

namespace tracectl {

class Ifuncs {
 public:
  explicit Ifuncs(ObjectFilePtr object) : object_(std::move(object)) {}

  // The functions that the resolver can return: those whose addresses its code has, or a table that it uses. Sorted by
  // address. An implementation that no symbol names has no name. Empty if the file shows none.
  std::vector<Function> implementations_of(const Function& resolver);

 private:
  void read();
  void add(uint64_t address, std::vector<Function>& found) const;
  void add_word(uint64_t place, std::vector<Function>& found) const;
  void add_mentioned(uint64_t address, std::vector<Function>& found) const;

  ObjectFilePtr object_;
  std::optional<CodeMap> code_;  // read on first use
  std::optional<DataMap> data_;
};

}  // namespace tracectl
