// SPDX-License-Identifier: BSD-2-Clause
//
// The probes made at run time, and their lives.
//
// A probe has these states, shown by its `image`:
//     added     NULL          its semaphore is `never`, its site does nothing
//     loaded    the image     its semaphore and site are those of the image
//     removed   &removed      its semaphore is `never` again; its site stays, because a thread that
//                             found it enabled may be about to call it
// A thread that fires reads only `semaphore` and, after that, `site`; the lock protects everything
// else.
//
// A probe cannot be taken out of an image that tools may be reading. So an image is retired when
// all its probes are removed: its memory stays mapped, with sites that are not listed anywhere. To
// unmap it is safe only when no thread can be about to call one, which only the caller can know.
#include "usdt/runtime/provider.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "usdt/runtime/image.h"
#include "usdt/runtime/mapping.h"
#include "usdt/runtime/name.h"
#include "usdt/runtime/signature.h"

enum { MOST_NUMBERED = 65536 };

// Probes that were added by one call.
struct group {
  struct group* next;
  tracectl_probe* probes;
  size_t count;
  bool numbered;
  char* name;  // all, or without the number; freed with `signature` when all are loaded
  struct image_signature signature;
};

struct loaded_image {
  struct loaded_image* next;
  struct mapping mapping;
  size_t live;  // probes not removed
};

// The first probe that is not loaded yet; `group` is NULL if there is none.
struct position {
  struct group* group;
  size_t index;
};

struct tracectl_provider {
  char* name;
  char* directory;  // or NULL
  struct group* groups;
  struct group** groups_end;  // where the next one is linked
  struct position unloaded;
  struct loaded_image* images;
  struct loaded_image* retired;
  struct owned* owned;
};

static const volatile uint16_t never = 0;
static char removed;

static void nothing(void) {}

// ---- the lock ----

// One lock for all providers. It is held during a fork, so that it is free in the child.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void take_lock(void) { pthread_mutex_lock(&lock); }
static void leave_lock(void) { pthread_mutex_unlock(&lock); }
static void hold_over_forks(void) { pthread_atfork(take_lock, leave_lock, leave_lock); }

static int failed(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

// ---- providers ----

static void free_texts(struct group* group) {
  free(group->name);
  group->name = NULL;
  signature_free(&group->signature);
}

static void free_images(struct loaded_image* first) {
  for (struct loaded_image *image = first, *next; image; image = next) {
    next = image->next;
    mapping_free(&image->mapping);
    free(image);
  }
}

tracectl_provider* tracectl_provider_create(const char* name, const char* directory) {
  if (!name || !is_name(name)) {
    errno = EINVAL;
    return NULL;
  }
  pthread_once(&once, hold_over_forks);
  if (!directory) directory = secure_getenv("TRACECTL_USDT_DIRECTORY");
  tracectl_provider* const provider = calloc(1, sizeof *provider);
  if (!provider) return NULL;
  provider->groups_end = &provider->groups;
  provider->name = strdup(name);
  provider->directory = directory && *directory ? strdup(directory) : NULL;
  if (provider->name && (provider->directory || !directory || !*directory)) return provider;
  tracectl_provider_free(provider);
  errno = ENOMEM;
  return NULL;
}

void tracectl_provider_free(tracectl_provider* provider) {
  if (!provider) return;
  for (struct group *group = provider->groups, *next; group; group = next) {
    next = group->next;
    free_texts(group);
    free(group->probes);
    free(group);
  }
  free_images(provider->images);
  free_images(provider->retired);
  for (struct owned *memory = provider->owned, *next; memory; memory = next) {
    next = memory->next;
    free(memory);
  }
  free(provider->name);
  free(provider->directory);
  free(provider);
}

void provider_own(tracectl_provider* provider, struct owned* memory) {
  take_lock();
  memory->next = provider->owned;
  provider->owned = memory;
  leave_lock();
}

// ---- adding ----

static struct group* new_group(const char* name, bool numbered, size_t many) {
  struct group* const group = calloc(1, sizeof *group);
  if (!group) return NULL;
  group->numbered = numbered;
  group->count = many;
  group->name = strdup(name);
  group->probes = calloc(many, sizeof *group->probes);
  if (!group->name || !group->probes) {
    free(group->name);
    free(group->probes);
    free(group);
    return NULL;
  }
  for (size_t i = 0; i < many; ++i)
    group->probes[i] = (tracectl_probe){.semaphore = &never, .site = nothing, .image = NULL};
  return group;
}

static bool is_name_of_all(const char* name, bool numbered, size_t many) {
  if (!name || many == 0 || many > MOST_NUMBERED || !is_name(name)) return false;
  return !numbered || strlen(name) + sizeof "65535" - 1 <= NAME_LONGEST;
}

static const tracectl_probe* add(tracectl_provider* provider, const char* name, bool numbered,
                                 size_t many, const tracectl_argument* arguments, size_t count) {
  if (!provider || !is_name_of_all(name, numbered, many)) {
    errno = EINVAL;
    return NULL;
  }
  struct image_signature signature;
  if (failed(signature_make(arguments, count, &signature))) return NULL;
  struct group* const group = new_group(name, numbered, many);
  if (!group) {
    signature_free(&signature);
    errno = ENOMEM;
    return NULL;
  }
  group->signature = signature;
  take_lock();
  *provider->groups_end = group;
  provider->groups_end = &group->next;
  if (!provider->unloaded.group) provider->unloaded = (struct position){.group = group};
  leave_lock();
  return group->probes;
}

const tracectl_probe* tracectl_probe_add(tracectl_provider* provider, const char* name,
                                         const tracectl_argument* arguments, size_t count) {
  return add(provider, name, false, 1, arguments, count);
}

const tracectl_probe* tracectl_probe_add_numbered(tracectl_provider* provider, const char* prefix,
                                                  size_t many, const tracectl_argument* arguments,
                                                  size_t count) {
  return add(provider, prefix, true, many, arguments, count);
}

// ---- loading ----

// The probes of one image.
struct batch {
  struct image_probe described[IMAGE_MOST_PROBES];
  tracectl_probe* probes[IMAGE_MOST_PROBES];
  size_t count;
  size_t note_bytes;
  char names[IMAGE_MOST_PROBES][NAME_LONGEST + 1];  // of numbered probes
};

// Returns false if there is no room.
static bool add_to_batch(struct batch* batch, const tracectl_provider* provider,
                         struct group* group, size_t index) {
  if (batch->count == IMAGE_MOST_PROBES) return false;
  const char* name = group->name;
  if (group->numbered) {
    snprintf(batch->names[batch->count], sizeof batch->names[0], "%s%zu", group->name, index);
    name = batch->names[batch->count];
  }
  const struct image_probe described = {.name = name, .signature = &group->signature};
  const size_t bytes = image_note_bytes(provider->name, &described);
  if (batch->note_bytes + bytes > IMAGE_MOST_NOTE_BYTES) return false;
  batch->note_bytes += bytes;
  batch->described[batch->count] = described;
  batch->probes[batch->count++] = &group->probes[index];
  return true;
}

static void go_on(struct position* at) { *at = (struct position){.group = at->group->next}; }

static void fill_batch(struct batch* batch, const tracectl_provider* provider,
                       struct position* at) {
  batch->count = batch->note_bytes = 0;
  for (; at->group; go_on(at))
    for (; at->index < at->group->count; ++at->index) {
      if (at->group->probes[at->index].image == &removed) continue;
      if (!add_to_batch(batch, provider, at->group, at->index)) return;
    }
}

// Sets the site first, because a thread that sees the semaphore may call it.
static void make_loaded(tracectl_probe* probe, struct loaded_image* image, size_t first_site,
                        size_t index) {
  uint8_t* const start = image->mapping.start;
  union {
    uint8_t* bytes;
    void (*function)(void);
  } const site = {.bytes = start + first_site + index * IMAGE_SITE_STRIDE};
  const volatile uint16_t* const semaphores = (void*)(start + image->mapping.semaphores);
  probe->image = image;
  __atomic_store_n(&probe->site, site.function, __ATOMIC_RELAXED);
  __atomic_store_n(&probe->semaphore, semaphores + index, __ATOMIC_RELEASE);
}

static int load_batch(tracectl_provider* provider, const struct batch* batch) {
  struct loaded_image* const loaded = calloc(1, sizeof *loaded);
  if (!loaded) return ENOMEM;
  struct image image;
  int error = image_build(provider->name, batch->described, batch->count,
                          (size_t)sysconf(_SC_PAGESIZE), &image);
  if (error == 0) {
    error = mapping_make(&image, provider->name, provider->directory, &loaded->mapping);
    free(image.bytes);
  }
  if (error) {
    free(loaded);
    return error;
  }
  loaded->live = batch->count;
  loaded->next = provider->images;
  provider->images = loaded;
  for (size_t i = 0; i < batch->count; ++i)
    make_loaded(batch->probes[i], loaded, image.first_site, i);
  return 0;
}

static void note_loaded(tracectl_provider* provider, struct position end) {
  for (struct group* group = provider->unloaded.group; group != end.group; group = group->next)
    free_texts(group);
  provider->unloaded = end;
}

static int load_all(tracectl_provider* provider, struct batch* batch) {
  struct position at = provider->unloaded;
  while (at.group) {
    fill_batch(batch, provider, &at);
    const int error = batch->count ? load_batch(provider, batch) : 0;
    if (error) return error;
    note_loaded(provider, at);
  }
  return 0;
}

int tracectl_provider_load(tracectl_provider* provider) {
  if (!provider) return failed(EINVAL);
  struct batch* const batch = malloc(sizeof *batch);
  if (!batch) return failed(ENOMEM);
  take_lock();
  const int error = load_all(provider, batch);
  leave_lock();
  free(batch);
  return failed(error);
}

// ---- removing ----

static void disable(tracectl_probe* probe) {
  struct loaded_image* const image = probe->image;
  if (probe->image == &removed) return;
  if (image) --image->live;
  probe->image = &removed;
  __atomic_store_n(&probe->semaphore, &never, __ATOMIC_RELAXED);
}

// Tries again those that could not be retired before.
static int retire_unused(tracectl_provider* provider) {
  int error = 0;
  for (struct loaded_image** at = &provider->images; *at;) {
    struct loaded_image* const image = *at;
    const int result = image->live ? 0 : mapping_retire(&image->mapping);
    if (result) error = result;
    if (image->live || result) {
      at = &image->next;
      continue;
    }
    *at = image->next;
    image->next = provider->retired;
    provider->retired = image;
  }
  return error;
}

int tracectl_probe_remove(tracectl_provider* provider, const tracectl_probe* probe) {
  if (!provider || !probe) return failed(EINVAL);
  take_lock();
  disable((tracectl_probe*)(uintptr_t)probe);
  const int error = retire_unused(provider);
  leave_lock();
  return failed(error);
}

int tracectl_provider_remove(tracectl_provider* provider) {
  if (!provider) return failed(EINVAL);
  take_lock();
  for (struct group* group = provider->groups; group; group = group->next)
    for (size_t i = 0; i < group->count; ++i) disable(&group->probes[i]);
  const int error = retire_unused(provider);
  leave_lock();
  return failed(error);
}

// ---- firing ----

bool tracectl_probe_is_enabled(const tracectl_probe* probe) {
  return tracectl_probe_enabled(probe);
}

void tracectl_probe_fire(const tracectl_probe* probe, const uint64_t* arguments, size_t count) {
  if (!tracectl_probe_enabled(probe)) return;
  uint64_t a[TRACECTL_MOST_ARGUMENTS] = {0};
  if (count > TRACECTL_MOST_ARGUMENTS) count = TRACECTL_MOST_ARGUMENTS;
  for (size_t i = 0; i < count; ++i) a[i] = arguments[i];
  TRACECTL_FIRE(probe, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
}
