// SPDX-License-Identifier: BSD-2-Clause
//
// Builds the bytes of an ELF shared object that has probes and nothing else, without mappings and
// system calls.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Limits of readers: tracectl's own, the lowest, are 10000 notes and 1 MiB of notes.
#define IMAGE_MOST_PROBES 4096
#define IMAGE_MOST_NOTE_BYTES ((size_t)1 << 19)

#define IMAGE_SITE_STRIDE 32  // bytes; a power of 2
#define IMAGE_BUILD_ID_SIZE 16

// The arguments of a probe, in the encodings of the notes.
struct image_signature {
  const char* places;      // for the note of stapsdt: "-4@%rdi 8@%rsi"
  const uint8_t* entries;  // for the note of tracectl
  size_t entries_size;     // bytes
};

struct image_probe {
  const char* name;
  const struct image_signature* signature;
};

// Offsets are bytes from the file's start, and equal addresses: the file is linked at 0.
struct image {
  uint8_t* bytes;  // from malloc
  size_t size;
  size_t first_site;  // in the mapping of code, which starts at 0; one site every IMAGE_SITE_STRIDE
  size_t semaphores;  // 2 bytes each; starts a page, like the part after it
  size_t mapped_size;  // whole pages
  size_t build_id;     // IMAGE_BUILD_ID_SIZE bytes
};

// How many of IMAGE_MOST_NOTE_BYTES a probe needs.
size_t image_note_bytes(const char* provider, const struct image_probe* probe);

// Builds the bytes of the image, which are equal for equal probes; `page` is the size of a page.
// Returns 0 or ENOMEM.
int image_build(const char* provider, const struct image_probe* probes, size_t count, size_t page,
                struct image* image);

// Writes the code of an image, `size` bytes in whole pages, as a file of its own that lists no
// probes. It has sites at all places where the image may have some.
void image_write_empty(uint8_t* to, size_t size, size_t page);
