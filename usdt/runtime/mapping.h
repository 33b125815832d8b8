// SPDX-License-Identifier: BSD-2-Clause
//
// An image, mapped into this process.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "usdt/runtime/image.h"

struct mapping {
  uint8_t* start;
  size_t size;        // bytes, whole pages
  size_t semaphores;  // offset at which code ends and data begins
  int fd;             // -1 if the file has a path
  dev_t device;       // of the file
  ino_t inode;
};

// Maps the image from a file in the directory, or from memory if `directory` is NULL or if that
// fails. Returns 0 or an errno.
int mapping_make(const struct image* image, const char* provider, const char* directory,
                 struct mapping* made);

// Replaces the code by other sites, and the semaphores by zeros, so that the file is no longer
// mapped and threads may still run there. Returns 0, or an errno if that failed; it may be tried
// again.
int mapping_retire(struct mapping* mapping);

void mapping_free(struct mapping* mapping);
