// SPDX-License-Identifier: BSD-2-Clause
//
// From a thread's registers and a copied piece of its stack to return addresses, by the tables in
// .eh_frame (or .debug_frame) of the files it runs: what a C++ exception would go by.
//
// A table says for each place in the code where the caller's registers are. What is looked up in
// the stack was the program's to write, and the tables were its makers': nothing of either is
// trusted, and there are never more steps than frames were asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/model/stack.h"
#include "usdt/elf_image.h"

namespace tracectl {

// A file as a process has it loaded.
struct LoadedImage {
  std::shared_ptr<const ElfImage> image;
  uint64_t bias = 0;  // what is added to the file's own addresses
};

class Unwinder {
 public:
  explicit Unwinder(std::vector<LoadedImage> loaded);
  Unwinder(Unwinder&&) noexcept;
  Unwinder& operator=(Unwinder&&) noexcept;
  ~Unwinder();

  struct Found {
    std::vector<uint64_t> addresses;  // at least that of the registers
    // Of each address: where the stack pointer is as the frame goes on there. 0 if it is not known.
    std::vector<uint64_t> stack_pointers;
    StackEnd end = StackEnd::outermost;
  };
  // `most` is at least 1.
  Found unwind(const RawStack& copied, unsigned most);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tracectl
