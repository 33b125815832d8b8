// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daemon/model/argument.h"
#include "daemon/model/field_path.h"
#include "daemon/object/elf_file.h"
#include "daemon/object/go_program.h"
#include "daemon/object/parameters.h"

namespace tracectl {

// The arguments of probes on functions of one file. Reads the debug information on first use.
class FunctionArguments {
 public:
  // `fields`: those that they get (field_finder.h).
  explicit FunctionArguments(const ElfFile& file, FieldsAsked fields = {})
      : file_(file), fields_(std::move(fields)) {}

  // For a probe for the entry of the function, placed `moved_bytes` after it: its parameters, or
  // else the integer argument registers. `code` is the function's. For Go code the probe is where
  // go_entry() says.
  std::shared_ptr<const Arguments> at_entry(const Function& function, uint64_t moved_bytes,
                                            std::span<const uint8_t> code);

  // For a probe within the function: the integer argument registers.
  std::shared_ptr<const Arguments> within(const Function& function);

  // The function's result when it returns, or else the register of results.
  Argument result_of(const Function& function);

  // The damaged units of debug information among those that were needed.
  std::vector<std::string> left_out() const {
    return parameters_ ? parameters_->left_out() : std::vector<std::string>{};
  }

 private:
  std::shared_ptr<const Arguments> of_go(const Function& function, GoCode code);

  const ElfFile& file_;
  FieldsAsked fields_;
  std::optional<FunctionParameters> parameters_;
};

// The registers of integer arguments.
std::shared_ptr<const Arguments> argument_registers();

}  // namespace tracectl
