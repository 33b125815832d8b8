// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <tracectl/runtime.h>

// The first member of what is freed with the provider.
struct owned {
  struct owned* next;
};

// `memory` is of malloc.
void provider_own(tracectl_provider* provider, struct owned* memory);
