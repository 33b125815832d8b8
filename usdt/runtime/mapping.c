// SPDX-License-Identifier: BSD-2-Clause
//
// Makes and maps the file of an image. There must be a file, because the kernel arms probes by
// file.
//
// In memory it is a memfd. Tools that use paths cannot open "/memfd:NAME (deleted)", which is its
// name in /proc/PID/maps. Some search for it in /proc/PID/fd, so the descriptor stays open. It is
// sealed, because it contains code, and a descriptor can be written to by mistake.
//
// The memfd can never be executed as a program (MFD_NOEXEC_SEAL). Its code can be mapped
// nevertheless, also if the system forbids executable memfds (vm.memfd_noexec=2).
#include "usdt/runtime/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u  // Linux 6.3, include/uapi/linux/memfd.h
#endif

#define FILE_PREFIX "usdt-"
#define LONGEST_FILE_NAME 256

static int write_all(int fd, const uint8_t* bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;
    bytes += written;
    size -= (size_t)written;
  }
  return 0;
}

// ---- in memory ----

static int new_memory_file(const char* name) {
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);
  return fd < 0 && errno == EINVAL ? memfd_create(name, flags) : fd;
}

// Returns its descriptor, or -1 and *error.
static int memory_file(const char* name, const uint8_t* bytes, size_t size, int* error) {
  const int fd = new_memory_file(name);
  if (fd < 0) {
    *error = errno;
    return -1;
  }
  *error = write_all(fd, bytes, size);
  if (*error == 0 &&
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
    *error = errno;
  if (*error == 0) return fd;
  close(fd);
  return -1;
}

static int memory_image(const struct image* image, const char* provider, int* error) {
  char name[LONGEST_FILE_NAME];
  snprintf(name, sizeof name, FILE_PREFIX "%s", provider);
  return memory_file(name, image->bytes, image->size, error);
}

// ---- in a directory ----

static int file_name(const struct image* image, const char* provider, char* name, size_t size) {
  const int start = snprintf(name, size, FILE_PREFIX "%s.", provider);
  const size_t id = 2 * IMAGE_BUILD_ID_SIZE;
  if (start < 0 || (size_t)start + id + sizeof ".so" > size) return ENAMETOOLONG;
  char* at = name + start;
  for (size_t i = 0; i < IMAGE_BUILD_ID_SIZE; ++i, at += 2)
    snprintf(at, 3, "%02x", image->bytes[image->build_id + i]);
  strcpy(at, ".so");
  return 0;
}

// Whether only this user and root can change it.
static bool is_trusted(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
         (status.st_uid == geteuid() || status.st_uid == 0) &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool has_bytes(int fd, const uint8_t* bytes, size_t size) {
  uint8_t part[4096];
  size_t at = 0;
  for (;;) {
    const ssize_t got = pread(fd, part, sizeof part, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 && at == size;
    if ((size_t)got > size - at || memcmp(part, bytes + at, (size_t)got) != 0) return false;
    at += (size_t)got;
  }
}

static int open_existing(int directory, const char* name, const struct image* image) {
  const int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0 || (is_trusted(fd) && has_bytes(fd, image->bytes, image->size))) return fd;
  close(fd);
  return -1;
}

// Writes it under another name until it is complete.
static int write_file(int directory, const char* name, const struct image* image) {
  char unfinished[LONGEST_FILE_NAME + 32];
  snprintf(unfinished, sizeof unfinished, ".%s.%ld", name, (long)getpid());
  unlinkat(directory, unfinished, 0);  // left by a dead process of this PID
  const int fd = openat(directory, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                        S_IRUSR | S_IWUSR);
  if (fd < 0) return errno;
  int error = write_all(fd, image->bytes, image->size);
  if (error == 0 && fchmod(fd, S_IRUSR | S_IRGRP | S_IROTH)) error = errno;
  close(fd);
  if (error == 0 && renameat(directory, unfinished, directory, name)) error = errno;
  if (error) unlinkat(directory, unfinished, 0);
  return error;
}

// Processes with the same probes make the same file; the second one uses the file that is there.
static int directory_image(const struct image* image, const char* provider, const char* path,
                           int* error) {
  char name[LONGEST_FILE_NAME];
  *error = file_name(image, provider, name, sizeof name);
  if (*error) return -1;
  const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int fd = directory < 0 ? -1 : open_existing(directory, name, image);
  if (directory >= 0 && fd < 0) {
    *error = write_file(directory, name, image);
    if (*error == 0) fd = open_existing(directory, name, image);
  }
  if (fd < 0 && *error == 0) *error = errno ? errno : EPERM;
  if (directory >= 0) close(directory);
  return fd;
}

// ---- mappings ----

// The semaphores are private and writable, because the kernel, which writes them, requires both.
static int map_image(int fd, const struct image* image, struct mapping* made) {
  struct stat status;
  if (fstat(fd, &status)) return errno;
  uint8_t* const start = mmap(NULL, image->mapped_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  if (start == MAP_FAILED) return errno;
  if (mmap(start + image->semaphores, image->mapped_size - image->semaphores,
           PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
           (off_t)image->semaphores) == MAP_FAILED) {
    const int error = errno;
    munmap(start, image->mapped_size);
    return error;
  }
  *made = (struct mapping){.start = start,
                           .size = image->mapped_size,
                           .semaphores = image->semaphores,
                           .fd = fd,
                           .device = status.st_dev,
                           .inode = status.st_ino};
  return 0;
}

static int map_directory_image(const struct image* image, const char* provider,
                               const char* directory, struct mapping* made) {
  int error = 0;
  const int fd = directory_image(image, provider, directory, &error);
  if (fd < 0) return error;
  error = map_image(fd, image, made);
  close(fd);
  if (error == 0) made->fd = -1;
  return error;
}

static int map_memory_image(const struct image* image, const char* provider, struct mapping* made) {
  int error = 0;
  const int fd = memory_image(image, provider, &error);
  if (fd < 0) return error;
  error = map_image(fd, image, made);
  if (error) close(fd);
  return error;
}

int mapping_make(const struct image* image, const char* provider, const char* directory,
                 struct mapping* made) {
  if (directory && map_directory_image(image, provider, directory, made) == 0) return 0;
  return map_memory_image(image, provider, made);
}

// Threads that are about to call a site, or are in it, still find it there.
static int replace_code(struct mapping* mapping) {
  uint8_t* const sites = malloc(mapping->semaphores);
  if (!sites) return ENOMEM;
  image_write_empty(sites, mapping->semaphores, (size_t)sysconf(_SC_PAGESIZE));
  int error = 0;
  const int fd = memory_file(FILE_PREFIX "removed", sites, mapping->semaphores, &error);
  free(sites);
  if (fd < 0) return error;
  if (mmap(mapping->start, mapping->semaphores, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
           0) == MAP_FAILED)
    error = errno;
  close(fd);
  return error;
}

// Programs that become daemons close all descriptors, also those of libraries; the number may
// belong to another file by now.
static void close_if_ours(struct mapping* mapping) {
  struct stat status;
  if (mapping->fd >= 0 && fstat(mapping->fd, &status) == 0 && status.st_dev == mapping->device &&
      status.st_ino == mapping->inode)
    close(mapping->fd);
  mapping->fd = -1;
}

int mapping_retire(struct mapping* mapping) {
  const int error = replace_code(mapping);
  if (error) return error;
  if (mmap(mapping->start + mapping->semaphores, mapping->size - mapping->semaphores, PROT_READ,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    return errno;
  close_if_ours(mapping);
  return 0;
}

void mapping_free(struct mapping* mapping) {
  munmap(mapping->start, mapping->size);
  close_if_ours(mapping);
}
