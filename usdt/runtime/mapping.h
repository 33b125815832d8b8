// SPDX-License-Identifier: BSD-2-Clause
//
// An image as this process has it mapped.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "usdt/runtime/image.h"

struct mapping {
  uint8_t* start;
  size_t size;        // bytes, whole pages
  size_t semaphores;  // from here on data, before it code
  int fd;             // -1 where a path leads to the file
  dev_t device;       // of the file
  ino_t inode;
};

// Maps the image from a file in the directory, or from memory where that is NULL or fails. 0 or an
// errno.
int mapping_make(const struct image* image, const char* provider, const char* directory,
                 struct mapping* made);

// Puts other sites in the place of the code, and zeros in that of the semaphores, so that the file is
// not mapped any more and threads may still run there. 0, or an errno where that was not done; it may
// be tried again.
int mapping_retire(struct mapping* mapping);

void mapping_free(struct mapping* mapping);
