// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <stddef.h>
#include <tracectl/runtime.h>

#include "usdt/runtime/image.h"

// Makes the arguments of probes in the encodings of the notes. Returns 0, EINVAL or ENOMEM.
int signature_make(const tracectl_argument* arguments, size_t count, struct image_signature* made);
void signature_free(struct image_signature* signature);
