// SPDX-License-Identifier: BSD-2-Clause
//
// Computes return addresses from a thread's registers and a copied piece of its stack, by the
// tables in .eh_frame (or .debug_frame) of its files, like a C++ exception.
//
// For each place in the code a table says where the caller's registers are. The program could write
// the stack, and its makers wrote the tables, so neither is trusted, and there are never more steps
// than frames requested.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/model/stack.h"
#include "daemon/object/elf_image.h"

namespace tracectl {

// A file as a process has loaded it.
struct LoadedImage {
  std::shared_ptr<const ElfImage> image;
  uint64_t bias = 0;  // added to the file's own addresses
};

class Unwinder {
 public:
  explicit Unwinder(std::vector<LoadedImage> loaded);
  Unwinder(Unwinder&&) noexcept;
  Unwinder& operator=(Unwinder&&) noexcept;
  ~Unwinder();

  struct Found {
    std::vector<uint64_t> addresses;  // at least that of the registers
    // For each address, the value of the stack pointer when the frame continues there; 0 if not
    // known.
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
