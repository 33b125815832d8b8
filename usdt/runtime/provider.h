// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <tracectl/runtime.h>

// The first member of objects that are freed with the provider.
struct owned {
  struct owned* next;
};

// `memory` is from malloc; the provider owns it.
void provider_own(tracectl_provider* provider, struct owned* memory);
