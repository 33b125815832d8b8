// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/object/loaded_program.h"

namespace tracectl {

// Reads the files of programs in this process: each question is answered at once.
class OwnStacks : public StackReading {
 public:
  std::unique_ptr<StackReader> open(std::vector<LoadedFile> files) override;

 private:
  SymbolFiles files_;
};

}  // namespace tracectl
