// build: -O2 -g -fcf-protection=full
// SPDX-License-Identifier: BSD-2-Clause
//
// Exceptions that pass through traced frames with destructors, are caught, changed and rethrown.
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include <stdexcept>
#include <string>

#include "soak.h"

__extension__ unsigned short soak_caught_semaphore __attribute__((unused, section(".probes")));

static uint64_t undone;

struct Undo {
  uint64_t value;
  SOAK_FUNCTION ~Undo();
};
Undo::~Undo() { undone = mixed(undone, value); }

struct Thrown {
  uint64_t depth;
};

SOAK_FUNCTION uint64_t exceptions_descend(uint64_t depth, uint64_t bottom) {
  const Undo undo{depth};
  if (depth == bottom) throw Thrown{depth};
  return exceptions_descend(depth + 1, bottom) + undo.value;
}

SOAK_FUNCTION uint64_t exceptions_rethrow(uint64_t bottom) {
  try {
    return exceptions_descend(0, bottom);
  } catch (const Thrown& thrown) {
    throw std::runtime_error(std::to_string(thrown.depth));
  }
}

SOAK_FUNCTION uint64_t exceptions_catch(uint64_t bottom) {
  try {
    return exceptions_rethrow(bottom);
  } catch (const std::exception& error) {
    DTRACE_PROBE1(soak, caught, bottom);
    return std::stoull(error.what());
  }
}

SOAK_FUNCTION void exceptions_promise() noexcept { NOP5_FIRST; }

static uint64_t exceptions_round() {
  uint64_t sum = undone = 0;
  for (uint64_t i = 0; i < 40; ++i) {
    exceptions_promise();
    sum = mixed(sum, exceptions_catch(i % 9));
  }
  return mixed(sum, undone);
}

int main() {
  const volatile unsigned short* const semaphores[] = {&soak_caught_semaphore, nullptr};
  return soak(exceptions_round, semaphores);
}
