// SPDX-License-Identifier: BSD-2-Clause
//
// The bytes of an ELF shared object that has probes and nothing else. Knows no mappings and no system
// calls.
#pragma once

#include <stddef.h>
#include <stdint.h>

// What readers refuse beyond: tracectl's own, which are the narrowest, take 10000 notes and 1 MiB of them.
#define IMAGE_MOST_PROBES 4096
#define IMAGE_MOST_NOTE_BYTES ((size_t)1 << 19)

#define IMAGE_SITE_STRIDE 8  // bytes
#define IMAGE_BUILD_ID_SIZE 16

// The arguments of a probe, in the forms of the notes.
struct image_signature {
  const char* places;      // of the note of stapsdt: "-4@%rdi 8@%rsi"
  const uint8_t* entries;  // of the note of tracectl
  size_t entries_size;     // bytes
};

struct image_probe {
  const char* name;
  const struct image_signature* signature;
};

// Offsets are bytes from the file's start, and addresses as well: the file is linked at 0.
struct image {
  uint8_t* bytes;  // of malloc
  size_t size;
  size_t first_site;  // in what is mapped as code, which starts at 0; a site each IMAGE_SITE_STRIDE
  size_t semaphores;  // 2 bytes each; starts a page, as does what follows
  size_t mapped_size;  // whole pages
  size_t build_id;     // IMAGE_BUILD_ID_SIZE bytes
};

// How much of IMAGE_MOST_NOTE_BYTES a probe takes.
size_t image_note_bytes(const char* provider, const struct image_probe* probe);

// The bytes of the image, the same for the same probes; `page` is the size of a page. 0 or ENOMEM.
int image_build(const char* provider, const struct image_probe* probes, size_t count, size_t page,
                struct image* image);

// The code of an image, `size` bytes, whole pages, as a file of its own that lists no probes: sites are
// wherever the image may have some.
void image_write_empty(uint8_t* to, size_t size, size_t page);
