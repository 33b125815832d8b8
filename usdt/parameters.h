// SPDX-License-Identifier: BSD-2-Clause
//
// The parameters of functions, by the debug information of their file.
#pragma once

#include <memory>
#include <optional>

#include "daemon/model/argument.h"
#include "usdt/elf_file.h"

namespace tracectl {

class FunctionParameters {
 public:
  // A file without debug information (or with damaged or absurd one) knows no function.
  explicit FunctionParameters(const ElfFile& file);
  FunctionParameters(FunctionParameters&&) noexcept;
  FunctionParameters& operator=(FunctionParameters&&) noexcept;
  ~FunctionParameters();

  // Where a function's parameters are when its first instruction is about to run, in their order:
  // by name and type, at most kMostArguments. One that cannot be read says why in `text`. Nothing
  // where the function is unknown, or may have been compiled not to follow the calling convention;
  // an empty list where it has no parameters. Those on the stack are at offsets from rsp.
  std::optional<Arguments> of(const Function& function);

  // The type of the function's result as rax has it at a return; it has no place. Unreadable, with
  // the reason in `text`, where it is elsewhere, or nothing. None where the function is unknown.
  std::optional<Argument> result_of(const Function& function);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tracectl
