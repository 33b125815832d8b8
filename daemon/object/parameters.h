// SPDX-License-Identifier: BSD-2-Clause
//
// The parameters of functions, from the debug information of their file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/model/argument.h"
#include "daemon/model/field_path.h"
#include "daemon/object/elf_file.h"

namespace tracectl {

class FunctionParameters {
 public:
  // A file without debug information (or with damaged or absurd information) has no known
  // functions. `fields`: those that parameters and results get (field_finder.h).
  explicit FunctionParameters(const ElfFile& file, const FieldsAsked& fields = {});
  FunctionParameters(FunctionParameters&&) noexcept;
  FunctionParameters& operator=(FunctionParameters&&) noexcept;
  ~FunctionParameters();

  // The parameters of a function before its first instruction runs, in their order: places, names
  // and types, at most kMostArguments. The `text` of one that cannot be read says why. Those on the
  // stack are at offsets from rsp. The list is empty if there are no parameters. None if the
  // function is unknown, or if it may not follow the calling convention. Behind them are the registers of the texts that
  // are asked for and passed by value, as symbols without a name (model/argument.h, ReachedField).
  std::optional<Arguments> of(const Function& function);

  // The function's result at a return. The `text` of one that cannot be read has its type and says why; one in memory
  // is a pointer. A bare register if the function is unknown or may not follow the calling convention.
  Argument result_of(const Function& function);

  // The same of a function that Go's compiler made, for calls by ABIInternal.
  std::optional<Arguments> of_go(const Function& function);
  Argument result_of_go(const Function& function);

  // The damaged units of those that were needed.
  const std::vector<std::string>& left_out() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tracectl
